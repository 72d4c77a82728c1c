//! What the API server and the webhooks reject of the objects of Cluster API's core: schemas, rules
//! and webhooks are those of `windlass_capi::admission::core`. A field that a release before v1.14
//! does not have is accepted.

use serde_json::Value;

use crate::render::validation::findings::RULE_NOT_JUDGED;
use crate::render::{Profile, Request};
use windlass_capi::admission::core::unknown::{FIELD_UNKNOWN, with_new_form};
use windlass_capi::admission::core::{self, Rejection};
use windlass_capi::api::names::Version;
use windlass_capi::contract::CORE_GROUP;
use windlass_capi::conversion::core::{Conversion, ConversionContext, convert_object};
use windlass_objects::Object;
use windlass_objects::opaque_block::{OpaqueBlock, blocks_at, is_below};
use windlass_schema::document::{self, Part, Wording};
use windlass_schema::{Schema, Violation};
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Segment, rules};

rules! {
    /// a Cluster API object has an API version that the Cluster API release does not serve
    pub VERSION_UNKNOWN = error("core-version-unknown");
    /// a Cluster API object lacks a required field
    FIELD_MISSING = error("core-field-missing");
    /// a Cluster API object lacks several required fields, as a patch does, so they were not
    /// checked
    pub(crate) OBJECT_PARTIAL = warning("core-object-partial");
    /// the API server rejects a value of a Cluster API object
    pub VALUE_REJECTED = error("core-value-rejected");
    /// a Cluster API object violates a validation rule of the API
    RULE_BROKEN = error("core-rule-broken");
    /// a webhook of Cluster API rejects an object
    pub(crate) ADMISSION_REJECTED = error("core-admission-rejected");
}

/// Whether a finding about a text is about something that one of its blocks of unknown content may
/// supply.
pub fn is_supplied_by_blocks(finding: &Diagnostic, text: &str, blocks: &[OpaqueBlock]) -> bool {
    let Some(span) = finding.place.span else {
        return false;
    };
    let start = span.start.offset;
    let around = blocks_at(blocks, start);
    let is_absent = finding.rule.id.ends_with("-missing") || finding.rule == &OBJECT_PARTIAL;
    let is_too_small = finding.message.contains("should have at least");
    is_absent && !around.is_empty()
        || is_too_small && around.iter().any(|block| is_below(text, start, block))
}

const WORDING: Wording = Wording {
    unknown: &FIELD_UNKNOWN,
    missing: &FIELD_MISSING,
    rejected: &VALUE_REJECTED,
};

/// Whether objects of a kind are checked here.
pub fn is_judged(object: &Object) -> bool {
    object.group() == CORE_GROUP && core::schema(object.kind(), "v1beta2").is_some()
}

/// Checks an object; nothing for one of another kind.
pub fn check(object: &Object, request: &Request) -> Vec<Diagnostic> {
    if !is_judged(object) {
        return Vec::new();
    }
    let schema = core::schema(object.kind(), object.version())
        .filter(|_| is_served(object.version(), &request.profile));
    let Some(schema) = schema else {
        return vec![version_unknown(object, &request.profile)];
    };
    let written = as_admitted(object, schema);
    let at = |path: &FieldPath, part| {
        if part == Part::Key {
            object.key_place(path)
        } else {
            object.place(path)
        }
    };
    let found: Vec<Diagnostic> = document::check_at(&written, schema, &WORDING, &at)
        .into_findings()
        .into_iter()
        .map(|finding| with_new_form(object, finding))
        .collect();
    if found.is_empty() {
        let broken = broken_rules(object, &written, schema, request);
        return match broken.iter().any(|finding| finding.rule == &RULE_BROKEN) {
            true => broken,
            false => broken
                .into_iter()
                .chain(rejected_by_webhook(object, &written, request))
                .collect(),
        };
    }
    let undefaulted = core::undefaulted(&written).into_iter();
    let undefaulted =
        undefaulted.flat_map(|rejection| rejected(object, &Conversion::default(), &rejection));
    let found = found.into_iter().chain(undefaulted);
    let (missing, others): (Vec<_>, Vec<_>) = found.partition(lacks_a_part);
    match is_partial(&missing) {
        true => others
            .into_iter()
            .chain([partial(object, &missing)])
            .collect(),
        false => others.into_iter().chain(missing).collect(),
    }
}

/// Whether a finding is that of a part which is not there, and none of a reference that lacks
/// something.
fn lacks_a_part(finding: &Diagnostic) -> bool {
    let of_reference = |segment: &Segment| matches!(segment, Segment::Field(name) if ["apiGroup", "kind", "name"].contains(&name.as_str()));
    finding.rule == &FIELD_MISSING
        && !finding
            .place
            .path
            .segments()
            .last()
            .is_some_and(of_reference)
}

/// Whether an object is a patch, for kustomize or for others: it lacks its spec, or several parts.
fn is_partial(missing: &[Diagnostic]) -> bool {
    missing.len() > 1
        || missing
            .iter()
            .any(|finding| finding.place.path.segments().len() == 1)
}

fn partial(object: &Object, missing: &[Diagnostic]) -> Diagnostic {
    let message = format!(
        "{} lacks required fields, as a patch does: it is not checked for them",
        object.title()
    );
    let finding = Diagnostic::of(&OBJECT_PARTIAL, message).at(object.place(&FieldPath::root()));
    let finding = finding.help("add them, unless the object is a patch");
    missing
        .iter()
        .fold(finding, |finding, lack| finding.note(lack.message.clone()))
}

/// The object as the schema sees it: without what is null, and with what the defaulting webhook
/// fills in.
fn as_admitted(object: &Object, schema: &Schema) -> Value {
    let mut written = object.clone();
    written.drop_nulls();
    match object.version() {
        "v1beta1" if is_written_anew(written.value(), schema) => core::required(written.value()),
        "v1beta1" => written.value().clone(),
        _ => core::defaulted(written.value()),
    }
}

/// Whether the defaulting webhook changes an object of v1beta1, so that the API server converts it
/// back.
fn is_written_anew(object: &Value, schema: &Schema) -> bool {
    let mut completed = object.clone();
    schema.apply_defaults(&mut completed);
    // Conversion here completes the type of a strategy, as the webhook does there.
    let strategy = completed.pointer("/spec/strategy/type");
    let lacks_type = completed["kind"] == "MachineDeployment"
        && strategy.and_then(Value::as_str).unwrap_or_default() == "";
    lacks_type
        || to_v1beta2(&completed)
            .is_none_or(|stored| !stored.faults.is_empty() || core::is_defaulted(&stored.value))
}

fn to_v1beta2(object: &Value) -> Option<Conversion> {
    let context = ConversionContext {
        version_of: &|_, _| None,
        keeps_incomplete: true,
    };
    convert_object(object, Version::V1Beta2, &context)
}

/// What the webhooks reject; they work on v1beta2.
fn rejected_by_webhook(object: &Object, written: &Value, request: &Request) -> Vec<Diagnostic> {
    let conversion = to_v1beta2(written).unwrap_or_default();
    let not_convertible = not_convertible(object, &conversion);
    if !not_convertible.is_empty() {
        return not_convertible;
    }
    let release = request
        .profile
        .admission(request.feature_gates.machine_taints);
    let Some(rejection) = core::rejection(&conversion.value, &release, &request.budget) else {
        return Vec::new();
    };
    let found = rejected(object, &conversion, &rejection);
    let (lacking, mut found): (Vec<_>, Vec<_>) = found.into_iter().partition(lacks_all_references);
    if !lacking.is_empty() {
        found.push(partial(object, &lacking));
    }
    found
}

/// Whether a Cluster refers to nothing, as one that kustomize patches into another.
fn lacks_all_references(finding: &Diagnostic) -> bool {
    finding.place.path == FieldPath::of_fields("spec")
}

/// Values of v1beta1 that Cluster API cannot convert to the version that it stores.
fn not_convertible(object: &Object, conversion: &Conversion) -> Vec<Diagnostic> {
    let finding = |fault: &windlass_capi::conversion::core::Fault| {
        let message = format!("{}: {}", fault.place, Quoted(&fault.message));
        Diagnostic::of(&VALUE_REJECTED, message)
            .at(object.place(&fault.place))
            .help(fault.help.clone())
    };
    conversion.faults.iter().map(finding).collect()
}

fn rejected(object: &Object, conversion: &Conversion, rejection: &Rejection) -> Vec<Diagnostic> {
    // What `metadata` reports at each key.
    let is_metadata = |path: &FieldPath| {
        let metadata = FieldPath::of_fields("spec.template.metadata");
        path.segments().starts_with(metadata.segments())
    };
    let finding = |violation: &Violation| {
        let path = conversion.origins.of(&violation.path);
        let message = format!("{path}: {}", Quoted(&violation.fault));
        let help = match path.to_string().ends_with(".version") {
            true => "write the whole version, such as `version: v1.34.1`",
            false => "change the fields so that the rule holds",
        };
        Diagnostic::of(&ADMISSION_REJECTED, message)
            .at(object.place(&path))
            .upstream(rejection.message.clone())
            .help(help)
    };
    let is_reported = |violation: &&Violation| {
        is_metadata(&violation.path)
            && !violation
                .fault
                .to_string()
                .starts_with("must match spec.selector")
    };
    let violations = rejection.violations.iter();
    violations
        .filter(|violation| !is_reported(violation))
        .map(finding)
        .collect()
}

fn is_served(version: &str, profile: &Profile) -> bool {
    version == "v1beta1" || !profile.is_legacy()
}

fn version_unknown(object: &Object, profile: &Profile) -> Diagnostic {
    let said = object.text(&["apiVersion"]);
    let message = format!(
        "CAPI {1} does not serve apiVersion {said} of {0}",
        object.title(),
        profile.version()
    );
    let finding = Diagnostic::of(&VERSION_UNKNOWN, message)
        .at(object.place(&FieldPath::root().field("apiVersion")));
    finding.help(format!(
        "write `{CORE_GROUP}/{}`, and the fields of that version",
        profile.storage
    ))
}

/// The CEL rules of the schema.
fn broken_rules(
    object: &Object,
    written: &Value,
    schema: &Schema,
    request: &Request,
) -> Vec<Diagnostic> {
    let verdict = schema.evaluate_rules(written, None, &request.budget);
    let broken = verdict.violations.iter().map(|violation| {
        let message = format!("{}: {}", violation.path, violation.fault);
        Diagnostic::of(&RULE_BROKEN, message)
            .at(object.place(&violation.path))
            .help("change the fields so that the rule holds")
    });
    let not_judged = verdict.not_evaluable.iter().map(|rule| {
        let message = format!(
            "{} has a rule that cannot be checked here: {}",
            rule.path, rule.reason
        );
        Diagnostic::of(&RULE_NOT_JUDGED, message)
            .at(object.place(&rule.path))
            .help(format!("check by hand: {}", rule.rule))
    });
    broken.chain(not_judged).collect()
}
