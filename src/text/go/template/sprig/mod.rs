//! The functions of sprig v3.3 that Cluster API gives to the templates of patches: its
//! `HermeticTxtFuncMap`.
//!
//! The map is not as hermetic as its name says: what is random, reads the clock or changes a map in
//! place is known here and refused by name when it is called. Where Go goes over a map in no order
//! (`keys`, `values`), this is by key.

mod arguments;
mod cases;
mod decimal;
mod dicts;
mod encoding;
mod json;
mod lists;
mod numbers;
mod password;
mod patterns;
mod semver;
mod strings;
mod table;
mod urls;
mod values;

use super::functions::{Called, Parameter};
use super::held::Held;
use crate::text::go::value::Value;
use arguments::Arguments;
pub(super) use table::find;

/// A function of sprig.
#[derive(Debug)]
pub(super) struct Added {
    /// Its parameters, a letter each: `a`ny, `s`tring, `i`nt, `b`ool, `f`loat, `m`ap; a `*` behind
    /// the last says that there may be none or many.
    signature: &'static str,
    call: fn(&Arguments<'_>) -> Called<Held>,
    work: Work,
}

/// What a function goes through that its result does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Work {
    /// Texts, and the items of lists and maps.
    Items,
    /// Everything in its arguments, however deep.
    Whole,
    /// A derivation that is slow on purpose.
    Slow,
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
            Value::List(items) if self.work != Work::Whole => items.len(),
            Value::Map(entries) if self.work != Work::Whole => entries.len(),
            value => values::size(value),
        });
        sizes.sum::<usize>()
            + if self.work == Work::Slow {
                password::COST
            } else {
                0
            }
    }

    pub(super) fn call(&self, arguments: &[Held]) -> Called<Held> {
        (self.call)(&Arguments(arguments))
    }
}

#[cfg(test)]
mod tests;
