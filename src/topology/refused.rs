//! One thing that a webhook refuses.

use super::part::Part;

/// One thing that is refused: where, and in which words.
#[derive(Debug)]
pub(super) struct Refused<'o> {
    pub(super) part: Part<'o>,
    pub(super) text: String,
}

/// `field: Invalid value: shown: detail`
pub(super) fn invalid<'o>(part: &Part<'o>, field: &str, shown: &str, detail: &str) -> Refused<'o> {
    Refused { part: part.clone(), text: format!("{field}: Invalid value: {shown}: {detail}") }
}
