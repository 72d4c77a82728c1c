//! `patches`, `nameSuffix` and the contracts of single kinds in provider.yaml. What kustomize makes
//! of the same patches, `tests/e2e` holds.

use std::path::Path;

use serde_json::{Value, json};

use crate::kustomizations::{PROVIDER, build, components, crd, project, told, write};
use crate::support;

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

/// A project with roles, without the kustomization of its CRDs.
fn with_roles(more: &str) -> tempfile::TempDir {
    let folder = project(&format!(
        "{PROVIDER}rbac: {{roles: [config/rbac/roles.yaml]}}\n{more}"
    ));
    std::fs::remove_file(folder.path().join("config/crd/kustomization.yaml")).unwrap();
    write(folder.path(), "config/rbac/roles.yaml", ROLES);
    write(folder.path(), "config/default/labelled.yaml", LABELLED);
    folder
}

fn objects(folder: &Path) -> Vec<Value> {
    support::documents(components(folder).as_bytes())
}

fn object<'o>(objects: &'o [Value], kind: &str, name: &str) -> &'o Value {
    let found = objects
        .iter()
        .find(|object| object["kind"] == kind && object["metadata"]["name"] == name);
    found.unwrap_or_else(|| panic!("there is no {kind}/{name}"))
}

fn built(folder: &Path) -> Vec<Value> {
    let output = build(folder, "");
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    objects(folder)
}

/// rke2 and vSphere label their manager's role so that others may add to it, and bind the role that
/// collects. Names follow as in files.
#[test]
fn labels_of_roles_and_references_come_from_patches() {
    let folder = with_roles("patches: [{path: config/default/labelled.yaml}]\n");
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

/// A label that a patch of `config/default` puts on a role was lost without a word, because
/// provider.yaml names no file there.
#[test]
fn patches_of_the_folder_that_a_release_is_built_from_are_told() {
    let folder = with_roles("");
    let default = "namePrefix: foo-\nnameSuffix: -x\nlabels: [{pairs: {cluster.x-k8s.io/provider: other, team: a}}]\nresources: [../rbac, ../crd]\npatches: [{path: labelled.yaml}]\n";
    write(folder.path(), "config/default/kustomization.yaml", default);
    write(
        folder.path(),
        "config/rbac/kustomization.yaml",
        "resources: [roles.yaml]\n",
    );
    // One that leads in a circle is followed once.
    write(
        folder.path(),
        "config/crd/kustomization.yaml",
        "resources: [bases/machines.yaml, ../default]\n",
    );
    let text = told(&build(folder.path(), ""));
    for words in [
        "sets metadata.labels[foo.dev/aggregate-to-manager] of ClusterRole/foo-system-manager-role",
        "config/default/kustomization.yaml:5:11",
        "write `- path: config/default/labelled.yaml` under `patches` of provider.yaml",
        "config/default/kustomization.yaml puts -x behind names, and provider.yaml does not",
        "write `nameSuffix: -x` into provider.yaml",
        "sets metadata.labels.team of ",
        "as a patch under `patches`",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    assert!(
        !text.contains("cluster.x-k8s.io/provider]"),
        "that label is made of type and name: {text}"
    );
    // Paths are relative to provider.yaml, wherever one stands.
    let (above, name) = (
        folder.path().parent().unwrap(),
        folder.path().file_name().unwrap().to_str().unwrap(),
    );
    let provider = format!("{name}/provider.yaml");
    let to = format!("{name}/from-above");
    let output = support::windlass(above)
        .args([
            "release",
            "build",
            "v0.1.0",
            "--provider",
            &provider,
            "--to",
            &to,
        ])
        .output()
        .unwrap();
    let text = told(&output);
    assert!(
        text.contains("write `- path: config/default/labelled.yaml` under `patches`"),
        "{text}"
    );
    write(
        folder.path(),
        "provider.yaml",
        &format!(
            "{PROVIDER}rbac: {{roles: [config/rbac/roles.yaml]}}\nnameSuffix: -x\npatches: [{{path: config/default/labelled.yaml}}]\n\
             crdMetadata: [{{labels: {{team: a}}}}]\n"
        ),
    );
    write(
        folder.path(),
        "config/default/kustomization.yaml",
        &default.replace(", team: a", ""),
    );
    let text = told(&build(folder.path(), ""));
    assert!(
        !text.contains("provider-kustomization-not-applied"),
        "{text}"
    );
}

/// What provider.yaml names is applied: that a later patch sets the same again loses nothing. What
/// it names otherwise is another patch.
#[test]
fn patches_that_provider_yaml_names_are_not_told() {
    let of_role = |team: &str| {
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: manager-role, labels: {{team: {team}}}}}\n"
        )
    };
    let inline = "{patch: \"[{op: add, path: /metadata/labels, value: {team: c}}]\", target: {kind: ClusterRole, name: manager-role}}";
    let told_of = |kustomized: &str, patches: &str| {
        let folder = with_roles(&format!("patches: [{patches}]\n"));
        for (file, team) in [("a.yaml", "a"), ("b.yaml", "b")] {
            write(
                folder.path(),
                &format!("config/default/{file}"),
                &of_role(team),
            );
        }
        let default = format!("resources: [../rbac]\npatches: [{kustomized}]\n");
        write(folder.path(), "config/default/kustomization.yaml", &default);
        write(
            folder.path(),
            "config/rbac/kustomization.yaml",
            "resources: [roles.yaml]\n",
        );
        let text = told(&build(folder.path(), ""));
        let line = |line: &str| {
            Some(
                line.strip_prefix("warning[provider-kustomization-not-applied]: ")?
                    .split_once(" sets ")?
                    .0
                    .to_owned(),
            )
        };
        text.lines().filter_map(line).collect::<Vec<_>>()
    };
    let told_by = |patches: &str| {
        told_of(
            &format!(
                "{{path: a.yaml}}, {{path: ./b.yaml, target: {{kind: ClusterRole}}}}, {inline}"
            ),
            patches,
        )
    };
    let of_file = |file: &str| format!("{file}, a patch of config/default/kustomization.yaml,");
    let (a, b, c) = (
        of_file("a.yaml"),
        of_file("./b.yaml"),
        "a patch in config/default/kustomization.yaml".to_owned(),
    );
    let all = format!(
        "{{path: config/default/a.yaml}}, {{path: config/default/b.yaml, target: {{kind: ClusterRole}}}}, {inline}"
    );
    assert_eq!(told_by(&all), [""; 0]);
    assert_eq!(
        told_by(&format!(
            "{{path: config/default/a.yaml}}, {{path: config/default/b.yaml}}, {inline}"
        )),
        std::slice::from_ref(&b)
    );
    assert_eq!(told_by(inline), [a.clone(), b.clone()]);
    let named = format!("{{path: config/default/a.yaml}}, {inline}");
    assert_eq!(
        told_of(
            &format!("{{path: a.yaml}}, {{path: ./a.yaml}}, {inline}"),
            &named
        ),
        [""; 0]
    );
    // In another order another one wins.
    let [first, second] = [
        "{path: config/default/b.yaml, target: {kind: ClusterRole}}",
        "{path: config/default/a.yaml}",
    ];
    assert_eq!(
        told_by(&format!("{inline}, {first}, {second}")),
        [b.clone(), c.clone()]
    );
    assert_eq!(
        told_by("{path: config/default/b.yaml, target: {kind: ClusterRole}}"),
        [a, c]
    );
}

/// What each does: RFC 6902, and "Update API Objects in Place Using kubectl patch".
#[test]
fn schemas_and_all_other_objects_are_patched() {
    let crds =
        "target: {group: apiextensions.k8s.io, kind: CustomResourceDefinition, name: foohosts.*}";
    let folder = with_roles(&format!(
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
  patch: '{{metadata: {{annotations: {{role: \"${{FOO_ROLE:=true}}\"}}}}, rules: [{{apiGroups: [\"\"], resources: [\"${{FOO_RESOURCE:=null}}\"], verbs: [get]}}]}}'
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
    // A text stays one, whatever clusterctl puts there.
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

#[test]
fn patches_that_cannot_be_applied_are_told_at_their_place() {
    for (patches, words) in [
        (
            "[{path: p.yaml, patch: x}]",
            vec![
                "patches[0] has both `path` and `patch`",
                "provider.yaml:13:11",
            ],
        ),
        (
            "[{target: {kind: X}}]",
            vec!["patches[0] has neither `path` nor `patch`"],
        ),
        (
            "[{path: gone.yaml}]",
            vec!["error[provider-file-missing]", "`gone.yaml` is no file"],
        ),
        (
            "[{patch: '[{op: add, path: /x, value: 1}]'}]",
            vec![
                "a patch has no target, and no kind and name of its own",
                "`{kind: KIND, name: NAME}`",
            ],
        ),
        ("[{patch: text}]", vec!["a patch has no target"]),
        (
            "[{patch: text, target: {kind: Deployment}}]",
            vec!["is neither a strategic merge patch nor a JSON patch"],
        ),
        (
            "[{patch: '{a: [', target: {kind: Deployment}}]",
            vec!["a patch cannot be read: `[` is never closed"],
        ),
        (
            "[{patch: '[]', target: {kind: Deploymint}}]",
            vec![
                "error[provider-patch-unmatched]",
                "no object of the release is the one that a patch is for",
            ],
        ),
        (
            "[{patch: '[{op: remove, path: /spec/none}]', target: {kind: Deployment}}]",
            vec![
                "error[provider-patch-refused]",
                "a patch does not apply to Deployment/foo-controller-manager: error in remove",
            ],
        ),
        (
            "[{patch: '[{op: replace, path: /metadata/name, value: x}]', target: {kind: Deployment}}]",
            vec!["it would change metadata.name"],
        ),
        (
            "[{patch: '[]', target: {kind: '('}}]",
            vec!["a target that is no regular expression"],
        ),
        (
            "[{path: p.yaml}]",
            vec![
                "p.yaml does not apply to Deployment/foo-controller-manager",
                "p.yaml:5:56",
            ],
        ),
    ] {
        let folder = with_roles(&format!("patches: {patches}\n"));
        let patch = "# Of the manager.\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: controller-manager}\nspec: {template: {spec: {containers: [{name: manager}, {image: x}]}}}\n";
        write(folder.path(), "p.yaml", patch);
        let output = build(folder.path(), "");
        let text = told(&output);
        assert_eq!(output.status.code(), Some(1), "{patches}: {text}");
        for words in words {
            assert!(
                text.contains(words),
                "{words} is not said of {patches}: {text}"
            );
        }
    }
}

/// What kustomize makes of `namePrefix: foo-` and `nameSuffix: -x`; cluster-wide roles begin with
/// the namespace, as always.
#[test]
fn all_names_end_with_the_suffix() {
    let folder = with_roles("nameSuffix: -x\n");
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

/// k0smotron has kinds of its own beside those to which core objects refer.
#[test]
fn single_kinds_have_contracts_of_their_own() {
    let folder = with_roles(
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
    let folder = with_roles("crdMetadata: [{kinds: [FooBucket], contracts: {two: [x]}}]\n");
    let text = told(&build(folder.path(), ""));
    assert!(
        text.contains("`two` under crdMetadata[0].contracts is no contract version"),
        "{text}"
    );
    assert!(
        text.contains("crdMetadata[0].contracts.two must list API versions"),
        "{text}"
    );
    let labelled =
        crd("FooBucket", &["v1"]).replace(".dev}", ".dev, labels: {cluster.x-k8s.io/v1beta2: v1}}");
    let folder = with_roles("crdMetadata: [{kinds: [FooBucket], contracts: {}}]\n");
    write(folder.path(), "config/crd/bases/clusters.yaml", &labelled);
    let text = told(&build(folder.path(), ""));
    assert!(
        text.contains(
            "stands for a contract that `contracts` of provider.yaml does not give this CRD"
        ),
        "{text}"
    );
}
