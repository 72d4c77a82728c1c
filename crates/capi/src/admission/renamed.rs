//! The help for a field of v1beta1 in an object of v1beta2: the line to write instead.

use serde_json::{Map, Value};

use crate::conversion::core::{NewForm, new_form};
use windlass_objects::Object;
use windlass_source::diag::{FieldPath, Quoted, Segment};

/// The maximum number of bytes of fields that are shown.
const SHOWN: usize = 300;

/// The line to write for an unknown field; `None` if v1beta1 does not have it either.
pub fn in_v1beta2(object: &Object, path: &FieldPath) -> Option<String> {
    if object.version() != "v1beta2" {
        return None;
    }
    match new_form(object.value(), path)? {
        NewForm::Absent => Some("remove it: v1beta2 does not have it".to_owned()),
        NewForm::Implied => Some("remove it: a reference of v1beta2 does not have it".to_owned()),
        NewForm::Written { above, fields } => {
            let place = place(&above, path, &fields);
            let text = flow(&fields);
            Some(if text.len() <= SHOWN {
                format!("write `{text}`{place}")
            } else {
                format!("write `{}`{place}, with the same content", outline(&fields))
            })
        }
    }
}

/// The object to write below, if it is not the one that has the old field, or could be mistaken.
fn place(above: &FieldPath, path: &FieldPath, fields: &Map<String, Value>) -> String {
    if path.parent().as_ref() == Some(above) && !fields.contains_key("spec") {
        return String::new();
    }
    format!(" below `{}`", last_name(above))
}

fn last_name(path: &FieldPath) -> String {
    match path.segments().last() {
        Some(Segment::Field(name) | Segment::Key(name)) => name.clone(),
        _ => path.to_string(),
    }
}

/// Fields in YAML's flow style.
fn flow(fields: &Map<String, Value>) -> String {
    let entries: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{name}: {}", flow_value(value)))
        .collect();
    entries.join(", ")
}

fn flow_value(value: &Value) -> String {
    match value {
        Value::Object(fields) => format!("{{{}}}", flow(fields)),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow_value).collect();
            format!("[{}]", items.join(", "))
        }
        scalar => Quoted(scalar).to_string(),
    }
}

/// The names of nested fields, without their content.
fn outline(fields: &Map<String, Value>) -> String {
    let entries: Vec<String> = fields
        .iter()
        .map(|(name, value)| match value {
            Value::Object(inner) if inner.len() == 1 => format!("{name}: {{{}}}", outline(inner)),
            _ => format!("{name}: …"),
        })
        .collect();
    entries.join(", ")
}
