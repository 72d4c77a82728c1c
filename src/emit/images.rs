//! Container images: which a set of objects runs.

use std::collections::BTreeSet;

use serde_json::Value;

/// The pod template of an object that has one.
pub fn pod_spec(object: &Value) -> Option<&Value> {
    let spec = match object["kind"].as_str()? {
        "Pod" => &object["spec"],
        "Deployment" | "DaemonSet" | "StatefulSet" | "ReplicaSet" | "Job" => &object["spec"]["template"]["spec"],
        "CronJob" => &object["spec"]["jobTemplate"]["spec"]["template"]["spec"],
        _ => return None,
    };
    spec.is_object().then_some(spec)
}

/// The images that the containers of some objects name, each once, in byte order.
pub fn images<'a>(objects: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    objects.into_iter().filter_map(pod_spec).flat_map(containers).filter_map(|c| c["image"].as_str()).map(str::to_owned).collect()
}

/// The containers of a pod, init containers last, as clusterctl lists them.
pub fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    ["containers", "initContainers"].into_iter().flat_map(|list| pod[list].as_array().into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn images_are_listed_once() {
        let pod = |images: &[&str]| {
            let containers: Vec<_> = images.iter().map(|i| json!({"image": i})).collect();
            json!({"kind": "Deployment", "spec": {"template": {"spec": {"containers": containers}}}})
        };
        let found = images([&pod(&["b", "a"]), &pod(&["a"]), &json!({"kind": "ConfigMap"})]);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b"]);
    }
}
