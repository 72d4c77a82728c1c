//! Services: the pods that they select, and the ports that these have (API reference, Service).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::called::{Called, called};
use crate::Scope;
use windlass_objects::{Object, fields, pods};
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Report, Rule, rules};
use windlass_source::nearest::nearest;

rules! {
    /// the Service of a webhook selects no pod, or lacks the port that is called
    WEBHOOK_UNREACHABLE = error("components-webhook-unreachable"), catalogue("C16");
    /// a Service selects no pod, or a port that no selected pod has
    SERVICE_UNREACHABLE = warning("components-service-unreachable"), catalogue("C16");
}

/// Checks the Services of all objects. Ports by number are not compared with what containers
/// declare, which is only information.
pub(crate) fn check(scope: &Scope<'_>) -> Report {
    if !scope.is_whole() {
        return Report::new();
    }
    let needed: Vec<Called<'_>> = called(scope).filter(Called::is_needed).collect();
    let called: BTreeSet<&str> = needed.iter().map(|called| called.service).collect();
    let workloads: Vec<Workload<'_>> = scope.objects.iter().filter_map(Workload::of).collect();
    let mut report: Report = needed
        .iter()
        .filter_map(|called| unknown_port(scope, called))
        .collect();
    for service in scope
        .objects
        .iter()
        .filter(|object| object.is("", "Service"))
    {
        if scope.budget.charge(workloads.len()).is_err() {
            break;
        }
        let rule = if called.contains(service.name()) {
            &WEBHOOK_UNREACHABLE
        } else {
            &SERVICE_UNREACHABLE
        };
        report.extend(unreachable(service, &workloads, rule));
    }
    report
}

/// What makes pods.
struct Workload<'o> {
    object: &'o Object,
    /// The labels of its pods.
    labels: &'o Map<String, Value>,
    /// The names of their ports.
    ports: BTreeSet<&'o str>,
}

impl<'o> Workload<'o> {
    fn of(object: &'o Object) -> Option<Self> {
        let template = FieldPath::of_fields(pods::pod_path(object.kind())?)
            .parent()
            .unwrap_or_default();
        let labels = object
            .at(&template.field("metadata").field("labels"))?
            .as_object()?;
        let ports = pods::containers(object.value())
            .flat_map(|(_, container)| fields::items(container, &["ports"]));
        Some(Workload {
            object,
            labels,
            ports: ports.filter_map(|port| port["name"].as_str()).collect(),
        })
    }

    fn has(&self, selector: &Map<String, Value>) -> bool {
        selector
            .iter()
            .all(|(key, value)| self.labels.get(key) == Some(value))
    }
}

/// A webhook that calls a port which its Service does not have.
fn unknown_port(scope: &Scope<'_>, called: &Called<'_>) -> Option<Diagnostic> {
    let service = scope.named("", "Service", called.service)?;
    let ports: Vec<i64> = service
        .items(&["spec", "ports"])
        .iter()
        .filter_map(|port| port["port"].as_i64())
        .collect();
    let port = called.port();
    if ports.contains(&port) {
        return None;
    }
    let known: Vec<String> = ports.iter().map(i64::to_string).collect();
    let message = format!(
        "{} calls port {port} of {}, which has {}",
        called.title(),
        service.title(),
        list(&known)
    );
    let help = match ports.first() {
        Some(first) => format!(
            "write `port: {first}` in `clientConfig.service`, or give the Service `port: {port}`"
        ),
        None => {
            format!("add `ports: [{{port: {port}, targetPort: webhook-server}}]` to the Service")
        }
    };
    Some(
        Diagnostic::of(&WEBHOOK_UNREACHABLE, message)
            .at(called.object.place(&called.path))
            .related(
                service.place(&FieldPath::of_fields("spec.ports")),
                "the ports that it has",
            )
            .help(help)
            .note("the API server rejects each request for which it has to call the webhook")
            .upstream(format!(
                "no service port {port} found for service \"{}\"",
                called.service
            )),
    )
}

fn unreachable(
    service: &Object,
    workloads: &[Workload<'_>],
    rule: &'static Rule,
) -> Option<Diagnostic> {
    let selector = service
        .field(&["spec", "selector"])?
        .as_object()
        .filter(|selector| !selector.is_empty())?;
    if service.text(&["spec", "type"]) == "ExternalName" {
        return None;
    }
    let selected: Vec<&Workload<'_>> = workloads
        .iter()
        .filter(|workload| workload.has(selector))
        .collect();
    let finding = if selected.is_empty() {
        unselected(service, selector, workloads, rule)
    } else {
        unnamed_port(service, &selected, rule)?
    };
    let finding = finding.note(match rule == &WEBHOOK_UNREACHABLE {
        true => "the API server rejects each request for which it has to call the webhook",
        false => "requests to the Service get no answer",
    });
    Some(match rule == &WEBHOOK_UNREACHABLE {
        true => finding.upstream(format!(
            "no endpoints available for service \"{}\"",
            service.name()
        )),
        false => finding,
    })
}

fn unselected(
    service: &Object,
    selector: &Map<String, Value>,
    workloads: &[Workload<'_>],
    rule: &'static Rule,
) -> Diagnostic {
    let labels = |labels: &mut dyn Iterator<Item = (&String, &Value)>| -> String {
        let texts: Vec<String> = labels
            .map(|(key, value)| format!("{key}: {}", value.as_str().unwrap_or_default()))
            .collect();
        texts.join(", ")
    };
    let message = format!(
        "{} selects pods with `{}`, which no workload of the components makes",
        service.title(),
        labels(&mut selector.iter())
    );
    let finding =
        Diagnostic::of(rule, message).at(service.place(&FieldPath::of_fields("spec.selector")));
    let common = |workload: &&Workload<'_>| {
        selector
            .keys()
            .filter(|key| workload.labels.contains_key(*key))
            .count()
    };
    let Some(nearest) = workloads.iter().max_by_key(common) else {
        return finding.help("remove the Service, or add what it is for");
    };
    let own = &mut nearest
        .labels
        .iter()
        .filter(|(key, _)| selector.contains_key(*key));
    let wanted = match labels(own) {
        own if own.is_empty() => labels(&mut nearest.labels.iter()),
        own => own,
    };
    finding.help(format!(
        "write `selector: {{{wanted}}}` for the pods of {}",
        nearest.object.title()
    ))
}

/// A target port by a name that none of the selected pods has.
fn unnamed_port(
    service: &Object,
    selected: &[&Workload<'_>],
    rule: &'static Rule,
) -> Option<Diagnostic> {
    let targets = service
        .items(&["spec", "ports"])
        .iter()
        .enumerate()
        .filter_map(|(at, port)| Some((at, port["targetPort"].as_str()?)));
    let known: BTreeMap<&str, &Object> = selected
        .iter()
        .flat_map(|workload| workload.ports.iter().map(|port| (*port, workload.object)))
        .collect();
    let (at, target) = targets
        .into_iter()
        .find(|(_, target)| !known.contains_key(target))?;
    let path = FieldPath::of_fields("spec.ports")
        .index(at)
        .field("targetPort");
    if target.bytes().all(|byte| byte.is_ascii_digit()) {
        let message = format!(
            "{path} of {} is the text `{target}`, which is not a name of a port: a name has a letter",
            service.title(),
            target = Quoted(target)
        );
        return Some(
            Diagnostic::of(rule, message)
                .at(service.place(&path))
                .help(format!("write `targetPort: {target}`, without quotes")),
        );
    }
    let names: Vec<String> = known.keys().map(|name| (*name).to_owned()).collect();
    let message = format!(
        "{path} of {} is {target}, but {} has {}",
        service.title(),
        selected[0].object.title(),
        list(&names)
    );
    let help = match nearest(target, known.keys().copied()) {
        Some(near) => format!("write `targetPort: {near}`"),
        None => format!(
            "write the number of the port, or name it: `ports: [{{name: {target}, containerPort: …}}]` in the container"
        ),
    };
    Some(
        Diagnostic::of(rule, message)
            .at(service.place(&path))
            .help(help),
    )
}

fn list(ports: &[String]) -> String {
    match ports {
        [] => "no port".to_owned(),
        [port] => format!("port {port}"),
        ports => format!("ports {}", ports.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::components::tests::{found_in, of, rules_and_fields};

    fn deployment() -> Object {
        let pod = json!({"containers": [{"name": "manager", "ports": [{"name": "webhook-server", "containerPort": 9443}]}]});
        let template = json!({"metadata": {"labels": {"app": "foo", "tier": "x"}}, "spec": pod});
        of(
            "apps/v1",
            "Deployment",
            "d",
            json!({"spec": {"template": template}}),
        )
    }

    fn service(spec: Value) -> Object {
        of("v1", "Service", "svc", json!({"spec": spec}))
    }

    fn configuration(service: Value) -> Object {
        let webhook = json!({"name": "n", "clientConfig": {"service": service}});
        of(
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            "w",
            json!({"webhooks": [webhook]}),
        )
    }

    /// API reference, ServiceSpec and ServicePort: all pairs of the selector are labels of the pod;
    /// `targetPort` is a number or a name.
    #[test]
    fn services_lead_to_pods() {
        let alone = |spec: Value| rules_and_fields(&[service(spec), deployment()], check);
        for spec in [
            json!({"selector": {"app": "foo"}, "ports": [{"port": 443, "targetPort": "webhook-server"}]}),
            json!({"selector": {"app": "foo"}, "ports": [{"port": 8443, "targetPort": 8443}, {"port": 80}]}),
            json!({"ports": [{"port": 443, "targetPort": "elsewhere"}]}),
            json!({"type": "ExternalName", "selector": {"app": "bar"}}),
        ] {
            assert_eq!(alone(spec.clone()), [""; 0], "{spec}");
        }
        let found = |path: &str| [format!("{} {path}", SERVICE_UNREACHABLE.id)];
        assert_eq!(
            alone(json!({"selector": {"app": "foo", "tier": "y"}, "ports": [{"port": 443}]})),
            found("spec.selector")
        );
        assert_eq!(
            alone(
                json!({"selector": {"app": "foo"}, "ports": [{"port": 1, "targetPort": "https"}]})
            ),
            found("spec.ports[0].targetPort")
        );
    }

    /// Kubernetes, pkg/apis/core/validation, `ValidatePortNumOrName`: a text is a name, and a name
    /// has a letter.
    #[test]
    fn a_number_in_quotes_is_no_port() {
        let ports = json!([{"port": 1, "targetPort": 9443}, {"port": 2, "targetPort": "9443"}]);
        let objects = [
            service(json!({"selector": {"app": "foo"}, "ports": ports})),
            deployment(),
        ];
        let report = found_in(&objects, None, check);
        let [finding] = report.findings() else {
            panic!("{report:?}")
        };
        let expected = "spec.ports[1].targetPort of Service/svc is the text `9443`, which is not a name of a port: a name has a letter";
        assert_eq!(finding.message, expected);
        assert_eq!(
            finding.help.as_ref().unwrap().to_string(),
            "write `targetPort: 9443`, without quotes"
        );
    }

    #[test]
    fn those_of_webhooks_break_requests() {
        let all = |spec: Value, named: Value| {
            rules_and_fields(&[service(spec), deployment(), configuration(named)], check)
        };
        let sound = json!({"selector": {"app": "foo"}, "ports": [{"port": 443, "targetPort": "webhook-server"}]});
        assert_eq!(all(sound.clone(), json!({"name": "svc"})), [""; 0]);
        assert_eq!(
            all(sound.clone(), json!({"name": "svc", "port": 443})),
            [""; 0]
        );
        let found = |path: &str| [format!("{} {path}", WEBHOOK_UNREACHABLE.id)];
        assert_eq!(
            all(sound, json!({"name": "svc", "port": 9443})),
            found("webhooks[0].clientConfig.service")
        );
        let other =
            json!({"selector": {"app": "foo"}, "ports": [{"port": 443, "targetPort": "webhook"}]});
        assert_eq!(
            all(other, json!({"name": "svc"})),
            found("spec.ports[0].targetPort")
        );
    }
}
