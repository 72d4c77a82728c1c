//! Values of a program in Go, as far as documents can hold them: what templates compute with and
//! `fmt` prints.

use std::collections::BTreeMap;
use std::ops::Deref;
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
    List(Arc<Nested<Box<[Value]>>>),
    /// `map[string]interface {}`
    Map(Arc<Nested<BTreeMap<String, Value>>>),
    /// A pointer to a struct that prints as a text.
    Struct(Arc<Struct>),
}

/// Items or entries with their depth, so that a value's depth is known without a walk.
#[derive(Debug, Default)]
pub struct Nested<T> {
    values: T,
    /// The levels of lists and maps, with this one.
    depth: usize,
}

impl<T: PartialEq> PartialEq for Nested<T> {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl<T> Deref for Nested<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.values
    }
}

fn deepest<'v>(values: impl IntoIterator<Item = &'v Value>) -> usize {
    1 + values
        .into_iter()
        .map(Value::depth)
        .max()
        .unwrap_or_default()
}

/// A struct of a library that templates see.
#[derive(Debug, PartialEq)]
pub struct Struct {
    /// The name of the pointer type, as `%T` prints it.
    pub type_name: &'static str,
    /// What its method `String` gives.
    pub text: String,
    /// What is got of it by name: fields, and methods without arguments.
    pub fields: BTreeMap<&'static str, Value>,
    /// Methods that are not computed.
    pub methods: &'static [&'static str],
}

impl Value {
    /// A `string` of these bytes, which need not be UTF-8.
    pub fn text(text: impl AsRef<[u8]>) -> Self {
        Value::Text(text.as_ref().into())
    }

    /// A `map[string]interface {}` of these entries; of equal keys the last one wins.
    pub fn map(entries: impl IntoIterator<Item = (String, Value)>) -> Self {
        let values: BTreeMap<_, _> = entries.into_iter().collect();
        let depth = deepest(values.values());
        Value::Map(Arc::new(Nested { values, depth }))
    }

    /// A `[]interface {}` of these items, in their order.
    pub fn list(items: impl IntoIterator<Item = Value>) -> Self {
        let values: Box<[Value]> = items.into_iter().collect();
        let depth = deepest(&values);
        Value::List(Arc::new(Nested { values, depth }))
    }

    /// The levels of lists and maps in the value: 0 for a scalar.
    pub fn depth(&self) -> usize {
        match self {
            Value::List(items) => items.depth,
            Value::Map(entries) => entries.depth,
            _ => 0,
        }
    }

    /// What `encoding/json` makes of a document: numbers are doubles.
    pub fn of_json(value: &serde_json::Value) -> Self {
        match value {
            serde_json::Value::Null => Value::Nil,
            serde_json::Value::Bool(bool) => Value::Bool(*bool),
            serde_json::Value::Number(number) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            serde_json::Value::String(text) => Value::text(text),
            serde_json::Value::Array(items) => Value::list(items.iter().map(Value::of_json)),
            serde_json::Value::Object(entries) => Value::map(
                entries
                    .iter()
                    .map(|(key, value)| (key.clone(), Value::of_json(value))),
            ),
        }
    }

    /// Whether a template's `if` takes it for true.
    pub fn truth(&self) -> bool {
        match self {
            Value::Nil => false,
            Value::Bool(bool) => *bool,
            Value::Int(int) => *int != 0,
            Value::Byte(byte) => *byte != 0,
            Value::Float(float) => *float != 0.0,
            Value::Complex(real, imaginary) => *real != 0.0 || *imaginary != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::List(items) => !items.is_empty(),
            Value::Map(entries) => !entries.is_empty(),
            Value::Struct(_) => true,
        }
    }

    /// The name of the value's type in Go, as `%T` prints it.
    pub fn type_name(&self) -> &'static str {
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
