//! The files of a release: images of managers, templates of several providers, install.yaml, and
//! what cannot be written.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support;

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";
const MANAGER: &str = "manager: {image: ghcr.io/a/b}\n";
const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n";
const TEMPLATE: &str = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: x}\n";

fn provider(kind: &str, lines: &str) -> String {
    format!(
        "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: {kind}\nnamespace: foo-system\n{lines}"
    )
}

/// Two providers of one release, with some more lines each.
fn two(first: &str, second: &str) -> String {
    let with_manager = |kind: &str, lines: &str| {
        provider(
            kind,
            &format!("namePrefix: {}-\n{MANAGER}{lines}", kind.to_lowercase()),
        )
    };
    format!(
        "{}---\n{}",
        with_manager("AddonProvider", first),
        with_manager("BootstrapProvider", second)
    )
}

struct Built {
    code: Option<i32>,
    said: String,
    files: BTreeMap<String, String>,
}

impl Built {
    /// The objects of the only components file.
    fn objects(&self) -> Vec<Value> {
        let text = self
            .files
            .iter()
            .find(|(name, _)| name.ends_with("components.yaml"));
        support::documents(text.unwrap_or_else(|| panic!("{}", self.said)).1.as_bytes())
    }

    fn of_kind(&self, kind: &str) -> Value {
        self.objects()
            .into_iter()
            .find(|object| object["kind"] == kind)
            .unwrap()
    }

    /// Place and help of the findings of a rule with a message: `FILE:LINE:COLUMN`, help.
    fn finding(&self, heading: &str) -> Option<(String, String)> {
        let part = self.said.split_once(&format!("{heading}\n"))?.1;
        let part = part
            .split("\nerror[")
            .next()?
            .split("\nwarning[")
            .next()?
            .split("\ninfo[")
            .next()?;
        let after = |mark: &str| {
            part.lines()
                .find_map(|line| line.strip_prefix(mark))
                .unwrap_or_default()
                .to_owned()
        };
        Some((after("  --> "), after("  = help: ")))
    }
}

/// A folder with provider.yaml, metadata.yaml, and more files.
fn folder(provider: &str, files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("provider.yaml", provider), ("metadata.yaml", METADATA)]
        .iter()
        .chain(files)
    {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn built_with(provider: &str, files: &[(&str, &str)], flags: &[&str]) -> Built {
    let folder = folder(provider, files);
    let output = support::windlass(folder.path())
        .args(["release", "build", "v0.1.0", "--to", "out"])
        .args(flags)
        .output()
        .unwrap();
    let out = folder.path().join("out");
    let files = if out.exists() {
        support::files_below(&out)
    } else {
        Vec::new()
    };
    let name = |path: &std::path::Path| {
        path.strip_prefix(&out)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    let files = files
        .iter()
        .map(|path| (name(path), std::fs::read_to_string(path).unwrap()))
        .collect();
    Built {
        code: output.status.code(),
        said: String::from_utf8(output.stderr).unwrap(),
        files,
    }
}

fn built(provider: &str, files: &[(&str, &str)]) -> Built {
    built_with(provider, files, &[])
}

/// The severities and rules of what was said.
fn headings(said: &str) -> Vec<&str> {
    said.lines()
        .filter_map(|line| {
            line.split_once(": ")?
                .0
                .contains('[')
                .then(|| line.split(": ").next())?
        })
        .collect()
}

fn deployment(image: &str) -> String {
    format!(
        "{NAMESPACE}---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d, namespace: foo-system}}\nspec:\n  selector: {{}}\n  \
         template: {{spec: {{containers: [{{name: manager, image: \"{image}\"}}]}}}}\n"
    )
}

/// Of finished components only the manager's image gets the version, and only where its tag stands
/// for whatever was built last.
#[test]
fn placeholders_of_finished_components_become_the_version() {
    let digest = format!("sha256:{}", "a".repeat(64));
    let by_digest = format!("ghcr.io/a/b@{digest}");
    for (image, stamped) in [
        ("ghcr.io/a/b", true),
        ("ghcr.io/a/b:dev", true),
        ("ghcr.io/a/b:latest", true),
        ("ghcr.io/a/b:main", true),
        ("ghcr.io/a/b:master", true),
        ("ghcr.io/a/b:v1", false),
        ("ghcr.io/a/b:v0.1.0", false),
        (by_digest.as_str(), false),
    ] {
        let built = built(
            &provider("AddonProvider", "components: c.yaml\n"),
            &[("c.yaml", &deployment(image))],
        );
        let written = if stamped { "ghcr.io/a/b:v0.1.0" } else { image };
        assert_eq!(
            built.of_kind("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"],
            written
        );
        assert_eq!(built.files["images.txt"], format!("{written}\n"));
        let heading = format!(
            "info[components-image-tag-stamped]: the image `{image}` of Deployment/d becomes `ghcr.io/a/b:v0.1.0`"
        );
        let expected = (
            "c.yaml:10:57".to_owned(),
            "build the file with the tag of the release, or pass `--image`".to_owned(),
        );
        assert_eq!(
            built.finding(&heading),
            stamped.then_some(expected),
            "{}",
            built.said
        );
    }
}

/// provider.yaml names the image without a tag, which is the version; for one build another one may
/// be named.
#[test]
fn the_image_of_provider_yaml_gets_the_version() {
    let image = |image: &str, flags: &[&str]| {
        let built = built_with(
            &provider("AddonProvider", &MANAGER.replace("ghcr.io/a/b", image)),
            &[],
            flags,
        );
        (
            built.code,
            built.said.contains("error[provider-image-tagged]"),
            built.files.get("images.txt").cloned().unwrap_or_default(),
        )
    };
    let other = "ghcr.io/x/y:v0.1.0";
    assert_eq!(
        image("ghcr.io/a/b", &[]),
        (Some(0), false, "ghcr.io/a/b:v0.1.0\n".to_owned())
    );
    assert_eq!(
        image("ghcr.io/a/b:v0.1.0", &[]),
        (Some(1), true, String::new())
    );
    for given in [other.to_owned(), format!("addon-foo={other}")] {
        for own in ["ghcr.io/a/b", "ghcr.io/a/b:v1"] {
            assert_eq!(
                image(own, &["--image", &given]),
                (Some(0), false, format!("{other}\n")),
                "{own} {given}"
            );
        }
    }
    // A tag is refused once, and what would follow from a second one is not told.
    let by_digest = format!("ghcr.io/a/b@sha256:{}", "a".repeat(64));
    for own in [
        "ghcr.io/a/b:v0.1.0",
        "ghcr.io/a/b:v1",
        "ghcr.io/a/b:latest",
        &by_digest,
    ] {
        let built = built(
            &provider("AddonProvider", &MANAGER.replace("ghcr.io/a/b", own)),
            &[],
        );
        assert_eq!(
            headings(&built.said),
            ["error[provider-image-tagged]"],
            "{}",
            built.said
        );
    }
    for (own, fault) in [
        ("busybox:1", "docker.io/library/busybox:v0.1.0"),
        ("ghcr.io/A/b:v1", "ghcr.io/a/b:v0.1.0"),
    ] {
        let built = built(
            &provider("AddonProvider", &MANAGER.replace("ghcr.io/a/b", own)),
            &[],
        );
        assert_eq!(
            headings(&built.said),
            [
                "error[components-image-not-canonical]",
                "error[provider-image-tagged]"
            ],
            "{}",
            built.said
        );
        assert!(built.said.contains(fault), "{}", built.said);
    }
    let of_two = |given: &str| {
        built_with(&two("", ""), &[], &["--image", given]).files["images.txt"].clone()
    };
    assert_eq!(
        of_two(&format!("addon-foo={other}")),
        "ghcr.io/a/b:v0.1.0\nghcr.io/x/y:v0.1.0\n"
    );
    assert_eq!(
        of_two(&format!("bootstrap-foo={other}")),
        "ghcr.io/a/b:v0.1.0\nghcr.io/x/y:v0.1.0\n"
    );
}

/// Each type has one components file: what a second provider of a type would write is not told
/// beside it.
#[test]
fn a_second_provider_of_a_type_is_refused_once() {
    let other = provider(
        "AddonProvider",
        &MANAGER.replace("ghcr.io/a/b", "ghcr.io/a/c"),
    );
    let built = built(
        &format!("{}---\n{other}", provider("AddonProvider", MANAGER)),
        &[],
    );
    assert_eq!(
        (built.code, headings(&built.said)),
        (Some(1), vec!["error[provider-duplicated]"]),
        "{}",
        built.said
    );
}

/// Of large components one form is held at a time; what is said of them, of templates, and what is
/// installed, is the same.
#[test]
fn a_large_release_is_judged_as_a_small_one() {
    let lines = format!(
        "objects: [o.yaml]\ntemplates: [t]\n{}",
        MANAGER.replace(
            '}',
            ", sidecars: [{name: s, image: \"ghcr.io/a/c:latest\"}]}"
        )
    );
    let template = TEMPLATE.replace("name: x", "name: \"${CLUSTER_NAME}${A:=b}${A}\"");
    let of = |size: usize| {
        let object = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{a: \"{}\"}}\n",
            "z".repeat(size)
        );
        let built = built(
            &provider("AddonProvider", &lines),
            &[("o.yaml", &object), ("t/cluster-template.yaml", &template)],
        );
        let install = built.files["install.yaml"].replace(&"z".repeat(size), "z");
        (
            built.code,
            headings(&built.said)
                .iter()
                .map(|heading| (*heading).to_owned())
                .collect::<Vec<_>>(),
            install,
        )
    };
    let (small, large) = (of(1), of(3 << 20));
    assert_eq!(
        small.1,
        [
            "warning[components-image-unreleased]",
            "warning[template-variable-blank]"
        ],
        "{}",
        small.2
    );
    assert!(small == large, "{:?}", large.1);
}

/// Bindings to an account that nobody runs as need no second finding, whichever verb makes the
/// objects.
#[test]
fn a_binding_to_another_account_is_told_once() {
    let roles = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: own}\n\
                 rules: [{apiGroups: [apps], resources: [deployments], verbs: [get]}]\n---\n\
                 apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: own}\n\
                 roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: own}\n\
                 subjects: [{kind: ServiceAccount, name: proxy, namespace: system}]\n";
    let lines = format!("rbac: {{serviceAccount: mine, roles: [r.yaml]}}\n{MANAGER}");
    let folder = folder(&provider("AddonProvider", &lines), &[("r.yaml", roles)]);
    for verb in [
        &["release", "build", "v0.1.0", "--to", "out"][..],
        &["generate", "components", "--release", "v0.1.0"],
    ] {
        let output = support::windlass(folder.path())
            .args(verb)
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            headings(&said),
            ["warning[provider-service-account-unbound]"],
            "{verb:?}: {said}"
        );
    }
}

/// Templates of several providers are in one folder: the same file may come from both, but not two
/// of one name.
#[test]
fn a_template_of_two_providers_is_one_file() {
    let file = ("t/cluster-template.yaml", TEMPLATE);
    for (second, files) in [
        ("t", vec![file]),
        ("u", vec![file, ("u/cluster-template.yaml", TEMPLATE)]),
    ] {
        let built = built(
            &two("templates: [t]\n", &format!("templates: [{second}]\n")),
            &files,
        );
        assert_eq!(
            (built.code, built.files["cluster-template.yaml"].as_str()),
            (Some(0), TEMPLATE),
            "{}",
            built.said
        );
    }
    let other = format!("{TEMPLATE}# other\n");
    let differing = built(
        &two("templates: [t]\n", "templates: [u]\n"),
        &[file, ("u/cluster-template.yaml", &other)],
    );
    let heading = "error[release-file-duplicated]: the release would hold two files cluster-template.yaml with different content";
    let expected = (
        "u/cluster-template.yaml".to_owned(),
        "rename one of them, or release the providers separately".to_owned(),
    );
    assert_eq!(
        (differing.code, differing.finding(heading)),
        (Some(1), Some(expected)),
        "{}",
        differing.said
    );
    // What is wrong with a template is said once, whoever names its folder.
    let faulty = TEMPLATE.replace("name: x", "name: \"${\"");
    let built = built(
        &two("templates: [t]\n", "templates: [t]\n"),
        &[("t/cluster-template.yaml", &faulty)],
    );
    assert_eq!(
        built.said.matches("  --> t/cluster-template.yaml:").count(),
        1,
        "{}",
        built.said
    );
    let files = [
        ("t/cluster-template.yaml", faulty.as_str()),
        ("t/cluster-template-small.yaml", &faulty),
    ];
    let built = self::built(&two("templates: [t]\n", "templates: [t]\n"), &files);
    let told = ["t/cluster-template.yaml", "t/cluster-template-small.yaml"]
        .map(|file| built.said.matches(&format!("  --> {file}:")).count());
    assert_eq!(told, [1, 1], "{}", built.said);
}

/// A release has one metadata.yaml, whichever file that is.
#[test]
fn providers_of_one_release_name_the_same_metadata() {
    let heading = "error[release-metadata-ambiguous]: a release has one metadata.yaml, but the providers name metadata.yaml and m.yaml";
    let differing = built(&two("", "metadata: m.yaml\n"), &[("m.yaml", METADATA)]);
    let expected = (
        "provider.yaml:16:11".to_owned(),
        "name the same file in each document".to_owned(),
    );
    assert_eq!(
        (differing.code, differing.finding(heading)),
        (Some(1), Some(expected)),
        "{}",
        differing.said
    );
    let other = METADATA.replace("- {", "# other\n- {");
    let same = built(
        &two("metadata: m.yaml\n", "metadata: m.yaml\n"),
        &[("m.yaml", &other)],
    );
    assert_eq!(
        (same.code, same.files["metadata.yaml"].as_str()),
        (Some(0), other.as_str()),
        "{}",
        same.said
    );
}

/// install.yaml installs the whole release or is not there: variables without a default are asked
/// for by clusterctl alone.
#[test]
fn install_yaml_is_of_all_providers_or_of_none() {
    let with = |arguments: &str| {
        format!("namePrefix: x-\nmanager: {{image: ghcr.io/a/c, args: [{arguments}]}}\n")
    };
    let of = |first: &str, second: &str| {
        let text = format!(
            "{}---\n{}",
            provider("AddonProvider", first),
            provider("BootstrapProvider", second)
        );
        built(&text, &[])
    };
    let open = with("'--a=${FOO_A}', '--b=${FOO_B}', '--c=${FOO_C:=1}'");
    for (first, second, file) in [
        (MANAGER, open.as_str(), "bootstrap"),
        (&open, MANAGER, "addon"),
    ] {
        let built = of(first, second);
        assert_eq!(
            (built.code, built.files.contains_key("install.yaml")),
            (Some(0), false),
            "{}",
            built.said
        );
        let heading = format!(
            "info[components-variable-required]: {file}-components.yaml has variables without a default, so that no install.yaml is \
             written: FOO_A, FOO_B"
        );
        let line = if file == "addon" { 1 } else { 8 };
        let expected = (
            format!("provider.yaml:{line}:1"),
            "write `${FOO_A:=default}`, or leave it: clusterctl asks for a value".to_owned(),
        );
        assert_eq!(built.finding(&heading), Some(expected), "{}", built.said);
    }
    let whole = of(MANAGER, &with("'--c=${FOO_C:=1}'"));
    let kinds = support::documents(whole.files["install.yaml"].as_bytes())
        .iter()
        .filter(|object| object["kind"] == "Deployment")
        .count();
    assert_eq!(
        (kinds, whole.files["install.yaml"].contains("--c=1")),
        (2, true),
        "{}",
        whole.said
    );
}

/// What YAML cannot hold is told where it comes from, and so is what the Deployment cannot be,
/// which provider.yaml describes.
#[test]
fn what_cannot_be_in_a_release_is_told_where_it_comes_from() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: \"\\uFFFE\"}\n";
    let refused = built(
        &provider("AddonProvider", &format!("objects: [own.yaml]\n{MANAGER}")),
        &[("own.yaml", map)],
    );
    let heading = "error[components-not-writable]: ConfigMap/foo-c cannot be written as YAML: the character U+FFFE is not allowed in YAML";
    let expected = (
        "own.yaml:1:1".to_owned(),
        "remove the character from the text".to_owned(),
    );
    assert_eq!(
        (refused.code, refused.finding(heading)),
        (Some(1), Some(expected)),
        "{}",
        refused.said
    );
    let volumes = "manager: {image: ghcr.io/a/b, volumes: [{name: a, secret: {secretName: 5}}]}\n";
    let wrong = built(&provider("AddonProvider", volumes), &[]);
    let heading = "error[object-field-type-wrong]: spec.template.spec.volumes[0].secret.secretName of Deployment/foo-controller-manager is a \
                   number, where a text belongs";
    let expected = (
        "provider.yaml:6:10".to_owned(),
        "write `secretName: \"5\"`".to_owned(),
    );
    assert_eq!(wrong.finding(heading), Some(expected), "{}", wrong.said);
    let foreign = format!("{NAMESPACE}---\n{map}")
        .replace("\\uFFFE", "x")
        .replace("foo-system", "other");
    let named = built(
        &provider("AddonProvider", &format!("objects: [own.yaml]\n{MANAGER}")),
        &[("own.yaml", &foreign)],
    );
    assert!(
        named.said.contains("Namespace/other") && !named.said.contains("foo-other"),
        "{}",
        named.said
    );
}

/// Names begin with the namespace without `-system`, or with what provider.yaml says.
#[test]
fn names_begin_with_the_prefix() {
    let names = |namespace: &str, lines: &str| {
        let text = provider("AddonProvider", &format!("{lines}{MANAGER}"))
            .replace("foo-system", namespace);
        let built = built(&text, &[]);
        [built.of_kind("Deployment"), built.of_kind("ClusterRole")]
            .map(|object| object["metadata"]["name"].as_str().unwrap().to_owned())
    };
    assert_eq!(
        names("harbour-system", ""),
        ["harbour-controller-manager", "harbour-system-manager-role"]
    );
    assert_eq!(
        names("harbour", ""),
        ["harbour-controller-manager", "harbour-manager-role"]
    );
    assert_eq!(
        names("harbour", "namePrefix: pier-\n"),
        ["pier-controller-manager", "harbour-manager-role"]
    );
    assert_eq!(
        names("harbour", "namePrefix: harbour-pier-\n"),
        [
            "harbour-pier-controller-manager",
            "harbour-pier-manager-role"
        ]
    );
}

/// A patch says by kind and name only what it is for: these stay those of the object, even where it
/// replaces the whole metadata.
#[test]
fn a_patch_of_all_metadata_keeps_the_identity() {
    let patch = "{metadata: {$patch: replace, name: any, namespace: other, labels: {a: b}}}";
    let built = built(
        &provider(
            "AddonProvider",
            &format!("{MANAGER}patches: [{{target: {{kind: Deployment}}, patch: '{patch}'}}]\n"),
        ),
        &[],
    );
    let expected = json!({
        "name": "foo-controller-manager", "namespace": "foo-system", "labels": {"a": "b", "cluster.x-k8s.io/provider": "addon-foo"},
    });
    assert_eq!(
        built.of_kind("Deployment")["metadata"],
        expected,
        "{}",
        built.said
    );
    let patch = patch.replace(", namespace: other", "");
    let lines = format!("{MANAGER}patches: [{{target: {{kind: Deployment}}, patch: '{patch}'}}]\n");
    let built = self::built(&provider("AddonProvider", &lines), &[]);
    let heading = "error[provider-patch-refused]: a patch does not apply to Deployment/foo-controller-manager: it would change metadata.namespace";
    let expected = (
        "provider.yaml:7:47".to_owned(),
        "correct the patch, or its target".to_owned(),
    );
    assert_eq!(built.finding(heading), Some(expected), "{}", built.said);
    for (patch, message, place, help) in [
        (
            "{spec: {selector: {matchLabels: {x: z}}}}",
            "with `manager.patch` the selector of the Deployment does not match the labels of its pods",
            "6:38",
            "give the pods under `spec.template.metadata.labels` what `spec.selector.matchLabels` wants",
        ),
        (
            "{spec: {template: {spec: {containers: [{image: z}]}}}}",
            "`manager.patch.spec.template.spec.containers[0]` cannot be applied: the item has no `name`, by which items of this list are told \
             apart",
            "6:77",
            "write the patch as `kubectl patch` takes a strategic merge patch",
        ),
    ] {
        let lines = format!("manager: {{image: ghcr.io/a/b, patch: {patch}}}\n");
        let built = self::built(&provider("AddonProvider", &lines), &[]);
        let heading = format!("error[provider-patch-refused]: {message}");
        assert_eq!(
            built.finding(&heading),
            Some((format!("provider.yaml:{place}"), help.to_owned())),
            "{}",
            built.said
        );
        assert_eq!(built.said.matches("error[").count(), 1, "{}", built.said);
    }
}
