//! Entries of clusterctl.yaml that are added and replaced, and what stays of the rest.

use super::*;

fn entry(url: &str) -> Entry {
    Entry {
        name: "foo".to_owned(),
        provider_type: ProviderType::BootstrapProvider,
        url: url.to_owned(),
    }
}

fn merged(text: &str, url: &str) -> (Option<String>, Vec<&'static str>) {
    let (text, report) = merge(
        Some(&Source::new("clusterctl.yaml", text)),
        &[entry(url)],
        &Budget::default(),
    );
    (text, report.findings().iter().map(|f| f.rule.id).collect())
}

#[test]
fn what_people_wrote_stays() {
    let theirs = "# mine\nproviders:\n  - name: bar # keep\n    url: /x\n    type: CoreProvider\nVAR: a # b\nCLUSTERCTL_DISABLE_VERSIONCHECK: \"no\"\n";
    let expected = "# mine\nproviders:\n  - name: bar # keep\n    url: /x\n    type: CoreProvider\n  - name: foo\n    url: /r\n    type: BootstrapProvider\nVAR: a # b\nCLUSTERCTL_DISABLE_VERSIONCHECK: \"no\"\n";
    assert_eq!(merged(theirs, "/r"), (Some(expected.to_owned()), vec![]));
    assert_eq!(
        merged(expected, "/r"),
        (Some(expected.to_owned()), vec![]),
        "a second time nothing changes"
    );
    assert_eq!(
        merged(expected, "/other"),
        (Some(expected.to_owned()), vec!["repository-entry-other"])
    );
}

/// Found by fuzzing: fields behind a null are not YAML.
#[test]
fn a_null_that_is_written_out_makes_room() {
    for text in [
        "~\n",
        "# mine\n~ # nothing\n",
        "null",
        "--- ~\n",
        "---\n",
        "",
    ] {
        let (merged, rules) = merged(text, "/r");
        let merged = merged.unwrap_or_else(|| panic!("{text:?}: {rules:?}"));
        let parsed = yaml::parse(&Source::new("c", merged.as_str()), &Budget::default());
        assert!(!parsed.report.has_errors(), "{text:?}: {merged:?}");
        let url = FieldPath::root().field("providers").index(0).field("url");
        assert_eq!(
            parsed.documents[0].root.at(&url).and_then(Node::as_str),
            Some("/r"),
            "{text:?}: {merged:?}"
        );
        assert!(
            text.lines()
                .filter_map(|line| line.find('#').map(|at| &line[at..]))
                .all(|comment| merged.contains(comment)),
            "{merged:?}"
        );
    }
}

#[test]
fn missing_list_and_switch_are_added() {
    let (text, rules) = merged("VAR: a\n", "/r");
    assert_eq!(rules, Vec::<&str>::new());
    let text = text.expect("extensible");
    assert!(
        text.starts_with("VAR: a\nproviders:\n- name: foo\n  url: /r\n  type: BootstrapProvider\n"),
        "{text}"
    );
    assert!(
        text.ends_with("CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\n"),
        "{text}"
    );
}

#[test]
fn line_ends_an_empty_list_and_further_documents_stay() {
    let switch = "CLUSTERCTL_DISABLE_VERSIONCHECK: \"no\"";
    let entry = "- name: foo\r\n  url: /r\r\n  type: BootstrapProvider\r\n";
    let (text, _) = merged(
        &format!("{switch}\r\nproviders: # none yet\r\nVAR: a"),
        "/r",
    );
    assert_eq!(
        text,
        Some(format!(
            "{switch}\r\nproviders: # none yet\r\n{entry}VAR: a"
        ))
    );
    let (text, _) = merged(&format!("{switch}\nA: 1\n---\nB: 2\n"), "/r");
    let entry = entry.replace('\r', "");
    assert_eq!(
        text,
        Some(format!("{switch}\nA: 1\nproviders:\n{entry}---\nB: 2\n"))
    );
}

#[test]
fn list_in_brackets_is_left_to_its_author() {
    let switch = "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"";
    let entry = "providers: [{name: foo, url: /r, type: BootstrapProvider}]";
    let texts = [
        "providers: []\n",
        "{providers: []}\n",
        "providers: /x\n",
        &format!("{{{switch}}}\n"),
        &format!("{{{entry}}}\n"),
    ];
    for text in texts {
        assert_eq!(
            merged(text, "/r"),
            (None, vec!["repository-configuration-not-extensible"]),
            "{text}"
        );
    }
    let whole = format!("{{{switch}, {entry}}}\n");
    assert_eq!(
        merged(&whole, "/r"),
        (Some(whole.clone()), vec![]),
        "nothing is to be added"
    );
}

#[test]
fn urls_with_variables_are_quoted() {
    let text = fresh(&[entry("${WINDLASS_REPOSITORY}/bootstrap-foo/latest/x.yaml")]).join("\n");
    assert!(
        text.contains("url: \"${WINDLASS_REPOSITORY}/bootstrap-foo/latest/x.yaml\""),
        "{text}"
    );
}

#[test]
fn paths_are_quoted_where_yaml_could_read_them_otherwise() {
    for (text, expected) in [
        ("/srv/a-b_c.d/ü", "/srv/a-b_c.d/ü"),
        ("/a b", "\"/a b\""),
        ("${A}/b", "\"${A}/b\""),
        ("C:\\a\"b", "\"C:\\\\a\\\"b\""),
        ("", ""),
    ] {
        assert_eq!(quoted(text), expected);
    }
}

#[test]
fn the_end_of_a_local_url_begins_at_its_label() {
    for (url, expected) in [
        (
            "/srv/bootstrap-foo/latest/c.yaml",
            Some("/bootstrap-foo/latest/c.yaml"),
        ),
        (
            "/bootstrap-foo/latest/c.yaml",
            Some("/bootstrap-foo/latest/c.yaml"),
        ),
        (
            "file:///srv/bootstrap-foo/v1/c.yaml",
            Some("/bootstrap-foo/v1/c.yaml"),
        ),
        ("https://srv/bootstrap-foo/latest/c.yaml", None),
        ("/srv/bootstrap-foo-bar/latest/c.yaml", None),
        ("/srv/x-bootstrap-foo/latest/c.yaml", None),
        ("/srv/bootstrap-foo/x/latest/c.yaml", None),
        ("bootstrap-foo/latest", None),
    ] {
        assert_eq!(
            below_base(url, "foo", "BootstrapProvider"),
            expected,
            "{url}"
        );
    }
    assert_eq!(
        below_base("/srv/bootstrap-foo/latest/c.yaml", "foo", "Bootstrap"),
        None
    );
    assert_eq!(
        below_base("/srv/bootstrap-foo/latest/c.yaml", "foo", "CoreProvider"),
        None
    );
}

/// A provider is its name and its type: one that shares only one of them is another one.
#[test]
fn entries_of_another_type_or_name_are_others() {
    for (name, provider_type) in [("foo", "CoreProvider"), ("bar", "BootstrapProvider")] {
        let theirs = format!(
            "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\nproviders:\n- {{name: {name}, type: {provider_type}, url: /x}}\n"
        );
        let ours = "- name: foo\n  url: /r\n  type: BootstrapProvider\n";
        assert_eq!(
            merged(&theirs, "/r"),
            (Some(format!("{theirs}{ours}")), vec![])
        );
    }
}

#[test]
fn an_entry_with_another_url_is_told_at_its_url() {
    let text = "providers:\n- {name: bar, type: CoreProvider, url: /y}\n- {name: foo, type: BootstrapProvider, url: /x}\n";
    let (_, report) = merge(
        Some(&Source::new("c.yaml", text)),
        &[entry("/r s")],
        &Budget::default(),
    );
    let [finding] = report.findings() else {
        panic!("{report:?}")
    };
    let (span, place) = (finding.place.span.unwrap(), &finding.place);
    assert_eq!(
        (
            span.start.line,
            span.start.column,
            place.path.to_string().as_str()
        ),
        (3, 45, "providers[1].url")
    );
    assert_eq!(
        finding.message,
        "BootstrapProvider foo has another url in c.yaml already"
    );
    assert_eq!(
        finding.help.as_ref().unwrap().to_string(),
        "keep it, or write `url: \"/r s\"`"
    );
}

/// The url and the version both say which cert-manager it is.
#[test]
fn another_cert_manager_is_told_and_stays() {
    let merged = |text: &str| {
        let (text, report) = merge_cert_manager(
            Some(&Source::new("c.yaml", text)),
            "/u",
            "v1.2.3",
            &Budget::default(),
        );
        (
            text,
            report
                .findings()
                .iter()
                .map(|finding| finding.message.to_string())
                .collect::<Vec<_>>(),
        )
    };
    let other = "c.yaml has another cert-manager already".to_owned();
    for (url, version, told) in [
        ("/u", "v1.2.3", vec![]),
        ("/other", "v1.2.3", vec![other.clone()]),
        ("/u", "v1.2.4", vec![other.clone()]),
        ("/other", "v1.2.4", vec![other]),
    ] {
        let text = format!("cert-manager:\n  url: {url}\n  version: {version}\n");
        assert_eq!(merged(&text), (Some(text.clone()), told), "{text}");
    }
    let added = "cert-manager:\n  url: /u\n  version: v1.2.3\n";
    assert_eq!(merged("A: b\n"), (Some(format!("A: b\n{added}")), vec![]));
    assert_eq!(
        merged("# empty\n"),
        (Some(format!("# empty\n{added}")), vec![])
    );
    let brackets = "the file is written in brackets, so entries cannot be added".to_owned();
    assert_eq!(merged("{A: b}\n"), (None, vec![brackets]));
    assert_eq!(
        merged("{cert-manager: {url: /u, version: v1.2.3}}\n").1,
        [] as [&str; 0]
    );
}

/// `externallyProvisioned` is read as Go's `strconv.ParseBool` reads words, quoted or not.
#[test]
fn cert_manager_may_be_there_already() {
    for (value, expected) in [
        ("true", true),
        ("\"true\"", true),
        ("True", true),
        ("1", true),
        ("t", true),
        ("false", false),
        ("no", false),
    ] {
        let source = Source::new(
            "c.yaml",
            format!("CERT-MANAGER: {{externallyprovisioned: {value}}}\n"),
        );
        assert_eq!(
            cert_manager_setting(&source, &Budget::default())
                .unwrap()
                .is_external,
            expected,
            "{value}"
        );
    }
    assert!(
        cert_manager_setting(&Source::new("c.yaml", "cert: a\n"), &Budget::default()).is_none()
    );
}

/// What of a bundle's configuration leads elsewhere, and what is the bundle's own.
#[test]
fn only_what_is_in_the_bundle_is_its_own() {
    let check = |text: &str, expected: &[&str]| {
        let report = foreign(&Source::new("c.yaml", text), "BASE", &Budget::default());
        let told: Vec<&str> = report
            .findings()
            .iter()
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(told, expected, "{text}");
    };
    let sets = |what: &str| format!("the bundle's configuration sets `{what}`");
    for own in [
        "A: b\n",
        "providers:\n",
        "providers: []\n",
        "- a\n",
        "",
        "providers: [{name: foo, type: BootstrapProvider, url: BASE/bootstrap-foo/latest/c.yaml}]\n",
        "cert-manager: {url: BASE/cert-manager/v1/cert-manager.yaml, version: v1, timeout: 10m}\n",
        "Cert-Manager: {URL: BASE/cert-manager/v1/cert-manager.yaml}\n",
    ] {
        check(own, &[]);
    }
    check(
        "providers: x\n",
        &["the `providers` of the bundle's configuration are not list"],
    );
    for url in [
        "ELSE/bootstrap-foo/latest/c.yaml",
        "BASE/bootstrap-bar/latest/c.yaml",
        "https://BASE/bootstrap-foo/latest/c.yaml",
    ] {
        check(
            &format!("providers: [{{name: foo, type: BootstrapProvider, url: {url}}}]\n"),
            &["the bundle's configuration takes foo from elsewhere"],
        );
    }
    check("Images: {}\nOverridesFolder: x\n", &[&sets("Images")]);
    for fields in [
        "url: ELSE/cert-manager/v1/cert-manager.yaml",
        "url: BASE/cert-manager/v1/cert-manager.yaml, externallyProvisioned: true",
        "url: BASE/cert-manager/v1/cert-manager.yaml, URL: BASE/cert-manager/v1/cert-manager.yaml",
        "version: v1",
    ] {
        check(
            &format!("cert-manager: {{{fields}}}\n"),
            &[&sets("cert-manager")],
        );
    }
}
