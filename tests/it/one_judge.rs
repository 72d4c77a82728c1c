//! `release build`, `repository add` and `repository doctor` hand a release to one check: what one
//! of them finds, all of them find.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Run, run};

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

/// The findings of a report in JSON: rule and field. The location of a finding about a whole file is
/// `components` in a provider.yaml.
fn findings(run: &Run) -> BTreeSet<(String, String)> {
    let report = run.json();
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

/// The rules of the findings on standard error.
fn rules(run: &Run) -> BTreeSet<String> {
    let rule = |line: &str| {
        let (severity, rest) = line.split_once('[')?;
        ["error", "warning", "info"]
            .contains(&severity)
            .then(|| rest.split(']').next().unwrap().to_owned())
    };
    run.stderr.lines().filter_map(rule).collect()
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
        findings(&run(path, "release build v0.1.0 --to out -o json"))
            .into_iter()
            .partition(|(rule, _)| advice.contains(&rule.as_str()));
    let names = |found: &BTreeSet<(String, String)>| {
        found
            .iter()
            .map(|(rule, _)| rule.clone())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(names(&build), expected, "release build of {objects}");
    assert_eq!(
        names(&author),
        advice.iter().map(|rule| (*rule).to_owned()).collect(),
        "release build of {objects}"
    );
    assert_eq!(
        rules(&run(
            path,
            "repository add in --release v0.1.0 --to repository -v 1"
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
    let doctor = findings(&run(path, "repository doctor other -o json"));
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
        &["components-field-dropped", "components-raw-rejected"],
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
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: other}\n",
        &["template-namespace-present"],
    );
    check(
        map,
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"${A:?must}\"}\n",
        &["template-operator-not-shells"],
    );
}

/// What the check says of whole files is left out by `--allow`, and fails the run by `--deny`, in
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
    assert_eq!(run(path, "release build v0.1.0 --to before").code, 1);
    assert!(!path.join("before").exists());
    let report = run(path, "release build v0.1.0 --to before -o json").json();
    assert_eq!(
        (&report["written"], &report["files"]),
        (&json!(false), &json!([])),
        "nothing is written of a release with errors"
    );
    let add = run(
        path,
        "repository add in --release v0.1.0 --to repository -v 1",
    );
    assert_eq!(add.code, 1);
    for line in [
        "release build v0.1.0 --to out",
        "release build v0.1.0 --to out --check",
        "generate components",
        "repository add in --release v0.1.0 --to repository -v 1",
        "repository doctor repository",
    ] {
        let allowed = run(path, &format!("{line} --allow {rule}")).ok();
        assert!(
            !allowed.stdout.contains(rule) && !allowed.stderr.contains(rule),
            "{line}: {allowed:?}"
        );
        if line != "generate components" {
            let denied = run(path, &format!("{line} --allow {rule} --deny {advice}"));
            assert_eq!(denied.code, 1, "{line}: {denied:?}");
        }
        let unknown = run(path, &format!("{line} --allow crd-contract-label"));
        assert_eq!(unknown.code, 2, "{line}: {unknown:?}");
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
        assert_eq!(output.code, 1, "{line}: {output:?}");
        assert!(rules(&output).contains(rule), "{line}: {output:?}");
    }
    assert!(!path.join("out").exists() && !path.join("repository").exists());
}
