//! Pods: where an object has one, and its containers.

use serde_json::Value;

use super::fields;
use super::misfit::Shape;
use super::select::select;
use windlass_source::diag::FieldPath;

/// The lists of containers of a pod, in the order in which clusterctl looks at them.
pub const CONTAINER_LISTS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Where objects of a kind have their pod. The kind decides alone, as it does for clusterctl.
pub fn pod_path(kind: &str) -> Option<&'static str> {
    match kind {
        "Pod" => Some("spec"),
        "PodTemplate" => Some("template.spec"),
        "Deployment"
        | "DaemonSet"
        | "StatefulSet"
        | "ReplicaSet"
        | "ReplicationController"
        | "Job" => Some("spec.template.spec"),
        "CronJob" => Some("spec.jobTemplate.spec.template.spec"),
        _ => None,
    }
}

/// The containers of an object with their paths: those that run, then init containers, then
/// ephemeral ones. What is not a mapping is left out.
pub fn containers(object: &Value) -> impl Iterator<Item = (FieldPath, &Value)> {
    let pod = pod_path(fields::kind(object)).into_iter();
    pod.flat_map(move |pod| {
        CONTAINER_LISTS
            .into_iter()
            .flat_map(move |list| select(object, &format!("{pod}.{list}[]"), Shape::Mapping).found)
    })
}

/// The images that the containers of an object name, in their order.
pub fn images(object: &Value) -> impl Iterator<Item = &str> {
    containers(object).filter_map(|(_, container)| container.get("image")?.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Kubernetes' API reference: where each kind of workload has its pod.
    #[test]
    fn every_kind_that_runs_pods_is_known() {
        let pod = json!({"containers": [{"image": "a"}], "initContainers": [{"image": "b"}], "ephemeralContainers": [{"image": "c"}]});
        let template = json!({"template": {"spec": pod}});
        for (kind, object) in [
            ("Pod", json!({"spec": pod})),
            ("PodTemplate", template.clone()),
            (
                "CronJob",
                json!({"spec": {"jobTemplate": {"spec": template}}}),
            ),
        ] {
            let mut object = object;
            object["kind"] = json!(kind);
            assert_eq!(
                images(&object).collect::<Vec<_>>(),
                ["a", "b", "c"],
                "{kind}"
            );
        }
        for kind in [
            "Deployment",
            "DaemonSet",
            "StatefulSet",
            "ReplicaSet",
            "ReplicationController",
            "Job",
        ] {
            assert_eq!(
                images(&json!({"kind": kind, "spec": template})).count(),
                3,
                "{kind}"
            );
        }
        assert_eq!(
            images(&json!({"kind": "Other", "spec": template})).count(),
            0
        );
    }
}
