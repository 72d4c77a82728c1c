//! Versions of a CRD: in which one objects are stored, and who converts them.

use super::kind::{Definition, Version, definitions};
use super::lost_fields::difference;
use crate::scope::unchecked;
use crate::{Extent, Scope};
use windlass_capi::contract::{book, labels};
use windlass_objects::Object;
use windlass_source::budget::{Budget, Exceeded};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// a CRD does not have exactly one storage version
    STORAGE_WRONG = error("crd-storage-version-wrong"), url(book::CRD_VERSIONS), catalogue("R11");
    /// versions of a CRD have different fields, and no webhook converts between them
    CONVERSION_MISSING = error("crd-conversion-missing"), url(book::CRD_VERSIONS), catalogue("R12");
    /// the conversion webhook of a CRD gets no CA
    CA_MISSING = warning("crd-conversion-ca-missing"), url(book::CRD_VERSIONS), catalogue("R13");
    /// a CRD with one version has a conversion webhook
    CONVERSION_NEEDLESS = info("crd-conversion-needless"), url(book::CRD_VERSIONS), catalogue("R14");
}

pub(crate) fn check(scope: &Scope<'_>) -> Report {
    let mut report = Report::new();
    for definition in definitions(scope) {
        report.extend(storage(&definition));
        let converts = definition.crd.text(&["spec", "conversion", "strategy"]) == "Webhook";
        report.extend(needless_conversion(&definition).filter(|_| converts));
        // In sources kustomize adds the webhook and its annotation.
        if scope.extent == Extent::Whole {
            match converts {
                true => report.extend(without_ca(definition.crd)),
                false => report.extend(unconverted(&definition, scope.budget)),
            }
        }
    }
    report
}

fn storage(definition: &Definition<'_>) -> Option<Diagnostic> {
    let (crd, stored) = (
        definition.crd,
        definition
            .versions()
            .filter(Version::is_stored)
            .collect::<Vec<_>>(),
    );
    if stored.len() == 1 || definition.versions().next().is_none() {
        return None;
    }
    let names: Vec<&str> = stored.iter().map(|version| version.name).collect();
    let message = match &names[..] {
        [] => format!(
            "no version of {} is the one in which objects are stored",
            crd.title()
        ),
        _ => format!(
            "{} of {} are all marked as the one in which objects are stored",
            names.join(", "),
            crd.title()
        ),
    };
    let path = FieldPath::of_fields("spec.versions");
    let place = stored
        .get(1)
        .map_or(path, |version| version.path().field("storage"));
    let finding = Diagnostic::of(&STORAGE_WRONG, message).at(crd.place(&place));
    let finding = finding.note(
        "the API server rejects the CRD: `must have exactly one version marked as storage version`",
    );
    Some(finding.help("write `storage: true` at one version, and `storage: false` at all others"))
}

fn needless_conversion(definition: &Definition<'_>) -> Option<Diagnostic> {
    let only = definition
        .versions()
        .next()
        .filter(|_| definition.versions().count() == 1)?;
    let message = format!(
        "{} has one version, {}, and a webhook that converts between versions",
        definition.crd.title(),
        only.name
    );
    let finding = Diagnostic::of(&CONVERSION_NEEDLESS, message).at(definition
        .crd
        .place(&FieldPath::of_fields("spec.conversion")));
    Some(finding.help("remove `spec.conversion` until there is a second version"))
}

/// Annotations with which cert-manager or OpenShift injects the CA.
const CA_ANNOTATIONS: [&str; 4] = [
    labels::INJECT_CA_FROM,
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
    "service.beta.openshift.io/inject-cabundle",
];

fn without_ca(crd: &Object) -> Option<Diagnostic> {
    let client = crd.field(&["spec", "conversion", "webhook", "clientConfig"])?;
    client.get("service")?;
    let is_annotated = CA_ANNOTATIONS.iter().any(|annotation| {
        crd.field(&["metadata", "annotations", annotation])
            .is_some()
    });
    (client["caBundle"].is_null() && !is_annotated).then(|| {
        let message = format!("{} has no CA for its conversion webhook: it has neither `caBundle` nor an annotation that injects one", crd.title());
        Diagnostic::of(&CA_MISSING, message)
            .at(crd.place(&FieldPath::of_fields("spec.conversion.webhook.clientConfig")))
            .help(format!("annotate it `{}: NAMESPACE/CERTIFICATE`", labels::INJECT_CA_FROM))
            .note("the API server does not trust the webhook without a CA, and then rejects every request that needs a conversion")
    })
}

/// Served versions that lose fields on the way to the stored one or back.
fn unconverted(definition: &Definition<'_>, budget: &Budget) -> Vec<Diagnostic> {
    let Some(stored) = definition.versions().find(Version::is_stored) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for other in definition
        .versions()
        .filter(|version| version.is_served() && version.name != stored.name)
    {
        match converted_badly(definition, &stored, &other, budget) {
            Ok(finding) => found.extend(finding),
            Err(spent) => return vec![unchecked(spent, budget)],
        }
    }
    found
}

fn converted_badly(
    definition: &Definition<'_>,
    stored: &Version<'_>,
    other: &Version<'_>,
    budget: &Budget,
) -> Result<Option<Diagnostic>, Exceeded> {
    let (Some(old), Some(new)) = (other.schema(), stored.schema()) else {
        return Ok(None);
    };
    let (written, read) = (difference(old, new, budget)?, difference(new, old, budget)?);
    if written.lost.is_empty() && read.lost.is_empty() && written.changed.is_empty() {
        return Ok(None);
    }
    let (crd, stored, other_name) = (definition.crd, stored.name, other.name);
    let message = format!(
        "{stored} and {other_name} of {} have other fields, and no webhook converts between them",
        definition.kind()
    );
    let mut finding =
        Diagnostic::of(&CONVERSION_MISSING, message).at(crd.place(&other.path().field("name")));
    let notes = [
        (
            format!("what is written as {other_name} loses"),
            written.lost,
        ),
        (
            format!("what is read as {other_name}, and lost when it is written back, lacks"),
            read.lost,
        ),
        (
            format!("other types, of {other_name} and {stored}:"),
            written.changed,
        ),
    ];
    for (what, paths) in notes.into_iter().filter(|(_, paths)| !paths.is_empty()) {
        finding = finding.note(format!("{what} {}", shortened(&paths)));
    }
    Ok(Some(finding.help(format!(
        "convert them: `spec.conversion: {{strategy: Webhook, …}}`; or serve one of the two only: `served: false` at {other_name}"
    ))))
}

/// The first of some paths, and how many there are.
fn shortened(paths: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = paths[..paths.len().min(SHOWN)].join(", ");
    if paths.len() > SHOWN {
        format!("{shown} and {} more", paths.len() - SHOWN)
    } else {
        shown
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use windlass_objects::Pool;

    fn found(spec: Value, annotations: Value, extent: Extent) -> Vec<Diagnostic> {
        let objects = [Object::made(json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "foos.foo.dev", "annotations": annotations}, "spec": spec,
        }))];
        let budget = Budget::default();
        check(&Scope {
            extent,
            ..Scope::of(&Pool::of(objects.to_vec()), None, &budget)
        })
        .into_findings()
    }

    fn rules(spec: Value) -> Vec<&'static str> {
        found(spec, json!({}), Extent::Whole)
            .into_iter()
            .map(|finding| finding.rule.id)
            .collect()
    }

    fn version(name: &str, served: bool, storage: bool, properties: Value) -> Value {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}});
        json!({"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": schema}})
    }

    const NONE: [&str; 0] = [];

    /// apiextensions-apiserver, `validateCustomResourceDefinitionSpec`.
    #[test]
    fn one_version_is_stored() {
        let of = |first, second| {
            rules(
                json!({"versions": [version("v1", true, first, json!({})), version("v2", true, second, json!({}))]}),
            )
        };
        assert_eq!(of(true, true), ["crd-storage-version-wrong"]);
        assert_eq!(of(false, false), ["crd-storage-version-wrong"]);
        assert_eq!(of(true, false), NONE);
    }

    /// apiextensions-apiserver, `nopConverter` and `schemaCoercer`: the API version changes, and
    /// what the schema lacks is pruned.
    #[test]
    fn versions_with_other_fields_are_converted() {
        let (a, b) = (
            json!({"a": {"type": "string"}, "c": {"type": "string"}}),
            json!({"b": {"type": "string"}, "c": {"type": "object"}}),
        );
        let versions = |served| json!({"versions": [version("v1", served, false, a.clone()), version("v2", true, true, b.clone())]});
        let findings = found(versions(true), json!({}), Extent::Whole);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].rule.id, "crd-conversion-missing");
        assert_eq!(
            findings[0].notes,
            [
                "what is written as v1 loses spec.a",
                "what is read as v1, and lost when it is written back, lacks spec.b",
                "other types, of v1 and v2: spec.c (string, then object)",
            ]
        );
        assert_eq!(rules(versions(false)), NONE);
        assert!(
            found(versions(true), json!({}), Extent::Part).is_empty(),
            "kustomize adds the webhook"
        );
        let same = json!({"versions": [version("v1", true, false, a.clone()), version("v2", true, true, a.clone())]});
        assert_eq!(rules(same), NONE);
        let mut converted = versions(true);
        converted["conversion"] = json!({"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://foo.example"}}});
        assert_eq!(rules(converted), NONE);
    }

    #[test]
    fn what_is_not_judged_is_told() {
        let versions = [
            version("v1", true, true, json!({"a": {}})),
            version("v2", true, false, json!({"a": {}})),
        ];
        let crd = json!({"kind": "CustomResourceDefinition", "metadata": {"name": "x"}, "spec": {"versions": versions}});
        let rules = |steps| {
            let (objects, budget) = ([Object::made(crd.clone())], Budget::of(steps));
            check(&Scope::of(&Pool::of(objects.to_vec()), None, &budget))
                .into_iter()
                .map(|finding| finding.rule.id)
                .collect::<Vec<_>>()
        };
        assert_eq!((rules(3), rules(4)), (vec!["lint-work-exceeded"], vec![]));
    }

    #[test]
    fn webhooks_get_a_ca() {
        let spec = |ca: Value| {
            let client = json!({"service": {"name": "s"}, "caBundle": ca});
            let versions = [
                version("v1", true, true, json!({})),
                version("v2", true, false, json!({"a": {}})),
            ];
            json!({"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": client}}, "versions": versions})
        };
        let of = |ca, annotations| {
            let findings = found(spec(ca), annotations, Extent::Whole);
            findings
                .into_iter()
                .map(|finding| finding.rule.id)
                .collect::<Vec<_>>()
        };
        assert_eq!(of(Value::Null, json!({})), ["crd-conversion-ca-missing"]);
        assert_eq!(of("Cg==".into(), json!({})), NONE);
        assert_eq!(
            of(
                Value::Null,
                json!({"cert-manager.io/inject-ca-from": "a/b"})
            ),
            NONE
        );
        assert!(
            found(spec(Value::Null), json!({}), Extent::Part).is_empty(),
            "kustomize adds the annotation"
        );
    }

    #[test]
    fn one_version_needs_no_webhook() {
        let spec = |versions: Value| json!({"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": {}}}, "versions": versions});
        assert_eq!(
            rules(spec(json!([version("v1", true, true, json!({}))]))),
            ["crd-conversion-needless"]
        );
        let two = json!([
            version("v1", true, true, json!({})),
            version("v2", false, false, json!({}))
        ]);
        assert_eq!(rules(spec(two)), NONE);
        assert_eq!(
            rules(json!({"versions": [version("v1", true, true, json!({}))]})),
            NONE
        );
    }

    #[test]
    fn long_lists_are_shortened() {
        let paths: Vec<String> = (0..7).map(|at| format!("p{at}")).collect();
        assert_eq!(shortened(&paths), "p0, p1, p2, p3, p4 and 2 more");
        assert_eq!(shortened(&paths[..5]), "p0, p1, p2, p3, p4");
    }
}
