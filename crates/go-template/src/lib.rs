//! Go's package `text/template` with its standard functions: what Cluster API renders files and
//! patches with.
//!
//! A port of the reference's lexer, parser and evaluator, so that a template that fails does so at
//! its place and in its words. Three things are bounded that the reference does not bound: how deep
//! actions, parentheses and templates lie in one another, how large a value becomes, and what a run
//! spends.

mod dialect;
mod escape;
mod evaluate;
mod functions;
mod held;
mod lexer;
mod node;
mod number;
mod parser;
mod sprig;

use std::fmt;

pub use dialect::Dialect;

use windlass_go_text::value::Value;
use windlass_source::budget::{Budget, MAX_NESTING};

/// How much a template may produce.
pub const MAX_OUTPUT: usize = 1 << 20;
/// The largest size of a value in bytes; Go has no such limit.
pub const MAX_VALUE: usize = 16 << 20;
/// The steps of a node, a command or an argument: what it takes beside the bytes that it writes.
const STEP: usize = 32;
/// The steps of a byte of a template that is parsed: as many as make up for the time it takes.
const PARSING: usize = 16;
/// How deep actions and parentheses may lie in one another.
const MAX_DEPTH: usize = 100;
/// How deep templates may call one another. The reference takes 100,000.
const MAX_CALLS: usize = 100;

/// Why a template has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The template cannot be read.
    Parse(Rejection),
    /// An action fails.
    Execution(Rejection),
    /// The template goes beyond what is rendered here, and not beyond what Go renders.
    Unsupported(String),
    /// The result is larger than [`MAX_OUTPUT`].
    TooLarge,
    /// A value on this line (from 1) is larger than [`MAX_VALUE`], a limit that Go does not have.
    ValueTooLarge(usize),
    /// A value on this line, from 1, is nested deeper than [`MAX_NESTING`]. Go would hold it.
    ValueTooDeep(usize),
    /// The run has no steps left.
    TooLong,
}

/// Why Go rejects a template, in its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The line, from 1.
    pub line: usize,
    /// What stands before the reason: the name of the template and the place.
    pub place: String,
    /// The reason; of an execution with the node that fails.
    pub reason: String,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.place, self.reason)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Parse(rejection) | Fault::Execution(rejection) => write!(f, "{rejection}"),
            Fault::Unsupported(what) => f.write_str(what),
            Fault::TooLarge => write!(f, "more than {MAX_OUTPUT} bytes"),
            Fault::ValueTooLarge(line) => {
                write!(f, "a value of more than {MAX_VALUE} bytes on line {line}")
            }
            Fault::ValueTooDeep(line) => {
                write!(
                    f,
                    "a value of more than {MAX_NESTING} levels on line {line}"
                )
            }
            Fault::TooLong => write!(f, "{}", windlass_source::budget::Exceeded::STEPS),
        }
    }
}

/// The text of a template called `name` with `data` as its dot.
///
/// # Errors
///
/// See [`Fault`].
pub fn render(name: &str, text: &str, data: &Value, budget: &Budget) -> Result<Vec<u8>, Fault> {
    render_in(Dialect::STANDARD, name, text, data, budget)
}

/// The same with other functions.
///
/// # Errors
///
/// See [`Fault`].
pub fn render_in(
    dialect: Dialect,
    name: &str,
    text: &str,
    data: &Value,
    budget: &Budget,
) -> Result<Vec<u8>, Fault> {
    charge_parsing(text, budget)?;
    let templates = parser::parse(dialect, name, text)?;
    evaluate::run(dialect, name, text, &templates, data, budget)
}

/// A template that is read once and rendered with several values.
#[derive(Debug)]
pub struct Template<'t> {
    dialect: Dialect,
    name: &'t str,
    text: &'t str,
    templates: Result<parser::Templates, Fault>,
}

impl<'t> Template<'t> {
    /// Reads a template; what is wrong with it says who renders it.
    pub fn read(dialect: Dialect, name: &'t str, text: &'t str) -> Self {
        Template {
            dialect,
            name,
            text,
            templates: parser::parse(dialect, name, text),
        }
    }

    /// What [`render_in`] gives.
    ///
    /// # Errors
    ///
    /// See [`Fault`].
    pub fn render(&self, data: &Value, budget: &Budget) -> Result<Vec<u8>, Fault> {
        charge_parsing(self.text, budget)?;
        let templates = self.templates.as_ref().map_err(Clone::clone)?;
        evaluate::run(self.dialect, self.name, self.text, templates, data, budget)
    }
}

fn charge_parsing(text: &str, budget: &Budget) -> Result<(), Fault> {
    budget
        .charge(PARSING * text.len())
        .map_err(|_| Fault::TooLong)
}

/// Whether Go reads the template.
///
/// # Errors
///
/// See [`Fault`].
pub fn parses(dialect: Dialect, name: &str, text: &str) -> Result<(), Fault> {
    parser::parse(dialect, name, text).map(|_| ())
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
