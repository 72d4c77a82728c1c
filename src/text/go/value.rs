//! Values of a program in Go, as far as documents can hold them: what templates compute with and
//! `fmt` prints.

use std::collections::BTreeMap;
use std::sync::Arc;

/// A value. Cheap to clone.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `nil`.
    Nil,
    /// `bool`
    Bool(bool),
    /// `int`, of 64 bits.
    Int(i64),
    /// `uint8`: a byte of a string.
    Byte(u8),
    /// `float64`
    Float(f64),
    /// `complex128`: its real and its imaginary part.
    Complex(f64, f64),
    /// `string`: bytes that need not be UTF-8.
    Text(Arc<[u8]>),
    /// `[]interface {}`
    List(Arc<[Value]>),
    /// `map[string]interface {}`
    Map(Arc<BTreeMap<String, Value>>),
    /// A pointer to a struct that prints as a text.
    Struct(Arc<Struct>),
}

/// A struct of a library that templates see.
#[derive(Debug, PartialEq)]
pub struct Struct {
    pub(crate) type_name: &'static str,
    /// What its method `String` gives.
    pub(crate) text: String,
    /// What is got of it by name: fields, and methods without arguments.
    pub(crate) fields: BTreeMap<&'static str, Value>,
    /// Methods that are not computed.
    pub(crate) methods: &'static [&'static str],
}

impl Value {
    pub(crate) fn text(text: impl AsRef<[u8]>) -> Self {
        Value::Text(text.as_ref().into())
    }

    pub(crate) fn map(entries: impl IntoIterator<Item = (String, Value)>) -> Self {
        Value::Map(Arc::new(entries.into_iter().collect()))
    }

    /// What `encoding/json` makes of a document: numbers are doubles.
    pub fn of_json(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Value::Nil,
            serde_json::Value::Bool(bool) => Value::Bool(*bool),
            serde_json::Value::Number(number) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            serde_json::Value::String(text) => Value::text(text),
            serde_json::Value::Array(items) => {
                Value::List(items.iter().map(Value::of_json).collect())
            }
            serde_json::Value::Object(entries) => Value::map(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), Value::of_json(value))),
            ),
        }
    }

    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::Nil => "<nil>",
            Value::Bool(_) => "bool",
            Value::Int(_) => "int",
            Value::Byte(_) => "uint8",
            Value::Float(_) => "float64",
            Value::Complex(..) => "complex128",
            Value::Text(_) => "string",
            Value::List(_) => "[]interface {}",
            Value::Map(_) => "map[string]interface {}",
            Value::Struct(object) => object.type_name,
        }
    }
}
