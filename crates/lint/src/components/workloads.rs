//! Workloads that clusterctl does not wait for (book: clusterctl, "Controllers & Watching
//! namespace"; checklist CC-20).

use crate::Scope;
use crate::containers::is_awaited;
use windlass_capi::contract::{MANAGER_CONTAINER, book};
use windlass_objects::{Object, pods};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// clusterctl does not wait for a workload that is not a Deployment with a container named
    /// `manager`
    WORKLOAD_UNAWAITED = warning("components-workload-unawaited"), catalogue("C04"), url(book::CONTROLLERS);
}

/// Checks the workloads. That no Deployment at all has the container is a finding of its own.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let runs_on = |object: &&Object| {
        object.group() == "apps"
            && matches!(object.kind(), "DaemonSet" | "Deployment" | "StatefulSet")
    };
    let workloads: Vec<&Object> = scope.objects.iter().filter(runs_on).collect();
    let is_any_awaited = workloads.iter().any(|object| is_awaited(object));
    let judged = workloads
        .into_iter()
        .filter(|object| scope.is_whole() && (is_any_awaited || object.kind() != "Deployment"));
    judged
        .filter(|object| !is_awaited(object))
        .map(finding)
        .collect()
}

fn finding(object: &Object) -> Diagnostic {
    let names: Vec<&str> = pods::containers(object.value())
        .filter_map(|(_, container)| container["name"].as_str())
        .collect();
    let (path, help) = match object.kind() {
        "Deployment" => (
            "spec.template.spec.containers",
            format!(
                "write `name: {MANAGER_CONTAINER}` for the container that runs the controller, which is one of: {}",
                names.join(", ")
            ),
        ),
        _ => (
            "kind",
            format!(
                "run a controller in a Deployment, in a container with `name: {MANAGER_CONTAINER}`"
            ),
        ),
    };
    let what = format!(
        "clusterctl does not wait for {}, which is not a Deployment with a container `{MANAGER_CONTAINER}`",
        object.title()
    );
    Diagnostic::of(&WORKLOAD_UNAWAITED, what)
        .at(object.place(&FieldPath::of_fields(path)))
        .help(help)
        .note("if no controller runs there, allow this rule")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::components::tests::{found_in, titles};

    fn workload(kind: &str, name: &str, containers: &[&str]) -> Object {
        let containers: Vec<_> = containers
            .iter()
            .map(|name| json!({"name": name}))
            .collect();
        let spec = json!({"template": {"spec": {"containers": containers}}});
        Object::made(
            json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}),
        )
    }

    /// Cluster API, cmd/clusterctl/internal/util/objs.go, IsDeploymentWithManager.
    #[test]
    fn only_deployments_with_the_container_are_awaited() {
        let awaited = workload("Deployment", "a", &["proxy", "manager"]);
        assert_eq!(titles(std::slice::from_ref(&awaited), check), [""; 0]);
        let others = [
            awaited,
            workload("Deployment", "b", &["builder"]),
            workload("DaemonSet", "c", &["manager"]),
            workload("StatefulSet", "d", &["manager"]),
            workload("ReplicaSet", "e", &["manager"]),
        ];
        assert_eq!(
            titles(&others, check),
            ["Deployment/b", "DaemonSet/c", "StatefulSet/d"]
        );
        let none = [
            workload("Deployment", "b", &["builder"]),
            workload("DaemonSet", "c", &["x"]),
        ];
        assert_eq!(
            titles(&none, check),
            ["DaemonSet/c"],
            "that no Deployment has it is rules_and_fields elsewhere"
        );
    }

    #[test]
    fn the_help_names_the_containers() {
        let report = found_in(
            &[
                workload("Deployment", "a", &["manager"]),
                workload("Deployment", "b", &["x", "y"]),
            ],
            None,
            check,
        );
        let help = report.findings()[0].help.as_ref().unwrap().to_string();
        assert!(help.ends_with("one of: x, y"), "{help}");
    }
}
