//! The provider in `examples/harbour`: its CRDs are those of its types, its release has no fault,
//! its template fits. The roles in `examples/kubeadm-configs`: they allow what the manager asks
//! for.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use windlass_capi::contract::AGGREGATED_VERBS;
use windlass_capi::contract::rights::{RIGHTS_AT_KUBEADM, RIGHTS_ON_KUBEADM_CONFIGS, Right};
use windlass_envsubst as envsubst;
use windlass_schema::{Schema, structural};
use windlass_source::budget::Budget;

use crate::support::{self, documents, root, run, windlass};

#[path = "../../examples/harbour/api.rs"]
#[allow(unreachable_pub, reason = "the example is a program of its own")]
mod api;

const HARBOUR: &str = "examples/harbour";

fn crd_file(crd: &Value) -> String {
    format!("{}.yaml", crd["spec"]["names"]["plural"].as_str().unwrap())
}

#[test]
fn crds_of_the_harbour_are_what_kube_prints() {
    let folder = format!("{HARBOUR}/config/crd");
    let mut files = BTreeSet::new();
    for crd in api::crds() {
        let value = serde_json::to_value(&crd).unwrap();
        assert_eq!(
            structural::check(&value, &Budget::default()),
            [],
            "the API server would reject it"
        );
        let file = crd_file(&value);
        support::golden(
            &format!("{folder}/{file}"),
            &serde_yaml::to_string(&crd).unwrap(),
        );
        files.insert(file);
    }
    let committed = std::fs::read_dir(root().join(folder)).unwrap();
    assert_eq!(
        committed
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect::<BTreeSet<_>>(),
        files
    );
}

/// Builds the release with the program; returns its report.
fn release(to: &Path) -> Value {
    let build = "release build v0.1.0 --provider examples/harbour/provider.yaml -o json";
    run(root(), &format!("{build} --to {}", to.display()))
        .ok()
        .json()
}

/// Book, clusterctl: what a release of an infrastructure provider holds; "All resources": labels,
/// list kind, access for the core.
#[test]
fn harbour_is_released_without_a_finding() {
    let temporary = tempfile::tempdir().unwrap();
    let to = temporary.path().join("out");
    let report = release(&to);
    assert_eq!(report["findings"], json!([]));
    assert_eq!(report["providers"], json!(["infrastructure-harbour"]));
    let made = [
        "SHA256SUMS",
        "images.txt",
        "infrastructure-components.yaml",
        "install.yaml",
        "sbom.spdx.json",
    ];
    let mut files = [&made[..], &["cluster-template.yaml", "metadata.yaml"]].concat();
    files.sort_unstable();
    assert_eq!(report["files"], json!(files));
    // Its only variable has a default, which those who do not install by clusterctl get too.
    let install = String::from_utf8(std::fs::read(to.join("install.yaml")).unwrap()).unwrap();
    let components =
        String::from_utf8(std::fs::read(to.join("infrastructure-components.yaml")).unwrap())
            .unwrap();
    assert!(
        components.contains("${HARBOUR_LOG_LEVEL:=2}"),
        "{components}"
    );
    let run = |arguments: &[&str]| {
        let output = windlass(temporary.path()).args(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    run(&["repository", "add", "out", "--to", "r"]);
    assert!(
        install
            == run(&[
                "generate",
                "provider",
                "--config",
                "r/clusterctl.yaml",
                "--infrastructure",
                "harbour:v0.1.0"
            ])
            && !install.contains("${")
    );
    let objects = documents(&std::fs::read(to.join("infrastructure-components.yaml")).unwrap());
    let crds: Vec<&Value> = objects
        .iter()
        .filter(|object| object["kind"] == "CustomResourceDefinition")
        .collect();
    assert_eq!(crds.len(), 4);
    for crd in &crds {
        let kind = crd["spec"]["names"]["kind"].as_str().unwrap();
        assert_eq!(crd["spec"]["names"]["listKind"], format!("{kind}List"));
        assert_eq!(
            crd["metadata"]["labels"],
            json!({"cluster.x-k8s.io/provider": "infrastructure-harbour", "cluster.x-k8s.io/v1beta2": "v1alpha1"})
        );
        let printed = &documents(
            &std::fs::read(root().join(HARBOUR).join("config/crd").join(crd_file(crd))).unwrap(),
        )[0];
        assert_eq!(
            crd["spec"]["versions"], printed["spec"]["versions"],
            "the schema of {kind} stays as kube printed it"
        );
    }
    let aggregated = objects.iter().find(|object| {
        object["metadata"]["labels"]["cluster.x-k8s.io/aggregate-to-manager"] == "true"
    });
    let plurals = [
        "harbourclusters",
        "harbourclustertemplates",
        "harbourmachines",
        "harbourmachinetemplates",
    ];
    let rule = json!({"apiGroups": ["infrastructure.harbour.example"], "resources": plurals, "verbs": AGGREGATED_VERBS});
    assert_eq!(aggregated.unwrap()["rules"], json!([rule]));
    let label = "kubeadm.controlplane.cluster.x-k8s.io/aggregate-to-manager";
    assert_eq!(
        aggregated.unwrap()["metadata"]["labels"][label],
        "true",
        "the kubeadm control plane clones machine templates"
    );
}

/// The schema at a path of property names; `[]` steps into a list.
fn schema_at<'a>(schema: &'a Value, path: &str) -> &'a Value {
    path.split('.')
        .fold(schema, |schema, step| match step.strip_suffix("[]") {
            Some(list) => &schema["properties"][list]["items"],
            None => &schema["properties"][step],
        })
}

/// Contract v1beta2 of InfraCluster and InfraMachine (checklist PK-02 to PK-08).
#[test]
fn harbour_has_the_fields_of_its_contract() {
    let schemas: BTreeMap<String, Value> = api::crds()
        .iter()
        .map(|crd| {
            let crd = serde_json::to_value(crd).unwrap();
            (
                crd["spec"]["names"]["kind"].as_str().unwrap().to_owned(),
                crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone(),
            )
        })
        .collect();
    for (kind, path, of_type) in [
        ("HarbourCluster", "spec.controlPlaneEndpoint.host", "string"),
        (
            "HarbourCluster",
            "spec.controlPlaneEndpoint.port",
            "integer",
        ),
        (
            "HarbourCluster",
            "status.initialization.provisioned",
            "boolean",
        ),
        ("HarbourCluster", "status.failureDomains[].name", "string"),
        (
            "HarbourCluster",
            "status.failureDomains[].controlPlane",
            "boolean",
        ),
        (
            "HarbourCluster",
            "status.failureDomains[].attributes",
            "object",
        ),
        ("HarbourCluster", "status.conditions[].type", "string"),
        ("HarbourClusterTemplate", "spec.template.metadata", "object"),
        ("HarbourClusterTemplate", "spec.template.spec", "object"),
        ("HarbourMachine", "spec.providerID", "string"),
        (
            "HarbourMachine",
            "status.initialization.provisioned",
            "boolean",
        ),
        ("HarbourMachine", "status.failureDomain", "string"),
        ("HarbourMachine", "status.conditions[].type", "string"),
        ("HarbourMachineTemplate", "spec.template.metadata", "object"),
        ("HarbourMachineTemplate", "spec.template.spec", "object"),
    ] {
        assert_eq!(
            schema_at(&schemas[kind], path)["type"],
            of_type,
            "{kind} {path}"
        );
    }
    assert_eq!(
        schema_at(&schemas["HarbourCluster"], "status.failureDomains")["x-kubernetes-list-map-keys"],
        json!(["name"])
    );
    assert_eq!(
        schema_at(&schemas["HarbourCluster"], "spec.controlPlaneEndpoint").get("required"),
        None
    );
    let known = json!([
        "Hostname",
        "ExternalIP",
        "InternalIP",
        "ExternalDNS",
        "InternalDNS"
    ]);
    assert_eq!(
        schema_at(&schemas["HarbourMachine"], "status.addresses[].type")["enum"],
        known
    );
}

#[test]
fn template_of_the_harbour_fits_its_crds() {
    let template =
        std::fs::read_to_string(root().join(HARBOUR).join("templates/cluster-template.yaml"))
            .unwrap();
    let values = [
        ("CLUSTER_NAME", "c"),
        ("NAMESPACE", "n"),
        ("KUBERNETES_VERSION", "v1.34.0"),
        ("CONTROL_PLANE_MACHINE_COUNT", "1"),
        ("WORKER_MACHINE_COUNT", "2"),
        ("HARBOUR_PORT_OF_CALL", "rotterdam"),
    ];
    let value = |name: &str| {
        values
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| (*value).to_owned())
    };
    let text = envsubst::parse(&template)
        .unwrap()
        .substitute(value, &Budget::default())
        .unwrap()
        .text()
        .unwrap()
        .to_owned();
    let objects = documents(text.as_bytes());
    let mut seen = Vec::new();
    for crd in api::crds() {
        let crd = serde_json::to_value(crd).unwrap();
        let schema =
            Schema::from_json(&crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]).unwrap();
        for object in objects
            .iter()
            .filter(|object| object["kind"] == crd["spec"]["names"]["kind"])
        {
            assert_eq!(schema.validate(object), []);
            assert!(schema.unknown_fields(object).is_empty(), "{object}");
            seen.push(object["kind"].as_str().unwrap());
        }
    }
    assert_eq!(
        seen,
        [
            "HarbourCluster",
            "HarbourMachineTemplate",
            "HarbourMachineTemplate"
        ]
    );
}

/// Group, resource and verb of each right of the role of that kind.
fn allowed<'a>(objects: &'a [Value], kind: &str) -> BTreeSet<[&'a str; 3]> {
    let role = objects
        .iter()
        .find(|object| object["kind"] == kind)
        .unwrap();
    let texts = |list: &'a Value| {
        list.as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap())
    };
    let rules = role["rules"].as_array().unwrap().iter();
    let one = |rule: &'a Value| {
        let group = texts(&rule["apiGroups"]).next().unwrap();
        texts(&rule["resources"]).flat_map(move |resource| {
            texts(&rule["verbs"]).map(move |verb| [group, resource, verb])
        })
    };
    rules.flat_map(one).collect()
}

/// What `--kinds=KubeadmConfig` needs, and nothing else, for the account of the release.
#[test]
fn roles_for_kubeadm_configs_allow_what_is_asked_for() {
    let objects =
        documents(&std::fs::read(root().join("examples/kubeadm-configs/rbac.yaml")).unwrap());
    for (kind, rights) in [
        ("ClusterRole", RIGHTS_ON_KUBEADM_CONFIGS),
        ("Role", RIGHTS_AT_KUBEADM),
    ] {
        let one = |right: &'static Right| {
            right
                .verbs
                .iter()
                .map(|verb| [right.group, right.resource, *verb])
        };
        assert_eq!(
            allowed(&objects, kind),
            rights.iter().flat_map(one).collect()
        );
    }
    let bindings = objects
        .iter()
        .filter(|object| object["roleRef"].is_object());
    let bound: Vec<&Value> = bindings.map(|binding| &binding["subjects"]).collect();
    let account = json!([{"kind": "ServiceAccount", "name": "windlass-manager", "namespace": "windlass-system"}]);
    assert_eq!(bound, [&account, &account]);
}
