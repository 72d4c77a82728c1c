//! `release build`: the files that it reads, and what `patches`, `nameSuffix` and `crdMetadata` of
//! provider.yaml change in the components. `tests/e2e` compares the same patches with kustomize.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{documents, run};

const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n\
                        - {major: 0, minor: 1, contract: v1beta2}\n";

const PROVIDER: &str = "apiVersion: windlass.dev/v1alpha1
kind: Provider
name: foo
type: InfrastructureProvider
group: infrastructure.foo.dev
contracts: {v1beta2: [v1]}
namespace: foo-system
crds: [config/crd/bases/*.yaml]
manager:
  image: ghcr.io/foo/manager
  conversion: true
";

fn crd(kind: &str, versions: &[&str]) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    let version = |(at, name): (usize, &&str)| {
        format!(
            "  - {{name: {name}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object}}}}}}\n",
            at == 0
        )
    };
    let versions: String = versions.iter().enumerate().map(version).collect();
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: {plural}.infrastructure.foo.dev}}\nspec:\n  \
         group: infrastructure.foo.dev\n  names: {{kind: {kind}, plural: {plural}}}\n  scope: Namespaced\n  versions:\n{versions}"
    )
}

fn patch(plural: &str, rest: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {plural}.infrastructure.foo.dev\n{rest}"
    )
}

fn write(folder: &Path, file: &str, text: &str) {
    let path = folder.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

const ROLES: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: manager-role}
rules: [{apiGroups: [\"\"], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: collecting-manager-role}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {foo.dev/aggregate-to-manager: \"true\"}}]}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager-rolebinding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: manager-role}
subjects: [{kind: ServiceAccount, name: manager, namespace: system}]
";

const LABELLED: &str = "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: manager-role
  labels: {foo.dev/aggregate-to-manager: \"true\"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: manager-rolebinding}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: collecting-manager-role}
";

/// A project with two CRDs, roles and a patch for them.
fn project(more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let provider = format!("{PROVIDER}rbac: {{roles: [config/rbac/roles.yaml]}}\n{more}");
    for (file, text) in [
        ("provider.yaml", provider.as_str()),
        ("metadata.yaml", METADATA),
        (
            "config/crd/bases/machines.yaml",
            &crd("FooHost", &["v1", "v1alpha1"]),
        ),
        ("config/crd/bases/clusters.yaml", &crd("FooBucket", &["v1"])),
        ("config/rbac/roles.yaml", ROLES),
        ("config/default/labelled.yaml", LABELLED),
    ] {
        write(folder.path(), file, text);
    }
    folder
}

const BUILD: &str = "release build v0.1.0 --to out --force";

fn objects(folder: &Path) -> Vec<Value> {
    documents(components(folder).as_bytes())
}

fn components(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("out/infrastructure-components.yaml")).unwrap()
}

fn object<'o>(objects: &'o [Value], kind: &str, name: &str) -> &'o Value {
    let found = objects
        .iter()
        .find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("there is no {kind}/{name}"))
}

fn built(folder: &Path) -> Vec<Value> {
    run(folder, BUILD).ok();
    objects(folder)
}

/// A kustomization reads no file outside of the folder of provider.yaml, no hidden file, and no
/// file through a link.
#[test]
fn reads_no_file_outside_of_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    let secret = patch("foohosts", "  labels: {password: hunter2}\n");
    write(outside.path(), "secret.yaml", &secret);
    let read = |text: &str, flags: &str| {
        let folder = project("");
        let config = folder.path().join("config/crd");
        write(
            &config,
            "kustomization.yaml",
            &format!("resources: [bases/machines.yaml]\npatches: [{{path: {text}}}]\n"),
        );
        write(&config, "patches/.hidden.yaml", &secret);
        write(&config, "patches/open.yaml", &secret);
        #[cfg(unix)]
        std::os::unix::fs::symlink(
            outside.path().join("secret.yaml"),
            config.join("patches/link.yaml"),
        )
        .unwrap();
        run(folder.path(), &format!("{BUILD} {flags}")).stderr
    };
    let up = format!(
        "../../../{}/secret.yaml",
        outside.path().file_name().unwrap().to_string_lossy()
    );
    let mut strayed = vec![up, "patches/.hidden.yaml".to_owned()];
    strayed.extend(cfg!(unix).then(|| "patches/link.yaml".to_owned()));
    for path in strayed {
        let report = read(&path, "");
        assert!(
            report.contains(
                "is not read: it is missing, hidden, or outside of the folder of provider.yaml"
            ),
            "{path}: {report}"
        );
        assert!(
            !report.contains("hunter2") && !report.contains("labels.password"),
            "{path}: {report}"
        );
        assert!(
            read(&path, "--allow-outside").contains("labels.password"),
            "{path}"
        );
    }
    assert!(read("patches/open.yaml", "").contains("labels.password"));
    #[cfg(unix)]
    {
        let folder = project("");
        let kustomization = folder.path().join("config/crd/kustomization.yaml");
        write(
            outside.path(),
            "kustomization.yaml",
            "resources: [bases/machines.yaml]\ncommonLabels: {password: hunter2}\n",
        );
        std::os::unix::fs::symlink(outside.path().join("kustomization.yaml"), kustomization)
            .unwrap();
        let report = run(folder.path(), BUILD).stderr;
        assert!(
            !report.contains("hunter2") && !report.contains("labels.password"),
            "{report}"
        );
    }
}

/// The providers of rke2 and vSphere label the manager's role for aggregation, and bind the role
/// that aggregates. References follow the names, as those of files do.
#[test]
fn patches_labels_and_references_of_roles() {
    let folder = project("patches: [{path: config/default/labelled.yaml}]\n");
    let objects = built(folder.path());
    let role = object(&objects, "ClusterRole", "foo-system-manager-role");
    assert_eq!(
        role["metadata"]["labels"]["foo.dev/aggregate-to-manager"],
        "true"
    );
    let binding = object(
        &objects,
        "ClusterRoleBinding",
        "foo-system-manager-rolebinding",
    );
    assert_eq!(
        binding["roleRef"]["name"],
        "foo-system-collecting-manager-role"
    );
    let bindings = objects
        .iter()
        .filter(|object| object["kind"] == "ClusterRoleBinding")
        .count();
    assert_eq!(bindings, 1, "no role that feeds another is bound by itself");
}

/// `crdMetadata` without kinds is for all CRDs.
#[test]
fn sets_labels_and_annotations_of_crds() {
    let folder = project(
        "crdMetadata:\n- labels: {example.dev/team: \"7\"}\n\
         - kinds: [FooBucket]\n  annotations: {example.dev/note: yes it is}\n",
    );
    let objects = built(folder.path());
    for (plural, is_bucket) in [("foobuckets", true), ("foohosts", false)] {
        let name = format!("{plural}.infrastructure.foo.dev");
        let metadata = &object(&objects, "CustomResourceDefinition", &name)["metadata"];
        assert_eq!(metadata["labels"]["example.dev/team"], "7");
        assert_eq!(metadata["labels"]["cluster.x-k8s.io/v1beta2"], "v1");
        let note = metadata["annotations"].get("example.dev/note");
        assert_eq!(note.is_some(), is_bucket);
    }
}

/// RFC 6902, and Kubernetes, "Update API Objects in Place Using kubectl patch".
#[test]
fn patches_schemas_and_other_objects() {
    let crds =
        "target: {group: apiextensions.k8s.io, kind: CustomResourceDefinition, name: foohosts.*}";
    let folder = project(&format!(
        "patches:
- {crds}
  patch: |-
    - op: add
      path: /spec/versions/0/schema/openAPIV3Schema/properties
      value: {{spec: {{type: string, anyOf: [{{format: ipv4}}, {{format: hostname}}]}}}}
    - op: test
      path: /spec/group
      value: infrastructure.foo.dev
- patch: '{{apiVersion: v1, kind: ServiceAccount, metadata: {{name: manager, annotations: {{role: \"${{FOO_ROLE:=true}}\"}}}}}}'
- target: {{kind: ClusterRole, name: manager-role}}
  patch: '{{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {{name: any, annotations: {{role: \"${{FOO_ROLE:=true}}\"}}}}, rules: [{{apiGroups: [\"\"], resources: [\"${{FOO_RESOURCE:=null}}\"], verbs: [get]}}]}}'
- target: {{kind: Deployment}}
  patch: '[{{op: replace, path: /spec/replicas, value: 2}}]'
- target: {{kind: Issuer}}
  patch: '{{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {{name: any}}, spec: {{selfSigned: null, ca: {{secretName: own}}}}}}'
- patch: '{{apiVersion: v1, kind: Service, metadata: {{name: webhook-service}}, spec: {{ports: [{{port: 443, name: https}}, {{port: 80}}]}}}}'
- patch: '{{$patch: delete, apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {{name: manager-rolebinding}}}}'
"
    ));
    let objects = built(folder.path());
    let properties = &object(
        &objects,
        "CustomResourceDefinition",
        "foohosts.infrastructure.foo.dev",
    )["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    assert_eq!(
        properties["spec"]["anyOf"],
        json!([{"format": "ipv4"}, {"format": "hostname"}])
    );
    assert_eq!(
        object(&objects, "Deployment", "foo-controller-manager")["spec"]["replicas"],
        2
    );
    assert_eq!(
        object(&objects, "Issuer", "foo-selfsigned-issuer")["spec"],
        json!({"ca": {"secretName": "own"}})
    );
    let ports = &object(&objects, "Service", "foo-webhook-service")["spec"]["ports"];
    assert_eq!(
        ports,
        &json!([{"name": "https", "port": 443, "targetPort": "webhook-server"}, {"port": 80}])
    );
    // A string stays a string, whatever value clusterctl inserts.
    assert_eq!(
        components(folder.path())
            .matches("role: \"${FOO_ROLE:=true}\"")
            .count(),
        2,
        "{}",
        components(folder.path())
    );
    assert!(
        components(folder.path()).contains("- \"${FOO_RESOURCE:=null}\""),
        "{}",
        components(folder.path())
    );
    assert!(
        !objects
            .iter()
            .any(|object| object["metadata"]["name"] == "foo-system-manager-rolebinding")
    );
}

/// The names that kustomize gives with `namePrefix: foo-` and `nameSuffix: -x`. Cluster-wide roles
/// begin with the namespace.
#[test]
fn appends_name_suffix() {
    let folder = project("nameSuffix: -x\n");
    let objects = built(folder.path());
    let names: Vec<(&str, &str)> = objects
        .iter()
        .filter(|object| object["kind"] != "CustomResourceDefinition")
        .map(|object| {
            (
                object["kind"].as_str().unwrap(),
                object["metadata"]["name"].as_str().unwrap(),
            )
        })
        .collect();
    for expected in [
        ("Namespace", "foo-system"),
        ("ServiceAccount", "foo-manager-x"),
        ("ClusterRole", "foo-system-manager-role-x"),
        ("ClusterRoleBinding", "foo-system-manager-rolebinding-x"),
        ("Service", "foo-webhook-service-x"),
        ("Deployment", "foo-controller-manager-x"),
        ("Certificate", "foo-serving-cert-x"),
        ("Issuer", "foo-selfsigned-issuer-x"),
    ] {
        assert!(
            names.contains(&expected),
            "{expected:?} is not in {names:?}"
        );
    }
    let pod =
        &object(&objects, "Deployment", "foo-controller-manager-x")["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], "foo-manager-x");
    let certificate = &object(&objects, "Certificate", "foo-serving-cert-x")["spec"];
    assert_eq!(
        certificate["dnsNames"][0],
        "foo-webhook-service-x.foo-system.svc"
    );
    assert_eq!(
        pod["volumes"][0]["secret"]["secretName"],
        certificate["secretName"]
    );
    let crd = object(
        &objects,
        "CustomResourceDefinition",
        "foohosts.infrastructure.foo.dev",
    );
    assert_eq!(
        crd["metadata"]["annotations"]["cert-manager.io/inject-ca-from"],
        "foo-system/foo-serving-cert-x"
    );
    assert_eq!(
        crd["spec"]["conversion"]["webhook"]["clientConfig"]["service"]["name"],
        "foo-webhook-service-x"
    );
}

/// k0smotron has kinds to which core objects do not refer.
#[test]
fn labels_single_kinds_with_their_contracts() {
    let folder = project(
        "crdMetadata:\n- {kinds: [FooBucket], contracts: {}}\n- {kinds: [FooHost], contracts: {v1beta1: [v1alpha1], v1beta2: [v1]}, labels: {a: b}}\n",
    );
    let objects = built(folder.path());
    let labels = |name: &str| {
        object(
            &objects,
            "CustomResourceDefinition",
            &format!("{name}.infrastructure.foo.dev"),
        )["metadata"]["labels"]
            .clone()
    };
    let provider = json!("infrastructure-foo");
    assert_eq!(
        labels("foobuckets"),
        json!({"cluster.x-k8s.io/provider": provider})
    );
    assert_eq!(
        labels("foohosts"),
        json!({"a": "b", "cluster.x-k8s.io/provider": provider, "cluster.x-k8s.io/v1beta1": "v1alpha1", "cluster.x-k8s.io/v1beta2": "v1"})
    );
}

/// Builds the release of an add-on with these lines of provider.yaml and these files; returns the
/// folder and the messages.
fn addon(lines: &str, files: &[(&str, &str)]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let head =
        "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: AddonProvider\n";
    write(folder.path(), "provider.yaml", &format!("{head}{lines}"));
    write(folder.path(), "metadata.yaml", METADATA);
    for (file, text) in files {
        write(folder.path(), file, text);
    }
    let messages = run(folder.path(), BUILD).ok().stderr;
    (folder, messages)
}

/// The objects of an add-on.
fn addon_objects(lines: &str) -> Vec<Value> {
    let (folder, _) = addon(lines, &[]);
    let components = std::fs::read(folder.path().join("out/addon-components.yaml")).unwrap();
    documents(&components)
}

/// Large components are checked and installed as small ones are, although one form of them is held
/// at a time.
#[test]
fn builds_large_release_as_small_one() {
    let lines = "namespace: foo-system\nobjects: [o.yaml]\ntemplates: [t]\n\
                 manager: {image: ghcr.io/a/b, sidecars: [{name: s, image: \"ghcr.io/a/c:latest\"}]}\n";
    let template = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\n\
                    metadata: {name: \"${CLUSTER_NAME}${A:=b}${A}\"}\n";
    let of = |size: usize| {
        let text = "z".repeat(size);
        let object = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{a: \"{text}\"}}\n"
        );
        let files = [
            ("o.yaml", object.as_str()),
            ("t/cluster-template.yaml", template),
        ];
        let (folder, messages) = addon(lines, &files);
        let install = std::fs::read_to_string(folder.path().join("out/install.yaml")).unwrap();
        (messages, install.replace(&text, "z"))
    };
    let (small, large) = (of(1), of(3 << 20));
    for rule in ["components-image-unreleased", "template-variable-blank"] {
        assert!(small.0.contains(&format!("warning[{rule}]")), "{}", small.0);
    }
    assert!(small == large, "{}", large.0);
}

/// install.yaml has the objects of all providers, with the defaults of their variables.
#[test]
fn install_yaml_has_all_providers() {
    let folder = tempfile::tempdir().unwrap();
    let provider = |kind: &str, prefix: &str| {
        format!(
            "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: {kind}\n\
             namespace: foo-system\nnamePrefix: {prefix}-\n\
             manager: {{image: ghcr.io/a/{prefix}, args: ['--c=${{FOO_C:=1}}']}}\n"
        )
    };
    let two = [("AddonProvider", "a"), ("BootstrapProvider", "b")];
    let text = two
        .map(|(kind, prefix)| provider(kind, prefix))
        .join("---\n");
    write(folder.path(), "provider.yaml", &text);
    write(folder.path(), "metadata.yaml", METADATA);
    run(folder.path(), BUILD).ok();
    let install = std::fs::read_to_string(folder.path().join("out/install.yaml")).unwrap();
    let objects = documents(install.as_bytes());
    let managers = objects
        .iter()
        .filter(|object| object["kind"] == "Deployment");
    assert_eq!((managers.count(), install.matches("--c=1").count()), (2, 2));
}

/// Names begin with the namespace without `-system`, or with `namePrefix`.
#[test]
fn prepends_name_prefix() {
    for (lines, manager, role) in [
        (
            "namespace: harbour-system\n",
            "harbour-controller-manager",
            "harbour-system-manager-role",
        ),
        (
            "namespace: harbour\n",
            "harbour-controller-manager",
            "harbour-manager-role",
        ),
        (
            "namespace: harbour\nnamePrefix: pier-\n",
            "pier-controller-manager",
            "harbour-manager-role",
        ),
        (
            "namespace: harbour\nnamePrefix: harbour-pier-\n",
            "harbour-pier-controller-manager",
            "harbour-pier-manager-role",
        ),
    ] {
        let objects = addon_objects(&format!("{lines}manager: {{image: ghcr.io/a/b}}\n"));
        object(&objects, "Deployment", manager);
        object(&objects, "ClusterRole", role);
    }
}

/// The kind and name in a patch only select objects, even where the patch replaces all metadata.
#[test]
fn patch_of_all_metadata_keeps_the_identity() {
    let patch = "{apiVersion: apps/v1, kind: Deployment, metadata: {$patch: replace, name: any, namespace: other, labels: {a: b}}}";
    let objects = addon_objects(&format!(
        "namespace: foo-system\nmanager: {{image: ghcr.io/a/b}}\n\
         patches: [{{target: {{kind: Deployment}}, patch: '{patch}'}}]\n"
    ));
    let manager = object(&objects, "Deployment", "foo-controller-manager");
    let expected = json!({
        "name": "foo-controller-manager",
        "namespace": "foo-system",
        "labels": {"a": "b", "cluster.x-k8s.io/provider": "addon-foo"},
    });
    assert_eq!(manager["metadata"], expected);
}
