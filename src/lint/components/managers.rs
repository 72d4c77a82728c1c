//! The pods of managers: as whom they run, and what runs beside them.

use serde_json::Value;

use crate::contract::{Image, MANAGER_CONTAINER};
use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::lint::Scope;
use crate::objects::{Object, pods};

rules! {
    /// nothing keeps the manager from running as root
    RUNS_AS_ROOT = warning("components-manager-root"), catalogue("C21"), page(r"
Neither the pod nor the container of the manager says `runAsNonRoot: true` or another user than 0, so that the image alone decides, and
may run as root. In a namespace that enforces the Pod Security Standard `restricted` the pod is not made.

Say it, together with the rest of what the standard asks for.

## Bad

```yaml infrastructure-components.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: foo-controller-manager
  namespace: foo-system
spec:
  template:
    spec:
      securityContext: null
      containers:
      - name: manager
        image: ghcr.io/example/foo-controller:v0.2.0
        ports:
        - name: webhook-server
          containerPort: 9443
```

## Good

```yaml infrastructure-components.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: foo-controller-manager
  namespace: foo-system
spec:
  template:
    spec:
      securityContext:
        runAsNonRoot: true
      containers:
      - name: manager
        image: ghcr.io/example/foo-controller:v0.2.0
        ports:
        - name: webhook-server
          containerPort: 9443
```
");
    /// kube-rbac-proxy runs beside the manager, which can protect its metrics itself
    PROXY_PRESENT = info("components-metrics-proxy-present"), catalogue("C22"),
        url("https://github.com/kubernetes-sigs/kubebuilder/discussions/3907"), page(r"
kube-rbac-proxy protected the metrics of managers before controller-runtime 0.16, and kubebuilder's scaffold has been without it since
3.15. Now the manager serves its metrics over TLS and asks the API server who may read them: one container, one image and one set of flags
less.

Use `filters.WithAuthenticationAndAuthorization` of controller-runtime, or the package `util/flags` of Cluster API, and remove the
container.

## Bad

```yaml infrastructure-components.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: foo-controller-manager
  namespace: foo-system
spec:
  template:
    spec:
      containers:
      - name: kube-rbac-proxy
        image: quay.io/brancz/kube-rbac-proxy:v0.20.0
      - name: manager
        image: ghcr.io/example/foo-controller:v0.2.0
        ports:
        - name: webhook-server
          containerPort: 9443
```

## Good

```yaml infrastructure-components.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: foo-controller-manager
  namespace: foo-system
spec:
  template:
    spec:
      containers:
      - name: manager
        image: ghcr.io/example/foo-controller:v0.2.0
        ports:
        - name: webhook-server
          containerPort: 9443
```
");
}

pub(in crate::lint) fn check(scope: &Scope<'_>) -> Report {
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
    use crate::lint::components::tests::{of, told};

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
            told(
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
            told(
                &[deployment(Value::Null, json!({"name": "sidecar"}))],
                check
            ),
            [""; 0]
        );
    }

    #[test]
    fn the_proxy_is_known_by_its_image() {
        let run = |image: &str| {
            told(
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
