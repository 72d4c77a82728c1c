//! Pods of components: what they do not start without.

use std::collections::BTreeSet;

use windlass_capi::contract::book;
use windlass_objects::fields;
use windlass_objects::references::{Reference, references};
use windlass_objects::{Object, pods};
use windlass_source::diag::{Diagnostic, Report, Segment, rules};
use windlass_source::nearest::nearest;

rules! {
    /// a pod refers to a ConfigMap, Secret, ServiceAccount or PersistentVolumeClaim that the
    /// components do not contain
    NEED_MISSING = warning("components-pod-need-missing"), url(book::CONTROLLERS);
}

/// The kinds without whose objects a pod is not made or not started. Without a Secret for its
/// images it is: the registry decides.
const NEEDED: [&str; 4] = [
    "ConfigMap",
    "PersistentVolumeClaim",
    "Secret",
    "ServiceAccount",
];

/// What Kubernetes itself puts into each namespace.
const GIVEN: [(&str, &str); 2] = [
    ("ConfigMap", "kube-root-ca.crt"),
    ("ServiceAccount", "default"),
];

/// Checks the pods of all objects. Namespaces do not count: clusterctl moves all objects into one.
pub(super) fn check(objects: &[Object]) -> Report {
    let made = made(objects);
    let with_pods = objects
        .iter()
        .filter(|object| pods::pod_path(object.kind()).is_some());
    with_pods
        .flat_map(|object| missing(object, &made))
        .collect()
}

/// Kind and name of what is there once the components are installed.
fn made(objects: &[Object]) -> BTreeSet<(&str, &str)> {
    let own = objects
        .iter()
        .filter(|object| object.group().is_empty())
        .map(|object| (object.kind(), object.name()));
    let certificates = objects
        .iter()
        .filter(|object| object.is("cert-manager.io", "Certificate"));
    let of_certificates =
        certificates.map(|object| ("Secret", object.text(&["spec", "secretName"])));
    own.chain(of_certificates).chain(GIVEN).collect()
}

/// What the pod of an object needs and nobody makes, each once.
fn missing<'o>(object: &'o Object, made: &BTreeSet<(&str, &str)>) -> Vec<Diagnostic> {
    let mut told = BTreeSet::new();
    let is_missing = |reference: &Reference<'o>| {
        let is_needed = NEEDED.contains(&reference.kind)
            && !reference.is_joined
            && !is_optional(object, reference);
        is_needed && !reference.name.is_empty() && !made.contains(&(reference.kind, reference.name))
    };
    let references = references(object.value()).0.into_iter().filter(is_missing);
    references
        .filter(|reference| told.insert((reference.kind, reference.name)))
        .map(|reference| finding(object, &reference, made))
        .collect()
}

/// Whether the pod starts without it: `optional: true` is beside the name, or it is for pulling
/// images.
fn is_optional(object: &Object, reference: &Reference<'_>) -> bool {
    let is_for_images = reference
        .path
        .segments()
        .iter()
        .any(|segment| *segment == Segment::Field("imagePullSecrets".to_owned()));
    let holder = reference
        .path
        .parent()
        .and_then(|holder| fields::at(object.value(), holder.segments()));
    is_for_images || holder.is_some_and(|holder| holder["optional"] == true)
}

fn finding(
    object: &Object,
    reference: &Reference<'_>,
    made: &BTreeSet<(&str, &str)>,
) -> Diagnostic {
    let (kind, name) = (reference.kind, reference.name);
    let finding = Diagnostic::of(
        &NEED_MISSING,
        format!(
            "{} needs {kind} {name}, which the components do not contain",
            object.title()
        ),
    );
    let finding = finding.at(object.place(&reference.path));
    let alike = made
        .range((kind, "")..)
        .take_while(|(other, _)| *other == kind)
        .map(|(_, name)| *name);
    let finding = match nearest(name, alike) {
        Some(near) => finding.label(format!("did you mean `{near}`?")),
        None => finding,
    };
    let instead = match kind {
        "Secret" => ", let a Certificate make it, or write `optional: true` beside its name",
        "ConfigMap" => ", or write `optional: true` beside its name",
        _ => "",
    };
    finding
        .help(format!("add the {kind}{instead}"))
        .note("Kubernetes does not start the pod until it exists; if users are to create it before `clusterctl init`, document that and allow this rule")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn object(api_version: &str, kind: &str, name: &str, spec: Value) -> Object {
        Object::made(
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}),
        )
    }

    fn deployment(pod: Value) -> Object {
        object(
            "apps/v1",
            "Deployment",
            "d",
            json!({"template": {"spec": pod}}),
        )
    }

    /// What is said of a pod beside these objects: the path and the name.
    fn told(pod: Value, beside: Vec<Object>) -> Vec<String> {
        let objects: Vec<Object> = std::iter::once(deployment(pod)).chain(beside).collect();
        let line = |finding: &Diagnostic| {
            let path = finding.place.path.to_string();
            let what = finding
                .message
                .strip_prefix("Deployment/d needs ")
                .unwrap()
                .split(',')
                .next()
                .unwrap();
            format!(
                "{}: {what}",
                path.strip_prefix("spec.template.spec.").unwrap()
            )
        };
        check(&objects).findings().iter().map(line).collect()
    }

    #[test]
    fn what_nobody_makes_is_told_at_its_name() {
        let pod = json!({
            "serviceAccountName": "s",
            "imagePullSecrets": [{"name": "pull"}],
            "priorityClassName": "high",
            "volumes": [
                {"name": "a", "secret": {"secretName": "a"}},
                {"name": "b", "configMap": {"name": "b"}},
                {"name": "c", "persistentVolumeClaim": {"claimName": "c"}},
                {"name": "d", "projected": {"sources": [{"secret": {"name": "d"}}, {"configMap": {"name": "e"}}]}},
                {"name": "f", "emptyDir": {}},
            ],
            "containers": [{
                "name": "manager",
                "envFrom": [{"secretRef": {"name": "g"}}, {"configMapRef": {"name": "h"}}],
                "env": [
                    {"name": "I", "valueFrom": {"secretKeyRef": {"name": "i", "key": "k"}}},
                    {"name": "J", "valueFrom": {"secretKeyRef": {"name": "i", "key": "l"}}},
                    {"name": "K", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                ],
            }],
            "initContainers": [{"name": "init", "env": [{"name": "L", "valueFrom": {"configMapKeyRef": {"name": "l", "key": "k"}}}]}],
        });
        let all = [
            ("serviceAccountName", "ServiceAccount", "s"),
            ("volumes[1].configMap.name", "ConfigMap", "b"),
            ("volumes[0].secret.secretName", "Secret", "a"),
            (
                "volumes[2].persistentVolumeClaim.claimName",
                "PersistentVolumeClaim",
                "c",
            ),
            (
                "volumes[3].projected.sources[1].configMap.name",
                "ConfigMap",
                "e",
            ),
            ("volumes[3].projected.sources[0].secret.name", "Secret", "d"),
            (
                "containers[0].env[0].valueFrom.secretKeyRef.name",
                "Secret",
                "i",
            ),
            (
                "containers[0].envFrom[1].configMapRef.name",
                "ConfigMap",
                "h",
            ),
            ("containers[0].envFrom[0].secretRef.name", "Secret", "g"),
            (
                "initContainers[0].env[0].valueFrom.configMapKeyRef.name",
                "ConfigMap",
                "l",
            ),
        ];
        let expected: Vec<String> = all
            .iter()
            .map(|(path, kind, name)| format!("{path}: {kind} {name}"))
            .collect();
        assert_eq!(told(pod.clone(), Vec::new()), expected);
        let there = all
            .iter()
            .map(|(_, kind, name)| object("v1", kind, name, Value::Null))
            .collect();
        assert_eq!(told(pod, there), Vec::<String>::new());
    }

    #[test]
    fn what_others_make_is_there() {
        let pod = json!({
            "serviceAccountName": "default",
            "volumes": [
                {"name": "a", "secret": {"secretName": "cert"}},
                {"name": "b", "projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}},
                {"name": "c", "secret": {"secretName": "none", "optional": true}},
                {"name": "d", "configMap": {"name": "none", "optional": true}},
            ],
            "containers": [{
                "name": "manager",
                "envFrom": [{"secretRef": {"name": "none", "optional": true}}],
                "env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "none", "key": "k", "optional": true}}}],
            }],
        });
        let certificate = || {
            object(
                "cert-manager.io/v1",
                "Certificate",
                "serving",
                json!({"secretName": "cert"}),
            )
        };
        assert_eq!(told(pod.clone(), vec![certificate()]), Vec::<String>::new());
        assert_eq!(
            told(pod, Vec::new()),
            ["volumes[0].secret.secretName: Secret cert"]
        );
        // An object of another group, and the Certificate itself, are not what is mounted.
        let secret = json!({"volumes": [{"name": "a", "secret": {"secretName": "serving", "optional": false}}]});
        let foreign = object("example.com/v1", "Secret", "serving", Value::Null);
        assert_eq!(
            told(secret, vec![certificate(), foreign]),
            ["volumes[0].secret.secretName: Secret serving"]
        );
    }

    #[test]
    fn the_finding_says_what_to_do() {
        let pod = json!({"serviceAccountName": "manger", "volumes": [{"name": "a", "secret": {"secretName": "x"}}]});
        let objects = [
            deployment(pod),
            object("v1", "ServiceAccount", "manager", Value::Null),
        ];
        let report = check(&objects);
        let said: Vec<_> = report
            .findings()
            .iter()
            .map(|finding| {
                (
                    finding.label.as_str(),
                    finding.help.as_ref().unwrap().to_string(),
                )
            })
            .collect();
        let secret =
            "add the Secret, let a Certificate make it, or write `optional: true` beside its name";
        assert_eq!(
            said,
            [
                (
                    "did you mean `manager`?",
                    "add the ServiceAccount".to_owned()
                ),
                ("", secret.to_owned())
            ]
        );
        assert!(report.findings().iter().all(|finding| {
            finding
                .notes
                .iter()
                .any(|note| note.contains("before `clusterctl init`"))
        }));
    }
}
