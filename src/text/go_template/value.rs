//! Values of a template.

use std::collections::BTreeMap;

use crate::text::go_value;

/// A value as Go's templates know it.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `nil`.
    Nil,
    /// A field that is not there.
    Missing,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(String),
    /// A map with text keys.
    Map(BTreeMap<String, Value>),
}

impl Value {
    /// Whether `if` takes it for true.
    pub(super) fn truth(&self) -> bool {
        match self {
            Value::Nil | Value::Missing => false,
            Value::Bool(bool) => *bool,
            Value::Int(int) => *int != 0,
            Value::Float(float) => *float != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Map(map) => !map.is_empty(),
        }
    }

    /// As `%v` prints it.
    pub(super) fn shown(&self) -> String {
        match self {
            Value::Nil => "<nil>".to_owned(),
            Value::Missing => "<no value>".to_owned(),
            Value::Bool(bool) => bool.to_string(),
            Value::Int(int) => int.to_string(),
            Value::Float(float) => go_value::float(*float),
            Value::Text(text) => text.clone(),
            Value::Map(map) => {
                let entries: Vec<_> = map.iter().map(|(key, value)| format!("{key}:{}", value.shown())).collect();
                format!("map[{}]", entries.join(" "))
            }
        }
    }

    /// The name of its type in Go.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Nil | Value::Missing => "<nil>",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Float(_) => "float64",
            Value::Text(_) => "string",
            Value::Map(_) => "map[string]interface {}",
        }
    }
}
