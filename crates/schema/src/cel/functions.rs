//! The functions that rules may call: our library's, and our own where it differs from the API
//! server's.

use std::sync::Arc;

use chrono::SecondsFormat;
use kube_cel::KubeCelExt;
use kube_cel::cel::extractors::{Arguments, This};
use kube_cel::cel::objects::ValueType;
use kube_cel::cel::{Context, ExecutionError, ResolveResult, Value};

use super::meter::{self, Meter};
use windlass_go_text as go;

/// Marks errors that are in Go's words already.
pub(super) const GO_WORDS: &str = "go";

/// The names of types, which `type(x)` is compared with.
const TYPES: [&str; 9] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "uint",
];

/// All functions of the standard library and of Kubernetes' that our library has.
pub(super) fn context(meter: &Arc<Meter>) -> Context<'static> {
    let mut context = Context::default().with_all();
    context.add_function("size", size);
    context.add_function("string", string);
    context.add_function("int", int);
    context.add_function("bool", boolean);
    context.add_function("dyn", |value: Value| -> ResolveResult { Ok(value) });
    context.add_function("type", |value: Value| -> ResolveResult {
        Ok(type_of(type_name(&value)))
    });
    for name in TYPES {
        context.add_variable_from_value(name, type_of(name));
    }
    // Ours reads Go's syntax of regular expressions.
    let patterns = meter.patterns().clone();
    context.add_function(
        "matches",
        move |This(text): This<Arc<String>>, pattern: Arc<String>| -> ResolveResult {
            let pattern = patterns
                .get(&pattern)
                .map_err(|error| ExecutionError::function_error("matches", error))?;
            // The meter was charged for the length of both.
            Ok(Value::Bool(pattern.is_match(&text)))
        },
    );
    meter::register(&mut context, meter);
    context
}

/// A type as a value. No string of a user can be equal to it, for it is a list.
fn type_of(name: &str) -> Value {
    Value::List(Arc::new(vec![Value::Null, name.into()]))
}

fn type_name(value: &Value) -> &'static str {
    match value.type_of() {
        ValueType::Bool => "bool",
        ValueType::Bytes => "bytes",
        ValueType::Float => "double",
        ValueType::Int => "int",
        ValueType::List => "list",
        ValueType::Map => "map",
        ValueType::Null => "null_type",
        ValueType::String => "string",
        ValueType::UInt => "uint",
        ValueType::Duration => "google.protobuf.Duration",
        ValueType::Timestamp => "google.protobuf.Timestamp",
        ValueType::Function | ValueType::Opaque => "",
    }
}

fn no_overload() -> ExecutionError {
    ExecutionError::NoSuchOverload
}

/// Strings are counted in characters.
fn size(This(value): This<Value>) -> ResolveResult {
    let count = match &value {
        Value::String(text) => text.chars().count(),
        Value::List(items) => items.len(),
        Value::Map(entries) => entries.map.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => return Err(no_overload()),
    };
    Ok(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))
}

fn string(value: Value) -> ResolveResult {
    let text = match &value {
        Value::String(text) => return Ok(Value::String(text.clone())),
        Value::Bool(flag) => flag.to_string(),
        Value::Int(int) => int.to_string(),
        Value::UInt(int) => int.to_string(),
        Value::Float(float) => go::float(*float),
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec())
            .map_err(|_| in_go_words("invalid UTF-8 in bytes, cannot convert to string"))?,
        Value::Timestamp(time) => time.to_rfc3339_opts(SecondsFormat::AutoSi, true),
        Value::Duration(duration) => {
            let seconds = duration.num_microseconds().ok_or_else(no_overload)?;
            #[expect(
                clippy::cast_precision_loss,
                reason = "Go prints seconds as a float too"
            )]
            let seconds = seconds as f64 / 1e6;
            format!("{seconds}s")
        }
        _ => return Err(no_overload()),
    };
    Ok(text.into())
}

fn int(Arguments(arguments): Arguments) -> ResolveResult {
    let overflow = || in_go_words("integer overflow");
    let number = match arguments.first().ok_or_else(no_overload)? {
        Value::Int(int) => *int,
        Value::UInt(int) => i64::try_from(*int).map_err(|_| overflow())?,
        #[expect(clippy::cast_possible_truncation, reason = "the range was looked at")]
        Value::Float(float) if float.abs() < 9_223_372_036_854_775_807.0 => *float as i64,
        Value::Float(_) => return Err(overflow()),
        Value::Timestamp(time) => time.timestamp(),
        Value::String(text) => text
            .parse()
            .map_err(|_| in_go_words("type conversion error from 'string' to 'int'"))?,
        _ => return Err(no_overload()),
    };
    Ok(Value::Int(number))
}

fn boolean(value: Value) -> ResolveResult {
    match &value {
        Value::Bool(flag) => Ok(Value::Bool(*flag)),
        Value::String(text) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(in_go_words("type conversion error from 'string' to 'bool'")),
        },
        _ => Err(no_overload()),
    }
}

fn in_go_words(message: &str) -> ExecutionError {
    ExecutionError::function_error(GO_WORDS, message)
}
