//! The `clusterctl.yaml` that belongs to a local repository: entries are added, nothing that people
//! wrote is changed.

use super::assets::Assets;
use crate::clusterctl::CERT_MANAGER;
use crate::contract::ProviderType;
use crate::diag::{Diagnostic, FieldPath, Place, Remedy, Report, Setting, rules};
use crate::text::budget::Budget;
use crate::text::edit::{Edits, indentation};
use crate::text::source::Source;
#[cfg(feature = "cli")]
use crate::text::source::TextRange;
use crate::text::url::without_credentials;
use crate::text::yaml::{self, Node};

rules! {
    /// clusterctl.yaml already has a different url for the provider
    ENTRY_OTHER = warning("repository-entry-other");
    /// the url of a provider leads to a repository that does not exist
    ENTRY_STALE = error("repository-entry-stale");
    /// the form of `providers` in clusterctl.yaml does not allow adding an entry
    pub(super) NOT_EXTENSIBLE = error("repository-configuration-not-extensible");
    /// the configuration in a bundle installs something from outside the bundle
    FOREIGN = error("bundle-configuration-foreign");
}

/// The configuration file of a repository.
pub const CONFIGURATION_FILE: &str = "clusterctl.yaml";

/// The switch without which clusterctl, offline, waits a minute in each call for its newest
/// version.
pub(super) const VERSION_CHECK: &str = "CLUSTERCTL_DISABLE_VERSIONCHECK";

/// A provider in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it provides.
    pub provider_type: ProviderType,
    /// The components file of the newest version: `{repository}/{label}/latest/{file}`.
    pub url: String,
}

impl Entry {
    /// The entry of a release in a repository whose urls begin with `base`.
    pub(crate) fn of(assets: &Assets, base: &str) -> Self {
        let url = format!(
            "{}/{}/latest/{}",
            base.trim_end_matches('/'),
            assets.label,
            assets.components
        );
        Entry {
            name: assets.name.clone(),
            provider_type: assets.provider_type,
            url,
        }
    }

    fn lines(&self, indent: &str) -> Vec<String> {
        vec![
            format!("{indent}- name: {}", self.name),
            format!("{indent}  url: {}", quoted(&self.url)),
            format!("{indent}  type: {}", self.provider_type.as_str()),
        ]
    }
}

/// Paths with characters that YAML could take for syntax stand in quotes.
pub(super) fn quoted(text: &str) -> String {
    let plain = text
        .chars()
        .all(|c| c.is_alphanumeric() || "/._-".contains(c));
    if plain {
        text.to_owned()
    } else {
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// The text of the configuration with the entries in it. An entry that is there stays as it is;
/// when its url is another one, a warning says so. `None` when the file cannot be extended; the
/// report says why.
pub fn merge(
    existing: Option<&Source>,
    entries: &[Entry],
    budget: &Budget,
) -> (Option<String>, Report) {
    let Some(source) = existing else {
        return (Some(fresh(entries).join("\n") + "\n"), Report::new());
    };
    let parsed = yaml::parse(source, budget);
    let mut report = parsed.report;
    if report.has_errors() {
        return (None, report);
    }
    let written = parsed.documents.first().map(|document| &document.root);
    let root = written.filter(|root| !root.is_null());
    let missing: Vec<&Entry> = entries
        .iter()
        .filter(|entry| !is_there(source, root, entry, &mut report))
        .collect();
    let mut edits = Edits::of(source.text());
    match root {
        None => {
            // A null that is written out (`~`) holds nothing, and no field can stand behind it.
            if let Some(null) = written {
                edits.replace(null.span, "");
            }
            edits.lines_at_end(0..0, &fresh(entries));
        }
        Some(root) => {
            if let Err(finding) = extend(&mut edits, source, root, &missing) {
                report.push(*finding);
                return (None, report);
            }
        }
    }
    (edits.apply().ok(), report)
}

/// The text of the configuration with cert-manager in it. A setting that is there stays; when it
/// leads elsewhere, a warning says so. `None` when the file cannot be extended.
pub(super) fn merge_cert_manager(
    existing: Option<&Source>,
    url: &str,
    version: &str,
    budget: &Budget,
) -> (Option<String>, Report) {
    let lines = vec![
        format!("{CERT_MANAGER}:"),
        format!("  url: {}", quoted(url)),
        format!("  version: {version}"),
    ];
    let Some(source) = existing else {
        let text = [fresh_head(), lines, version_check_lines().to_vec()]
            .concat()
            .join("\n");
        return (Some(text + "\n"), Report::new());
    };
    let parsed = yaml::parse(source, budget);
    let mut report = parsed.report;
    if report.has_errors() {
        return (None, report);
    }
    let root = parsed
        .documents
        .first()
        .map(|document| &document.root)
        .filter(|root| !root.is_null());
    let mut edits = Edits::of(source.text());
    match (root, cert_manager_setting(source, budget)) {
        (_, Some(setting)) => {
            if setting.url != url || setting.version != version {
                let finding = Diagnostic::of(
                    &ENTRY_OTHER,
                    format!("{} has another {CERT_MANAGER} already", source.name()),
                );
                let help = format!(
                    "keep it, or write `{CERT_MANAGER}: {{url: {}, version: {version}}}`",
                    quoted(&without_credentials(url))
                );
                report.push(finding.at(setting.place).help(help));
            }
        }
        (Some(root), None) if source.text()[root.span.start()..].starts_with('{') => {
            let finding = Diagnostic::of(
                &NOT_EXTENSIBLE,
                "the file is written in brackets, so entries cannot be added",
            );
            let finding = finding
                .at(source.place_at(root.span).in_document(1))
                .insertion(source.position(root.span.end()).line, lines);
            report.push(finding.help("write the file with one line for each key, and add these"));
            return (None, report);
        }
        (root, None) => edits.lines_at_end(root.map_or(0..0, |root| root.span.into()), &lines),
    }
    (edits.apply().ok(), report)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CertManagerSetting {
    pub(crate) place: Place,
    /// The url, as it is written.
    pub(crate) url: String,
    pub(crate) version: String,
    /// Whether it is there already, so that clusterctl does not install it
    /// (`externallyProvisioned`).
    pub(crate) is_external: bool,
}

/// The setting of cert-manager, if there is one.
pub(crate) fn cert_manager_setting(source: &Source, budget: &Budget) -> Option<CertManagerSetting> {
    let parsed = yaml::parse(source, budget);
    let entry = setting(&parsed.documents.first()?.root, CERT_MANAGER)?;
    let text = |key: &str| {
        setting(&entry.value, key)
            .map(|field| field.value.to_json())
            .unwrap_or_default()
    };
    let url = text("url").as_str().unwrap_or_default().to_owned();
    let version = text("version").as_str().unwrap_or_default().to_owned();
    let is_external = ["true", "1", "t"].contains(
        &text("externallyProvisioned")
            .to_string()
            .trim_matches('"')
            .to_lowercase()
            .as_str(),
    );
    Some(CertManagerSetting {
        place: source.place_at(entry.key_span).in_document(1),
        url,
        version,
        is_external,
    })
}

/// An entry by its key, whose case does not matter to clusterctl.
pub(super) fn setting<'n>(node: &'n Node, key: &str) -> Option<&'n yaml::Entry> {
    node.as_mapping()?
        .iter()
        .find(|entry| entry.key.eq_ignore_ascii_case(key))
}

/// Settings of a bundle that decide what clusterctl installs, wherever the releases are.
#[cfg(feature = "cli")]
const DECISIVE: [&str; 2] = ["images", CERT_MANAGER];

/// What of a bundle's configuration, whose own urls begin with `base`, decides what is installed at
/// the site and is not in the bundle: each is an error until the user trusts it.
#[cfg(feature = "cli")]
pub fn foreign(source: &Source, base: &str, budget: &Budget) -> Report {
    let parsed = yaml::parse(source, budget);
    let Some(root) = parsed.documents.first().map(|document| &document.root) else {
        return Report::new();
    };
    let finding = |span: TextRange, what: String| {
        let finding = Diagnostic::of(&FOREIGN, what).at(source.place_at(span).in_document(1));
        let remedy = Remedy::new("look at it, then pass ").setting(Setting::TrustConfiguration);
        finding.help(remedy.then("; or ask the sender for a bundle without it"))
    };
    let is_decisive = |entry: &&yaml::Entry| {
        DECISIVE
            .iter()
            .any(|name| name.eq_ignore_ascii_case(&entry.key))
    };
    let settings = root
        .as_mapping()
        .into_iter()
        .flatten()
        .filter(is_decisive)
        .filter(|entry| !is_cert_manager_of(entry, base));
    let mut report: Report = settings
        .map(|entry| {
            finding(
                entry.key_span,
                format!("the bundle's configuration sets `{}`", entry.key),
            )
        })
        .collect();
    let providers = root.at(&FieldPath::root().field("providers"));
    for item in providers.and_then(Node::as_sequence).unwrap_or_default() {
        let field = |name: &str| item.at(&FieldPath::root().field(name));
        let text = |name: &str| field(name).and_then(Node::as_str).unwrap_or_default();
        let is_of_bundle = below_base(text("url"), text("name"), text("type"))
            .is_some_and(|rest| text("url") == format!("{base}{rest}"));
        if !is_of_bundle {
            let span = field("url").map_or(item.span, |url| url.span);
            report.push(finding(
                span,
                format!(
                    "the bundle's configuration takes {} from elsewhere",
                    text("name")
                ),
            ));
        }
    }
    if let Some(providers) =
        providers.filter(|providers| providers.as_sequence().is_none() && !providers.is_null())
    {
        report.push(finding(
            providers.span,
            "the `providers` of the bundle's configuration are no list".to_owned(),
        ));
    }
    report
}

/// Whether a setting leads to cert-manager's manifest in the bundle itself, and says nothing else
/// but how long to wait.
#[cfg(feature = "cli")]
fn is_cert_manager_of(entry: &yaml::Entry, base: &str) -> bool {
    let Some(fields) = entry.value.as_mapping() else {
        return false;
    };
    let is_known = |field: &yaml::Entry| {
        ["url", "version", "timeout"].contains(&field.key.to_lowercase().as_str())
    };
    let urls: Vec<&yaml::Entry> = fields
        .iter()
        .filter(|field| field.key.eq_ignore_ascii_case("url"))
        .collect();
    let [url] = urls.as_slice() else { return false };
    let url = url.value.as_str().unwrap_or_default();
    let is_here = below(url, CERT_MANAGER).is_some_and(|rest| url == format!("{base}{rest}"));
    entry.key.eq_ignore_ascii_case(CERT_MANAGER) && is_here && fields.iter().all(is_known)
}

/// The text of a configuration with another `base` for the repository: it replaces what stands
/// before `/{label}/{version}/{file}` in the url of each local provider. All else stays as it is.
pub fn rebase(source: &Source, base: &str, budget: &Budget) -> String {
    relocate(source, base, &|_, _| true, budget).0
}

/// What [`rebase`] gives when it changes only some urls, and a finding for each. `is_stale` says of
/// a label, and of what stands before it in the url, whether the repository is there no more.
pub fn relocate(
    source: &Source,
    base: &str,
    is_stale: &dyn Fn(&str, &str) -> bool,
    budget: &Budget,
) -> (String, Vec<Diagnostic>) {
    let parsed = yaml::parse(source, budget);
    let root = parsed.documents.first().map(|document| &document.root);
    let list = FieldPath::root().field("providers");
    let providers = root
        .and_then(|root| root.at(&list))
        .and_then(Node::as_sequence);
    let mut edits = Edits::of(source.text());
    let mut stale = Vec::new();
    for (at, item) in providers.unwrap_or_default().iter().enumerate() {
        let field = |name: &str| item.at(&FieldPath::root().field(name));
        let Some(url) = field("url") else { continue };
        let written = field("name")
            .and_then(Node::as_str)
            .zip(field("type").and_then(Node::as_str))
            .zip(url.as_str());
        if let Some(((name, provider_type), written)) = written
            && let Some(rest) = below_base(written, name, provider_type)
            && let Some(label) = rest.split('/').nth(1)
            && is_stale(label, &written[..written.len() - rest.len()])
        {
            let moved = format!("{}{rest}", base.trim_end_matches('/'));
            edits.replace(url.span, quoted(&moved));
            let place = source
                .place_at(url.span)
                .in_document(1)
                .at_path(list.index(at).field("url"));
            stale.push(stale_url(label, written, &moved).at(place));
        }
    }
    let cert_manager = FieldPath::root().field(CERT_MANAGER).field("url");
    if let Some(url) = root.and_then(|root| root.at(&cert_manager))
        && let Some(written) = url.as_str()
        && let Some(rest) = below(written, CERT_MANAGER)
        && is_stale(CERT_MANAGER, &written[..written.len() - rest.len()])
    {
        let moved = format!("{}{rest}", base.trim_end_matches('/'));
        edits.replace(url.span, quoted(&moved));
        let place = source
            .place_at(url.span)
            .in_document(1)
            .at_path(cert_manager);
        stale.push(stale_url(CERT_MANAGER, written, &moved).at(place));
    }
    // Two urls never overlap; one that an alias repeats gets the same text twice.
    (
        edits.apply().unwrap_or_else(|_| source.text().to_owned()),
        stale,
    )
}

/// The finding about a url that leads to where the repository was before somebody moved it.
pub(super) fn stale_url(label: &str, written: &str, moved: &str) -> Diagnostic {
    let finding = Diagnostic::of(
        &ENTRY_STALE,
        format!(
            "the url of {label} leads to {}, where nothing is",
            without_credentials(written)
        ),
    );
    let help = Remedy::new(format!(
        "write `url: {}`, or lay the release in again with ",
        quoted(&without_credentials(moved))
    ))
    .setting(Setting::Force);
    finding.help(help.then(", which changes such urls"))
}

/// `/{label}/{version}/{file}` at the end of the url of a local repository.
pub(super) fn below_base<'u>(url: &'u str, name: &str, provider_type: &str) -> Option<&'u str> {
    let provider_type = ProviderType::ALL
        .into_iter()
        .find(|known| known.as_str() == provider_type)?;
    below(url, &provider_type.label(name))
}

fn below<'u>(url: &'u str, label: &str) -> Option<&'u str> {
    if url.starts_with("https://") {
        return None;
    }
    let (file, _) = url.rmatch_indices('/').nth(2)?;
    url[file..]
        .starts_with(&format!("/{label}/"))
        .then(|| &url[file..])
}

fn fresh_head() -> Vec<String> {
    vec!["# Configuration of clusterctl for the repository in this folder: clusterctl --config clusterctl.yaml".to_owned()]
}

fn fresh(entries: &[Entry]) -> Vec<String> {
    let mut lines = fresh_head();
    lines.push("providers:".to_owned());
    lines.extend(entries.iter().flat_map(|entry| entry.lines("")));
    lines.extend(version_check_lines());
    lines
}

fn version_check_lines() -> [String; 2] {
    [
        "# Offline, each call would else wait for the newest version of clusterctl.".to_owned(),
        format!("{VERSION_CHECK}: \"true\""),
    ]
}

/// Whether an entry of that name and type is in the file; with another url that is a warning.
fn is_there(source: &Source, root: Option<&Node>, entry: &Entry, report: &mut Report) -> bool {
    let providers = root
        .and_then(|root| root.at(&FieldPath::root().field("providers")))
        .and_then(Node::as_sequence);
    for (i, item) in providers.unwrap_or_default().iter().enumerate() {
        let text = |field: &str| {
            item.at(&FieldPath::root().field(field))
                .and_then(Node::as_str)
                .unwrap_or_default()
        };
        if text("name") != entry.name || text("type") != entry.provider_type.as_str() {
            continue;
        }
        if text("url") != entry.url {
            let path = FieldPath::root().field("providers").index(i).field("url");
            let span = root
                .map(|root| root.nearest(&path).span)
                .unwrap_or_default();
            let message = format!(
                "{} {} has another url in {} already",
                entry.provider_type.as_str(),
                entry.name,
                source.name()
            );
            let finding = Diagnostic::of(&ENTRY_OTHER, message)
                .at(source.place_at(span).in_document(1).at_path(path));
            let url = without_credentials(&entry.url);
            report.push(finding.help(format!("keep it, or write `url: {}`", quoted(&url))));
        }
        return true;
    }
    false
}

/// Adds entries behind the last one of the list, indented as it is, and the switch of the version
/// check.
fn extend(
    edits: &mut Edits<'_>,
    source: &Source,
    root: &Node,
    missing: &[&Entry],
) -> Result<(), Box<Diagnostic>> {
    let has_switch = root.at(&FieldPath::root().field(VERSION_CHECK)).is_some();
    if source.text()[root.span.start()..].starts_with('{') && !(has_switch && missing.is_empty()) {
        return Err(not_extensible(source, FieldPath::root(), root, missing));
    }
    if !missing.is_empty() {
        let path = FieldPath::root().field("providers");
        let lines = |indent: &str| {
            missing
                .iter()
                .flat_map(|entry| entry.lines(indent))
                .collect::<Vec<_>>()
        };
        match root.at(&path) {
            None => edits.lines_at_end(
                root.span,
                &[vec!["providers:".to_owned()], lines("")].concat(),
            ),
            Some(list) if list.span.start() == list.span.end() => {
                edits.lines_after(root.nearest(&path).key.unwrap_or(list.span), &lines(""));
            }
            Some(list) if !source.text()[list.span.start()..].starts_with('-') => {
                return Err(not_extensible(source, path, list, missing));
            }
            Some(list) => edits.lines_after(
                list.span,
                &lines(&indentation(source.text(), list.span.start())),
            ),
        }
    }
    if !has_switch {
        edits.lines_at_end(root.span, &version_check_lines());
    }
    Ok(())
}

/// A list or a file in brackets is left to its author.
fn not_extensible(
    source: &Source,
    path: FieldPath,
    node: &Node,
    missing: &[&Entry],
) -> Box<Diagnostic> {
    let what = if path.is_root() {
        "the file"
    } else {
        "providers"
    };
    let lines: Vec<String> = missing.iter().flat_map(|entry| entry.lines("")).collect();
    let finding = Diagnostic::of(
        &NOT_EXTENSIBLE,
        format!("{what} is written in brackets, so entries cannot be added"),
    );
    let finding = finding.at(source.place_at(node.span).in_document(1).at_path(path));
    let finding = finding.insertion(source.position(node.span.end()).line, lines);
    Box::new(finding.help("write the list with one `- ` line for each entry, and add these"))
}

#[cfg(test)]
mod tests {
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

    /// Found by fuzzing: fields behind a null are no YAML.
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
            text.starts_with(
                "VAR: a\nproviders:\n- name: foo\n  url: /r\n  type: BootstrapProvider\n"
            ),
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
    #[cfg(feature = "cli")]
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
            &["the `providers` of the bundle's configuration are no list"],
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
}
