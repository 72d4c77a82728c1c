//! Numbers and percentages: `GetScaledValueFromIntOrPercent` of
//! `k8s.io/apimachinery/pkg/util/intstr`.

use serde_json::Value;

use windlass_go_text::number::atoi;
use windlass_go_text::quote;
use windlass_schema::Violation;
use windlass_source::diag::FieldPath;

/// Why a string is not a percentage, as the webhooks report it; numbers are accepted.
pub fn share_fault(value: &Value) -> Option<String> {
    let text = value.as_str()?;
    let reason = match text.strip_suffix('%') {
        None => "invalid type: string is not a percentage".to_owned(),
        Some(number) => {
            let fault = atoi(number).err()?;
            format!(
                "invalid value {}: strconv.Atoi: parsing {}: {fault}",
                quote(text),
                quote(number)
            )
        }
    };
    Some(format!(
        "must be either an int or a percentage: invalid value for IntOrString: {reason}"
    ))
}

pub(super) fn not_a_share(value: &Value, field: &str) -> Option<Violation> {
    let fault = share_fault(value)?;
    Some(Violation::invalid(
        FieldPath::of_fields(field),
        value,
        &fault,
    ))
}
