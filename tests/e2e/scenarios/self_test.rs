//! The harness itself: what it plays is taken for real by the real programs.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::runner::Context;
use crate::harness::wait;

const SOON: Duration = Duration::from_secs(20);

/// The webhook server is called by the API server, for admission and for conversion, and what it
/// answers counts.
pub(crate) fn webhooks_are_called(context: &Context) {
    let plane = context.shared();
    let port = plane.serve(
        [
            ("/reject".to_owned(), Arc::new(reject) as _),
            ("/convert".to_owned(), Arc::new(relabel) as _),
        ]
        .into(),
    );
    plane
        .api
        .apply(&crd(port, &plane.certificates.authority))
        .unwrap();
    wait::until("a Buoy to be taken", SOON, || {
        plane
            .api
            .apply(&buoy("good", &json!(3)))
            .map_err(|rejection| rejection.to_string())
    });
    assert_eq!(
        plane
            .api
            .get("e2e.windlass.dev/v2", "Buoy", Some("default"), "good")
            .unwrap()["spec"]["size"],
        3
    );

    let rejection = plane.api.create(&buoy("typed", &json!("3"))).unwrap_err();
    assert_eq!(
        rejection
            .causes()
            .iter()
            .map(|(field, _)| field.as_str())
            .collect::<Vec<_>>(),
        ["spec.size"],
        "{rejection}"
    );

    plane
        .api
        .apply(&validating_webhook(port, &plane.certificates.authority))
        .unwrap();
    wait::until("a bad Buoy to be rejected", SOON, || {
        match plane.api.try_create(&buoy("bad", &json!(3))) {
            Err(rejection) if rejection.message().contains("not that name") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
    plane.api.try_create(&buoy("better", &json!(3))).unwrap();
}

fn buoy(name: &str, size: &Value) -> Value {
    json!({"apiVersion": "e2e.windlass.dev/v1", "kind": "Buoy", "metadata": {"name": name}, "spec": {"size": size}})
}

/// Admits everything that is not called `bad`.
fn reject(review: &Value) -> Value {
    let allowed = review["request"]["name"] != "bad";
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "response": {"uid": review["request"]["uid"], "allowed": allowed, "status": {"code": 403, "message": "not that name"}},
    })
}

/// The conversion of versions that differ by name only.
fn relabel(review: &Value) -> Value {
    let mut objects = review["request"]["objects"].clone();
    for object in objects.as_array_mut().unwrap() {
        object["apiVersion"] = review["request"]["desiredAPIVersion"].clone();
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
        "response": {"uid": review["request"]["uid"], "convertedObjects": objects, "result": {"status": "Success"}},
    })
}

fn client(port: u16, path: &str, authority: &str) -> Value {
    json!({"url": format!("https://127.0.0.1:{port}{path}"), "caBundle": STANDARD.encode(authority)})
}

fn crd(port: u16, authority: &str) -> Value {
    let spec = json!({"type": "object", "properties": {"size": {"type": "integer"}}});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    let webhook = json!({"clientConfig": client(port, "/convert", authority), "conversionReviewVersions": ["v1"]});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "buoys.e2e.windlass.dev"},
        "spec": {
            "group": "e2e.windlass.dev", "scope": "Namespaced",
            "names": {"kind": "Buoy", "listKind": "BuoyList", "plural": "buoys", "singular": "buoy"},
            "conversion": {"strategy": "Webhook", "webhook": webhook},
            "versions": [
                {"name": "v1", "served": true, "storage": false, "schema": schema},
                {"name": "v2", "served": true, "storage": true, "schema": schema},
            ],
        },
    })
}

fn validating_webhook(port: u16, authority: &str) -> Value {
    let rule = json!({"apiGroups": ["e2e.windlass.dev"], "apiVersions": ["*"], "resources": ["buoys"], "operations": ["CREATE"]});
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": {"name": "buoys"},
        "webhooks": [{
            "name": "buoys.e2e.windlass.dev", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": client(port, "/reject", authority), "rules": [rule],
        }],
    })
}

/// clusterctl installs Cluster API's own four providers and ours, their Deployments become
/// available, and the managers run as their service accounts and answer their webhooks.
pub(crate) fn cluster_api_comes_up(context: &Context) {
    let plane = context.installed();
    let cluster = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster", "metadata": {"name": "c", "namespace": "default"},
        "spec": {"paused": true, "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DevCluster", "name": "c"}},
    });
    wait::until("a Cluster to be taken", SOON, || {
        plane
            .api
            .try_create(&cluster)
            .map_err(|rejection| rejection.to_string())
    });
    let config = json!({
        "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "metadata": {"name": "k", "namespace": "default"},
        "spec": {"files": [{"path": "/a", "content": "x"}, {"path": "/a", "content": "y"}]},
    });
    wait::until("a KubeadmConfig to be rejected", SOON, || {
        match plane.api.try_create(&config) {
            Err(rejection) if rejection.message().contains("spec.files[1].path") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    });
}
