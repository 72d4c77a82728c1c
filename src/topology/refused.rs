//! One thing that a webhook refuses.

use serde_json::Value;

use super::part::Part;
use crate::diag::{FieldPath, Place, Rule};
use crate::text::go::number::atoi;
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
    let Value::String(text) = part.value else {
        return;
    };
    let reason = match text.strip_suffix('%') {
        None => "invalid type: string is not a percentage".to_owned(),
        Some(number) => match atoi(number) {
            Ok(_) => return,
            Err(fault) => format!(
                "invalid value {}: strconv.Atoi: parsing {}: {fault}",
                quote(text),
                quote(number)
            ),
        },
    };
    let detail =
        format!("must be either an int or a percentage: invalid value for IntOrString: {reason}");
    refused.push(invalid(part, field, &quote(text), &detail));
}
