//! `release build`, `repository add` and `repository doctor` hand a release to one judge: what one
//! of them finds, all of them find.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::support::windlass;

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";
const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system, labels: {cluster.x-k8s.io/provider: bootstrap-foo}}\n";

/// A folder with the files of a release, and a provider.yaml that makes the same release of them.
fn folder(objects: &str, template: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "in/bootstrap-components.yaml",
        &format!("{NAMESPACE}---\n{objects}"),
    );
    write("in/metadata.yaml", METADATA);
    write("in/cluster-template.yaml", template);
    write(
        "provider.yaml",
        "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: BootstrapProvider\nnamespace: foo-system\n\
         components: in/bootstrap-components.yaml\nmetadata: in/metadata.yaml\ntemplates: [in]\n",
    );
    folder
}

fn run(folder: &Path, line: &str) -> Output {
    windlass(folder)
        .args(line.split(' '))
        .env("PWD", folder)
        .output()
        .unwrap()
}

/// The findings of a report in JSON: rule and field. What is said of a file as a whole stands at
/// `components` in a provider.yaml.
fn told(output: &Output) -> BTreeSet<(String, String)> {
    let report: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let findings = report["findings"].as_array().unwrap().iter();
    let text = |found: &Value, field: &str| found[field].as_str().unwrap_or_default().to_owned();
    findings
        .map(|found| {
            (
                text(found, "rule"),
                text(found, "path").replacen("components", "", 1),
            )
        })
        .collect()
}

/// What the text of findings names.
fn named(output: &Output) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let rule = |line: &str| {
        let (severity, rest) = line.split_once('[')?;
        ["error", "warning", "info"]
            .contains(&severity)
            .then(|| rest.split(']').next().unwrap().to_owned())
    };
    text.lines().filter_map(rule).collect()
}

/// Builds, lays in and examines a release: all of them tell the rules that are expected, and no
/// others.
fn check(objects: &str, template: &str, expected: &[&str]) {
    check_for(objects, template, expected, &[]);
}

/// The same; `advice` is what only who makes the release is told.
fn check_for(objects: &str, template: &str, expected: &[&str], advice: &[&str]) {
    let folder = folder(objects, template);
    let path = folder.path();
    let expected: BTreeSet<String> = expected.iter().map(|rule| (*rule).to_owned()).collect();
    let (author, build): (BTreeSet<_>, BTreeSet<_>) =
        told(&run(path, "release build v0.1.0 --to out -o json"))
            .into_iter()
            .partition(|(rule, _)| advice.contains(&rule.as_str()));
    let rules = |found: &BTreeSet<(String, String)>| {
        found
            .iter()
            .map(|(rule, _)| rule.clone())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(rules(&build), expected, "release build of {objects}");
    assert_eq!(
        rules(&author),
        advice.iter().map(|rule| (*rule).to_owned()).collect(),
        "release build of {objects}"
    );
    assert_eq!(
        named(&run(
            path,
            "repository add in --release v0.1.0 --to repository"
        )),
        expected,
        "repository add of {objects}"
    );
    std::fs::create_dir_all(path.join("other/bootstrap-foo")).unwrap();
    std::fs::rename(path.join("in"), path.join("other/bootstrap-foo/v0.1.0")).unwrap();
    std::fs::write(
        path.join("other/clusterctl.yaml"),
        format!(
            "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\nproviders:\n- {{name: foo, type: BootstrapProvider, url: {}/other/bootstrap-foo/latest/bootstrap-components.yaml}}\n",
            path.display()
        ),
    )
    .unwrap();
    let doctor = told(&run(path, "repository doctor other -o json"));
    assert_eq!(doctor, build, "repository doctor of {objects}");
}

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foosettings.foo.dev, labels: {cluster.x-k8s.io/v1beta2: v1beta9}}\n\
    spec:\n  group: foo.dev\n  scope: Namespaced\n  names: {kind: FooSetting, plural: foosettings}\n  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, description: \"of ${NAME:=x}\"}}}\n";

/// Review A09: a label that names a version which the CRD does not serve was an error of doctor
/// alone.
#[test]
fn verbs_agree_on_definitions() {
    check(
        CRD,
        "a: b\n",
        &["crd-contract-label-version-unknown", "crd-text-substituted"],
    );
    check(
        &CRD.replace("v1beta2: v1beta9", "v1beta1: v1"),
        "a: b\n",
        &["crd-contract-label-missing", "crd-text-substituted"],
    );
    check(
        &CRD.replace("foosettings.foo.dev", "foos.foo.dev"),
        "a: b\n",
        &[
            "crd-contract-label-version-unknown",
            "crd-name-wrong",
            "crd-text-substituted",
        ],
    );
}

#[test]
fn verbs_agree_on_what_clusterctl_changes() {
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: []\n";
    check(role, "a: b\n", &["components-role-left-behind"]);
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: elsewhere, labels: {a: 1}}\ndata: {}\n";
    check(
        map,
        "a: b\n",
        &["components-label-not-text", "components-namespace-foreign"],
    );
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: foo-system}\n\
        spec: {template: {spec: {kontainers: [], securityContext: {runAsNonRoot: true}, containers: [{name: manager, image: \"${FOO_IMAGE:=ghcr.io/a/b:v0.1.0}\"}]}}}\n";
    check(
        deployment,
        "a: b\n",
        &["components-field-dropped", "components-raw-refused"],
    );
    check(
        &deployment
            .replace("kontainers: [], ", "")
            .replace("apps/v1", "apps/v1beta1"),
        "a: b\n",
        &["components-object-version-unknown"],
    );
    check(
        &deployment
            .replace("kontainers: [], ", "")
            .replace("ghcr.io/a/b:v0.1.0", "b"),
        "a: b\n",
        &["components-image-not-canonical"],
    );
    check(
        &format!("{map}---\n{map}")
            .replace(", labels: {a: 1}", "")
            .replace("elsewhere", "foo-system"),
        "a: b\n",
        &["components-object-duplicated"],
    );
}

/// The same kind and name in two groups are two objects, and one Deployment with the manager is
/// enough.
#[test]
fn sound_components_are_told_nothing() {
    let deployment = |name: &str, container: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: foo-system}}\n\
             spec: {{template: {{spec: {{securityContext: {{runAsNonRoot: true}}, containers: [{{name: {container}, image: \"ghcr.io/a/b:v0.1.0\"}}]}}}}}}\n---\n"
        )
    };
    let event = |group: &str| {
        format!(
            "apiVersion: {group}/v1\nkind: Thing\nmetadata: {{name: t, namespace: foo-system}}\n---\n"
        )
    };
    let objects = [
        deployment("proxy", "proxy"),
        deployment("m", "manager"),
        event("a.io"),
        event("b.io"),
    ]
    .concat();
    check_for(
        objects.trim_end_matches("---\n"),
        "a: b\n",
        &[],
        &["components-workload-unawaited"],
    );
}

#[test]
fn verbs_agree_on_templates() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: foo-system}\n";
    check(
        map,
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n",
        &["template-namespace-present"],
    );
    check(
        map,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${A:?must}\"}\n",
        &["template-operator-not-shells"],
    );
}

/// What becomes a fault only in a cluster is told, and the release is laid in; what clusterctl
/// refuses is not.
#[test]
fn a_release_that_clusterctl_takes_is_laid_in_with_what_is_wrong() {
    let given = folder(CRD, "a: b\n");
    let added = run(
        given.path(),
        "repository add in --release v0.1.0 --to repository",
    );
    assert_eq!(
        (
            added.status.code(),
            named(&added).contains("crd-contract-label-version-unknown")
        ),
        (Some(1), true),
        "{added:?}"
    );
    assert!(
        String::from_utf8_lossy(&added.stdout).starts_with("clusterctl init --config "),
        "{added:?}"
    );
    assert!(
        given
            .path()
            .join("repository/bootstrap-foo/v0.1.0/metadata.yaml")
            .is_file()
    );

    let refused = folder(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: second}\n",
        "a: b\n",
    );
    let added = run(
        refused.path(),
        "repository add in --release v0.1.0 --to repository",
    );
    assert_eq!(
        (added.status.code(), named(&added)),
        (
            Some(1),
            BTreeSet::from(["components-namespace-duplicated".to_owned()])
        ),
        "{added:?}"
    );
    assert!(
        added.stdout.is_empty() && !refused.path().join("repository").exists(),
        "{added:?}"
    );
}

/// Findings of a build stand in the files that the user wrote, not in the file that is made of
/// them.
#[test]
fn findings_of_a_build_stand_in_what_was_given() {
    let place = |objects: &str, rule: &str| {
        let folder = folder(objects, "a: b\n");
        let output = run(folder.path(), "release build v0.1.0 --to out -o json");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|found| found["rule"] == rule)
            .cloned();
        let found = found.unwrap_or_else(|| panic!("{report:#}"));
        (
            found["file"].as_str().unwrap_or_default().to_owned(),
            found["line"].as_u64(),
            found["path"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let file = "in/bootstrap-components.yaml".to_owned();
    let label = "metadata.labels[cluster.x-k8s.io/v1beta2]".to_owned();
    assert_eq!(
        place(CRD, "crd-contract-label-version-unknown"),
        (file.clone(), Some(7), label)
    );
    let described = "spec.versions[0].schema.openAPIV3Schema.description".to_owned();
    assert_eq!(
        place(CRD, "crd-text-substituted"),
        (file.clone(), Some(13), described)
    );
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  a: ${B\n";
    assert_eq!(
        place(map, "components-substitution-broken").0,
        "provider.yaml"
    );
}

/// Review A10: the sums that a release brings with it are read, and its files held against them.
#[test]
fn a_release_is_held_against_its_own_checksums() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: foo-system}\n";
    let given = folder(map, "a: b\n");
    let path = given.path();
    assert_eq!(
        run(path, "release build v0.1.0 --to out").status.code(),
        Some(0)
    );
    let add = |to: &str| run(path, &format!("repository add out --to {to}"));
    assert_eq!(add("sound").status.code(), Some(0));
    std::fs::remove_file(path.join("out/cluster-template.yaml")).unwrap();
    std::fs::write(path.join("out/notes.txt"), "of mine").unwrap();
    assert_eq!(
        add("partly").status.code(),
        Some(0),
        "a part of a release, and a file beside it"
    );

    let edited = path.join("partly/bootstrap-foo/v0.1.0/bootstrap-components.yaml");
    let text = std::fs::read_to_string(&edited).unwrap();
    std::fs::write(&edited, text.replace("name: m\n", "name: map\n")).unwrap();
    std::fs::copy(&edited, path.join("out/bootstrap-components.yaml")).unwrap();
    let wrong = BTreeSet::from(["release-checksum-wrong".to_owned()]);
    let refused = add("other");
    assert_eq!(
        (
            refused.status.code(),
            named(&refused),
            path.join("other").exists()
        ),
        (Some(1), wrong.clone(), false),
        "{refused:?}"
    );
    let packed = run(path, "repository bundle partly --write-to b.tar");
    assert_eq!(
        (
            packed.status.code(),
            named(&packed),
            path.join("b.tar").exists()
        ),
        (Some(1), wrong, false),
        "{packed:?}"
    );
    let examined = told(&run(path, "repository doctor partly -o json"));
    assert!(
        examined
            .iter()
            .any(|(rule, _)| rule == "release-checksum-wrong"),
        "{examined:?}"
    );
}

/// What the judge says of whole files is left out by `--allow`, and fails the run by `--deny`, in
/// each verb that hands it a release.
#[test]
fn findings_of_the_judge_can_be_allowed_and_denied_everywhere() {
    let unknown = CRD.replace(", description: \"of ${NAME:=x}\"", "");
    let template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: kube-system}\n";
    let folder = folder(&unknown, template);
    let path = folder.path();
    let (rule, advice) = (
        "crd-contract-label-version-unknown",
        "template-namespace-foreign",
    );
    assert_eq!(
        run(path, "release build v0.1.0 --to before").status.code(),
        Some(1)
    );
    assert!(!path.join("before").exists());
    let report: Value =
        serde_json::from_slice(&run(path, "release build v0.1.0 --to before -o json").stdout)
            .unwrap();
    assert_eq!(
        (&report["written"], &report["files"]),
        (&json!(false), &json!([])),
        "nothing is written of what is faulty"
    );
    assert_eq!(
        run(path, "repository add in --release v0.1.0 --to repository")
            .status
            .code(),
        Some(1)
    );
    for line in [
        "release build v0.1.0 --to out",
        "release build v0.1.0 --to out --check",
        "generate components",
        "repository add in --release v0.1.0 --to repository",
        "repository doctor repository",
    ] {
        let all = |output: &Output| {
            format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            )
        };
        let allowed = run(path, &format!("{line} --allow {rule}"));
        assert_eq!(allowed.status.code(), Some(0), "{line}: {}", all(&allowed));
        assert!(!all(&allowed).contains(rule), "{line}: {}", all(&allowed));
        if line != "generate components" {
            let denied = run(path, &format!("{line} --allow {rule} --deny {advice}"));
            assert_eq!(denied.status.code(), Some(1), "{line}: {}", all(&denied));
        }
        let unknown = run(path, &format!("{line} --allow crd-contract-label"));
        assert_eq!(unknown.status.code(), Some(2), "{line}: {}", all(&unknown));
    }
    let components = std::fs::read_to_string(path.join("out/bootstrap-components.yaml")).unwrap();
    assert!(
        components.contains("cluster.x-k8s.io/v1beta2: v1beta9"),
        "{components}"
    );
    assert!(path.join("out/SHA256SUMS").exists());
}

/// What keeps something out of the files is told whatever is allowed: a release without it would be
/// another one.
#[test]
fn what_keeps_a_release_from_being_whole_cannot_be_allowed() {
    let folder = folder("apiVersion: v1\nkind: ConfigMap\n", "a: b\n");
    let path = folder.path();
    for (line, rule) in [
        ("release build v0.1.0 --to out", "object-incomplete"),
        ("generate components", "object-incomplete"),
        (
            "repository add in --release v0.9.0 --to repository",
            "metadata-series-missing",
        ),
    ] {
        let output = run(path, &format!("{line} --allow {rule}"));
        assert_eq!(output.status.code(), Some(1), "{line}: {output:?}");
        assert!(named(&output).contains(rule), "{line}: {output:?}");
    }
    assert!(!path.join("out").exists() && !path.join("repository").exists());
}
