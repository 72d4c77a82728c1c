//! RBAC, Deployment, webhooks and the links between objects (BC-13, BC-14, CC-15 to CC-30, OP-04 to
//! OP-22), in our release.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{OBJECTS, RELEASE, crds, items, of_kind, texts, the};
use crate::support::{files_below, root};

/// The role that carries the aggregation label, and the other one.
fn cluster_roles() -> (&'static Value, &'static Value) {
    let (aggregated, own): (Vec<&Value>, Vec<&Value>) =
        of_kind("ClusterRole").into_iter().partition(|role| {
            role["metadata"]["labels"]["cluster.x-k8s.io/aggregate-to-manager"] == "true"
        });
    assert_eq!((aggregated.len(), own.len()), (1, 1));
    (aggregated[0], own[0])
}

/// BC-13, BC-14.
#[test]
fn core_may_use_every_kind_of_the_release() {
    let (role, _) = cluster_roles();
    let plurals: Vec<Value> = crds()
        .iter()
        .map(|crd| crd["spec"]["names"]["plural"].clone())
        .collect();
    let verbs = [
        "create", "delete", "get", "list", "patch", "update", "watch",
    ];
    assert_eq!(
        role["rules"],
        json!([{"apiGroups": ["bootstrap.windlass.dev"], "resources": plurals, "verbs": verbs}])
    );
}

/// What a role allows: verbs by `group/resource`, with the names of objects where it is bound to
/// some.
fn allowed(role: &Value) -> BTreeMap<String, BTreeSet<String>> {
    let mut allowed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for rule in items(&role["rules"]) {
        let names = texts(&rule["resourceNames"]).join("+");
        let bound = if names.is_empty() {
            String::new()
        } else {
            format!(" of {names}")
        };
        for group in texts(&rule["apiGroups"]) {
            for resource in texts(&rule["resources"]) {
                let verbs = texts(&rule["verbs"]).into_iter().map(str::to_owned);
                allowed
                    .entry(format!("{group}/{resource}{bound}"))
                    .or_default()
                    .extend(verbs);
            }
        }
    }
    allowed
}

/// OP-12, OP-13, OP-14, OP-21: the whole list, so that nothing comes in unseen.
#[test]
fn manager_has_the_rights_that_it_needs_and_no_others() {
    let expected: BTreeMap<String, BTreeSet<String>> = [
        ("/configmaps", "create delete get"),
        ("/secrets", "create get patch update"),
        ("events.k8s.io/events", "create patch"),
        ("authentication.k8s.io/tokenreviews", "create"),
        ("authorization.k8s.io/subjectaccessreviews", "create"),
        ("bootstrap.windlass.dev/windlassconfigs", "list patch watch"),
        ("bootstrap.windlass.dev/windlassconfigs/status", "patch"),
        ("cluster.x-k8s.io/clusters", "get list watch"),
        ("cluster.x-k8s.io/machinepools", "get list watch"),
        ("cluster.x-k8s.io/machines", "get list watch"),
        ("controlplane.cluster.x-k8s.io/kubeadmcontrolplanes", "get"),
    ]
    .into_iter()
    .map(|(resource, verbs)| {
        (
            resource.to_owned(),
            verbs.split(' ').map(str::to_owned).collect(),
        )
    })
    .collect();
    assert_eq!(allowed(cluster_roles().1), expected);
    let at_home: Vec<(String, Vec<String>)> = allowed(the("Role"))
        .into_iter()
        .map(|(resource, verbs)| (resource, verbs.into_iter().collect()))
        .collect();
    let leases = ["create", "get", "update"].map(str::to_owned).to_vec();
    assert_eq!(at_home, [("coordination.k8s.io/leases".to_owned(), leases)]);
}

/// The manager's container and its pod.
fn manager() -> (&'static Value, &'static Value) {
    let pod = &the("Deployment")["spec"]["template"]["spec"];
    let containers = items(&pod["containers"]);
    assert_eq!(containers.len(), 1);
    (&containers[0], pod)
}

/// CC-20, CC-21, CC-22.
#[test]
fn manager_runs_in_a_deployment_for_all_namespaces() {
    let (container, _) = manager();
    assert_eq!(container["name"], "manager");
    assert_eq!(
        container["image"],
        "ghcr.io/windlass-dev/windlass-manager:v0.2.0"
    );
    assert!(
        texts(&container["args"])
            .iter()
            .all(|argument| !argument.starts_with("--namespace")),
        "{container}"
    );
}

/// OP-04, OP-05, OP-06.
#[test]
fn manager_has_the_ports_of_cluster_api() {
    let (container, _) = manager();
    let ports: BTreeMap<&str, u64> = items(&container["ports"])
        .iter()
        .map(|port| {
            (
                port["name"].as_str().unwrap(),
                port["containerPort"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        ports,
        BTreeMap::from([
            ("healthz", 9440),
            ("metrics", 8443),
            ("webhook-server", 9443)
        ])
    );
    for (probe, path) in [("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")] {
        assert_eq!(
            container[probe]["httpGet"],
            json!({"path": path, "port": "healthz"})
        );
    }
    assert_eq!(
        the("Service")["spec"]["ports"],
        json!([{"port": 443, "targetPort": "webhook-server"}])
    );
    let arguments = texts(&container["args"]);
    assert!(
        arguments.contains(&"--diagnostics-address=${WINDLASS_DIAGNOSTICS_ADDRESS:=:8443}"),
        "{arguments:?}"
    );
    assert!(
        arguments.contains(&"--insecure-diagnostics=${WINDLASS_INSECURE_DIAGNOSTICS:=false}"),
        "{arguments:?}"
    );
}

/// OP-22; Kubernetes, "Pod Security Standards", restricted.
#[test]
fn manager_is_unprivileged_with_an_account_of_its_own() {
    let (container, pod) = manager();
    assert_eq!(pod["serviceAccountName"], "windlass-manager");
    assert_eq!(
        pod["securityContext"],
        json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}})
    );
    let context = &container["securityContext"];
    assert_eq!(
        (&context["allowPrivilegeEscalation"], &context["privileged"]),
        (&json!(false), &json!(false))
    );
    assert_eq!(context["capabilities"], json!({"drop": ["ALL"]}));
    assert_eq!(context["readOnlyRootFilesystem"], true);
    assert_eq!(container["resources"]["limits"], json!({"memory": "256Mi"}));
    for shared in ["hostNetwork", "hostPID", "hostIPC"] {
        assert_eq!(pod.get(shared), None);
    }
    assert!(
        items(&pod["volumes"])
            .iter()
            .all(|volume| volume.get("hostPath").is_none())
    );
}

/// OP-16.
#[test]
fn certificates_come_from_cert_manager() {
    let (certificate, issuer) = (the("Certificate"), the("Issuer"));
    assert_eq!(
        (&certificate["apiVersion"], &issuer["apiVersion"]),
        (&json!("cert-manager.io/v1"), &json!("cert-manager.io/v1"))
    );
    assert_eq!(
        texts(&certificate["spec"]["dnsNames"])[0],
        "windlass-webhook-service.windlass-system.svc"
    );
    let reference = format!(
        "windlass-system/{}",
        certificate["metadata"]["name"].as_str().unwrap()
    );
    for object in crds()
        .into_iter()
        .chain(of_kind("ValidatingWebhookConfiguration"))
    {
        assert_eq!(
            object["metadata"]["annotations"]["cert-manager.io/inject-ca-from"], reference,
            "{}",
            object["kind"]
        );
    }
}

/// OP-17.
#[test]
fn webhooks_match_equivalently_and_fail_closed() {
    let configuration = the("ValidatingWebhookConfiguration");
    assert_eq!(items(&configuration["webhooks"]).len(), 2);
    for webhook in items(&configuration["webhooks"]) {
        for (field, value) in [
            ("matchPolicy", "Equivalent"),
            ("failurePolicy", "Fail"),
            ("sideEffects", "None"),
        ] {
            assert_eq!(webhook[field], value, "{}", webhook["name"]);
        }
        assert_eq!(webhook["admissionReviewVersions"], json!(["v1"]));
    }
}

/// References from an object to objects of the same file: kind and name, and the namespace where
/// one is written.
fn references(object: &Value) -> Vec<(String, String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let mut found = Vec::new();
    let mut add = |kind: &str, name: &Value, namespace: &Value| {
        if let Some(name) = text(name) {
            found.push((kind.to_owned(), name, text(namespace)));
        }
    };
    match object["kind"].as_str().unwrap() {
        "RoleBinding" | "ClusterRoleBinding" => {
            add(
                object["roleRef"]["kind"].as_str().unwrap(),
                &object["roleRef"]["name"],
                &Value::Null,
            );
            for subject in items(&object["subjects"]) {
                add(
                    subject["kind"].as_str().unwrap(),
                    &subject["name"],
                    &subject["namespace"],
                );
            }
        }
        "Deployment" => {
            let pod = &object["spec"]["template"]["spec"];
            add("ServiceAccount", &pod["serviceAccountName"], &Value::Null);
            for volume in items(&pod["volumes"]) {
                add("Secret", &volume["secret"]["secretName"], &Value::Null);
            }
        }
        "Certificate" => add("Issuer", &object["spec"]["issuerRef"]["name"], &Value::Null),
        "CustomResourceDefinition" => {
            let service = &object["spec"]["conversion"]["webhook"]["clientConfig"]["service"];
            add("Service", &service["name"], &service["namespace"]);
        }
        "ValidatingWebhookConfiguration" => {
            for webhook in items(&object["webhooks"]) {
                let service = &webhook["clientConfig"]["service"];
                add("Service", &service["name"], &service["namespace"]);
            }
        }
        _ => {}
    }
    if let Some((namespace, name)) =
        object["metadata"]["annotations"]["cert-manager.io/inject-ca-from"]
            .as_str()
            .and_then(|r| r.split_once('/'))
    {
        add("Certificate", &json!(name), &json!(namespace));
    }
    found
}

/// CC-19, CC-28: nothing outside the file is needed, and every namespace that is written is the
/// target namespace.
#[test]
fn references_lead_to_objects_of_the_file() {
    let named = |kind: &str, name: &str| {
        OBJECTS
            .iter()
            .any(|object| object["kind"] == kind && object["metadata"]["name"] == name)
    };
    let made = |name: &str| {
        OBJECTS
            .iter()
            .any(|object| object["kind"] == "Certificate" && object["spec"]["secretName"] == name)
    };
    let mut count = 0;
    for object in OBJECTS.iter() {
        for (kind, name, namespace) in references(object) {
            let found = if kind == "Secret" {
                made(&name)
            } else {
                named(&kind, &name)
            };
            assert!(
                found,
                "{} {}: no {kind} {name}",
                object["kind"], object["metadata"]["name"]
            );
            assert!(
                namespace.is_none_or(|namespace| namespace == "windlass-system"),
                "{kind} {name}"
            );
            count += 1;
        }
    }
    assert_eq!(count, 14, "references that were followed");
    let (service, deployment) = (the("Service"), the("Deployment"));
    let labels = &deployment["spec"]["template"]["metadata"]["labels"];
    let selector = service["spec"]["selector"].as_object().unwrap();
    assert!(
        !selector.is_empty() && selector.iter().all(|(key, value)| labels[key] == *value),
        "{selector:?}"
    );
}

/// BC-67.
#[test]
fn internal_annotations_of_cluster_api_are_left_alone() {
    const INTERNAL: &str = ".internal.cluster.x-k8s.io/";
    for (path, bytes) in &RELEASE.files {
        assert!(!String::from_utf8_lossy(bytes).contains(INTERNAL), "{path}");
    }
    let folders = crate::tidy::source_folders();
    for file in folders.iter().flat_map(|folder| files_below(folder)) {
        assert!(
            !std::fs::read_to_string(&file).unwrap().contains(INTERNAL),
            "{}",
            file.display()
        );
    }
}

/// CC-33: the variables of the components.
#[test]
fn the_book_names_the_variables_of_the_components() {
    let page = std::fs::read_to_string(root().join("docs/book/src/bootstrap-provider.md")).unwrap();
    let template =
        windlass_envsubst::parse(RELEASE.files.get("bootstrap-components.yaml").unwrap()).unwrap();
    assert_eq!(template.variables().len(), 5);
    for (name, default) in template.variables() {
        let row = format!("| `{name}` | `{}` |", default.unwrap());
        assert!(page.contains(&row), "the book has no row {row}");
    }
}
