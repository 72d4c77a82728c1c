//! Expectations are the answers of Cluster API's own webhooks, which `tests/peers/object-admission`
//! runs.

use serde_json::{Value, json};

use super::*;

fn deployment(spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "MachineDeployment", "metadata": {"name": "md"},
        "spec": {
            "clusterName": "c",
            "template": {"spec": {
                "clusterName": "c", "bootstrap": {"dataSecretName": "s"},
                "infrastructureRef": {"apiGroup": "g", "kind": "K", "name": "n"},
            }},
        },
    });
    for (field, value) in spec.as_object().into_iter().flatten() {
        object["spec"][field] = value.clone();
    }
    object
}

fn message(object: &Value) -> Option<String> {
    rejection(object, &Release::NEWEST, &Budget::default()).map(|rejection| rejection.message)
}

#[test]
fn accepts_what_the_defaulting_webhook_completes() {
    let rollout = json!({"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}});
    let object = deployment(json!({"rollout": rollout}));
    assert_eq!(message(&object), None);
    let defaulted = defaulted(&object);
    assert_eq!(
        defaulted["spec"]["rollout"]["strategy"]["type"],
        "RollingUpdate"
    );
    assert_eq!(
        defaulted["spec"]["selector"]["matchLabels"],
        json!({"cluster.x-k8s.io/cluster-name": "c", "cluster.x-k8s.io/deployment-name": "md"})
    );
}

#[test]
fn rejects_machines_that_the_selector_does_not_select() {
    let object = deployment(json!({"selector": {"matchLabels": {"a": "b"}}}));
    let expected = "MachineDeployment.cluster.x-k8s.io \"md\" is invalid: spec.template.metadata.labels: Forbidden: \
                    must match spec.selector \"a=b,cluster.x-k8s.io/cluster-name=c\"";
    assert_eq!(message(&object).as_deref(), Some(expected));
}

#[test]
fn rejects_a_rollout_that_never_moves() {
    let update = json!({"maxSurge": 0, "maxUnavailable": 0});
    let object = deployment(json!({"rollout": {"strategy": {"rollingUpdate": update}}}));
    let expected = "MachineDeployment.cluster.x-k8s.io \"md\" is invalid: spec.rollout.strategy.rollingUpdate: Invalid value: \"0\": \
                    maxUnavailable and maxSurge cannot both be 0";
    assert_eq!(message(&object).as_deref(), Some(expected));
}

#[test]
fn rejects_replicas_of_an_autoscaler_that_are_no_number() {
    let mut object = deployment(json!({}));
    let annotation = "cluster.x-k8s.io/cluster-api-autoscaler-node-group";
    object["metadata"]["annotations"] =
        json!({format!("{annotation}-min-size"): "x", format!("{annotation}-max-size"): "3"});
    let expected = "failed to caculate MachineDeployment replicas value: could not parse the value of the \
                    \"cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size\" annotation: strconv.ParseInt: parsing \"x\": invalid syntax";
    assert_eq!(message(&object).as_deref(), Some(expected));
}

#[test]
fn leaves_a_rollout_strategy_of_another_type_to_the_schema() {
    // "json: cannot unmarshal array into Go struct field KubeadmControlPlaneRolloutStrategy.spec.rollout.strategy.type"
    let mut object = json!({
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2", "kind": "KubeadmControlPlane",
        "metadata": {"name": "a"}, "spec": {"rollout": {"strategy": {"type": []}}},
    });
    assert_eq!(
        defaulted(&object)["spec"]["rollout"]["strategy"]["type"],
        json!([])
    );
    object["spec"]["rollout"]["strategy"]["type"] = "OnDelete".into();
    assert_eq!(
        defaulted(&object)["spec"]["rollout"]["strategy"]["type"],
        "RollingUpdate"
    );
}
