//! The functions of sprig v3.3 that Cluster API gives to the templates of patches: its
//! `HermeticTxtFuncMap`.
//!
//! The map is not as hermetic as its name says: functions that are random, read the clock or change a
//! map in place, and `derivePassword`, are known here and rejected by name when they are called. Where
//! Go goes over a map in no order (`keys`, `values`), this is by key.

mod arguments;
mod cases;
mod decimal;
mod dicts;
mod encoding;
mod json;
mod lists;
mod numbers;
mod patterns;
mod semver;
mod strings;
mod table;
mod urls;
mod values;

use super::functions::{Called, Parameter};
use super::held::Held;
use arguments::Arguments;
pub(super) use table::find;
use windlass_go_text::value::Value;
use windlass_source::budget::Budget;

/// A function of sprig.
#[derive(Debug)]
pub(super) struct Added {
    /// Its parameters, a letter each: `a`ny, `s`tring, `i`nt, `b`ool, `f`loat, `m`ap; a `*` behind
    /// the last says that there may be none or many.
    signature: &'static str,
    call: fn(&Arguments<'_>) -> Called<Held>,
    /// Whether a call visits everything in its arguments, and not only the items of lists and maps.
    is_deep: bool,
}

impl Added {
    pub(super) fn arity(&self) -> (usize, bool) {
        let letters = self.letters().len();
        if self.signature.ends_with('*') {
            (letters - 1, true)
        } else {
            (letters, false)
        }
    }

    pub(super) fn parameter(&self, index: usize) -> Parameter {
        let letters = self.letters();
        match letters.get(index).or(letters.last()) {
            Some(b's') => Parameter::Text,
            Some(b'i') => Parameter::Int,
            Some(b'b') => Parameter::Bool,
            Some(b'f') => Parameter::Float,
            Some(b'm') => Parameter::Map,
            _ => Parameter::Any,
        }
    }

    fn letters(&self) -> &'static [u8] {
        self.signature.trim_end_matches('*').as_bytes()
    }

    /// What a call costs in steps, beside what it gives.
    pub(super) fn cost(&self, arguments: &[Held]) -> usize {
        let sizes = arguments.iter().map(|held| match &held.value {
            Value::Text(text) => text.len(),
            Value::List(items) if !self.is_deep => items.len(),
            Value::Map(entries) if !self.is_deep => entries.len(),
            value => values::size(value),
        });
        sizes.sum()
    }

    pub(super) fn call(&self, arguments: &[Held], budget: &Budget) -> Called<Held> {
        (self.call)(&Arguments(arguments, budget))
    }
}

#[cfg(test)]
mod tests;
