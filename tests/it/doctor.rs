//! `repository doctor` with the built program: the choice of version and layer, and the traps of
//! components and templates.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{files_below, root, shared, windlass};

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- major: 0\n  minor: 1\n  contract: v1beta2\n";

const COMPONENTS: &str = "apiVersion: v1\nkind: Namespace\nmetadata: {name: foo-system}\n---\napiVersion: apps/v1\nkind: Deployment\n\
                          metadata: {name: m, namespace: foo-system}\nspec:\n  selector: {}\n  template:\n    spec:\n      containers:\n\
                          \x20     - {name: manager, image: \"ghcr.io/foo/m:v1\"}\n";

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn configuration(folder: &Path, provider_type: &str, label: &str, file: &str) -> String {
    let name = "foo";
    format!(
        "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\nproviders:\n- name: {name}\n  url: {}/{label}/latest/{file}\n  type: {provider_type}\n",
        folder.display()
    )
}

/// A repository with one bootstrap provider.
fn repository(components: &str, metadata: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "clusterctl.yaml",
        &configuration(
            folder.path(),
            "BootstrapProvider",
            "bootstrap-foo",
            "bootstrap-components.yaml",
        ),
    );
    write(
        folder.path(),
        "bootstrap-foo/v0.1.0/bootstrap-components.yaml",
        components,
    );
    write(
        folder.path(),
        "bootstrap-foo/v0.1.0/metadata.yaml",
        metadata,
    );
    folder
}

fn doctor(folder: &Path, code: i32) -> Value {
    let output = windlass(folder)
        .args(["repository", "doctor", ".", "-o", "json"])
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(code),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

fn rules(report: &Value) -> BTreeSet<&str> {
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect()
}

/// The rules that a components file breaks.
fn check_components(components: &str, code: i32, expected: &[&str]) {
    let folder = repository(components, METADATA);
    let report = doctor(folder.path(), code);
    assert_eq!(
        rules(&report),
        expected.iter().copied().collect(),
        "{components}\n{:#}",
        report["findings"]
    );
}

/// The transcript that the command line promises: a series ahead of its release, an override, a
/// link, a folder without version.
#[cfg(unix)]
#[test]
fn choice_and_layers_are_explained() {
    let ahead = format!("{METADATA}- major: 0\n  minor: 2\n  contract: v1beta2\n");
    let folder = repository(COMPONENTS, &ahead);
    let home = folder.path().join("home");
    let base = folder.path().display().to_string();
    write(
        folder.path(),
        "bootstrap-foo/v0.2.0-rc.1/metadata.yaml",
        &ahead,
    );
    write(folder.path(), "bootstrap-foo/next/metadata.yaml", "");
    write(
        &home,
        ".config/cluster-api/overrides/bootstrap-foo/v0.2.0-rc.1/bootstrap-components.yaml",
        COMPONENTS,
    );
    std::os::unix::fs::symlink(
        folder.path().join("bootstrap-foo/v0.1.0"),
        folder.path().join("bootstrap-foo/v0.0.9"),
    )
    .unwrap();
    let mut command = windlass(folder.path());
    let output = command
        .args(["repository", "doctor", &base])
        .env("HOME", &home)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout)
        .unwrap()
        .replace(&base, "/srv/capi");
    let expected = "\
bootstrap-foo   /srv/capi/bootstrap-foo/latest/bootstrap-components.yaml (/srv/capi/clusterctl.yaml:4:8)
  found        v0.1.0, v0.2.0-rc.1; skipped: next (no semantic version), v0.0.9 (a link)
  picked       v0.2.0-rc.1: v0.1.0 is the newest release, but its metadata.yaml names 0.2 as the newest v1beta2 series
  metadata     /srv/capi/bootstrap-foo/v0.2.0-rc.1/metadata.yaml
  components   /srv/capi/home/.config/cluster-api/overrides/bootstrap-foo/v0.2.0-rc.1/bootstrap-components.yaml (overrides layer)
warning[repository-version-linked]: /srv/capi/bootstrap-foo/v0.0.9 is a link, which clusterctl does not count as a version
  --> /srv/capi/bootstrap-foo/v0.0.9
  = help: copy the folder instead of linking it
warning[metadata-series-ahead]: `latest` gives the pre-release v0.2.0-rc.1, because series 0.2 has no release yet
  --> /srv/capi/bootstrap-foo/v0.1.0/metadata.yaml
  = help: remove series 0.2 from v0.1.0, or pin it: `clusterctl init --bootstrap foo:v0.1.0`
1 provider, 2 versions; 2 warnings
";
    assert_eq!(text, expected);
    assert_eq!(output.status.code(), Some(0), "a warning does not fail");
    let denied = windlass(folder.path())
        .args(["repository", "doctor", &base, "--deny", "warnings"])
        .output()
        .unwrap();
    assert_eq!(denied.status.code(), Some(1));
}

/// The newest release has left the contract: clusterctl takes the newest one of an older series,
/// and nothing is ahead of anything.
#[test]
fn an_older_series_with_a_release_is_no_finding() {
    let newer = format!("{METADATA}- major: 0\n  minor: 2\n  contract: v1beta1\n");
    let folder = repository(COMPONENTS, METADATA);
    write(folder.path(), "bootstrap-foo/v0.2.0/metadata.yaml", &newer);
    write(
        folder.path(),
        "bootstrap-foo/v0.2.0/bootstrap-components.yaml",
        COMPONENTS,
    );
    let report = doctor(folder.path(), 0);
    assert_eq!(report["providers"][0]["picked"], "v0.1.0", "{report:#}");
    assert!(
        !rules(&report).contains("metadata-series-ahead"),
        "{report:#}"
    );
}

#[test]
fn a_release_of_ours_is_sound() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let build = |arguments: &[&str]| {
        assert!(
            windlass(root())
                .args(arguments)
                .output()
                .unwrap()
                .status
                .success(),
            "{arguments:?}"
        )
    };
    build(&[
        "release",
        "build",
        "v0.2.0",
        "--provider",
        "builtin",
        "--to",
        out.to_str().unwrap(),
    ]);
    build(&[
        "repository",
        "add",
        out.to_str().unwrap(),
        "--to",
        folder.path().join("repository").to_str().unwrap(),
    ]);
    let report = doctor(&folder.path().join("repository"), 0);
    assert_eq!(report["findings"], serde_json::json!([]));
    assert_eq!(report["providers"][0]["picked"], "v0.2.0");
    assert_eq!(report["providers"][0]["reason"], "the newest release");
}

#[test]
fn what_is_missing_is_found() {
    let folder = repository(COMPONENTS, METADATA);
    fs::remove_file(
        folder
            .path()
            .join("bootstrap-foo/v0.1.0/bootstrap-components.yaml"),
    )
    .unwrap();
    assert_eq!(
        rules(&doctor(folder.path(), 1)),
        BTreeSet::from(["repository-file-missing"])
    );
    let report = doctor(
        repository(COMPONENTS, &METADATA.replace("minor: 1", "minor: 2")).path(),
        1,
    );
    assert_eq!(
        rules(&report),
        BTreeSet::from(["repository-version-missing"])
    );
    assert!(
        report["findings"][0]["upstream"]
            .as_str()
            .unwrap()
            .ends_with("failed to find releases tagged with a valid semantic version number")
    );

    let folder = repository(COMPONENTS, METADATA);
    fs::rename(
        folder.path().join("bootstrap-foo/v0.1.0"),
        folder.path().join("bootstrap-foo/0.1.0"),
    )
    .unwrap();
    assert_eq!(
        rules(&doctor(folder.path(), 1)),
        BTreeSet::from(["repository-version-unprefixed"])
    );

    let folder = repository(COMPONENTS, METADATA);
    write(
        folder.path(),
        "bootstrap-foo/v0.0.9/metadata.yaml",
        METADATA,
    );
    assert_eq!(
        rules(&doctor(folder.path(), 0)),
        BTreeSet::from(["metadata-not-cumulative"])
    );
}

#[test]
fn configurations_are_examined() {
    let folder = repository(COMPONENTS, METADATA);
    fs::remove_file(folder.path().join("clusterctl.yaml")).unwrap();
    let report = doctor(folder.path(), 1);
    assert_eq!(
        rules(&report),
        BTreeSet::from(["repository-configuration-missing"])
    );
    assert_eq!(
        (
            &report["providers"][0]["picked"],
            &report["providers"][0]["file"]
        ),
        (&"v0.1.0".into(), &Value::Null)
    );

    write(
        folder.path(),
        "clusterctl.yaml",
        "providers:\n- name: Bar\n  url: ${NOWHERE}/x\n  type: CoreProvider\n- {name: aws, type: InfrastructureProvider, url: \"https://github.com/a/b/releases/latest/c.yaml\"}\n",
    );
    let report = doctor(folder.path(), 1);
    let expected = [
        "configuration-provider-refused",
        "configuration-variable-unset",
        "configuration-version-check-on",
        "repository-entry-missing",
        "repository-remote",
    ];
    assert_eq!(rules(&report), BTreeSet::from(expected));
    write(folder.path(), "clusterctl.yaml", "- a\n");
    assert_eq!(
        rules(&doctor(folder.path(), 1)),
        BTreeSet::from(["configuration-unreadable"])
    );
}

/// A provider is its name and its type: one that shares only one of them with an entry is not named
/// by it.
#[test]
fn providers_that_the_configuration_does_not_name_are_told_each() {
    let folder = repository(COMPONENTS, METADATA);
    for (label, file) in [
        ("control-plane-foo", "control-plane-components.yaml"),
        ("bootstrap-bar", "bootstrap-components.yaml"),
    ] {
        write(folder.path(), &format!("{label}/v0.1.0/{file}"), COMPONENTS);
        write(
            folder.path(),
            &format!("{label}/v0.1.0/metadata.yaml"),
            METADATA,
        );
    }
    let report = doctor(folder.path(), 0);
    let told: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["message"].as_str().unwrap())
        .collect();
    let expected = ["bootstrap-bar", "control-plane-foo"]
        .map(|label| format!(". holds {label}, which ./clusterctl.yaml does not name"));
    assert_eq!(told, expected);
}

/// clusterctl.md 11, items 1 to 10.
#[test]
fn traps_of_components_are_found() {
    let deployment = |from: &str, to: &str| COMPONENTS.replace(from, to);
    let with = |object: &str| format!("{COMPONENTS}---\n{object}");
    check_components(COMPONENTS, 0, &[]);
    check_components(
        &deployment("ghcr.io/foo/m:v1", "nginx:1.0"),
        1,
        &["components-image-not-canonical"],
    );
    check_components(
        &deployment("ghcr.io/foo/m:v1", "${IMAGE:=ghcr.io/foo/m:v1}"),
        0,
        &["components-raw-refused"],
    );
    check_components(
        &deployment(
            "spec:\n  selector",
            "spec:\n  replicas: ${N:=1}\n  selector",
        ),
        0,
        &["components-raw-refused"],
    );
    check_components(
        &deployment("spec:\n  selector", "spec:\n  replicas: x\n  selector"),
        1,
        &["components-refused"],
    );
    check_components(
        &deployment("apps/v1", "apps/v1beta1"),
        1,
        &["components-object-version-unknown"],
    );
    check_components(
        &deployment("name: manager", "name: m"),
        1,
        &["components-manager-container-missing"],
    );
    check_components(
        &deployment("selector: {}", "selector: {}\n  replica: 2"),
        0,
        &["components-field-dropped"],
    );
    check_components(
        COMPONENTS.split_once("---\n").unwrap().1,
        1,
        &["components-namespace-missing"],
    );
    check_components(
        &with("apiVersion: v1\nkind: Namespace\nmetadata: {name: b}\n"),
        1,
        &["components-namespace-duplicated"],
    );
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: kube-system}\n";
    check_components(&with(role), 0, &["components-namespace-foreign"]);
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: p}\n";
    check_components(&with(policy), 0, &["components-cluster-wide-moved"]);
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\nroleRef: {apiGroup: g, kind: ClusterRole, name: r}\n\
                   subjects: [{kind: ServiceAccount, name: s, namespace: other}]\n";
    check_components(
        &with(binding),
        0,
        &[
            "components-role-left-behind",
            "components-subject-namespace-foreign",
        ],
    );
    let certificate = "apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: c}\nspec: {dnsNames: [a.foo-system.svc]}\n";
    check_components(
        &with(certificate),
        0,
        &["components-certificate-namespace-missing"],
    );
    let certificate = certificate
        .replace("name: c", "name: c, namespace: foo-system")
        .replace("a.foo-system", "a.other");
    check_components(
        &with(&certificate),
        0,
        &["components-certificate-name-foreign"],
    );
    let webhook = "apiVersion: admissionregistration.k8s.io/v1\nkind: MutatingWebhookConfiguration\nmetadata: {name: w}\nwebhooks: [{name: a, sideEffects: None}]\n";
    check_components(&with(webhook), 1, &["components-webhook-incomplete"]);
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.x.io, labels: {cluster.x-k8s.io/v1beta2: v1}}\n\
               spec:\n  group: x.io\n  names: {kind: Foo, plural: foos}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema: {type: object}\n";
    check_components(&with(crd), 0, &[]);
    check_components(
        &with(&crd.replace("foos.x.io", "foo.x.io")),
        1,
        &["crd-name-wrong"],
    );
    check_components(
        &with(&crd.replace("v1beta2: v1}", "v1beta2: v2}")),
        1,
        &["crd-contract-label-version-unknown"],
    );
    check_components(
        &with(&crd.replace("v1beta2: v1}", "v1beta1: v1}")),
        1,
        &["crd-contract-label-missing"],
    );
    let described = crd.replace(
        "{type: object}",
        "{type: object, description: \"use ${X:=y}\"}",
    );
    check_components(&with(&described), 0, &["crd-text-substituted"]);
    check_components(
        &with(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: foo-system}\ndata:\n  y: a\n",
        ),
        0,
        &["components-key-changed"],
    );
}

#[test]
fn templates_of_an_infrastructure_provider_are_judged() {
    let folder = tempfile::tempdir().unwrap();
    let file = "infrastructure-components.yaml";
    write(
        folder.path(),
        "clusterctl.yaml",
        &configuration(
            folder.path(),
            "InfrastructureProvider",
            "infrastructure-foo",
            file,
        ),
    );
    let release = "infrastructure-foo/v0.1.0";
    write(folder.path(), &format!("{release}/{file}"), COMPONENTS);
    write(folder.path(), &format!("{release}/metadata.yaml"), METADATA);
    write(
        folder.path(),
        &format!("{release}/cluster-template-a.yaml"),
        "a: ${A:?no}\n",
    );
    write(
        folder.path(),
        &format!("{release}/clusterclass-b.yaml"),
        "b: ${\n",
    );
    let report = doctor(folder.path(), 1);
    assert_eq!(
        rules(&report),
        BTreeSet::from([
            "template-operator-not-shells",
            "template-substitution-broken"
        ])
    );
    let names: Vec<&str> = report["providers"][0]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "metadata.yaml",
            file,
            "cluster-template-a.yaml",
            "clusterclass-b.yaml"
        ]
    );
}

#[test]
fn image_tags_want_pinned_versions() {
    let folder = repository(COMPONENTS, METADATA);
    let file = folder.path().join("clusterctl.yaml");
    let plain = fs::read_to_string(&file).unwrap();
    let check = |images: &str, url: &str, expected: &[&str]| {
        fs::write(
            &file,
            format!("{}images:\n  {images}\n", plain.replace("/latest/", url)),
        )
        .unwrap();
        assert_eq!(
            rules(&doctor(folder.path(), 0)),
            expected.iter().copied().collect(),
            "{images} {url}"
        );
    };
    let unpinned = ["configuration-image-tag-unpinned"];
    check("all: {tag: v1}", "/latest/", &unpinned);
    check("bootstrap-foo/m: {tag: v1}", "/latest/", &unpinned);
    check("bootstrap-foo: {tag: v1}", "/v0.1.0/", &[]);
    check(
        "bootstrap-foo: {repository: mirror.example.com}",
        "/latest/",
        &[],
    );
    check("cert-manager: {tag: v1}", "/latest/", &[]);
}

/// clusterctl takes a metadata.yaml without a kind, and refuses one of another version of the
/// format.
#[test]
fn metadata_is_judged_as_clusterctl_does() {
    let judged = |from: &str, to: &str, code: i32| {
        let report = doctor(
            repository(COMPONENTS, &METADATA.replace(from, to)).path(),
            code,
        );
        report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|f| format!("{} {}", f["severity"], f["rule"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        judged("kind: Metadata\n", "", 0),
        ["\"info\" \"metadata-kind-missing\""]
    );
    assert_eq!(
        judged("v1alpha3", "v1alpha2", 1),
        ["\"error\" \"metadata-api-version-wrong\""]
    );
}

/// What clusterctl installs every day: the releases of the corpus are not said to be refused.
#[test]
fn published_releases_are_not_refused() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let release = |file: &str, label: &str, provider_type: &str| {
        let folder = tempfile::tempdir().unwrap();
        let published = corpus.join("published/kubernetes-sigs+cluster-api@v1.12.0");
        let text = fs::read_to_string(published.join(file)).unwrap();
        let metadata = fs::read_to_string(published.join("metadata.yaml")).unwrap();
        let name = if label == "cluster-api" {
            label
        } else {
            "kubeadm"
        };
        let config = configuration(folder.path(), provider_type, label, file)
            .replace("name: foo", &format!("name: {name}"));
        write(folder.path(), "clusterctl.yaml", &config);
        write(folder.path(), &format!("{label}/v1.12.0/{file}"), &text);
        write(
            folder.path(),
            &format!("{label}/v1.12.0/metadata.yaml"),
            &metadata,
        );
        let report = doctor(folder.path(), 0);
        rules(&report)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        release("core-components.yaml", "cluster-api", "CoreProvider"),
        ["components-role-left-behind"]
    );
    let found = release(
        "bootstrap-components.yaml",
        "bootstrap-kubeadm",
        "BootstrapProvider",
    );
    assert_eq!(
        found,
        ["components-role-left-behind", "crd-text-substituted"]
    );
}

/// The components of real providers without their CRDs, as kustomize built them; `keep` says which
/// of the other objects stay.
fn without_definitions(corpus: &Path, keep: &dyn Fn(&str) -> bool) -> Vec<String> {
    let files = files_below(&corpus.join("rendered")).into_iter();
    let components = files.filter(|file| {
        file.file_name()
            .is_some_and(|name| name.to_string_lossy().contains("components"))
    });
    let kept = |file: std::path::PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        let is_kept = |document: &&str| {
            !document.contains("kind: CustomResourceDefinition\n") && keep(document)
        };
        text.split("\n---\n")
            .filter(is_kept)
            .collect::<Vec<_>>()
            .join("\n---\n")
    };
    components
        .map(kept)
        .filter(|text| text.contains("kind: Deployment\n"))
        .collect()
}

/// What the pods of these components need and lack: one `doctor` over a repository of all of them.
fn needs(components: &[String]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut config = "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\nproviders:\n".to_owned();
    for (at, text) in components.iter().enumerate() {
        let release = format!("infrastructure-p{at}/v0.1.0");
        write(
            folder.path(),
            &format!("{release}/infrastructure-components.yaml"),
            text,
        );
        write(folder.path(), &format!("{release}/metadata.yaml"), METADATA);
        let url = format!(
            "{}/{release}/infrastructure-components.yaml",
            folder.path().display()
        );
        config.push_str(&format!(
            "- {{name: p{at}, type: InfrastructureProvider, url: {url}}}\n"
        ));
    }
    write(folder.path(), "clusterctl.yaml", &config);
    let output = windlass(folder.path())
        .args(["repository", "doctor", ".", "-o", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap().iter();
    let missing = findings.filter(|finding| finding["rule"] == "components-pod-need-missing");
    missing
        .map(|finding| finding["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn pods_of_real_providers_lack_nothing() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let all = without_definitions(&corpus, &|_| true);
    assert!(all.len() > 25, "{}", all.len());
    assert_eq!(needs(&all), Vec::<String>::new());
    // Each of them serves webhooks or runs as an account of its own: nothing is found only because
    // nothing is looked at.
    let bare = without_definitions(&corpus, &|document| {
        !["Certificate", "ServiceAccount"]
            .iter()
            .any(|kind| document.contains(&format!("kind: {kind}\nmetadata:")))
    });
    let missing = needs(&bare);
    let of_kind = |kind: &str| {
        missing
            .iter()
            .filter(|message| message.contains(&format!(" needs {kind} ")))
            .count()
    };
    assert!(
        of_kind("Secret") >= 20 && of_kind("ServiceAccount") >= 20,
        "{missing:#?}"
    );
}
