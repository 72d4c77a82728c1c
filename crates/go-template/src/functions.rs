//! The standard functions: Go's `text/template/funcs.go`.

use std::cmp::Ordering;

use super::held::Held;
use super::{MAX_VALUE, escape};
use windlass_go_text::fmt::{TooLarge, sprint, sprintf, sprintln};
use windlass_go_text::value::Value;
use windlass_source::budget::Exceeded;

/// A standard function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    And,
    Call,
    Eq,
    Ge,
    Gt,
    Html,
    Index,
    Js,
    Le,
    Len,
    Lt,
    Ne,
    Not,
    Or,
    Print,
    Printf,
    Println,
    Slice,
    UrlQuery,
}

#[derive(Debug, PartialEq)]
pub(super) enum CallFault {
    /// Go's words.
    Go(String),
    /// A value is larger than it may be.
    TooLarge,
    /// The run has no steps left.
    TooLong,
    /// What it gives is not computed here, and why.
    Unsupported(&'static str),
}

impl From<Exceeded> for CallFault {
    fn from(_: Exceeded) -> Self {
        CallFault::TooLong
    }
}

impl From<TooLarge> for CallFault {
    fn from(_: TooLarge) -> Self {
        CallFault::TooLarge
    }
}

pub(super) type Called<T> = Result<T, CallFault>;

pub(super) fn rejected<T>(message: impl Into<String>) -> Called<T> {
    Err(CallFault::Go(message.into()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    /// `interface{}` or `reflect.Value`: anything.
    Any,
    /// `string`
    Text,
    /// `int`
    Int,
    /// `bool`
    Bool,
    /// `float64`
    Float,
    /// `map[string]interface {}`
    Map,
}

impl Parameter {
    /// The name of the type, as messages have it.
    pub(super) fn type_name(self) -> &'static str {
        match self {
            Parameter::Any => "interface {}",
            Parameter::Text => "string",
            Parameter::Int => "int",
            Parameter::Bool => "bool",
            Parameter::Float => "float64",
            Parameter::Map => "map[string]interface {}",
        }
    }

    /// Whether Go's assignment takes the value; `nil` apart.
    pub(super) fn takes(self, held: &Held) -> bool {
        match self {
            Parameter::Any => true,
            Parameter::Text => matches!(held.value, Value::Text(_)),
            Parameter::Int => matches!(held.value, Value::Int(_)) && held.named.is_none(),
            Parameter::Bool => matches!(held.value, Value::Bool(_)),
            Parameter::Float => matches!(held.value, Value::Float(_)),
            Parameter::Map => matches!(held.value, Value::Map(_)) && held.named.is_none(),
        }
    }
}

impl Function {
    pub(super) fn find(name: &str) -> Option<Self> {
        Some(match name {
            "and" => Function::And,
            "call" => Function::Call,
            "eq" => Function::Eq,
            "ge" => Function::Ge,
            "gt" => Function::Gt,
            "html" => Function::Html,
            "index" => Function::Index,
            "js" => Function::Js,
            "le" => Function::Le,
            "len" => Function::Len,
            "lt" => Function::Lt,
            "ne" => Function::Ne,
            "not" => Function::Not,
            "or" => Function::Or,
            "print" => Function::Print,
            "printf" => Function::Printf,
            "println" => Function::Println,
            "slice" => Function::Slice,
            "urlquery" => Function::UrlQuery,
            _ => return None,
        })
    }

    /// How many arguments there must be, and whether there may be more.
    pub(super) fn arity(self) -> (usize, bool) {
        match self {
            Function::Html
            | Function::Js
            | Function::Print
            | Function::Println
            | Function::UrlQuery => (0, true),
            Function::And
            | Function::Call
            | Function::Eq
            | Function::Index
            | Function::Or
            | Function::Printf
            | Function::Slice => (1, true),
            Function::Len | Function::Not => (1, false),
            Function::Ge | Function::Gt | Function::Le | Function::Lt | Function::Ne => (2, false),
        }
    }

    /// What the argument at an index must be.
    pub(super) fn parameter(self, index: usize) -> Parameter {
        if self == Function::Printf && index == 0 {
            Parameter::Text
        } else {
            Parameter::Any
        }
    }

    /// The result. The arity is right; `and` and `or` are not called.
    pub(super) fn call(self, arguments: &[Held]) -> Called<Held> {
        let plain = |held: &Held| held.value.clone();
        let values = || arguments.iter().map(plain).collect::<Vec<_>>();
        let text = |text: Vec<u8>| Ok(Held::plain(Value::Text(text.into())));
        let truth = |bool| Ok(Held::plain(Value::Bool(bool)));
        let value = |index: usize| &arguments[index].value;
        match self {
            Function::And | Function::Or => {
                unreachable!("internal error: these are evaluated one by one")
            }
            Function::Call if *value(0) == Value::Nil => rejected("call of nil"),
            Function::Call => unreachable!("internal error: the name is known to the caller"),
            Function::Eq => truth(equal(value(0), &arguments[1..])?),
            Function::Ne => truth(!equal(value(0), &arguments[1..])?),
            Function::Lt => truth(less(value(0), value(1))?),
            Function::Le => truth(less(value(0), value(1))? || equal(value(0), &arguments[1..])?),
            Function::Gt => {
                truth(!(less(value(0), value(1))? || equal(value(0), &arguments[1..])?))
            }
            Function::Ge => truth(!less(value(0), value(1))?),
            Function::Not => truth(!value(0).truth()),
            Function::Len => Ok(Held::plain(Value::Int(len(&arguments[0])?))),
            Function::Index => index(&arguments[0], &arguments[1..]),
            Function::Slice => slice(value(0), &arguments[1..]),
            Function::Print => text(sprint(&values(), MAX_VALUE)?),
            Function::Println => text(sprintln(&values(), MAX_VALUE)?),
            Function::Printf => {
                let values = values();
                let Value::Text(format) = &values[0] else {
                    unreachable!("internal error: the parameter takes texts only")
                };
                text(sprintf(format, &values[1..], MAX_VALUE)?)
            }
            Function::Html => text(escape::html(&escapable(&values())?)),
            Function::Js => text(escape::js(&escapable(&values())?)),
            Function::UrlQuery => text(escape::url_query(&escapable(&values())?)),
        }
    }
}

/// What is escaped: the arguments as `print` prints them, but `nil` as actions show it.
fn escapable(arguments: &[Value]) -> Called<Vec<u8>> {
    let shown = |value: &Value| {
        if *value == Value::Nil {
            Value::text("<no value>")
        } else {
            value.clone()
        }
    };
    let arguments: Vec<Value> = arguments.iter().map(shown).collect();
    Ok(sprint(&arguments, MAX_VALUE)?)
}

fn len(held: &Held) -> Called<i64> {
    let length = match &held.value {
        Value::Text(text) => text.len(),
        Value::List(items) => items.len(),
        Value::Map(entries) => entries.len(),
        Value::Nil if held.boxed => return rejected("len of nil pointer"),
        Value::Nil => return rejected("reflect: call of reflect.Value.Type on zero Value"),
        other => return rejected(format!("len of type {}", other.type_name())),
    };
    Ok(i64::try_from(length).unwrap_or(i64::MAX))
}

/// A number that is an index, at most `most`.
fn position(held: &Held, boxes_count: bool, most: usize) -> Called<usize> {
    let at = match &held.value {
        _ if held.boxed && boxes_count => {
            return rejected("cannot index slice/array with type interface {}");
        }
        Value::Int(int) => *int,
        Value::Byte(byte) => i64::from(*byte),
        Value::Nil => return rejected("cannot index slice/array with nil"),
        other => {
            return rejected(format!(
                "cannot index slice/array with type {}",
                other.type_name()
            ));
        }
    };
    match usize::try_from(at).ok().filter(|at| *at <= most) {
        Some(at) => Ok(at),
        None => rejected(format!("index out of range: {at}")),
    }
}

fn index(item: &Held, keys: &[Held]) -> Called<Held> {
    let mut item = Held::plain(item.value.clone());
    if item.value == Value::Nil {
        return rejected("index of untyped nil");
    }
    for key in keys {
        item = match &item.value {
            Value::Nil => return rejected("index of nil pointer"),
            Value::Text(text) => match text.get(position(key, false, text.len())?) {
                Some(byte) => Held::plain(Value::Byte(*byte)),
                None => return rejected("reflect: string index out of range"),
            },
            Value::List(items) => match items.get(position(key, false, items.len())?) {
                Some(item) => Held::boxed(item.clone()),
                None => return rejected("reflect: slice index out of range"),
            },
            Value::Map(entries) => match &key.value {
                Value::Nil => return rejected("value is nil; should be of type string"),
                Value::Text(key) => {
                    let entry = std::str::from_utf8(key)
                        .ok()
                        .and_then(|key| entries.get(key));
                    Held::boxed(entry.cloned().unwrap_or(Value::Nil))
                }
                other => {
                    return rejected(format!(
                        "value has type {}; should be string",
                        other.type_name()
                    ));
                }
            },
            other => return rejected(format!("can't index item of type {}", other.type_name())),
        };
    }
    Ok(item)
}

fn slice(item: &Value, bounds: &[Held]) -> Called<Held> {
    if *item == Value::Nil {
        return rejected("slice of untyped nil");
    }
    if bounds.len() > 3 {
        return rejected(format!("too many slice indexes: {}", bounds.len()));
    }
    let length = match item {
        Value::Text(_) if bounds.len() == 3 => return rejected("cannot 3-index slice a string"),
        Value::Text(text) => text.len(),
        Value::List(items) => items.len(),
        other => return rejected(format!("can't slice item of type {}", other.type_name())),
    };
    let mut at = [0, length, length];
    for (index, bound) in bounds.iter().enumerate() {
        at[index] = position(bound, true, length)?;
    }
    for pair in at.windows(2) {
        if pair[0] > pair[1] {
            return rejected(format!("invalid slice index: {} > {}", pair[0], pair[1]));
        }
    }
    Ok(Held::plain(match item {
        Value::List(items) => Value::list(items[at[0]..at[1]].iter().cloned()),
        Value::Text(text) => Value::Text(text[at[0]..at[1]].into()),
        _ => Value::Nil,
    }))
}

/// What can be compared with what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Basic {
    None,
    Bool,
    Complex,
    Int,
    Uint,
    Float,
    Text,
}

fn basic(value: &Value) -> Basic {
    match value {
        Value::Bool(_) => Basic::Bool,
        Value::Complex(..) => Basic::Complex,
        Value::Int(_) => Basic::Int,
        Value::Byte(_) => Basic::Uint,
        Value::Float(_) => Basic::Float,
        Value::Text(_) => Basic::Text,
        Value::Nil | Value::List(_) | Value::Map(_) | Value::Struct(_) => Basic::None,
    }
}

/// Whether the first is equal to any of the others.
fn equal(first: &Value, others: &[Held]) -> Called<bool> {
    if others.is_empty() {
        return rejected("missing argument for comparison");
    }
    for Held { value: other, .. } in others {
        let same = match (first, other) {
            (Value::Int(int), Value::Byte(byte)) | (Value::Byte(byte), Value::Int(int)) => {
                i64::from(*byte) == *int
            }
            _ if basic(first) != basic(other) && *first != Value::Nil && *other != Value::Nil => {
                return incompatible(first, other);
            }
            (Value::Nil, _) | (_, Value::Nil) => first == other,
            (Value::List(_) | Value::Map(_), _) => return Err(not_comparable(first, other)),
            _ => first == other,
        };
        if same {
            return Ok(true);
        }
    }
    Ok(false)
}

fn incompatible<T>(first: &Value, second: &Value) -> Called<T> {
    rejected(format!(
        "incompatible types for comparison: {} and {}",
        first.type_name(),
        second.type_name()
    ))
}

/// Two lists or maps.
fn not_comparable(first: &Value, second: &Value) -> CallFault {
    let text = Value::text(second.type_name());
    let message = if std::mem::discriminant(first) == std::mem::discriminant(second) {
        sprintf(
            b"non-comparable type %s: %v",
            &[second.clone(), text],
            MAX_VALUE,
        )
    } else {
        let first_type = Value::text(first.type_name());
        sprintf(
            b"non-comparable types %s: %v, %s: %v",
            &[first.clone(), first_type, text, second.clone()],
            MAX_VALUE,
        )
    };
    message.map_or_else(CallFault::from, |message| {
        CallFault::Go(String::from_utf8_lossy(&message).into_owned())
    })
}

fn less(first: &Value, second: &Value) -> Called<bool> {
    let invalid = || rejected("invalid type for comparison");
    if basic(first) == Basic::None || basic(second) == Basic::None {
        return invalid();
    }
    let order = match (first, second) {
        (Value::Int(first), Value::Int(second)) => Some(first.cmp(second)),
        (Value::Byte(first), Value::Byte(second)) => Some(first.cmp(second)),
        (Value::Int(first), Value::Byte(second)) => Some(first.cmp(&i64::from(*second))),
        (Value::Byte(first), Value::Int(second)) => Some(i64::from(*first).cmp(second)),
        (Value::Float(first), Value::Float(second)) => first.partial_cmp(second),
        (Value::Text(first), Value::Text(second)) => Some(first.cmp(second)),
        _ if basic(first) == basic(second) => return invalid(),
        _ => return incompatible(first, second),
    };
    Ok(order == Some(Ordering::Less))
}
