//! The CustomResourceDefinitions of our kinds, as controller-gen would write them of Go types.
//!
//! Names, columns and flags of a version come from the derive on the Rust type, the schema from
//! [`api::openapi`](windlass_capi::api::openapi).

use kube::CustomResourceExt;
use serde_json::{Map, Value, json};

use windlass_capi::api::names::{Kind, Version};
use windlass_capi::api::{openapi, v1beta1, v1beta2};
use windlass_capi::contract::ContractVersion;
use windlass_capi::contract::manager::CONVERSION_PATH;

/// Both CRDs, in the order of [`Kind::ALL`] and of their names, with both versions, without a
/// conversion clause (see [`conversion_clause`]).
pub fn crds() -> [Value; 2] {
    let ([old_config, old_template], [new_config, new_template]) = rayon::join(
        || openapi::schemas(Version::V1Beta1),
        || openapi::schemas(Version::V1Beta2),
    );
    [
        crd(Kind::Config, [old_config, new_config]),
        crd(Kind::Template, [old_template, new_template]),
    ]
}

/// The CRD of a kind from its schemas, older first.
fn crd(kind: Kind, [old, new]: [Value; 2]) -> Value {
    let mut newest = derived(kind, Version::V1Beta2);
    newest["metadata"]["labels"] = contract_labels();
    newest["spec"]["names"]["listKind"] = format!("{kind}List").into();
    let versions = vec![
        version_of(derived(kind, Version::V1Beta1), old),
        version_of(newest.clone(), new),
    ];
    newest["spec"]["versions"] = Value::Array(versions);
    newest
}

/// `spec.conversion` for a manager whose webhooks are behind this Service. The CA bundle is
/// injected by cert-manager.
pub fn conversion_clause(service: &str, namespace: &str) -> Value {
    json!({
        "strategy": "Webhook",
        "webhook": {
            "conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"name": service, "namespace": namespace, "path": CONVERSION_PATH}},
        },
    })
}

/// `cluster.x-k8s.io/<contract>: <version>`: each contract is fulfilled by the version of the same
/// name (book: "All resources: version").
fn contract_labels() -> Value {
    ContractVersion::ALL
        .into_iter()
        .zip(Version::ALL)
        .map(|(contract, version)| (contract.label(), Value::from(version.as_str())))
        .collect::<Map<_, _>>()
        .into()
}

/// One entry of `spec.versions`: that of a derived CRD, with its schema.
fn version_of(mut derived: Value, schema: Value) -> Value {
    let mut entry = derived["spec"]["versions"][0].take();
    entry["schema"] = Value::Object(Map::from_iter([("openAPIV3Schema".to_owned(), schema)]));
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
