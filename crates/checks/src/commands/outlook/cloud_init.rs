//! What newer versions of cloud-init do otherwise: names of units, and what its templates may use.
//! The version is that of the machine's image.

use super::documents::Document;
use super::prediction::{Ends, Prediction};
use super::specs;
use super::strings;
use windlass_capi::contract::endings::{self, Subject};
use windlass_source::diag::rules;

rules! {
    /// a version of cloud-init renames or rejects something that the config uses
    CLOUD_INIT = warning("outlook-cloud-init");
}

/// The new name of the unit.
const RENAMED: &str = "cloud-init-network.service";

pub(super) fn predict(document: &Document) -> Vec<Prediction> {
    if specs::of(document).is_empty() {
        return Vec::new();
    }
    let mut found = units(document);
    found.extend(templates(document));
    found
}

fn units(document: &Document) -> Vec<Prediction> {
    let facts = endings::endings(Subject::Unit);
    strings::find(document, |line| {
        let is_inner = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
        let ending = facts
            .iter()
            .find(|ending| strings::has_word(line.text, ending.what[0], is_inner))?;
        let message = format!(
            "{} names {}, which {} calls {RENAMED}",
            line.path,
            ending.what[0],
            Ends::of(ending)
        );
        let help = format!(
            "write `{}`, which is reached at the same point of the boot with both",
            ending.instead.unwrap_or_default()
        );
        let mut prediction =
            Ends::of(ending).predict(&CLOUD_INIT, message, line.place(document), help);
        prediction.finding = prediction
            .finding
            .note("a distribution may keep the old name");
        Some(prediction)
    })
}

/// Expressions of jinja that reach into Python's objects.
fn templates(document: &Document) -> Vec<Prediction> {
    let Some(ending) = endings::endings(Subject::Jinja).first() else {
        return Vec::new();
    };
    strings::find(document, |line| {
        if !expressions(line.text).any(is_unsafe) {
            return None;
        }
        let message = format!(
            "{} uses an attribute that begins with `{}`, which the sandbox of {} rejects: the data is not used",
            line.path,
            ending.what[0],
            Ends::of(ending)
        );
        let help = "use variables of cloud-init and filters of jinja only";
        Some(Ends::of(ending).predict(&CLOUD_INIT, message, line.place(document), help))
    })
}

/// The insides of `{{ … }}` and `{% … %}`.
fn expressions(text: &str) -> impl Iterator<Item = &str> {
    ["{{", "{%"].into_iter().flat_map(move |open| {
        let parts = text.split(open).skip(1);
        parts.map(|part| part.split(['}', '%']).next().unwrap_or(part))
    })
}

fn is_unsafe(expression: &str) -> bool {
    let compact: String = expression.chars().filter(|c| !c.is_whitespace()).collect();
    compact.contains(".__") || compact.contains("attr('__") || compact.contains("attr(\"__")
}
