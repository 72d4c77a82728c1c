//! One thing that a webhook refuses.

use super::part::Part;
use crate::admission::core::share::share_fault;
use crate::diag::{FieldPath, Place, Rule};
use crate::text::go::quote;

/// One thing that is refused: where, and in which words.
#[derive(Debug)]
pub(super) struct Refused<'o> {
    pub(super) part: Part<'o>,
    pub(super) below: FieldPath,
    pub(super) text: String,
    /// The rule, where it is not that of all that is refused of the object.
    pub(super) rule: Option<&'static Rule>,
}

impl<'o> Refused<'o> {
    pub(super) fn new(part: Part<'o>, text: String) -> Self {
        Refused {
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
pub(super) fn invalid<'o>(part: &Part<'o>, field: &str, shown: &str, detail: &str) -> Refused<'o> {
    Refused::new(
        part.clone(),
        format!("{field}: Invalid value: {shown}: {detail}"),
    )
}

/// What is refused of a number or a percentage.
pub(super) fn share<'o>(part: &Part<'o>, field: &str, refused: &mut Vec<Refused<'o>>) {
    if let Some(detail) = share_fault(part.value) {
        refused.push(invalid(part, field, &quote(part.text()), &detail));
    }
}

/// The most texts of one refusal that each of its findings repeats.
const MOST_TEXTS: usize = 20;

/// The texts of a refusal, as upstream joins them; of many, the first.
pub(super) fn joined(texts: &[&str], between: &str) -> String {
    match texts.len().checked_sub(MOST_TEXTS) {
        None | Some(0) => texts.join(between),
        Some(more) => format!(
            "{}{between}… and {more} more",
            texts[..MOST_TEXTS].join(between)
        ),
    }
}
