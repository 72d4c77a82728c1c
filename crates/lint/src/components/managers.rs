//! The pods of managers: as whom they run, and what runs beside them.

use serde_json::Value;

use crate::Scope;
use windlass_capi::contract::{Image, MANAGER_CONTAINER};
use windlass_objects::{Object, pods};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// the manager is not prevented from running as root
    RUNS_AS_ROOT = warning("components-manager-root"), catalogue("C21");
    /// kube-rbac-proxy runs next to the manager, which can protect its metrics itself
    PROXY_PRESENT = info("components-metrics-proxy-present"), catalogue("C22"),
        url("https://github.com/kubernetes-sigs/kubebuilder/discussions/3907");
}

pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let mut report = Report::new();
    for object in scope.objects {
        for (path, container) in pods::containers(object.value()) {
            report.extend(root(object, &path, container).filter(|_| scope.is_whole()));
            report.extend(proxy(object, &path, container));
        }
    }
    report
}

fn root(object: &Object, path: &FieldPath, container: &Value) -> Option<Diagnostic> {
    let pod = FieldPath::of_fields(pods::pod_path(object.kind())?).field("securityContext");
    let of_pod = |field: &str| object.at(&pod.field(field));
    let own = &container["securityContext"];
    let said = |field: &str| {
        own.get(field)
            .filter(|value| !value.is_null())
            .or_else(|| of_pod(field))
    };
    let is_other_user = said("runAsUser")
        .and_then(Value::as_i64)
        .is_some_and(|user| user != 0);
    // Who writes `privileged` means it.
    let is_meant = own["privileged"] == true;
    if container["name"] != MANAGER_CONTAINER
        || is_meant
        || is_other_user
        || said("runAsNonRoot") == Some(&Value::Bool(true))
    {
        return None;
    }
    let message = format!(
        "nothing keeps the manager of {} from running as root",
        object.title()
    );
    let finding = Diagnostic::of(&RUNS_AS_ROOT, message).at(object.place(path));
    Some(finding.help("write `securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}` for the pod"))
}

fn proxy(object: &Object, path: &FieldPath, container: &Value) -> Option<Diagnostic> {
    let image = container["image"].as_str()?;
    Image::parse(image)
        .ok()
        .filter(|image| image.name == "kube-rbac-proxy")?;
    let finding = Diagnostic::of(
        &PROXY_PRESENT,
        format!(
            "kube-rbac-proxy runs beside the manager of {}",
            object.title()
        ),
    );
    Some(
        finding
            .at(object.place(path))
            .help("let the manager protect its metrics, with `filters.WithAuthenticationAndAuthorization`, and remove the container")
            .note("controller-runtime does it since 0.16, and kubebuilder's scaffold has no proxy since 3.15"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::components::tests::{of, rules_and_fields};

    fn deployment(pod: Value, container: Value) -> Object {
        let mut named = json!({"name": "manager", "image": "ghcr.io/a/b:v1"});
        named
            .as_object_mut()
            .unwrap()
            .extend(container.as_object().unwrap().clone());
        let spec = json!({"template": {"spec": {"securityContext": pod, "containers": [named]}}});
        of("apps/v1", "Deployment", "d", json!({"spec": spec}))
    }

    /// Kubernetes, "Configure a Security Context": what a container says goes before what its pod
    /// says.
    #[test]
    fn managers_say_that_they_are_not_root() {
        let found = |pod: Value, container: Value| {
            rules_and_fields(
                &[deployment(pod, json!({"securityContext": container}))],
                check,
            )
        };
        let root = [format!(
            "{} spec.template.spec.containers[0]",
            RUNS_AS_ROOT.id
        )];
        for (pod, container) in [
            (json!({"runAsNonRoot": true}), json!({})),
            (json!({"runAsUser": 65532}), json!({})),
            (Value::Null, json!({"runAsNonRoot": true})),
            (json!({"runAsUser": 0}), json!({"runAsUser": 1000})),
            (Value::Null, json!({"privileged": true})),
        ] {
            assert_eq!(
                found(pod.clone(), container.clone()),
                [""; 0],
                "{pod} {container}"
            );
        }
        for (pod, container) in [
            (Value::Null, json!({})),
            (json!({"runAsNonRoot": false}), json!({})),
            (
                json!({"runAsNonRoot": true}),
                json!({"runAsNonRoot": false}),
            ),
            (json!({"runAsUser": 1000}), json!({"runAsUser": 0})),
        ] {
            assert_eq!(
                found(pod.clone(), container.clone()),
                root,
                "{pod} {container}"
            );
        }
        assert_eq!(
            rules_and_fields(
                &[deployment(Value::Null, json!({"name": "sidecar"}))],
                check
            ),
            [""; 0]
        );
    }

    #[test]
    fn the_proxy_is_known_by_its_image() {
        let run = |image: &str| {
            rules_and_fields(
                &[deployment(
                    json!({"runAsNonRoot": true}),
                    json!({"name": "x", "image": image}),
                )],
                check,
            )
        };
        let found = [format!(
            "{} spec.template.spec.containers[0]",
            PROXY_PRESENT.id
        )];
        assert_eq!(run("quay.io/brancz/kube-rbac-proxy:v0.16.0"), found);
        assert_eq!(run("quay.io/brancz/other-proxy:v0.16.0"), [""; 0]);
    }
}
