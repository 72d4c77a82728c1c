//! What a conversion cannot express: the difference between an object and what comes back of it.

use serde_json::Value;

use super::super::places::V1BETA1_ONLY;
use crate::api::names::Version;
use crate::api::time::{GoDuration, Timestamp};
use windlass_source::diag::{FieldPath, Segment};

/// Something that the other version does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Its place in the old object.
    pub(crate) place: FieldPath,
    pub(crate) loss: Loss,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Loss {
    /// Nothing: it is empty or `false`, which absence means too.
    Empty,
    /// The status, which controllers write.
    Status,
    /// The order of arguments, or all but the last of those with one name.
    Order,
    /// Of two arguments with one name, which is meant: that the object to which one is added has it
    /// is not known.
    Repeated,
    /// Nothing, but the other version wants this too, which says nothing.
    Wanted,
    /// Nothing, but the other version requires this field, which has this value by default.
    Default,
    /// Nothing, but the other version says this too.
    Added,
    /// A field that Cluster API does not use, or takes from elsewhere since v1.11.
    Unused,
    /// A field that means something.
    Field,
}

impl Loss {
    /// That of a field that the table says is in the other version only.
    pub(super) fn of_field(to: Version) -> Self {
        if to == Version::V1Beta2 {
            Loss::Unused
        } else {
            Loss::Field
        }
    }
}

/// Whether a value says what its absence says.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => Timestamp::parse(text).is_some_and(Timestamp::is_zero),
        _ => false,
    }
}

/// What of the spec of a config is not in the one that came back. The depth is that of the
/// document.
pub(super) fn of_config(original: &Value, returned: &Value) -> Vec<Lost> {
    let mut lost = Vec::new();
    compare(original, Some(returned), &mut FieldPath::root(), &mut lost);
    lost
}

fn compare(original: &Value, returned: Option<&Value>, path: &mut FieldPath, lost: &mut Vec<Lost>) {
    let mut lose = |loss| {
        lost.push(Lost {
            place: path.clone(),
            loss,
        })
    };
    match (original, returned) {
        (Value::Object(before), Some(Value::Object(after))) => {
            for (name, value) in before {
                path.push(Segment::Field(name.clone()));
                compare(value, after.get(name), path, lost);
                path.pop();
            }
        }
        (Value::Array(before), Some(Value::Array(after)))
            if is_arguments(before) && before != after =>
        {
            lose(Loss::Order);
        }
        (Value::Array(before), Some(Value::Array(after))) if before.len() == after.len() => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                path.push(Segment::Index(index));
                compare(before, Some(after), path, lost);
                path.pop();
            }
        }
        (before, Some(after)) if before == after || is_same_duration(before, after) => {}
        (before, None) if is_empty(before) => lose(Loss::Empty),
        _ if V1BETA1_ONLY.contains(&path.to_string().as_str()) => lose(Loss::Unused),
        (Value::Object(fields), None) => {
            for (name, value) in fields {
                path.push(Segment::Field(name.clone()));
                compare(value, None, path, lost);
                path.pop();
            }
        }
        _ => lose(Loss::Field),
    }
}

/// Whether a list is one of arguments, each with its name and value.
fn is_arguments(items: &[Value]) -> bool {
    !items.is_empty()
        && items.iter().all(|item| {
            item.get("name").is_some() && item.as_object().is_some_and(|fields| fields.len() <= 2)
        })
}

fn is_same_duration(before: &Value, after: &Value) -> bool {
    let nanoseconds = |value: &Value| {
        value
            .as_str()
            .and_then(|text| GoDuration::parse(text).ok())
            .map(GoDuration::as_nanoseconds)
    };
    nanoseconds(before).is_some_and(|before| nanoseconds(after) == Some(before))
}
