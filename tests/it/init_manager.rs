//! `init`: what of config/manager becomes the section `manager` and its patch, and what is left to
//! a person.

use std::fs;

use serde_json::{Value, json};

use crate::support::{documents, windlass};

pub(crate) const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: boats.infrastructure.harbour.example}\n\
                   spec:\n  group: infrastructure.harbour.example\n  names: {kind: Boat, listKind: BoatList, plural: boats, singular: boat}\n  scope: Namespaced\n\
                   \x20 versions:\n  - {name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n";
const MANAGER: &str = "config/manager/manager.yaml";
const DEFAULT: &str = "config/default/kustomization.yaml";
const WEBHOOKS: &str = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingWebhookConfiguration\n\
                        metadata: {name: validating-webhook-configuration}\nwebhooks: []\n";

/// Exit code of `init` in a project with these files beside its CRD, provider.yaml, and what is
/// said.
pub(crate) fn initialised(
    files: &[(&str, &str)],
    arguments: &[&str],
) -> (Option<i32>, Value, String) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in [
        &[
            ("PROJECT", "projectName: harbour\n"),
            ("config/crd/bases/boats.yaml", CRD),
        ],
        files,
    ]
    .concat()
    {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let output = windlass(folder.path())
        .args(["init", "--without-kustomize"])
        .args(arguments)
        .output()
        .unwrap();
    let provider =
        fs::read(folder.path().join("provider.yaml")).map(|text| documents(&text).remove(0));
    (
        output.status.code(),
        provider.unwrap_or_default(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

/// What provider.yaml says, and what is left to do.
fn init(files: &[(&str, &str)]) -> (Value, Vec<String>) {
    let (code, provider, said) = initialised(files, &[]);
    assert_eq!(code, Some(0), "{said}");
    (
        provider,
        said.lines()
            .filter_map(|line| line.strip_prefix("left to do: "))
            .map(str::to_owned)
            .collect(),
    )
}

/// A Deployment as JSON, which is YAML too.
fn deployment(metadata: &Value, spec: &Value) -> String {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec})
        .to_string()
}

fn of_containers(containers: &Value) -> String {
    deployment(
        &json!({"name": "m"}),
        &json!({"template": {"spec": {"containers": containers}}}),
    )
}

/// The section and what is left of a Deployment with these containers.
fn section(containers: &Value) -> (Value, Vec<String>) {
    let (provider, left) = init(&[(MANAGER, &of_containers(containers))]);
    (provider["manager"].clone(), left)
}

fn patch_of(containers: &Value) -> Value {
    json!({"spec": {"template": {"spec": {"containers": containers}}}})
}

/// The container `manager` is the manager's, wherever it stands, else the first; the others are
/// patched in.
#[test]
fn the_container_of_the_manager_is_found_by_its_name() {
    let container =
        |name: &str| json!({"name": name, "image": format!("ghcr.io/harbour/{name}:v1")});
    let patch = |name: &str| patch_of(&json!([container(name)]));
    for (containers, image, patched) in [
        (json!([container("manager")]), "manager", None),
        (
            json!([container("manager"), container("pump")]),
            "manager",
            Some("pump"),
        ),
        (
            json!([container("pump"), container("manager")]),
            "manager",
            Some("pump"),
        ),
        (
            json!([container("pump"), container("sail")]),
            "pump",
            Some("sail"),
        ),
    ] {
        let (section, left) = section(&containers);
        let mut expected =
            json!({"image": format!("ghcr.io/harbour/{image}"), "ports": {"health": 0}});
        if let Some(name) = patched {
            expected["patch"] = patch(name);
        }
        assert_eq!((section, left), (expected, vec![]), "{containers}");
    }
    let (section, left) = section(&json!([]));
    let nothing =
        "manager: there is no Deployment below config/manager; without the section nothing runs";
    assert_eq!((section, left), (Value::Null, vec![nothing.to_owned()]));
}

/// Variables, port and probes that every manager gets are not said again; what ours would not have
/// is a patch.
#[test]
fn what_is_made_anyway_is_not_said() {
    let probe = |port: u16| json!({"httpGet": {"path": "/healthz", "port": port}});
    let of_pod = |name: &str, path: &str| json!({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}});
    let [namespace, name, uid] = ["namespace", "name", "uid"].map(|field| {
        of_pod(
            &format!("POD_{}", field.to_uppercase()),
            &format!("metadata.{field}"),
        )
    });
    for (fields, expected) in [
        (json!({"env": [namespace, name, uid]}), json!({})),
        (
            json!({"env": [uid, {"name": "POD_IP", "value": "a"}]}),
            json!({"env": [{"name": "POD_IP", "value": "a"}]}),
        ),
        // Another value of one of them is the project's own.
        (
            json!({"env": [{"name": "POD_NAMESPACE", "value": "a"}]}),
            json!({"env": [{"name": "POD_NAMESPACE", "value": "a"}]}),
        ),
        (
            json!({"livenessProbe": probe(9440), "readinessProbe": probe(9440)}),
            json!({}),
        ),
        (
            json!({"livenessProbe": probe(9441)}),
            json!({"ports": {"health": 9441}}),
        ),
        // A manager that has no probes may not answer any, and its ports may have names.
        (
            json!({"livenessProbe": null}),
            json!({"ports": {"health": 0}}),
        ),
        (
            json!({"livenessProbe": {"httpGet": {"port": "health"}}, "ports": [{"name": "health", "containerPort": 9441}, {"name": "metrics", "containerPort": 8080}, {"name": "webhook-server", "containerPort": 9443}]}),
            json!({"ports": {"health": 9441, "metrics": 8080}, "patch": patch_of(&json!([{"name": "manager", "ports": [{"name": "health", "containerPort": 9441}]}]))}),
        ),
        (
            json!({"ports": [{"name": "webhook-server", "containerPort": 1}]}),
            json!({"ports": {"webhook": 1}}),
        ),
        (
            json!({"ports": [{"containerPort": 1}], "workingDir": null, "imagePullPolicy": "IfNotPresent"}),
            json!({}),
        ),
        (
            json!({"imagePullPolicy": "Always"}),
            json!({"patch": patch_of(&json!([{"name": "manager", "imagePullPolicy": "Always"}]))}),
        ),
        (
            json!({"readinessProbe": {"httpGet": {"port": 1}, "periodSeconds": 3}, "livenessProbe": probe(9440)}),
            json!({"patch": patch_of(&json!([{"name": "manager", "readinessProbe": {"periodSeconds": 3}}]))}),
        ),
        (
            json!({"securityContext": {"privileged": false, "runAsUser": 1, "capabilities": {}}}),
            json!({"patch": patch_of(&json!([{"name": "manager", "securityContext": {"runAsUser": 1}}]))}),
        ),
        (
            json!({"command": ["/m"], "args": ["-v"]}),
            json!({"command": ["/m"], "args": ["-v"]}),
        ),
    ] {
        let mut container = json!({"name": "manager", "image": "ghcr.io/harbour/m:v1", "livenessProbe": probe(9440)});
        container
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        let mut wanted = json!({"image": "ghcr.io/harbour/m"});
        wanted
            .as_object_mut()
            .unwrap()
            .extend(expected.as_object().unwrap().clone());
        assert_eq!(section(&json!([container])), (wanted, vec![]), "{fields}");
    }
}

/// Maps are compared field by field; names and the ServiceAccount are made, and an empty map that
/// ours lacks is said.
#[test]
fn the_patch_is_what_differs() {
    let spec = json!({
        "replicas": 1,
        "selector": {"matchLabels": {"a": "b", "control-plane": "controller-manager"}},
        "strategy": null,
        "template": {
            "metadata": {"annotations": {}, "labels": {"a": "b", "control-plane": "controller-manager"}},
            "spec": {
                "affinity": {},
                "securityContext": {"runAsNonRoot": true, "fsGroup": 1},
                "serviceAccountName": "other",
                "volumes": [{"name": "a", "emptyDir": {}}],
                "containers": [{"name": "manager", "image": "ghcr.io/harbour/m:v1", "livenessProbe": {"httpGet": {"port": 9440}}}],
            },
        },
    });
    let metadata = json!({"name": "m", "namespace": "system", "labels": {"control-plane": "controller-manager", "tide": "low"}});
    let (provider, left) = init(&[(MANAGER, &deployment(&metadata, &spec))]);
    let patch = json!({
        "metadata": {"labels": {"tide": "low"}},
        "spec": {"selector": {"$patch": "replace", "matchLabels": {"a": "b", "control-plane": "controller-manager"}}, "template": {
            "metadata": {"annotations": {}, "labels": {"a": "b"}},
            "spec": {"affinity": {}, "securityContext": {"fsGroup": 1}, "volumes": [{"name": "a", "emptyDir": {}}]},
        }},
    });
    assert_eq!(
        (provider["manager"].clone(), left),
        (
            json!({"image": "ghcr.io/harbour/m", "patch": patch}),
            vec![]
        )
    );
}

/// Mount and volume of the certificate are made for webhooks and for conversion, and are no
/// difference then.
#[test]
fn the_certificate_is_mounted_for_webhooks_and_for_conversion() {
    let probe = json!({"httpGet": {"path": "/healthz", "port": 9440}});
    let container = json!({"name": "manager", "image": "ghcr.io/harbour/m:v1", "readinessProbe": probe, "volumeMounts":
        [{"mountPath": "/tmp/k8s-webhook-server/serving-certs", "name": "cert", "readOnly": true}]});
    let pod = json!({"containers": [container], "volumes": [{"name": "cert", "secret": {"secretName": "harbour-webhook-service-cert"}}]});
    let manager = deployment(&json!({"name": "m"}), &json!({"template": {"spec": pod}}));
    let version = "  - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}\n";
    let two_versions = format!("{CRD}{version}");
    let crd = ("config/crd/bases/boats.yaml", two_versions.as_str());
    let patched = (
        "config/crd/kustomization.yaml",
        "patches: [{path: patches/webhook_in_boats.yaml}]\n",
    );
    let webhooks = ("config/webhook/manifests.yaml", WEBHOOKS);
    for (files, said, is_patched) in [
        (&[][..], json!({}), true),
        (
            &[webhooks],
            json!({"webhooks": ["config/webhook/manifests.yaml"]}),
            false,
        ),
        (&[crd, patched], json!({"conversion": true}), false),
        (&[patched], json!({}), true),
        (&[crd], json!({}), true),
    ] {
        let (provider, _) = init(&[&[(MANAGER, manager.as_str())], files].concat());
        let mut section = provider["manager"].as_object().unwrap().clone();
        assert_eq!(
            (section.remove("image"), section.remove("patch").is_some()),
            (Some(json!("ghcr.io/harbour/m")), is_patched),
            "{files:?}"
        );
        assert_eq!(Value::Object(section), said, "{files:?}");
    }
}

/// The image is that of the patch, else that of the kustomization for the written name, else the
/// written one, without tag; it needs a registry.
#[test]
fn the_image_is_that_which_is_released() {
    let images = |name: &str| {
        format!("images: [{{name: {name}, newName: ghcr.io/harbour/renamed, newTag: dev}}]\n")
    };
    let patch = "config/default/manager_image_patch.yaml";
    let patched = "patchesStrategicMerge: [manager_image_patch.yaml]\n";
    let patch_text =
        of_containers(&json!([{"name": "manager", "image": "ghcr.io/harbour/patched:v2"}]));
    let (of_controller, of_other) = (images("controller"), images("other"));
    let digest = format!("ghcr.io/harbour/m@sha256:{}", "a".repeat(64));
    let kustomization = "config/manager/kustomization.yaml";
    for (written, files, image) in [
        ("ghcr.io/harbour/m:v1", &[][..], Some("ghcr.io/harbour/m")),
        (&digest, &[], Some("ghcr.io/harbour/m")),
        ("ghcr.io/harbour/m:v1", &[], Some("ghcr.io/harbour/m")),
        ("localhost:5000/m:v1", &[], Some("localhost:5000/m")),
        (
            "controller",
            &[(kustomization, of_controller.as_str())],
            Some("ghcr.io/harbour/renamed"),
        ),
        (
            "controller:latest",
            &[(kustomization, &of_controller)],
            Some("ghcr.io/harbour/renamed"),
        ),
        (
            "controller:latest",
            &[(DEFAULT, &of_controller)],
            Some("ghcr.io/harbour/renamed"),
        ),
        ("controller:latest", &[(kustomization, &of_other)], None),
        (
            "controller:latest",
            &[
                (kustomization, &of_controller),
                (DEFAULT, patched),
                (patch, &patch_text),
            ],
            Some("ghcr.io/harbour/patched"),
        ),
        ("m", &[], None),
        ("m:v1", &[], None),
        ("docker.io/library/m:v1", &[], None),
    ] {
        let manager = of_containers(&json!([{"name": "manager", "image": written}]));
        let (provider, left) = init(&[&[(MANAGER, manager.as_str())], files].concat());
        let placeholder = "ghcr.io/OWNER/harbour-manager";
        assert_eq!(
            provider["manager"]["image"],
            image.unwrap_or(placeholder),
            "{written} {files:?}"
        );
        let only = format!(
            "manager.image: the project says only `{written}`; write the image with its registry in place of {placeholder}"
        );
        let other =
            "`images` of config/manager changes other, which is not taken over: write the image into the file that has it".to_owned();
        let is_other = files.iter().any(|(_, text)| *text == of_other);
        let expected = is_other
            .then_some(other)
            .into_iter()
            .chain(image.is_none().then_some(only));
        assert_eq!(left, expected.collect::<Vec<_>>(), "{written} {files:?}");
    }
}

const NAMESPACE: &str = "apiVersion: v1\nkind: Namespace\nmetadata: ";

/// The first file with a Deployment is the manager's; other files are named, and what stands beside
/// it is to be moved.
#[test]
fn what_stands_beside_the_deployment_is_named_or_left() {
    let manager = of_containers(&json!([{"name": "manager", "image": "ghcr.io/harbour/m:v1"}]));
    let beside =
        |metadata: &str, rest: &str| format!("{NAMESPACE}{metadata}\n---\n{rest}{manager}\n");
    let config_map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n---\n";
    let others = [
        config_map.replace("NAME", "tides"),
        config_map.replace("NAME", "winds"),
    ]
    .concat();
    let labels = "{name: system, labels: {control-plane: controller-manager, tide: low}, annotations: {a: b}}";
    for (text, metadata, left) in [
        (beside("{name: system}", ""), Value::Null, None),
        (
            beside(
                "{name: system, labels: {control-plane: controller-manager}}",
                "",
            ),
            Value::Null,
            None,
        ),
        (
            beside(labels, ""),
            json!({"labels": {"tide": "low"}, "annotations": {"a": "b"}}),
            None,
        ),
        (
            beside("{name: system, annotations: {a: b}}", &others),
            json!({"annotations": {"a": "b"}}),
            Some("ConfigMap/tides, ConfigMap/winds"),
        ),
    ] {
        let (provider, found) = init(&[
            (MANAGER, &text),
            ("config/manager/more.yaml", &manager),
            ("config/manager/none.yaml", "# nothing\n"),
        ]);
        assert_eq!(
            provider
                .get("namespaceMetadata")
                .cloned()
                .unwrap_or_default(),
            metadata
        );
        assert_eq!(provider["objects"], json!(["config/manager/more.yaml"]));
        let moved = |objects| {
            format!(
                "objects: move {objects} from {MANAGER} into a file of their own and name it there"
            )
        };
        assert_eq!(found, left.map(moved).into_iter().collect::<Vec<_>>());
    }
}

/// Labels of contracts that patches give are `contracts`, of a kind that has others an entry of its
/// own; the release has the labels of the patches.
#[test]
fn labels_of_contracts_differ_by_kind() {
    let manager = of_containers(&json!([{"name": "manager", "image": "ghcr.io/harbour/m:v1"}]));
    let both = CRD.replace("name: v1beta1, served: true, storage: true", "name: v1beta1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n  - {name: v1alpha1, served: true, storage: false");
    let ships = both.replace("boat", "ship").replace("Boat", "Ship");
    let patch = |plural: &str, labels: &str| {
        format!(
            "kind: CustomResourceDefinition\nmetadata: {{name: {plural}.infrastructure.harbour.example, labels: {{{labels}}}}}\n"
        )
    };
    let crd = "patches: [{path: a.yaml}, {path: b.yaml}, {path: c.yaml}]\n";
    let files = [
        ("config/crd/bases/boats.yaml", both.as_str()),
        ("config/crd/bases/ships.yaml", &ships),
        (MANAGER, &manager),
        ("config/crd/kustomization.yaml", crd),
        (
            "config/crd/a.yaml",
            &patch("boats", "cluster.x-k8s.io/v1beta1: v1beta1"),
        ),
        (
            "config/crd/b.yaml",
            &patch(
                "ships",
                "cluster.x-k8s.io/v1beta1: v1alpha1_v1beta1, cluster.x-k8s.io/v1alpha4: v1alpha1",
            ),
        ),
        (
            "config/crd/c.yaml",
            &patch("ships", "cluster.x-k8s.io/v1beta2: v1beta1, tide: low"),
        ),
    ];
    let (_, provider, said) = initialised(&files, &[]);
    assert_eq!(
        provider["contracts"],
        json!({"v1beta1": ["v1alpha1", "v1beta1"], "v1beta2": ["v1beta1"]})
    );
    assert_eq!(
        provider["crdMetadata"],
        json!([{"kinds": ["Boat"], "contracts": {"v1beta1": ["v1beta1"]}}])
    );
    assert_eq!(provider["patches"], json!([{"path": "config/crd/c.yaml"}]));
    let assumed = "assumed: contracts: the labels that patches of config/crd set, without v1alpha4, which Cluster API no longer has\n";
    assert!(said.contains(assumed), "{said}");
}

/// What the kustomization puts on all CRDs comes after its patches, so that a kind whose patch adds
/// a contract has both.
#[test]
fn labels_of_all_crds_come_after_those_of_patches() {
    let manager = of_containers(&json!([{"name": "manager", "image": "ghcr.io/harbour/m:v1"}]));
    let patch = |labels: &str| {
        format!(
            "kind: CustomResourceDefinition\nmetadata: {{name: boats.infrastructure.harbour.example, labels: {{{labels}}}}}\n"
        )
    };
    for (labels, expected) in [
        ("cluster.x-k8s.io/v1beta1: x", Value::Null),
        (
            "cluster.x-k8s.io/v1beta2: v1beta1",
            json!([{"kinds": ["Boat"], "contracts": {"v1beta1": ["v1beta1"], "v1beta2": ["v1beta1"]}}]),
        ),
    ] {
        let (provider, _) = init(&[
            (MANAGER, &manager),
            (
                "config/crd/kustomization.yaml",
                "resources: [./bases/boats.yaml]\ncommonLabels: {cluster.x-k8s.io/v1beta1: v1beta1}\npatches: [{path: a.yaml}]\n",
            ),
            ("config/crd/a.yaml", &patch(labels)),
        ]);
        assert_eq!(provider["contracts"], json!({"v1beta1": ["v1beta1"]}));
        assert_eq!(
            provider.get("crdMetadata").cloned().unwrap_or_default(),
            expected,
            "{labels}"
        );
    }
}

/// Probes that a patch gives are those of the release; a manager without any gets none, which is
/// said.
#[test]
fn probes_may_come_from_a_patch() {
    let manager = of_containers(&json!([{"name": "manager", "image": "ghcr.io/harbour/m:v1"}]));
    let patch = |field: &str| {
        format!(
            "kind: Deployment\nmetadata: {{name: controller-manager}}\nspec: {{template: {{spec: {{containers: [{{name: manager, {field}}}]}}}}}}\n"
        )
    };
    for (field, ports, is_said) in [
        ("livenessProbe: {periodSeconds: 3}", Value::Null, false),
        ("readinessProbe: {periodSeconds: 3}", Value::Null, false),
        ("imagePullPolicy: Always", json!({"health": 0}), true),
    ] {
        let default = "resources: [../manager]\npatches: [{path: p.yaml}]\n";
        let (_, provider, said) = initialised(
            &[
                (MANAGER, &manager),
                (DEFAULT, default),
                ("config/default/p.yaml", &patch(field)),
            ],
            &[],
        );
        assert_eq!(
            provider["manager"]
                .get("ports")
                .cloned()
                .unwrap_or_default(),
            ports,
            "{field}"
        );
        let assumed =
            "assumed: manager.ports: no port for probes, because the Deployment has none by HTTP\n";
        assert_eq!(said.contains(assumed), is_said, "{said}");
    }
}

/// An image is what the layers make of it from the inside out: in each patches replace it, and
/// `images` renames what is there then.
#[test]
fn images_are_renamed_layer_by_layer() {
    let manager = of_containers(
        &json!([{"name": "manager", "image": "controller:latest"}, {"name": "proxy", "image": "ghcr.io/harbour/proxy:v1"}]),
    );
    let renamed =
        |from: &str, to: &str| format!("images: [{{name: '{from}', newName: ghcr.io/{to}}}]\n");
    let patch = "kind: Deployment\nmetadata: {name: m}\nspec: {template: {spec: {containers: [{name: NAME, image: localhost:5000/patched:dev}]}}}\n";
    for (inner, outer, container, expected) in [
        (
            renamed("controller", "a/b"),
            String::new(),
            "manager",
            "ghcr.io/a/b",
        ),
        (
            renamed("controller", "a/b"),
            renamed("controller", "c/d"),
            "manager",
            "ghcr.io/a/b",
        ),
        (
            renamed("controller", "a/b"),
            renamed("ghcr.io/a/b", "c/d"),
            "manager",
            "ghcr.io/c/d",
        ),
        (
            String::new(),
            "patches: [{path: p.yaml}]\n".to_owned(),
            "manager",
            "localhost:5000/patched",
        ),
        (
            String::new(),
            format!(
                "patches: [{{path: p.yaml}}]\n{}",
                renamed("localhost:5000/patched", "c/d")
            ),
            "manager",
            "ghcr.io/c/d",
        ),
        (
            renamed("controller", "a/b"),
            "patches: [{path: p.yaml}]\n".to_owned(),
            "proxy",
            "ghcr.io/a/b",
        ),
    ] {
        let (provider, _) = init(&[
            (MANAGER, &manager),
            (
                "config/manager/kustomization.yaml",
                &format!("resources: [manager.yaml]\n{inner}"),
            ),
            (DEFAULT, &format!("resources: [../manager]\n{outer}")),
            ("config/default/p.yaml", &patch.replace("NAME", container)),
        ]);
        assert_eq!(provider["manager"]["image"], expected, "{inner} {outer}");
    }
}

/// What patches are for: roles and webhooks of files, the Namespace, and what is made for webhooks,
/// if there are any.
#[test]
fn patches_are_for_what_the_release_has() {
    let manager = of_containers(&json!([{"name": "manager", "image": "ghcr.io/harbour/m:v1"}]));
    let object = |kind: &str, name: &str| {
        format!("kind: {kind}\nmetadata: {{name: {name}, labels: {{a: b}}}}\n---\n")
    };
    let role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: tides, namespace: system}\nrules: []\n";
    let more = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: winds}\n";
    for (kind, name, with_webhooks, is_named) in [
        ("Role", "tides", false, true),
        ("ConfigMap", "winds", false, true),
        ("Namespace", "system", false, true),
        (
            "CustomResourceDefinition",
            "boats.infrastructure.harbour.example",
            false,
            true,
        ),
        (
            "ValidatingWebhookConfiguration",
            "validating-webhook-configuration",
            true,
            true,
        ),
        ("Service", "webhook-service", true, true),
        ("Service", "webhook-service", false, false),
        ("Role", "winds", false, false),
    ] {
        let patch = object(kind, name);
        let mut files = vec![
            (MANAGER, manager.as_str()),
            ("config/rbac/role.yaml", role),
            ("config/default/more.yaml", more),
            (
                DEFAULT,
                "resources: [../manager, ../rbac, ../webhook, more.yaml]\npatches: [{path: p.yaml}]\n",
            ),
            ("config/webhook/kustomization.yaml", "namespace: a\n"),
            ("config/default/p.yaml", &patch),
        ];
        files.extend(with_webhooks.then_some(("config/webhook/manifests.yaml", WEBHOOKS)));
        let (provider, left) = init(&files);
        let expected = if is_named {
            json!([{"path": "config/default/p.yaml"}])
        } else {
            Value::Null
        };
        assert_eq!(
            provider.get("patches").cloned().unwrap_or_default(),
            expected,
            "{kind}/{name}: {left:?}"
        );
        assert_eq!(left.len(), usize::from(!is_named), "{left:?}");
    }
}

/// A file that two kustomizations take is named once; what stands beside a Namespace is to be
/// moved, and the first Namespace counts.
#[test]
fn files_are_named_once_and_the_first_namespace_counts() {
    let manager = of_containers(&json!([{"name": "manager", "image": "ghcr.io/harbour/m:v1"}]));
    let more = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: winds}\n";
    let namespace =
        |label: &str| format!("{NAMESPACE}{{name: system, labels: {{tide: {label}}}}}\n");
    let mixed = format!("{}---\n{more}", namespace("high"));
    let (provider, left) = init(&[
        (MANAGER, &manager),
        (
            DEFAULT,
            "resources: [inner, more.yaml, a.yaml, b.yaml, ../manager/manager.yaml]\n",
        ),
        (
            "config/default/inner/kustomization.yaml",
            "resources: [../more.yaml, ../../manager]\n",
        ),
        ("config/default/more.yaml", more),
        ("config/default/a.yaml", &namespace("low")),
        ("config/default/b.yaml", &mixed),
    ]);
    assert_eq!(provider["objects"], json!(["config/default/more.yaml"]));
    assert_eq!(
        provider["namespaceMetadata"],
        json!({"labels": {"tide": "low"}})
    );
    assert_eq!(
        left,
        [
            "objects: move ConfigMap/winds from config/default/b.yaml into a file of their own and name it there"
        ]
    );
}
