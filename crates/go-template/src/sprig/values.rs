//! Any values: how they print, what they are, which are the same. Sprig's `defaults.go` and
//! `reflect.go`.

use super::super::MAX_VALUE;
use super::arguments::{Arguments, any, truth};
use crate::functions::{CallFault, Called};
use crate::held::Held;
use windlass_go_text::fmt::sprint;
use windlass_go_text::value::Value;

/// sprig's `strval`
pub(super) fn shown(value: &Value) -> Called<Vec<u8>> {
    match value {
        Value::Text(text) => Ok(text.to_vec()),
        value => Ok(sprint(std::slice::from_ref(value), MAX_VALUE)?),
    }
}

/// sprig's `strslice`
pub(super) fn texts(value: &Value) -> Called<Vec<Vec<u8>>> {
    match value {
        Value::Nil => Ok(Vec::new()),
        Value::List(items) => items
            .iter()
            .filter(|item| **item != Value::Nil)
            .map(shown)
            .collect(),
        value => Ok(vec![shown(value)?]),
    }
}

pub(super) fn default(arguments: &Arguments<'_>) -> Called<Held> {
    let given = arguments.from(1).next().filter(|given| given.truth());
    any(given.unwrap_or(arguments.value(0)).clone())
}

pub(super) fn ternary(arguments: &Arguments<'_>) -> Called<Held> {
    let is_true = matches!(arguments.value(2), Value::Bool(true));
    any(arguments.value(if is_true { 0 } else { 1 }).clone())
}

/// `%T`
pub(super) fn type_of(held: &Held) -> &'static str {
    held.inner_type_name()
}

pub(super) fn type_is_like(arguments: &Arguments<'_>) -> Called<Held> {
    let (target, name) = (arguments.text(0), type_of(&arguments.0[1]));
    truth(target == name || format!("*{target}") == name)
}

/// `reflect.Kind`
pub(super) fn kind_of(held: &Held) -> &'static str {
    match &held.value {
        Value::Nil => "invalid",
        Value::List(_) => "slice",
        Value::Map(_) => "map",
        Value::Struct(_) => "ptr",
        _ => held.inner_type_name(),
    }
}

/// The bytes and values in a value, as far as a key may be large.
pub(super) fn size(value: &Value) -> usize {
    let mut size = 0;
    add_size(&mut size, value);
    size
}

fn add_size(size: &mut usize, value: &Value) {
    *size += 1;
    match value {
        _ if *size > MAX_VALUE => {}
        Value::Text(text) => *size += text.len(),
        Value::Struct(object) => *size += object.text.len(),
        Value::List(items) => items.iter().for_each(|item| add_size(size, item)),
        Value::Map(entries) => entries.iter().for_each(|(key, entry)| {
            *size += key.len();
            add_size(size, entry);
        }),
        _ => {}
    }
}

/// A text that two values share exactly when Go's `reflect.DeepEqual` calls them equal.
pub(super) fn key(held: &Held) -> Called<Vec<u8>> {
    let mut out = held.named.unwrap_or_default().as_bytes().to_vec();
    push_key(&mut out, &held.value)?;
    Ok(out)
}

/// The same of a value in a list.
pub(super) fn key_of(value: &Value) -> Called<Vec<u8>> {
    let mut out = Vec::new();
    push_key(&mut out, value)?;
    Ok(out)
}

fn push_key(out: &mut Vec<u8>, value: &Value) -> Called<()> {
    if out.len() > MAX_VALUE {
        return Err(CallFault::TooLarge);
    }
    match value {
        Value::Nil => out.push(b'n'),
        Value::Bool(bool) => out.extend([b'b', u8::from(*bool)]),
        Value::Int(int) => out.extend([&b"i"[..], &int.to_be_bytes()].concat()),
        Value::Byte(byte) => out.extend([b'u', *byte]),
        // Both zeros are one.
        Value::Float(float) => out.extend([&b"f"[..], &(float + 0.0).to_be_bytes()].concat()),
        Value::Complex(real, imaginary) => {
            out.extend([&b"c"[..], &real.to_be_bytes(), &imaginary.to_be_bytes()].concat())
        }
        Value::Text(text) => push_text(out, b's', text),
        Value::Struct(object) => push_text(out, b'p', object.text.as_bytes()),
        Value::List(items) => {
            out.extend([&b"l"[..], &items.len().to_be_bytes()].concat());
            items.iter().try_for_each(|item| push_key(out, item))?;
        }
        Value::Map(entries) => {
            out.extend([&b"m"[..], &entries.len().to_be_bytes()].concat());
            for (key, entry) in entries.iter() {
                push_text(out, b'k', key.as_bytes());
                push_key(out, entry)?;
            }
        }
    }
    Ok(())
}

fn push_text(out: &mut Vec<u8>, kind: u8, text: &[u8]) {
    out.push(kind);
    out.extend(text.len().to_be_bytes());
    out.extend_from_slice(text);
}
