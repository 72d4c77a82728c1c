//! The arguments of a call, and what comes back.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::MAX_VALUE;
use super::super::functions::{CallFault, Called};
use super::super::held::Held;
use windlass_go_text::value::Value;
use windlass_source::budget::Budget;

const MAX_ITEMS: usize = MAX_VALUE / 32;

/// The arguments, whose number and types are what the signature says, and the run's budget.
pub(super) struct Arguments<'h>(pub(super) &'h [Held], pub(super) &'h Budget);

impl<'h> Arguments<'h> {
    pub(super) fn value(&self, index: usize) -> &'h Value {
        &self.0[index].value
    }

    pub(super) fn values(&self) -> impl ExactSizeIterator<Item = &'h Value> {
        self.0.iter().map(|held| &held.value)
    }

    pub(super) fn from(&self, index: usize) -> impl Iterator<Item = &'h Value> {
        self.0.iter().skip(index).map(|held| &held.value)
    }

    pub(super) fn bytes(&self, index: usize) -> &'h [u8] {
        match self.value(index) {
            Value::Text(text) => text,
            _ => b"",
        }
    }

    pub(super) fn text(&self, index: usize) -> Cow<'h, str> {
        String::from_utf8_lossy(self.bytes(index))
    }

    pub(super) fn int(&self, index: usize) -> i64 {
        match self.value(index) {
            Value::Int(int) => *int,
            _ => 0,
        }
    }

    pub(super) fn map(&self, index: usize) -> &'h BTreeMap<String, Value> {
        static EMPTY: BTreeMap<String, Value> = BTreeMap::new();
        match self.value(index) {
            Value::Map(entries) => entries,
            _ => &EMPTY,
        }
    }
}

/// A text that is not too large.
pub(super) fn text(text: impl AsRef<[u8]>) -> Called<Held> {
    if text.as_ref().len() > MAX_VALUE {
        return Err(CallFault::TooLarge);
    }
    Ok(Held::plain(Value::text(text)))
}

pub(super) fn truth(bool: bool) -> Called<Held> {
    Ok(Held::plain(Value::Bool(bool)))
}

pub(super) fn int64(int: i64) -> Called<Held> {
    Ok(Held::named(Value::Int(int), "int64"))
}

pub(super) fn float(float: f64) -> Called<Held> {
    Ok(Held::plain(Value::Float(float)))
}

/// Any value, as `interface {}`.
pub(super) fn any(value: Value) -> Called<Held> {
    Ok(Held::boxed(value))
}

/// A list of anything that is not too long.
pub(super) fn list(items: impl IntoIterator<Item = Value>) -> Called<Held> {
    Ok(Held::plain(bounded(items)?))
}

/// A list of texts, `[]string`.
pub(super) fn texts(items: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Called<Held> {
    Ok(Held::named(
        bounded(items.into_iter().map(Value::text))?,
        "[]string",
    ))
}

/// A list of another type.
pub(super) fn named_list(
    items: impl IntoIterator<Item = Value>,
    type_name: &'static str,
) -> Called<Held> {
    Ok(Held::named(bounded(items)?, type_name))
}

fn bounded(items: impl IntoIterator<Item = Value>) -> Called<Value> {
    let items: Vec<Value> = items.into_iter().take(MAX_ITEMS + 1).collect();
    if items.len() > MAX_ITEMS {
        Err(CallFault::TooLarge)
    } else {
        Ok(Value::list(items))
    }
}
