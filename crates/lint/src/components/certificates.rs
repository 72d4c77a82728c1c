//! Certificates of webhooks: from the annotation that injects the CA, over the names that the
//! certificate is made out for, to the pod that has it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::called::{Called, called};
use super::placeholders;
use crate::Scope;
use windlass_capi::contract::labels::INJECT_CA_FROM;
use windlass_objects::Object;
use windlass_objects::references::references;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};
use windlass_source::nearest::nearest;

rules! {
    /// a webhook or conversion takes its CA from a Certificate that the components do not contain
    CERTIFICATE_MISSING = error("components-certificate-missing"), catalogue("C10");
    /// the Certificate of a webhook is not valid for the name of the webhook's Service
    NAME_MISSING = error("components-certificate-name-missing"), catalogue("C12");
    /// a Certificate names a Service that the components do not contain
    NAME_UNKNOWN = warning("components-certificate-name-unknown"), catalogue("C12");
    /// no pod mounts the Secret of a Certificate that is issued for a Service
    UNMOUNTED = warning("components-certificate-unmounted"), catalogue("C13");
}

const GROUP: &str = "cert-manager.io";
const KIND: &str = "Certificate";

pub(crate) fn check(scope: &Scope<'_>) -> Report {
    if !scope.is_whole() {
        return Report::new();
    }
    let mut report: Report = scope
        .objects
        .iter()
        .filter_map(|object| missing(scope, object))
        .collect();
    report.extend(called(scope).filter_map(|called| unnamed(scope, &called)));
    let used = used_secrets(scope.objects);
    for certificate in scope.objects.iter().filter(|object| object.is(GROUP, KIND)) {
        let unknown = unknown_names(scope, certificate);
        let serves = dns_names(certificate).any(|(_, name)| {
            service_of(name).is_some_and(|name| scope.named("", "Service", name).is_some())
        });
        report.extend(unknown);
        report.extend(unmounted(certificate, &used).filter(|_| serves));
    }
    report
}

/// The name of the Certificate whose CA an object gets, when it is a name.
fn injected(object: &Object) -> Option<&str> {
    let text = object
        .field(&["metadata", "annotations", INJECT_CA_FROM])?
        .as_str()?;
    text.split_once('/')
        .map(|(_, name)| name)
        .filter(|_| !placeholders::is_in(text))
}

fn missing(scope: &Scope<'_>, object: &Object) -> Option<Diagnostic> {
    let name = injected(object)?;
    if scope.named(GROUP, KIND, name).is_some() {
        return None;
    }
    let path = FieldPath::of_fields("metadata.annotations").key(INJECT_CA_FROM);
    let message = format!(
        "{INJECT_CA_FROM} of {} names Certificate {name}, which the components do not contain",
        object.title()
    );
    let certificates = scope.names_of(GROUP, KIND);
    let help = match nearest(name, certificates.clone()).or_else(|| certificates.clone().next()) {
        Some(near) => format!("write `{INJECT_CA_FROM}: NAMESPACE/{near}`"),
        None => format!("add Certificate {name} to the file"),
    };
    Some(
        Diagnostic::of(&CERTIFICATE_MISSING, message)
            .at(object.place(&path))
            .help(help)
            .note("without the CA each call ends with `x509: certificate signed by unknown authority`"),
    )
}

/// The texts of `spec.dnsNames`, with their index, those with a placeholder of kustomize apart.
fn dns_names(certificate: &Object) -> impl Iterator<Item = (usize, &str)> {
    let names = certificate
        .items(&["spec", "dnsNames"])
        .iter()
        .enumerate()
        .filter_map(|(at, name)| Some((at, name.as_str()?)));
    names.filter(|(_, name)| !placeholders::is_in(name))
}

/// The Service in a name such as `SERVICE.NAMESPACE.svc.cluster.local`.
fn service_of(name: &str) -> Option<&str> {
    let mut parts = name.split('.');
    let (service, _, svc) = (parts.next()?, parts.next()?, parts.next()?);
    (svc == "svc" && service != "*").then_some(service)
}

/// A webhook whose CA is that of a certificate for other names.
fn unnamed(scope: &Scope<'_>, called: &Called<'_>) -> Option<Diagnostic> {
    let certificate = scope.named(GROUP, KIND, injected(called.object)?)?;
    scope.named("", "Service", called.service)?;
    let texts = certificate
        .items(&["spec", "dnsNames"])
        .iter()
        .filter_map(Value::as_str);
    let covers = |name: &str| {
        placeholders::is_in(name)
            || name.starts_with("*.")
            || service_of(name) == Some(called.service)
    };
    let names: Vec<&str> = texts.collect();
    if names.iter().any(|name| covers(name)) || !called.is_needed() {
        return None;
    }
    let namespace = match certificate.namespace() {
        "" => "NAMESPACE",
        namespace => namespace,
    };
    let name = format!("{}.{namespace}.svc", called.service);
    let message = format!(
        "{} is not made out for Service {}, which {} calls",
        certificate.title(),
        called.service,
        called.title()
    );
    let finding = Diagnostic::of(&NAME_MISSING, message)
        .at(certificate.place(&FieldPath::of_fields("spec.dnsNames")));
    let finding = finding.related(
        called.object.place(&called.path.field("name")),
        "the Service that is called",
    );
    Some(
        finding
            .help(if names.is_empty() {
                format!("write `dnsNames: [{name}]`")
            } else {
                format!("add `- {name}` to `dnsNames`")
            })
            .note("the API server rejects each request for which it has to call it")
            .upstream(rejected(certificate, &names, &name, called.service)),
    )
}

/// What Go says of a certificate for other names (`crypto/x509`, `HostnameError`). cert-manager
/// makes no DNS name of a common name.
fn rejected(certificate: &Object, names: &[&str], wanted: &str, service: &str) -> String {
    let has_others = ["ipAddresses", "uris", "emailAddresses"]
        .iter()
        .any(|field| !certificate.items(&["spec", field]).is_empty());
    match names {
        [] if !has_others
            && service_of(certificate.text(&["spec", "commonName"])) == Some(service) =>
        {
            "x509: certificate relies on legacy Common Name field, use SANs instead".to_owned()
        }
        [] => format!("x509: certificate is not valid for any names, but wanted to match {wanted}"),
        names => format!(
            "x509: certificate is valid for {}, not {wanted}",
            names.join(", ")
        ),
    }
}

fn unknown_names(scope: &Scope<'_>, certificate: &Object) -> Vec<Diagnostic> {
    let unknown =
        dns_names(certificate).filter_map(|(at, name)| Some((at, name, service_of(name)?)));
    let unknown = unknown.filter(|(_, _, service)| scope.named("", "Service", service).is_none());
    let finding = |(at, name, service): (usize, &str, &str)| {
        let path = FieldPath::of_fields("spec.dnsNames").index(at);
        let message = format!(
            "{path} of {} is {name}, but the components have no Service {service}",
            certificate.title()
        );
        let help = match nearest(service, scope.names_of("", "Service")) {
            Some(near) => format!("write `{}`", name.replacen(service, near, 1)),
            None => format!("add Service {service}, or remove the line"),
        };
        Diagnostic::of(&NAME_UNKNOWN, message)
            .at(certificate.place(&path))
            .help(help)
    };
    unknown.map(finding).collect()
}

/// The names of the Secrets that something other than a Certificate takes.
fn used_secrets(objects: &[Object]) -> BTreeSet<&str> {
    let others = objects.iter().filter(|object| !object.is(GROUP, KIND));
    let of = |object| {
        references(Object::value(object))
            .0
            .into_iter()
            .filter(|to| to.kind == "Secret")
            .map(|to| to.name)
    };
    others.flat_map(of).collect()
}

fn unmounted(certificate: &Object, used: &BTreeSet<&str>) -> Option<Diagnostic> {
    let secret = certificate.text(&["spec", "secretName"]);
    if secret.is_empty() || used.contains(secret) || placeholders::is_in(secret) {
        return None;
    }
    let finding = match nearest(secret, used.iter().copied()) {
        Some(near) => Diagnostic::of(
            &UNMOUNTED,
            format!("no pod has Secret {secret} of {}", certificate.title()),
        )
        .help(format!(
            "write `secretName: {near}`, or mount Secret {secret}"
        )),
        None => Diagnostic::of(
            &UNMOUNTED,
            format!("no pod has Secret {secret} of {}", certificate.title()),
        )
        .help(format!(
            "mount it: `volumes: [{{name: cert, secret: {{secretName: {secret}}}}}]`"
        )),
    };
    Some(finding.at(certificate.place(&FieldPath::of_fields("spec.secretName"))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::components::tests::{found_in, of, rules_and_fields};

    fn certificate(names: Value) -> Object {
        of(
            "cert-manager.io/v1",
            "Certificate",
            "serving",
            json!({"metadata": {"name": "serving", "namespace": "ns"}, "spec": {"dnsNames": names, "secretName": "cert"}}),
        )
    }

    fn configuration(annotation: &str) -> Object {
        let metadata =
            json!({"name": "w", "annotations": {"cert-manager.io/inject-ca-from": annotation}});
        let webhook = json!({"name": "n", "clientConfig": {"service": {"name": "svc"}}});
        of(
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            "w",
            json!({"metadata": metadata, "webhooks": [webhook]}),
        )
    }

    fn rest(secret: &str) -> [Object; 2] {
        let pod = json!({"volumes": [{"name": "c", "secret": {"secretName": secret}}]});
        [
            of("v1", "Service", "svc", json!({})),
            of(
                "apps/v1",
                "Deployment",
                "d",
                json!({"spec": {"template": {"spec": pod}}}),
            ),
        ]
    }

    fn all(names: Value, annotation: &str, secret: &str) -> Vec<String> {
        let [service, deployment] = rest(secret);
        rules_and_fields(
            &[
                certificate(names),
                configuration(annotation),
                service,
                deployment,
            ],
            check,
        )
    }

    /// cert-manager, "CA Injector": `inject-ca-from` is `namespace/name` of a Certificate.
    #[test]
    fn the_chain_from_webhook_to_pod_holds() {
        let names = json!(["svc.ns.svc", "svc.ns.svc.cluster.local", "localhost"]);
        assert_eq!(all(names.clone(), "ns/serving", "cert"), [""; 0]);
        assert_eq!(
            all(names.clone(), "elsewhere/serving", "cert"),
            [""; 0],
            "clusterctl writes the namespace"
        );
        let missing = format!(
            "{} metadata.annotations[cert-manager.io/inject-ca-from]",
            CERTIFICATE_MISSING.id
        );
        assert_eq!(all(names.clone(), "ns/other", "cert"), [missing]);
        assert_eq!(
            all(names.clone(), "ns/serving", "other"),
            [format!("{} spec.secretName", UNMOUNTED.id)]
        );
        assert_eq!(
            all(json!(["localhost"]), "ns/serving", "cert"),
            [format!("{} spec.dnsNames", NAME_MISSING.id)]
        );
        assert_eq!(all(json!(["*.ns.svc"]), "ns/serving", "cert"), [""; 0]);
        let unknown = [
            format!("{} spec.dnsNames", NAME_MISSING.id),
            format!("{} spec.dnsNames[0]", NAME_UNKNOWN.id),
        ];
        assert_eq!(
            all(json!(["webhook.ns.svc"]), "ns/serving", "cert"),
            unknown
        );
    }

    /// `crypto/x509`, `HostnameError`: what is said depends on what the certificate is made out
    /// for. A common name is not a name.
    #[test]
    fn certificates_without_names_are_told_in_the_words_of_go() {
        let upstream = |spec: Value| {
            let metadata = json!({"name": "serving", "namespace": "ns"});
            let certificate = of(
                "cert-manager.io/v1",
                "Certificate",
                "serving",
                json!({"metadata": metadata, "spec": spec}),
            );
            let [service, deployment] = rest("cert");
            let objects = [
                certificate,
                configuration("ns/serving"),
                service,
                deployment,
            ];
            let report = found_in(&objects, None, check);
            let finding = report
                .findings()
                .iter()
                .find(|finding| finding.rule.id == NAME_MISSING.id)?;
            Some((
                finding.help.as_ref().unwrap().to_string(),
                finding.upstream.as_ref().unwrap().to_string(),
            ))
        };
        let legacy = "x509: certificate relies on legacy Common Name field, use SANs instead";
        let none = "x509: certificate is not valid for any names, but wanted to match svc.ns.svc";
        let other = "x509: certificate is valid for localhost, example.com, not svc.ns.svc";
        for (spec, help, said) in [
            (
                json!({"commonName": "svc.ns.svc"}),
                "write `dnsNames: [svc.ns.svc]`",
                legacy,
            ),
            (
                json!({"commonName": "svc.ns.svc", "ipAddresses": ["10.0.0.1"]}),
                "write `dnsNames: [svc.ns.svc]`",
                none,
            ),
            (
                json!({"commonName": "other.ns.svc"}),
                "write `dnsNames: [svc.ns.svc]`",
                none,
            ),
            (
                json!({"uris": ["spiffe://a/b"]}),
                "write `dnsNames: [svc.ns.svc]`",
                none,
            ),
            (
                json!({"commonName": "svc.ns.svc", "dnsNames": ["localhost", "example.com"]}),
                "add `- svc.ns.svc` to `dnsNames`",
                other,
            ),
        ] {
            assert_eq!(
                upstream(spec.clone()),
                Some((help.to_owned(), said.to_owned())),
                "{spec}"
            );
        }
        assert_eq!(
            upstream(json!({"commonName": "x", "dnsNames": ["svc.ns.svc"]})),
            None
        );
    }

    #[test]
    fn what_is_no_certificate_of_a_service_is_left_alone() {
        let [service, _] = rest("");
        assert_eq!(
            rules_and_fields(
                &[certificate(json!(["localhost", "example.com"])), service],
                check
            ),
            [""; 0],
            "nobody calls it"
        );
        assert_eq!(
            all(
                json!(["SERVICE_NAME.SERVICE_NAMESPACE.svc"]),
                "CERTIFICATE_NAMESPACE/CERTIFICATE_NAME",
                "cert"
            ),
            [""; 0]
        );
        // A CA is the Secret of an Issuer.
        let issuer = of(
            "cert-manager.io/v1",
            "Issuer",
            "i",
            json!({"spec": {"ca": {"secretName": "cert"}}}),
        );
        let [service, _] = rest("");
        assert_eq!(
            rules_and_fields(
                &[certificate(json!(["svc.ns.svc"])), service, issuer],
                check
            ),
            [""; 0]
        );
    }
}
