//! One thing that a webhook rejects.

use super::part::Part;
use windlass_capi::admission::core::share::share_fault;
use windlass_go_text::quote;
use windlass_source::diag::{FieldPath, Place, Rule};

/// One thing that is rejected: where, and in which words.
#[derive(Debug)]
pub(super) struct Rejected<'o> {
    pub(super) part: Part<'o>,
    pub(super) below: FieldPath,
    pub(super) text: String,
    /// The rule, where it is not that of all that is rejected of the object.
    pub(super) rule: Option<&'static Rule>,
}

impl<'o> Rejected<'o> {
    pub(super) fn new(part: Part<'o>, text: String) -> Self {
        Rejected {
            part,
            below: FieldPath::root(),
            text,
            rule: None,
        }
    }

    pub(super) fn place(&self) -> Place {
        self.part.object.place(&self.part.path().join(&self.below))
    }
}

/// `field: Invalid value: shown: detail`
pub(super) fn invalid<'o>(part: &Part<'o>, field: &str, shown: &str, detail: &str) -> Rejected<'o> {
    Rejected::new(
        part.clone(),
        format!("{field}: Invalid value: {shown}: {detail}"),
    )
}

/// What is rejected of a number or a percentage.
pub(super) fn share<'o>(part: &Part<'o>, field: &str, rejected: &mut Vec<Rejected<'o>>) {
    if let Some(detail) = share_fault(part.value) {
        rejected.push(invalid(part, field, &quote(part.text()), &detail));
    }
}

/// The maximum number of texts of one rejection that each of its findings repeats.
const MOST_TEXTS: usize = 20;

/// The texts of a rejection, as upstream joins them; of many, the first.
pub(super) fn joined(texts: &[&str], between: &str) -> String {
    match texts.len().checked_sub(MOST_TEXTS) {
        None | Some(0) => texts.join(between),
        Some(more) => format!(
            "{}{between}… and {more} more",
            texts[..MOST_TEXTS].join(between)
        ),
    }
}
