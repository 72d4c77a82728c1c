//! Faulty input to `release build`: one report with every finding and its place, exit 1, nothing
//! written.

use std::path::Path;

use crate::support;

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";

const PROVIDER: &str = "apiVersion: windlass.dev/v1alpha1
kind: Provider
name: foo
type: InfrastructureProvider
group: infrastructure.foo.dev
contracts:
  v1beta2: [v1]
namespace: foo-system
crds: [crd.yaml]
";

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: foohosts.infrastructure.foo.dev
spec:
  group: infrastructure.foo.dev
  names: {kind: FooHost, listKind: FooHostList, plural: foohosts, singular: foohost}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {providerID: {type: string}}}
";

struct Outcome {
    code: Option<i32>,
    stderr: String,
    written: bool,
}

fn build(folder: &Path, arguments: &[&str]) -> Outcome {
    let output = support::windlass(folder)
        .args(["release", "build", "--to", "out"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.stdout.is_empty() || output.status.success(),
        "nothing is on standard output on a fault"
    );
    Outcome {
        code: output.status.code(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        written: folder.join("out").exists(),
    }
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Builds with some files changed; each expected finding is `rule` and `file:line:column`.
fn check(changed: &[(&str, &str)], version: &str, expected: &[(&str, &str)]) {
    let mut files = vec![
        ("provider.yaml", PROVIDER),
        ("metadata.yaml", METADATA),
        ("crd.yaml", CRD),
    ];
    files.retain(|(name, _)| changed.iter().all(|(other, _)| other != name));
    files.extend(changed.iter().copied().filter(|(_, text)| !text.is_empty()));
    let folder = folder(&files);
    let outcome = build(folder.path(), &[version]);
    let mut found = Vec::new();
    let mut lines = outcome.stderr.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(rule) = line
            .strip_prefix("error[")
            .and_then(|rest| rest.split(']').next())
        else {
            continue;
        };
        let place = lines
            .peek()
            .and_then(|next| next.trim_start().strip_prefix("--> "))
            .unwrap_or_default();
        found.push((rule.to_owned(), place.to_owned()));
    }
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(rule, place)| (rule.as_str(), place.as_str()))
        .collect();
    assert_eq!(found, expected, "{}", outcome.stderr);
    assert_eq!(
        outcome.code,
        Some(if expected.is_empty() { 0 } else { 1 }),
        "{}",
        outcome.stderr
    );
    assert_eq!(outcome.written, expected.is_empty());
}

#[test]
fn sound_provider_is_released() {
    check(&[], "v0.1.0", &[]);
}

#[test]
fn unknown_field_names_the_one_that_is_meant_and_hides_what_follows_from_it() {
    check(
        &[(
            "provider.yaml",
            &PROVIDER.replace("namespace:", "namspace:"),
        )],
        "v0.1.0",
        &[("provider-field-unknown", "provider.yaml:8:1")],
    );
}

#[test]
fn every_fault_is_in_one_report() {
    let provider = PROVIDER.replace(
        "crds: [crd.yaml]",
        "crds: [crd.yaml, missing.yaml]\nobjects: [two.yaml]\n",
    );
    let namespaces = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n---\napiVersion: v1\nkind: ConfigMap\n";
    let crd = CRD.replace(
        "metadata:\n",
        "metadata:\n  labels:\n    cluster.x-k8s.io/v1beta2: v2\n",
    );
    check(
        &[
            ("provider.yaml", &provider),
            ("two.yaml", namespaces),
            ("crd.yaml", &crd),
        ],
        "v0.2.0",
        &[
            ("provider-file-missing", "provider.yaml:9:18"),
            ("crd-contract-label-wrong", "crd.yaml:5:31"),
            ("metadata-series-missing", "metadata.yaml:4:24"),
            ("components-namespace-duplicated", "two.yaml:3:18"),
            ("object-incomplete", "two.yaml:5:1"),
        ],
    );
}

#[test]
fn crd_of_another_name_is_refused() {
    let crd = CRD.replace("name: foohosts.infra", "name: foohost.infra");
    check(
        &[("crd.yaml", &crd)],
        "v0.1.0",
        &[("crd-name-wrong", "crd.yaml:4:9")],
    );
}

#[test]
fn crd_of_another_group_stands_at_the_pattern() {
    let crd = CRD.replace("infrastructure.foo.dev", "controlplane.foo.dev");
    check(
        &[("crd.yaml", &crd)],
        "v0.1.0",
        &[("provider-crd-foreign-group", "provider.yaml:9:8")],
    );
}

#[test]
fn broken_files_are_findings_in_that_file() {
    check(
        &[("crd.yaml", "a: [\n")],
        "v0.1.0",
        &[("yaml-syntax", "crd.yaml:1:4")],
    );
    check(
        &[("provider.yaml", "kind: [\n")],
        "v0.1.0",
        &[("yaml-syntax", "provider.yaml:1:7")],
    );
}

#[test]
fn missing_metadata_and_contract_of_no_crd_are_refused() {
    check(
        &[("metadata.yaml", "")],
        "v0.1.0",
        &[("provider-file-missing", "provider.yaml:1:1")],
    );
    let other = METADATA.replace("v1beta2", "v1beta1");
    check(
        &[("metadata.yaml", &other)],
        "v0.1.0",
        &[("crd-contract-label-missing", "metadata.yaml:4:34")],
    );
}

#[test]
fn version_that_is_not_semantic_is_refused() {
    check(&[], "0.1.0", &[("release-version-malformed", "")]);
    check(&[], "v1", &[("release-version-malformed", "")]);
}

#[test]
fn file_that_the_command_line_names_must_be_there() {
    let folder = folder(&[("provider.yaml", PROVIDER)]);
    let outcome = build(folder.path(), &["v0.1.0", "--provider", "providr.yaml"]);
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome.stderr.contains("providr.yaml: no such file")
            && outcome.stderr.contains("did you mean provider.yaml?"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn without_a_provider_file_nobody_publishes_ours() {
    let folder = folder(&[("README.md", "x")]);
    let outcome = build(folder.path(), &["v0.1.0"]);
    assert_eq!(
        (outcome.code, outcome.written),
        (Some(2), false),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stderr.contains("--provider builtin"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn target_with_other_content_is_left_alone() {
    let folder = folder(&[
        ("provider.yaml", PROVIDER),
        ("metadata.yaml", METADATA),
        ("crd.yaml", CRD),
        ("out/notes.md", "mine"),
    ]);
    let outcome = build(folder.path(), &["v0.1.0"]);
    assert_eq!(outcome.code, Some(2), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("notes.md"), "{}", outcome.stderr);
    assert_eq!(
        std::fs::read_dir(folder.path().join("out"))
            .unwrap()
            .count(),
        1
    );
    assert_eq!(build(folder.path(), &["v0.1.0", "--force"]).code, Some(0));
    assert_eq!(
        std::fs::read_to_string(folder.path().join("out/notes.md")).unwrap(),
        "mine"
    );
}

/// `--force` keeps a file that the release does not have and says so; `--check` says that the file
/// is to be removed, and by whom.
#[test]
fn check_and_force_agree_on_a_foreign_file() {
    let folder = folder(&[
        ("provider.yaml", PROVIDER),
        ("metadata.yaml", METADATA),
        ("crd.yaml", CRD),
    ]);
    assert_eq!(build(folder.path(), &["v0.1.0"]).code, Some(0));
    let notes = folder.path().join("out/notes.md");
    std::fs::write(&notes, "mine").unwrap();
    let check = |arguments: &[&str]| {
        let mut command = support::windlass(folder.path());
        let output = command
            .args(["release", "build", "v0.1.0", "--to", "out", "--check"])
            .args(arguments)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (code, stdout, stderr) = check(&[]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stdout.contains("error[release-file-foreign]: out/notes.md is there"),
        "{stdout}"
    );
    assert!(
        stdout.contains("help: remove the file, or build into another folder"),
        "{stdout}"
    );
    assert!(
        !stderr.contains("run `windlass release build"),
        "nothing is stale: {stderr}"
    );
    assert!(stderr.contains("remove it, `--force` does not"), "{stderr}");
    let forced = build(folder.path(), &["v0.1.0", "--force"]);
    assert_eq!(forced.code, Some(0), "{}", forced.stderr);
    assert!(
        forced
            .stderr
            .contains("note: out also holds 1 file that the release does not have: notes.md"),
        "{}",
        forced.stderr
    );
    assert_eq!(std::fs::read_to_string(&notes).unwrap(), "mine");
    assert_eq!(check(&[]).0, Some(1), "--force changed nothing about it");
    assert_eq!(check(&["--allow", "release-file-foreign"]).0, Some(0));
    std::fs::write(folder.path().join("out/images.txt"), "stale\n").unwrap();
    let (code, _, stderr) = check(&["--allow", "release-file-foreign"]);
    assert!(
        code == Some(1) && stderr.contains("--to out --force`") && !stderr.contains("also holds"),
        "{stderr}"
    );
    std::fs::remove_file(&notes).unwrap();
    assert_eq!(build(folder.path(), &["v0.1.0", "--force"]).code, Some(0));
    assert_eq!(check(&[]).0, Some(0));
}

/// Shapes of real providers: an add-on without a contract, and an old helper kind of which no
/// version fulfils one.
#[test]
fn kinds_without_a_contract_are_no_fault() {
    let addon = PROVIDER
        .replace("InfrastructureProvider", "AddonProvider")
        .replace("contracts:\n  v1beta2: [v1]\n", "");
    let helper = CRD
        .replace("name: v1\n", "name: v1alpha1\n")
        .replace("FooHost", "FooServer")
        .replace("foohost", "fooserver");
    for provider in [
        addon.as_str(),
        &PROVIDER.replace("[crd.yaml]", "[crd.yaml, helper.yaml]"),
    ] {
        let folder = folder(&[
            ("provider.yaml", provider),
            ("metadata.yaml", METADATA),
            ("crd.yaml", CRD),
            ("helper.yaml", &helper),
        ]);
        let outcome = build(folder.path(), &["v0.1.0", "--deny", "warnings"]);
        assert_eq!(outcome.code, Some(0), "{provider}{}", outcome.stderr);
    }
}

/// A file that is named and is not there; no release can do without its metadata.
#[test]
fn files_that_are_missing_are_told_as_what_they_are() {
    let folder = folder(&[(
        "provider.yaml",
        &format!("{PROVIDER}templates: [flavors]\nmetadata: meta.yaml\n"),
    )]);
    let outcome = build(folder.path(), &["v0.1.0"]);
    assert_eq!((outcome.code, outcome.written), (Some(1), false));
    let path = "correct the path: it is relative to the folder of provider.yaml";
    for (fault, help) in [
        ("`crd.yaml` is no file", path),
        ("`flavors` is no folder with templates", path),
        (
            "`meta.yaml` is no file, and no release is without it",
            "write one with the release series in it, or correct `metadata`",
        ),
    ] {
        let told = outcome
            .stderr
            .split("\nerror[")
            .find(|told| told.contains(&format!("]: {fault}\n")));
        assert!(
            told.is_some_and(|told| told.contains(&format!("= help: {help}"))),
            "{fault}\n in\n{}",
            outcome.stderr
        );
    }
}

#[test]
fn check_compares_and_writes_nothing() {
    let folder = folder(&[
        ("provider.yaml", PROVIDER),
        ("metadata.yaml", METADATA),
        ("crd.yaml", CRD),
    ]);
    assert_eq!(build(folder.path(), &["v0.1.0"]).code, Some(0));
    assert_eq!(build(folder.path(), &["v0.1.0", "--check"]).code, Some(0));
    let file = folder.path().join("out/infrastructure-components.yaml");
    let stale = std::fs::read_to_string(&file)
        .unwrap()
        .replace("foo-system", "bar-system");
    std::fs::write(&file, &stale).unwrap();
    let output = support::windlass(folder.path())
        .args([
            "release", "build", "v0.1.0", "--to", "out", "--check", "-o", "github",
        ])
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stdout}");
    assert!(
        stdout.contains("::error file=out/infrastructure-components.yaml,line="),
        "{stdout}"
    );
    assert!(stdout.contains("title=release-file-stale::"), "{stdout}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), stale);
}

/// What stands where Kubernetes has another type: a finding each, at its place, with the line to
/// write.
#[test]
fn fields_of_the_wrong_type_in_own_objects_are_findings() {
    let provider = PROVIDER.replace("crds: [crd.yaml]", "crds: [crd.yaml]\nobjects: [own.yaml]");
    let object = |api_version: &str, kind: &str, rest: &str| {
        format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: x}}\n{rest}\n")
    };
    for (own, place, line) in [
        (
            object(
                "apps/v1",
                "Deployment",
                "spec: {template: {spec: {containers: [manager]}}}",
            ),
            "own.yaml:4:39",
            "write `- {name: manager, …}`",
        ),
        (
            object("apps/v1", "Deployment", "spec:\n  template: x"),
            "own.yaml:5:13",
            "write a mapping, such as `template: {spec: …}`",
        ),
        (
            object(
                "rbac.authorization.k8s.io/v1",
                "ClusterRoleBinding",
                "roleRef: manager-role",
            ),
            "own.yaml:4:10",
            "write `roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager-role}`",
        ),
        (
            object(
                "cert-manager.io/v1",
                "Certificate",
                "spec: {issuerRef: selfsigned}",
            ),
            "own.yaml:4:19",
            "write `issuerRef: {name: selfsigned}`",
        ),
        (
            object("v1", "ConfigMap", "data: {}").replace("{name: x}", "{name: x, labels: y}"),
            "own.yaml:3:29",
            "such as `labels: {",
        ),
        (
            object(
                "apps/v1",
                "Deployment",
                "spec: {template: {spec: {containers: [], volumes: [{secret: {secretName: 5}}]}}}",
            ),
            "own.yaml:4:74",
            "write `secretName: \"5\"`",
        ),
    ] {
        let folder = folder(&[
            ("provider.yaml", &provider),
            ("metadata.yaml", METADATA),
            ("crd.yaml", CRD),
            ("own.yaml", &own),
        ]);
        let outcome = build(folder.path(), &["v0.1.0"]);
        assert_eq!(
            (outcome.code, outcome.written),
            (Some(1), false),
            "{own}{}",
            outcome.stderr
        );
        let findings: Vec<&str> = outcome
            .stderr
            .lines()
            .filter(|line| line.starts_with("error[object-field-type-wrong]"))
            .collect();
        assert_eq!(findings.len(), 1, "{own}{}", outcome.stderr);
        assert!(
            outcome.stderr.contains(&format!("--> {place}")) && outcome.stderr.contains(line),
            "{own}{}",
            outcome.stderr
        );
    }
}

#[test]
fn a_short_type_names_the_one_that_is_meant() {
    for (short, meant) in [
        ("Infrastructure", "InfrastructureProvider"),
        ("IPAM", "IPAMProvider"),
        ("BootstrapProvder", "BootstrapProvider"),
    ] {
        let provider = PROVIDER.replace("type: InfrastructureProvider", &format!("type: {short}"));
        let folder = folder(&[
            ("provider.yaml", &provider),
            ("metadata.yaml", METADATA),
            ("crd.yaml", CRD),
        ]);
        let outcome = build(folder.path(), &["v0.1.0"]);
        assert_eq!(outcome.code, Some(1), "{}", outcome.stderr);
        assert!(
            outcome
                .stderr
                .contains(&format!("help: write `type: {meant}`")),
            "{}",
            outcome.stderr
        );
        assert_eq!(
            outcome.stderr.matches("error[").count(),
            1,
            "{}",
            outcome.stderr
        );
    }
}

/// A CRD whose old version is not served, and a helper kind that core objects never refer to, as
/// AWS and OpenStack have them: what builds without a finding has none for the doctor either.
#[test]
fn building_and_examining_judge_definitions_alike() {
    let unserved = "  versions:\n  - name: v1alpha1\n    served: false\n    storage: false\n    schema: {openAPIV3Schema: {type: object}}\n";
    let crd = CRD.replace("  versions:\n", unserved);
    let helper = CRD
        .replace("FooHost", "FooServer")
        .replace("foohost", "fooserver")
        .replace("name: v1\n", "name: v1alpha2\n");
    let other = helper
        .replace("infrastructure.foo.dev", "controlplane.foo.dev")
        .replace("name: v1alpha2", "name: v1");
    let provider = PROVIDER
        .replace("v1beta2: [v1]", "v1beta2: [v1, v1alpha1]")
        .replace("contracts:", "groups: [controlplane.foo.dev]\ncontracts:")
        .replace("[crd.yaml]", "[crd.yaml, helper.yaml, other.yaml]");
    let files = [
        ("provider.yaml", provider.as_str()),
        ("metadata.yaml", METADATA),
        ("crd.yaml", &crd),
        ("helper.yaml", &helper),
        ("other.yaml", &other),
    ];
    let folder = folder(&files);
    let outcome = build(folder.path(), &["v0.1.0"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let components =
        std::fs::read_to_string(folder.path().join("out/infrastructure-components.yaml")).unwrap();
    assert!(
        components.contains("cluster.x-k8s.io/v1beta2: v1\n"),
        "{components}"
    );
    let run = |arguments: &[&str]| {
        let output = support::windlass(folder.path())
            .args(arguments)
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr),
        )
    };
    assert_eq!(
        run(&["repository", "add", "out", "--to", "repository"]).0,
        Some(0)
    );
    let (code, examined) = run(&["repository", "doctor", "repository"]);
    assert!(code == Some(0) && !examined.contains("crd-"), "{examined}");
    // A label of a finished file whose newest version is not served: an error for both.
    let labelled = components.replace(
        "cluster.x-k8s.io/v1beta2: v1\n",
        "cluster.x-k8s.io/v1beta2: v1_v2\n",
    );
    std::fs::write(folder.path().join("built.yaml"), &labelled).unwrap();
    std::fs::write(
        folder
            .path()
            .join("repository/infrastructure-foo/v0.1.0/infrastructure-components.yaml"),
        &labelled,
    )
    .unwrap();
    let built = PROVIDER.split("group:").next().unwrap().to_owned()
        + "namespace: foo-system\ncomponents: built.yaml\n";
    std::fs::write(folder.path().join("provider.yaml"), built).unwrap();
    for arguments in [
        &["release", "build", "v0.1.0", "--to", "again"][..],
        &["repository", "doctor", "repository"],
    ] {
        let (code, said) = run(arguments);
        assert!(
            code == Some(1) && said.contains("error[crd-contract-label-version-unknown]"),
            "{arguments:?}: {said}"
        );
    }
}
