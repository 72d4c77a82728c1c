//! Variable substitution as clusterctl does it, bug for bug: the grammar of drone/envsubst v2 at
//! commit 179042472c46, behind clusterctl's "simple processor", which squeezes blanks out of `${
//! VAR }` first and rejects templates with unset variables.
//!
//! Differences from the reference are deliberate and few: errors have a place, time and memory are
//! linear in the template (the reference copies the whole text at every `$$` and recurses once a
//! token), and where the reference crashes this returns an error.
//!
//! Works on bytes: a template or a value need not be UTF-8, and a substring may cut a character in
//! two.

mod evaluate;
mod functions;
mod glob;
mod offsets;
mod parser;
mod scanner;
mod squeeze;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use windlass_source::budget::Budget;

pub use offsets::OffsetMap;

use functions::Function;
use scanner::Text;
use squeeze::Squeezed;

/// A parsed template: texts and references to variables, in order.
#[derive(Debug, Clone)]
pub struct Template<'t> {
    source: Squeezed<'t>,
    /// Offsets of the bytes that an escape drops from a text, ascending.
    dropped: Vec<usize>,
    /// All references; those within the arguments of another stand before it.
    references: Vec<Reference>,
    /// The top level.
    parts: Vec<Part>,
}

/// A piece of the template, or of an argument.
#[derive(Debug, Clone)]
enum Part {
    /// Literal text, without the bytes that escapes drop.
    Text(Text),
    /// Index into `references`.
    Reference(usize),
}

/// One `${…}`; offsets are those of the squeezed text.
#[derive(Debug, Clone)]
struct Reference {
    name: Range<usize>,
    function: Function,
    arguments: Vec<Part>,
    span: Range<usize>,
}

/// One place where a template uses a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use<'a> {
    /// The variable.
    pub name: &'a str,
    /// The bytes of the template from `${` to `}`.
    pub span: Range<usize>,
    /// What inspection takes for the default at this place; `None` when there is none, or an empty
    /// one.
    pub default: Option<String>,
    /// Whether the place is within an argument of another reference. clusterctl does not see
    /// those: the variable is neither listed nor required.
    pub nested: bool,
}

impl Use<'_> {
    /// What follows the name of the variable in the template, up to its argument: `:=`, `#`,
    /// nothing.
    pub fn operator<'t>(&self, template: &'t str) -> &'t str {
        let rest = template[self.span.clone()]
            .strip_prefix("${")
            .unwrap_or_default()
            .trim_start();
        let rest = rest
            .strip_prefix(self.name)
            .unwrap_or("")
            .trim_end_matches('}');
        let end = rest
            .find(|c: char| !":=-?+#%/^,".contains(c))
            .unwrap_or(rest.len())
            .min(2);
        match &rest[..end] {
            sign if sign.starts_with('=') => &sign[..1],
            sign => sign,
        }
    }

    /// Whether the operator is one of those that give a default, and look so. The default may be
    /// empty.
    pub fn gives_default(&self, template: &str) -> bool {
        matches!(self.operator(template), "=" | ":=" | ":-")
    }
}

/// A template in which the variables were replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substituted {
    /// The text. Not UTF-8 when the template or a value is not, or when a substring cut a
    /// character.
    pub bytes: Vec<u8>,
    /// From offsets in `bytes` back to offsets in the template.
    pub map: OffsetMap,
}

impl Substituted {
    /// The text.
    ///
    /// # Errors
    /// When it is not UTF-8; says up to where it is.
    pub fn text(&self) -> Result<&str, std::str::Utf8Error> {
        std::str::from_utf8(&self.bytes)
    }
}

/// How many bytes one substitution may produce, intermediate results included.
pub(crate) const MAX_OUTPUT: usize = 256 << 20;

/// The reason why a template cannot be parsed or substituted. `Display` prints the message of the
/// reference implementation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubstError {
    /// What is wrong.
    pub kind: SubstErrorKind,
    /// The byte of the template where the innermost `${` at fault begins.
    pub start: usize,
    /// The byte of the template where reading stopped; `start` when the fault is not one of
    /// grammar.
    pub stopped: usize,
}

/// The faults of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubstErrorKind {
    /// No function of this form exists.
    BadSubstitution,
    /// The name is not followed by `}` or a function.
    MissingClosingBrace,
    /// `${` is not followed by a name.
    VariableName,
    /// An argument is missing or does not end.
    FunctionArgument,
    /// Neither `=`, nor `:` with one of `= - ? +`.
    DefaultFunction,
    /// `${NAME:0:-1}`: the reference panics. Holds the variable.
    NegativeLength(String),
    /// The result is beyond all bounds. Holds the variable.
    TooLarge(String),
    /// The run has no steps left for the work. Holds the variable.
    TooLong(String),
    /// Variables without a default that have no value; sorted.
    Missing(Vec<String>),
}

impl fmt::Display for SubstError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            SubstErrorKind::BadSubstitution => f.write_str("bad substitution"),
            SubstErrorKind::MissingClosingBrace => f.write_str("missing closing brace"),
            SubstErrorKind::VariableName => f.write_str("unable to parse variable name"),
            SubstErrorKind::FunctionArgument => {
                f.write_str("unable to parse substitution within function")
            }
            SubstErrorKind::DefaultFunction => f.write_str("unable to parse default function"),
            SubstErrorKind::NegativeLength(name) => {
                write!(f, "negative length in a substring of variable {name}")
            }
            SubstErrorKind::TooLarge(name) => write!(
                f,
                "substitution of variable {name} grows beyond {} MiB",
                MAX_OUTPUT >> 20
            ),
            SubstErrorKind::TooLong(name) => write!(
                f,
                "substitution of variable {name} takes {}",
                windlass_source::budget::Exceeded::STEPS
            ),
            SubstErrorKind::Missing(names) => write!(
                f,
                "value for variables [{}] is not set. Please set the value using os environment variables or the clusterctl config file",
                names.join(", ")
            ),
        }
    }
}

impl std::error::Error for SubstError {}

/// Parses a template.
///
/// # Errors
/// The first fault of grammar; the reference stops there too.
pub fn parse<T: AsRef<[u8]> + ?Sized>(template: &T) -> Result<Template<'_>, SubstError> {
    let source = Squeezed::new(template.as_ref());
    parser::parse(source)
}

/// Parses a text in which `${ NAME }` with blanks is a fault: the library alone, as clusterctl uses
/// it for paths and URLs.
///
/// # Errors
/// As [`parse`].
pub fn parse_exact<T: AsRef<[u8]> + ?Sized>(text: &T) -> Result<Template<'_>, SubstError> {
    parser::parse(Squeezed::without_gaps(text.as_ref()))
}

impl Template<'_> {
    /// What clusterctl's inspection finds: each variable of the top level, with the default of its
    /// first use. An empty default is none, and the arguments of every function count as
    /// default (`${V:0:3}` has the default `03`). References within arguments are not looked
    /// into; a default shows them as `${NAME}`. Bytes that are not UTF-8 are shown as U+FFFD.
    pub fn variables(&self) -> BTreeMap<String, Option<String>> {
        let mut found = BTreeMap::new();
        for reference in self.top_level() {
            let name = self.name(reference);
            if !found.contains_key(name) {
                found.insert(name.to_owned(), self.default_of(reference));
            }
        }
        found
    }

    /// Every use of a variable, in the order of the template; a nested use comes after the one that
    /// it is in.
    pub fn uses(&self) -> Vec<Use<'_>> {
        let mut nested = vec![true; self.references.len()];
        for part in &self.parts {
            if let Part::Reference(index) = part {
                nested[*index] = false;
            }
        }
        let mut uses: Vec<Use<'_>> = self
            .references
            .iter()
            .zip(nested)
            .map(|(reference, nested)| Use {
                name: self.name(reference),
                span: self.source.original_range(&reference.span),
                default: self.default_of(reference),
                nested,
            })
            .collect();
        uses.sort_by_key(|used| used.span.start);
        uses
    }

    /// The template with every variable replaced, as clusterctl does it.
    ///
    /// # Errors
    /// [`SubstErrorKind::Missing`] when a required variable has no value; else as
    /// [`Template::expand`].
    pub fn substitute<V: Into<Vec<u8>>>(
        &self,
        value: impl Fn(&str) -> Option<V>,
        budget: &Budget,
    ) -> Result<Substituted, SubstError> {
        let missing: Vec<String> = self
            .variables()
            .into_iter()
            .filter(|(name, default)| default.is_none() && value(name).is_none())
            .map(|(name, _)| name)
            .collect();
        let Some(first) = missing.first() else {
            return self.expand(value, budget);
        };
        let reference = self
            .top_level()
            .find(|reference| self.name(reference) == first);
        let start = reference.map_or(0, |reference| self.source.original(reference.span.start));
        Err(SubstError {
            kind: SubstErrorKind::Missing(missing),
            start,
            stopped: start,
        })
    }

    /// The template with every variable replaced; a variable without a value counts as empty.
    ///
    /// # Errors
    /// [`SubstErrorKind::NegativeLength`], [`SubstErrorKind::TooLarge`],
    /// [`SubstErrorKind::TooLong`].
    pub fn expand<V: Into<Vec<u8>>>(
        &self,
        value: impl Fn(&str) -> Option<V>,
        budget: &Budget,
    ) -> Result<Substituted, SubstError> {
        evaluate::evaluate(self, value, budget)
    }

    fn top_level(&self) -> impl Iterator<Item = &Reference> {
        self.parts.iter().filter_map(|part| match part {
            Part::Reference(index) => Some(&self.references[*index]),
            Part::Text(_) => None,
        })
    }

    /// Names consist of letters, digits and `_`, so they are UTF-8 whatever surrounds them.
    fn name(&self, reference: &Reference) -> &str {
        std::str::from_utf8(&self.source.bytes[reference.name.clone()])
            .expect("internal error: a name holds only letters and digits")
    }

    fn default_of(&self, reference: &Reference) -> Option<String> {
        let mut default = Vec::new();
        for argument in &reference.arguments {
            match argument {
                Part::Text(text) => self
                    .pieces(text)
                    .for_each(|piece| default.extend_from_slice(&self.source.bytes[piece])),
                Part::Reference(index) => {
                    default.extend_from_slice(b"${");
                    default.extend_from_slice(self.name(&self.references[*index]).as_bytes());
                    default.push(b'}');
                }
            }
        }
        (!default.is_empty()).then(|| String::from_utf8_lossy(&default).into_owned())
    }

    /// The stretches of a text between the bytes that escapes drop.
    fn pieces<'a>(&'a self, text: &Text) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let mut start = text.range.start;
        let end = text.range.end;
        let dropped = &self.dropped[text.dropped.clone()];
        let stops = dropped.iter().copied().chain(std::iter::once(end));
        stops.filter_map(move |stop| {
            let piece = start..stop;
            start = stop + 1;
            (!piece.is_empty()).then_some(piece)
        })
    }
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests;
