//! The components file as clusterctl takes it: what it refuses, and what of it comes out other than it went in.

use super::{definitions, names, scalars};
use crate::clusterctl::{Config, Explanation, components_refusal, dropped_fields, version_refusal};
use crate::contract::book;
use crate::diag::{Diagnostic, FieldPath, Report, rules};
use crate::emit::components::{check_images, check_manager};
use crate::emit::metadata::MetadataFile;
use crate::objects::{self, Object};
use crate::ops::repository::sample::sampled;
use crate::text::source::Source;

rules! {
    /// clusterctl refuses the components
    REFUSED = error("components-refused"), url(book::COMPONENTS_YAML);
    /// clusterctl refuses the components with `--raw` and `--describe`, which replace no variables
    RAW_REFUSED = warning("components-raw-refused"), url(book::COMPONENTS_YAML);
    /// an object has an API version that clusterctl cannot convert
    VERSION_UNKNOWN = error("components-object-version-unknown");
    /// clusterctl drops a field that the type of the object does not have
    FIELD_DROPPED = warning("components-field-dropped");
    /// a webhook lacks a required field, for which clusterctl writes null
    WEBHOOK_INCOMPLETE = error("components-webhook-incomplete");
}

/// Judges the components of the picked version.
pub(super) fn check(config: &Config<'_>, explained: &Explanation, source: &Source, metadata: Option<&MetadataFile>) -> Report {
    let budget = config.world().budget;
    let (text, origins, mut report) = sampled(source, budget);
    let has_contract = explained.provider.provider_type.has_contract();
    if let Some(text) = text {
        let (objects, unreadable) = objects::read(&text, budget);
        report.extend(unreadable);
        report.extend(check_objects(&objects, metadata, has_contract));
    }
    let mut report = origins.restore(report);
    report.extend(scalars::check(source, budget));
    report.extend(definitions::substituted(source, budget));
    report.extend(refusals(config, explained, source, report.has_errors()));
    report
}

fn check_objects(objects: &[Object], metadata: Option<&MetadataFile>, has_contract: bool) -> Report {
    let mut report = check_images(objects);
    report.extend(check_manager(objects));
    report.extend(names::check(objects));
    report.extend(definitions::check(objects, metadata, has_contract));
    for object in objects {
        report.extend(unknown_version(object));
        report.extend(dropped(object));
        report.extend(incomplete_webhooks(object));
    }
    report
}

/// clusterctl itself over the whole file. What already has a finding of its own is not said twice.
fn refusals(config: &Config<'_>, explained: &Explanation, source: &Source, has_errors: bool) -> Option<Diagnostic> {
    let (version, _) = explained.picked.as_ref().ok()?;
    let refusal = |raw| components_refusal(config, &explained.provider, version, source.text().as_bytes(), raw);
    let finding = |rule, message: &str, refusal: &crate::clusterctl::Refusal| {
        Diagnostic::of(rule, message).at(source.place()).note(format!("clusterctl says: {refusal}")).upstream(refusal.message())
    };
    match refusal(false) {
        Some(_) if has_errors => None,
        Some(refused) => {
            let message = "clusterctl refuses the components";
            Some(finding(&REFUSED, message, &refused).help("mend the object that the note names"))
        }
        None => refusal(true).map(|refused| {
            let message = "`clusterctl generate provider --raw` and `--describe` refuse the components";
            let help = "use variables only inside of strings, and not in images";
            finding(&RAW_REFUSED, message, &refused).help(help)
        }),
    }
}

fn unknown_version(object: &Object) -> Option<Diagnostic> {
    let refusal = version_refusal(object.value())?;
    let message = format!("{} is of version {}, which clusterctl does not convert", object.title(), object.api_version());
    let finding = Diagnostic::of(&VERSION_UNKNOWN, message).at(object.place(&FieldPath::root().field("apiVersion")));
    Some(
        finding
            .help("write the object in the current version of its API")
            .note(format!("clusterctl says: {refusal}"))
            .upstream(refusal.message()),
    )
}

fn dropped(object: &Object) -> Vec<Diagnostic> {
    let finding = |path: FieldPath| {
        Diagnostic::of(&FIELD_DROPPED, format!("{path} of {} vanishes: {} has no such field", object.title(), object.kind()))
            .at(object.key_place(&path))
            .help("mend the name of the field, or remove it")
            .note("clusterctl converts these objects into Go's types and back")
    };
    dropped_fields(object.value()).into_iter().map(finding).collect()
}

fn incomplete_webhooks(object: &Object) -> Vec<Diagnostic> {
    if !matches!(object.kind(), "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") {
        return Vec::new();
    }
    let webhooks = object.items(&["webhooks"]).iter().enumerate();
    let missing = webhooks.flat_map(|(at, webhook)| {
        let fields = ["sideEffects", "admissionReviewVersions"].into_iter().filter(|field| webhook[*field].is_null());
        fields.map(move |field| (at, field))
    });
    let finding = |(at, field): (usize, &str)| {
        let path = FieldPath::root().field("webhooks").index(at);
        Diagnostic::of(&WEBHOOK_INCOMPLETE, format!("{path} of {} has no {field}", object.title()))
            .at(object.place(&path))
            .help(if field == "sideEffects" { "add `sideEffects: None`" } else { "add `admissionReviewVersions: [v1]`" })
            .note("clusterctl writes null in its place, and the API server refuses that")
    };
    missing.map(finding).collect()
}
