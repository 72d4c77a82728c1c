//! What clusterctl rejects, and what of components comes out of it other than it went in.

use windlass_capi::contract::book;
use windlass_clusterctl::{
    Config, Provider, ReadBefore, Rejection, components_rejection, dropped_fields,
    raw_components_rejection, version_rejection,
};
use windlass_objects::Object;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Report, rules};
use windlass_source::edit::Edits;

rules! {
    /// clusterctl rejects the components
    REJECTED = error("components-rejected"), url(book::COMPONENTS_YAML);
    /// `clusterctl generate provider --raw` and `--describe` reject the components
    RAW_REJECTED = warning("components-raw-rejected"), url(book::COMPONENTS_YAML);
    /// an object has an API version that clusterctl cannot convert
    VERSION_UNKNOWN = error("components-object-version-unknown");
    /// clusterctl drops a field that the type of the object does not have
    FIELD_DROPPED = warning("components-field-dropped");
    /// a webhook lacks a required field, so clusterctl writes null
    WEBHOOK_INCOMPLETE = error("components-webhook-incomplete"), catalogue("C15");
}

/// Checks what clusterctl makes of the objects.
pub(super) fn check(objects: &[Object]) -> Report {
    let judge = |object| {
        unknown_version(object)
            .into_iter()
            .chain(dropped(object))
            .chain(incomplete_webhooks(object))
    };
    objects.iter().flat_map(judge).collect()
}

/// What clusterctl itself says of a whole file.
pub(super) struct Rejections {
    pub(super) rejected: Option<Diagnostic>,
    /// That it rejects the file where it replaces no variables, and only there.
    pub(super) raw: Option<Diagnostic>,
}

/// clusterctl itself over the whole file, of which what we read `before` may be what it reads.
pub(super) fn rejections(
    config: &Config<'_>,
    provider: &Provider,
    version: &str,
    source: &Source,
    before: Option<ReadBefore<'_>>,
    has_variables: bool,
) -> Rejections {
    let text = source.text().as_bytes();
    let finding = |rule, message: &str, rejection: &Rejection| {
        Diagnostic::of(rule, message)
            .at(source.place())
            .note(format!(
                "clusterctl says: {rejection}",
                rejection = Quoted(&rejection)
            ))
            .upstream(rejection.message())
    };
    if let Some(rejected) = components_rejection(config, provider, version, text, before.clone()) {
        let rejected = finding(&REJECTED, "clusterctl rejects the components", &rejected)
            .help("correct the object that the note names");
        return Rejections {
            rejected: Some(rejected),
            raw: None,
        };
    }
    // Without variables both are the same.
    let raw = if has_variables {
        raw_components_rejection(config, provider, version, text, before)
    } else {
        None
    };
    let message = "`clusterctl generate provider --raw` and `--describe` reject the components";
    let help = "use variables only inside of strings, and not in images";
    Rejections {
        rejected: None,
        raw: raw.map(|rejected| finding(&RAW_REJECTED, message, &rejected).help(help)),
    }
}

fn unknown_version(object: &Object) -> Option<Diagnostic> {
    let rejection = version_rejection(object.value())?;
    let message = format!(
        "{} is of version {}, which clusterctl does not convert",
        object.title(),
        object.api_version()
    );
    let finding = Diagnostic::of(&VERSION_UNKNOWN, message)
        .at(object.place(&FieldPath::root().field("apiVersion")));
    Some(
        finding
            .help("write the object in the current version of its API")
            .note(format!(
                "clusterctl says: {rejection}",
                rejection = Quoted(&rejection)
            ))
            .upstream(rejection.message()),
    )
}

fn dropped(object: &Object) -> Vec<Diagnostic> {
    let finding = |path: FieldPath| {
        Diagnostic::of(
            &FIELD_DROPPED,
            format!(
                "{path} of {} vanishes: {} has no such field",
                object.title(),
                object.kind()
            ),
        )
        .at(object.key_place(&path))
        .help("correct the name of the field, or remove it")
        .note("clusterctl converts these objects into Go's types and back")
    };
    dropped_fields(object.value())
        .into_iter()
        .map(finding)
        .collect()
}

fn incomplete_webhooks(object: &Object) -> Vec<Diagnostic> {
    if !matches!(
        object.kind(),
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration"
    ) {
        return Vec::new();
    }
    let webhooks = object.items(&["webhooks"]).iter().enumerate();
    let missing = webhooks.flat_map(|(at, webhook)| {
        let fields = ["sideEffects", "admissionReviewVersions"]
            .into_iter()
            .filter(|field| webhook[*field].is_null());
        fields.map(move |field| (at, field))
    });
    let finding = |(at, field): (usize, &str)| {
        let path = FieldPath::root().field("webhooks").index(at);
        let entry = if field == "sideEffects" {
            "sideEffects: None"
        } else {
            "admissionReviewVersions: [v1]"
        };
        let place = object.place(&path);
        let fix = object.source().zip(place.span).map(|(source, span)| {
            let mut edits = Edits::of(source.text());
            edits.first_entry(span.start.offset..span.end.offset, entry);
            edits.into()
        });
        let finding = Diagnostic::of(
            &WEBHOOK_INCOMPLETE,
            format!("{path} of {} has no {field}", object.title()),
        )
        .at(place)
        .help(format!("add `{entry}`"))
        .note("clusterctl writes null in its place, and the API server rejects that");
        Diagnostic { fix, ..finding }
    };
    missing.map(finding).collect()
}
