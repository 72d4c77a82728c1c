//! Webhooks: whom the API server calls, for what, and how (book: clusterctl, "Components YAML").

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::called::{Called, called};
use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::lint::{Scope, definitions};
use crate::objects::{Object, fields};
use crate::text::nearest::nearest;

rules! {
    /// a webhook or a conversion calls a Service that the components do not contain
    SERVICE_MISSING = error("components-webhook-service-missing"), catalogue("C11"), page(r"
The Service that the API server calls is not in the file. Every request that the webhook is for fails, and so does every read of a CRD in
another version than the stored one. clusterctl itself meets that when it creates or moves objects.

Name the Service of the file, with its prefix, or add it.

## Bad

```yaml infrastructure-components.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- name: validation.foomachine.infrastructure.cluster.x-k8s.io
  admissionReviewVersions: [v1]
  clientConfig:
    service:
      name: webhook-service
      namespace: foo-system
      path: /validate-infrastructure-cluster-x-k8s-io-v1beta1-foomachine
  rules:
  - apiGroups: [infrastructure.cluster.x-k8s.io]
    apiVersions: [v1beta1]
    operations: [CREATE, UPDATE]
    resources: [foomachines]
  sideEffects: None
```

## Good

```yaml infrastructure-components.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- name: validation.foomachine.infrastructure.cluster.x-k8s.io
  admissionReviewVersions: [v1]
  clientConfig:
    service:
      name: foo-webhook-service
      namespace: foo-system
      path: /validate-infrastructure-cluster-x-k8s-io-v1beta1-foomachine
  rules:
  - apiGroups: [infrastructure.cluster.x-k8s.io]
    apiVersions: [v1beta1]
    operations: [CREATE, UPDATE]
    resources: [foomachines]
  sideEffects: None
```
");
    /// a webhook that may fail, or a conversion with nothing to convert, calls a Service that the components do not contain
    SERVICE_ABSENT = warning("components-webhook-service-absent"), catalogue("C11"), page(r"
A webhook with `failurePolicy: Ignore`, or the conversion of a CRD with one version, names a Service that is not in the file. No request
fails, but what the webhook should check or default is not, and nobody is told; the conversion breaks when a second version comes.

Name the Service of the file, or remove the webhook or the conversion.

## Bad

```yaml infrastructure-components.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- name: validation.foomachine.infrastructure.cluster.x-k8s.io
  admissionReviewVersions: [v1]
  clientConfig:
    service: {name: webhook-service, namespace: foo-system}
  failurePolicy: Ignore
  rules:
  - apiGroups: [infrastructure.cluster.x-k8s.io]
    apiVersions: [v1beta1]
    operations: [CREATE, UPDATE]
    resources: [foomachines]
  sideEffects: None
```

## Good

```yaml infrastructure-components.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- name: validation.foomachine.infrastructure.cluster.x-k8s.io
  admissionReviewVersions: [v1]
  clientConfig:
    service: {name: foo-webhook-service, namespace: foo-system}
  failurePolicy: Ignore
  rules:
  - apiGroups: [infrastructure.cluster.x-k8s.io]
    apiVersions: [v1beta1]
    operations: [CREATE, UPDATE]
    resources: [foomachines]
  sideEffects: None
```
");
    /// a webhook is for a resource, or a version of one, that no CRD of the components serves
    RESOURCE_UNKNOWN = warning("components-webhook-resource-unknown"), catalogue("C14"), page(r"
A rule of a webhook names a resource of the provider's own API group that no CRD of the file has, or a version that the CRD does not
serve. The API server takes that without a word and never calls the webhook: nothing is checked, and nothing gets its defaults.

Resources are named by their plural, `foomachines`. After a version is no longer served, the rule moves to the one that is.

## Bad

```yaml infrastructure-components.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- name: validation.foomachine.infrastructure.cluster.x-k8s.io
  admissionReviewVersions: [v1]
  clientConfig:
    service: {name: foo-webhook-service, namespace: foo-system}
  rules:
  - apiGroups: [infrastructure.cluster.x-k8s.io]
    apiVersions: [v1beta1]
    operations: [CREATE, UPDATE]
    resources: [foomachine]
  sideEffects: None
```

## Good

```yaml infrastructure-components.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- name: validation.foomachine.infrastructure.cluster.x-k8s.io
  admissionReviewVersions: [v1]
  clientConfig:
    service: {name: foo-webhook-service, namespace: foo-system}
  rules:
  - apiGroups: [infrastructure.cluster.x-k8s.io]
    apiVersions: [v1beta1]
    operations: [CREATE, UPDATE]
    resources: [foomachines]
  sideEffects: None
```
");
    /// the API server refuses a webhook for its `sideEffects` or `admissionReviewVersions`
    REFUSED = error("components-webhook-refused"), catalogue("C15"), page(r"
`sideEffects` of a webhook is `None` or `NoneOnDryRun`, and `admissionReviewVersions` names a version that the API server knows: `v1`, or
the older `v1beta1`. Anything else is refused, and with it the whole configuration.

## Bad

```yaml infrastructure-components.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- name: validation.foomachine.infrastructure.cluster.x-k8s.io
  admissionReviewVersions: [v1]
  clientConfig:
    service: {name: foo-webhook-service, namespace: foo-system}
  rules:
  - apiGroups: [infrastructure.cluster.x-k8s.io]
    apiVersions: [v1beta1]
    operations: [CREATE, UPDATE]
    resources: [foomachines]
  sideEffects: Some
```

## Good

```yaml infrastructure-components.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- name: validation.foomachine.infrastructure.cluster.x-k8s.io
  admissionReviewVersions: [v1]
  clientConfig:
    service: {name: foo-webhook-service, namespace: foo-system}
  rules:
  - apiGroups: [infrastructure.cluster.x-k8s.io]
    apiVersions: [v1beta1]
    operations: [CREATE, UPDATE]
    resources: [foomachines]
  sideEffects: NoneOnDryRun
```
");
    /// a webhook does not take AdmissionReview v1
    REVIEW_OLD = warning("components-webhook-review-old"), catalogue("C15"), page(r"
`admissionReviewVersions` names `v1beta1` alone. The API server still sends that version, which was deprecated with Kubernetes 1.16 and
goes when the API server stops sending it. controller-runtime answers `v1` since 0.5, so that adding it costs nothing.

## Bad

```yaml infrastructure-components.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- name: validation.foomachine.infrastructure.cluster.x-k8s.io
  admissionReviewVersions: [v1beta1]
  clientConfig:
    service: {name: foo-webhook-service, namespace: foo-system}
  rules:
  - apiGroups: [infrastructure.cluster.x-k8s.io]
    apiVersions: [v1beta1]
    operations: [CREATE, UPDATE]
    resources: [foomachines]
  sideEffects: None
```

## Good

```yaml infrastructure-components.yaml
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: foo-validating-webhook-configuration
webhooks:
- name: validation.foomachine.infrastructure.cluster.x-k8s.io
  admissionReviewVersions: [v1, v1beta1]
  clientConfig:
    service: {name: foo-webhook-service, namespace: foo-system}
  rules:
  - apiGroups: [infrastructure.cluster.x-k8s.io]
    apiVersions: [v1beta1]
    operations: [CREATE, UPDATE]
    resources: [foomachines]
  sideEffects: None
```
");
}

/// Judges the webhooks of all objects.
pub(in crate::lint) fn check(scope: &Scope<'_>) -> Report {
    let mut report: Report = called(scope).filter_map(|called| missing_service(scope, &called)).collect();
    let served = Served::by(scope);
    for object in scope.objects.iter().filter(|object| is_configuration(object)) {
        for (at, webhook) in object.items(&["webhooks"]).iter().enumerate() {
            let webhook = Webhook { object, path: FieldPath::root().field("webhooks").index(at), value: webhook };
            report.extend(webhook.refused());
            report.extend(webhook.old());
            report.extend(webhook.unknown_resources(&served));
        }
    }
    report
}

fn is_configuration(object: &Object) -> bool {
    let is_kind = matches!(object.kind(), "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration");
    is_kind && object.group() == "admissionregistration.k8s.io"
}

fn missing_service(scope: &Scope<'_>, called: &Called<'_>) -> Option<Diagnostic> {
    if !scope.is_whole() || scope.named("", "Service", called.service).is_some() {
        return None;
    }
    let services = scope.objects.iter().filter(|object| object.is("", "Service")).map(Object::name);
    let near = nearest(called.service, services.clone());
    let help = match near.or_else(|| services.clone().next()) {
        Some(name) => format!("write `name: {name}`, or add Service {} to the file", called.service),
        None => format!("add Service {} to the file", called.service),
    };
    let rule = if called.is_needed() { &SERVICE_MISSING } else { &SERVICE_ABSENT };
    let finding = Diagnostic::of(rule, format!("{} calls Service {}, which the components do not contain", called.title(), called.service));
    let finding = finding.at(called.object.place(&called.path.field("name"))).help(help);
    Some(match called.is_needed() {
        true => finding
            .note("the API server refuses each request for which it has to call it")
            .upstream(format!("service \"{}\" not found", called.service)),
        false => finding.note("nothing fails and nobody is told: it is as if the webhook were not there"),
    })
}

/// The resources that the CRDs of a scope serve, and in which versions.
struct Served<'o> {
    /// Group and plural to the versions.
    versions: BTreeMap<(&'o str, &'o str), BTreeSet<&'o str>>,
    /// Group and kind, in lower case, to the plural.
    kinds: BTreeMap<(&'o str, String), &'o str>,
    /// Whether these are all CRDs of the provider.
    is_whole: bool,
}

impl<'o> Served<'o> {
    fn by(scope: &Scope<'o>) -> Self {
        let mut served = Served { versions: BTreeMap::new(), kinds: BTreeMap::new(), is_whole: scope.is_whole() };
        for crd in definitions::of(scope.objects) {
            let versions = crd.items(&["spec", "versions"]).iter().filter(|version| version["served"] != false);
            let (group, plural) = (crd.text(&["spec", "group"]), crd.text(&["spec", "names", "plural"]));
            served.versions.insert((group, plural), versions.filter_map(|version| version["name"].as_str()).collect());
            served.kinds.insert((group, crd.text(&["spec", "names", "kind"]).to_lowercase()), plural);
        }
        served
    }

    /// The plurals of a group, in order.
    fn plurals(&self, group: &'o str) -> Vec<&'o str> {
        self.versions.range((group, "")..).take_while(|((of, _), _)| *of == group).map(|((_, plural), _)| *plural).collect()
    }
}

/// Resources of groups of Cluster API for which providers of the same group have webhooks, although their CRDs are the core's.
const CORE_RESOURCES: [(&str, &str); 2] = [("ipam.cluster.x-k8s.io", "ipaddressclaims"), ("ipam.cluster.x-k8s.io", "ipaddresses")];

struct Webhook<'o> {
    object: &'o Object,
    path: FieldPath,
    value: &'o Value,
}

impl<'o> Webhook<'o> {
    fn texts(&self, field: &str) -> Vec<&'o str> {
        fields::items(self.value, &[field]).iter().filter_map(Value::as_str).collect()
    }

    fn finding(&self, rule: &'static crate::diag::Rule, field: &str, is: &str) -> Diagnostic {
        let path = self.path.field(field);
        Diagnostic::of(rule, format!("{path} of {} is {is}", self.object.title())).at(self.object.place(&path))
    }

    /// What the API server refuses. That one of the fields is not there is a finding of its own.
    fn refused(&self) -> Vec<Diagnostic> {
        let (effects, versions) = (fields::text(self.value, &["sideEffects"]), self.texts("admissionReviewVersions"));
        let mut found = Vec::new();
        if !matches!(effects, "" | "None" | "NoneOnDryRun") {
            let said = format!("{}.sideEffects: Unsupported value: \"{effects}\": supported values: \"None\", \"NoneOnDryRun\"", self.path);
            let finding = self.finding(&REFUSED, "sideEffects", &format!("`{effects}`, which the API server refuses"));
            found.push(finding.help("write `sideEffects: None`").upstream(said));
        }
        if !versions.is_empty() && !versions.iter().any(|version| matches!(*version, "v1" | "v1beta1")) {
            let finding = self.finding(&REFUSED, "admissionReviewVersions", "without a version that the API server knows");
            found.push(finding.help("write `admissionReviewVersions: [v1]`").upstream("must include at least one of v1, v1beta1"));
        }
        found
    }

    fn old(&self) -> Option<Diagnostic> {
        let versions = self.texts("admissionReviewVersions");
        let is_old = versions.contains(&"v1beta1") && !versions.contains(&"v1");
        is_old.then(|| {
            self.finding(&REVIEW_OLD, "admissionReviewVersions", "without v1")
                .help("write `admissionReviewVersions: [v1, v1beta1]`, and serve both")
                .note("v1beta1 is deprecated since Kubernetes 1.16; controller-runtime serves both")
        })
    }

    /// Resources of the file's own groups that no CRD of the file has or serves. What is of other groups may be there.
    fn unknown_resources(&self, served: &Served<'o>) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (at, rule) in fields::items(self.value, &["rules"]).iter().enumerate() {
            let texts = |field: &str| fields::items(rule, &[field]).iter().enumerate().filter_map(|(at, text)| Some((at, text.as_str()?)));
            let path = self.path.field("rules").index(at);
            for (group, (at, resource)) in
                texts("apiGroups").flat_map(|(_, group)| texts("resources").map(move |resource| (group, resource)))
            {
                let plural = resource.split('/').next().unwrap_or_default();
                let path = path.field("resources").index(at);
                match served.versions.get(&(group, plural)) {
                    None => found.extend(self.unknown(&path, group, plural, served)),
                    Some(versions) if !texts("apiVersions").any(|(_, version)| version == "*" || versions.contains(version)) => {
                        found.push(self.unserved(&path, plural, versions));
                    }
                    Some(_) => {}
                }
            }
        }
        found
    }

    /// A resource that no CRD has. Where CRDs may be elsewhere, only one that is called like a kind of those that are here.
    fn unknown(&self, path: &FieldPath, group: &'o str, plural: &str, served: &Served<'o>) -> Option<Diagnostic> {
        let of_kind = served.kinds.get(&(group, plural.to_lowercase())).copied();
        if plural == "*" || CORE_RESOURCES.contains(&(group, plural)) || !served.is_whole && of_kind.is_none() {
            return None;
        }
        let own = served.plurals(group);
        own.first()?;
        let message = format!("{path} of {} is {plural}, which no CRD of group {group} has", self.object.title());
        let finding = Diagnostic::of(&RESOURCE_UNKNOWN, message).at(self.object.place(path));
        let finding = finding.note("the API server never calls the webhook for it, and says nothing");
        Some(match of_kind.or_else(|| nearest(plural, own.iter().copied())) {
            Some(right) => finding.help(format!("write `{right}`")),
            None => finding.help(format!("name resources by their plural: {}", own.join(", "))),
        })
    }

    fn unserved(&self, path: &FieldPath, plural: &str, versions: &BTreeSet<&str>) -> Diagnostic {
        let served: Vec<&str> = versions.iter().copied().collect();
        let message = format!("{path} of {} is {plural}, which is served in no version of the rule", self.object.title());
        Diagnostic::of(&RESOURCE_UNKNOWN, message)
            .at(self.object.place(path))
            .help(format!("write `apiVersions: [{}]` in the rule", served.join(", ")))
            .note("the API server never calls the webhook for it, and says nothing")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::lint::components::tests::{of, told};

    fn configuration(webhook: Value) -> Object {
        of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "w", json!({"webhooks": [webhook]}))
    }

    fn service() -> Object {
        of("v1", "Service", "foo-webhook-service", json!({}))
    }

    fn crd(plural: &str, versions: Value) -> Object {
        let spec = json!({"group": "a.io", "names": {"kind": "Foo", "plural": plural}, "versions": versions, "conversion": {"webhook": {"clientConfig": {"service": {"name": "foo-webhook-service"}}}}});
        of("apiextensions.k8s.io/v1", "CustomResourceDefinition", plural, json!({"spec": spec}))
    }

    /// API reference, WebhookClientConfig.service; `failurePolicy` defaults to Fail.
    #[test]
    fn called_services_are_there() {
        let call = |policy: Value| {
            configuration(json!({"name": "n", "clientConfig": {"service": {"name": "webhook-service"}}, "failurePolicy": policy}))
        };
        for (policy, rule) in [(Value::Null, SERVICE_MISSING.id), ("Fail".into(), SERVICE_MISSING.id), ("Ignore".into(), SERVICE_ABSENT.id)]
        {
            assert_eq!(told(&[call(policy), service()], check), [format!("{rule} webhooks[0].clientConfig.service.name")]);
        }
        let url = configuration(json!({"name": "n", "clientConfig": {"url": "https://example.com"}}));
        assert_eq!(told(&[url], check), [""; 0]);
        let versions = |count: usize| (0..count).map(|at| json!({"name": format!("v{at}"), "served": true})).collect::<Value>();
        let place = "spec.conversion.webhook.clientConfig.service.name";
        assert_eq!(told(&[crd("foos", versions(2))], check), [format!("{} {place}", SERVICE_MISSING.id)]);
        assert_eq!(told(&[crd("foos", versions(1))], check), [format!("{} {place}", SERVICE_ABSENT.id)]);
        assert_eq!(told(&[crd("foos", versions(2)), service()], check), [""; 0]);
    }

    /// API reference, RuleWithOperations: `resources` are plurals, with subresources behind a slash; `*` stands for all.
    #[test]
    fn rules_name_resources_and_versions_of_the_crds() {
        let versions = json!([{"name": "v1", "served": true}, {"name": "v0", "served": false}]);
        let rules = |group: &str, version: &str, resource: &str| {
            let rule = json!({"apiGroups": [group], "apiVersions": [version], "resources": [resource]});
            told(&[configuration(json!({"name": "n", "rules": [rule]})), crd("foos", versions.clone()), service()], check)
        };
        let place = format!("{} webhooks[0].rules[0].resources[0]", RESOURCE_UNKNOWN.id);
        assert_eq!(rules("a.io", "v1", "foo"), [place.as_str()]);
        assert_eq!(rules("a.io", "v1", "bars"), [place.as_str()]);
        assert_eq!(rules("a.io", "v0", "foos"), [place.as_str()]);
        for (group, version, resource) in [
            ("a.io", "v1", "foos"),
            ("a.io", "v1", "foos/scale"),
            ("a.io", "*", "foos"),
            ("a.io", "v1", "*"),
            ("a.io", "v1", "*/*"),
            ("b.io", "v1", "foo"),
            ("", "v1", "pods"),
            ("*", "*", "*"),
        ] {
            assert_eq!(rules(group, version, resource), [""; 0], "{group} {version} {resource}");
        }
    }

    /// Kubernetes, pkg/apis/admissionregistration/validation: supported values.
    #[test]
    fn what_the_api_server_refuses_is_found() {
        let webhook = |effects: &str, versions: Value| {
            told(&[configuration(json!({"name": "n", "sideEffects": effects, "admissionReviewVersions": versions}))], check)
        };
        let found = |rule: &crate::diag::Rule, field: &str| [format!("{} webhooks[0].{field}", rule.id)];
        assert_eq!(webhook("None", json!(["v1"])), [""; 0]);
        assert_eq!(webhook("NoneOnDryRun", json!(["v1beta1", "v1"])), [""; 0]);
        assert_eq!(webhook("Some", json!(["v1"])), found(&REFUSED, "sideEffects"));
        assert_eq!(webhook("Unknown", json!(["v1"])), found(&REFUSED, "sideEffects"));
        assert_eq!(webhook("None", json!(["v2"])), found(&REFUSED, "admissionReviewVersions"));
        assert_eq!(webhook("None", json!(["v1beta1"])), found(&REVIEW_OLD, "admissionReviewVersions"));
    }
}
