//! One thing that a webhook refuses.

use super::part::Part;
use crate::diag::Rule;

/// One thing that is refused: where, and in which words.
#[derive(Debug)]
pub(super) struct Refused<'o> {
    pub(super) part: Part<'o>,
    pub(super) text: String,
    /// The rule, where it is not that of all that is refused of the object.
    pub(super) rule: Option<&'static Rule>,
}

impl<'o> Refused<'o> {
    pub(super) fn new(part: Part<'o>, text: String) -> Self {
        Refused { part, text, rule: None }
    }
}

/// `field: Invalid value: shown: detail`
pub(super) fn invalid<'o>(part: &Part<'o>, field: &str, shown: &str, detail: &str) -> Refused<'o> {
    Refused::new(part.clone(), format!("{field}: Invalid value: {shown}: {detail}"))
}
