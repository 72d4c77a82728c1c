//! The CustomResourceDefinitions of our kinds, as controller-gen would write them of Go types.
//!
//! Names, columns and flags of a version come from the derive on the Rust type, the schema from [`api::openapi`](crate::api::openapi).

use kube::CustomResourceExt;
use serde_json::{Value, json};

use crate::api::names::{Kind, Version};
use crate::api::{openapi, v1beta1, v1beta2};
use crate::contract::ContractVersion;
use crate::contract::manager::CONVERSION_PATH;

/// Both CRDs, in the order of their names.
pub fn crds() -> [Value; 2] {
    let (config, template) = rayon::join(|| crd(Kind::Config), || crd(Kind::Template));
    [config, template]
}

/// The CRD of a kind: both versions, v1beta2 stored, without a conversion clause (see [`conversion_clause`]).
pub fn crd(kind: Kind) -> Value {
    let versions = Version::ALL.map(|version| version_of(kind, version));
    let newest = derived(kind, Version::V1Beta2);
    let mut names = newest["spec"]["names"].clone();
    names["listKind"] = format!("{kind}List").into();
    json!({
        "apiVersion": newest["apiVersion"],
        "kind": newest["kind"],
        "metadata": {"name": newest["metadata"]["name"], "labels": contract_labels()},
        "spec": {
            "group": newest["spec"]["group"],
            "names": names,
            "scope": newest["spec"]["scope"],
            "versions": versions,
        },
    })
}

/// `spec.conversion` for a manager whose webhooks are behind this Service. The CA bundle is injected by cert-manager.
pub fn conversion_clause(service: &str, namespace: &str) -> Value {
    json!({
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": service, "namespace": namespace, "path": CONVERSION_PATH}},
        },
    })
}

/// `cluster.x-k8s.io/<contract>: <version>`: each contract is fulfilled by the version of the same name (book: "All resources: version").
fn contract_labels() -> Value {
    ContractVersion::ALL
        .into_iter()
        .zip(Version::ALL)
        .map(|(contract, version)| (contract.label(), Value::from(version.as_str())))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// One entry of `spec.versions`.
fn version_of(kind: Kind, version: Version) -> Value {
    let mut entry = derived(kind, version)["spec"]["versions"][0].take();
    entry["schema"] = json!({"openAPIV3Schema": openapi::schema(kind, version)});
    if entry["subresources"].is_null() {
        entry["subresources"] = json!({});
    }
    entry
}

/// The CRD that kube derives: a single version, no schema.
fn derived(kind: Kind, version: Version) -> Value {
    let crd = match (kind, version) {
        (Kind::Config, Version::V1Beta1) => v1beta1::WindlassConfig::crd(),
        (Kind::Config, Version::V1Beta2) => v1beta2::WindlassConfig::crd(),
        (Kind::Template, Version::V1Beta1) => v1beta1::WindlassConfigTemplate::crd(),
        (Kind::Template, Version::V1Beta2) => v1beta2::WindlassConfigTemplate::crd(),
    };
    serde_json::to_value(crd).expect("internal error: a CRD is plain data")
}
