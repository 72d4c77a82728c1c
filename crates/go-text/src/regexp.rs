//! Go's package `regexp` on Rust's engine.
//!
//! Both engines come from RE2 and are linear; they differ in details that users write: in Go `\d`,
//! `\w`, `\s` and `\b` are ASCII, a `[` inside a class is a plain character, and there are no set
//! operations. Source: the documentation of Go's `regexp/syntax`.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use regex::{Regex, RegexBuilder};

use windlass_source::budget::{Budget, Exceeded, Steps};

/// The bytes that a program may have. The first one that suffices tells the size of a program,
/// which the engine does not: compiling takes time with the size, and so does each byte of a text.
const SIZES: [usize; 7] = [
    4 << 10,
    16 << 10,
    64 << 10,
    256 << 10,
    1 << 20,
    4 << 20,
    10 << 20,
];
/// The bytes that the engine may use to remember what it has met in texts.
const REMEMBERED: usize = 256 << 10;
/// The steps of a compilation, beside those of the bytes of the program: about as many as its time
/// and memory are worth.
const COMPILATION: usize = 1 << 15;
const STEPS_PER_BYTE: usize = 4;
/// The bytes of a program that are about one of its states.
const STATE: usize = 64;
/// A text of a document is matched once or twice: up to this length, with a program of this size,
/// the time that it takes is not worth a step for each state.
const SHORT: usize = 1 << 10;
const SMALL: usize = 16 << 10;

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Pattern(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    source: String,
    regex: Regex,
    size: usize,
    steps: Steps,
}

/// Why there is no pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Why it is not a regular expression, in the words of Rust's engine.
    Invalid(String),
    /// The run has no steps left.
    Exceeded(Exceeded),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Invalid(reason) => f.write_str(reason),
            Fault::Exceeded(exceeded) => write!(f, "{exceeded}"),
        }
    }
}

impl Fault {
    /// The API server's message about a keyword with such an expression, or ours where the
    /// expression was not compiled.
    pub fn of_keyword(&self) -> String {
        match self {
            Fault::Invalid(reason) => {
                format!("must be a valid regular expression, but isn't: {reason}")
            }
            Fault::Exceeded(exceeded) => format!("cannot be compiled: {exceeded}"),
        }
    }
}

/// The results of compilation, by expression. A run's budget keeps them.
type Compilations = Mutex<BTreeMap<String, Result<Pattern, Fault>>>;

/// The expressions of a run: each is compiled once and charged for.
#[derive(Debug, Clone)]
pub struct Patterns {
    known: Arc<Compilations>,
    steps: Steps,
}

impl Patterns {
    /// The expressions of the run that the budget belongs to.
    pub fn of(budget: &Budget) -> Self {
        Patterns {
            known: budget.kept(),
            steps: budget.steps(),
        }
    }

    /// Compiles a pattern written in Go's syntax.
    ///
    /// # Errors
    /// See [`Fault`].
    pub fn get(&self, source: &str) -> Result<Pattern, Fault> {
        // Compiled under the lock, so that threads that need the same one are not both charged.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(source) {
            return known.clone();
        }
        let compiled = self.compile(source);
        known.insert(source.to_owned(), compiled.clone());
        compiled
    }

    fn compile(&self, source: &str) -> Result<Pattern, Fault> {
        let translated = translate(source);
        let mut fault = String::new();
        for size in SIZES {
            self.steps
                .charge(COMPILATION + translated.len() + STEPS_PER_BYTE * size)
                .map_err(Fault::Exceeded)?;
            let compiled = RegexBuilder::new(&translated)
                .size_limit(size)
                .dfa_size_limit(REMEMBERED)
                .build();
            match compiled {
                Ok(regex) => {
                    return Ok(Pattern(Arc::new(Compiled {
                        source: source.to_owned(),
                        regex,
                        size,
                        steps: self.steps.clone(),
                    })));
                }
                Err(error) => {
                    fault = reason(&error);
                    if !matches!(error, regex::Error::CompiledTooBig(_)) {
                        break;
                    }
                }
            }
        }
        Err(Fault::Invalid(fault))
    }
}

impl Pattern {
    /// The expression as it was written.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Whether a text of a document has a part that matches.
    ///
    /// # Errors
    /// [`Exceeded`] when the run has not enough steps left.
    pub fn matches(&self, text: &str) -> Result<bool, Exceeded> {
        if text.len() > SHORT || self.0.size > SMALL {
            self.charge(text.len())?;
        } else {
            self.0.steps.charge(text.len())?;
        }
        Ok(self.is_match(text))
    }

    /// Takes the steps of a search in so many bytes.
    ///
    /// # Errors
    /// [`Exceeded`] when the run has fewer left.
    pub fn charge(&self, bytes: usize) -> Result<(), Exceeded> {
        self.0
            .steps
            .charge(bytes.saturating_mul(self.0.size / STATE))
    }
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.0.regex
    }
}

/// The last line of a regex error: the rest draws a caret.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    text.lines()
        .last()
        .unwrap_or_default()
        .trim_start_matches("error: ")
        .to_owned()
}

/// Rewrites what the two syntaxes read differently; everything else stays as it is, faults
/// included.
fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 16);
    let mut chars = source.chars().peekable();
    // Inside a class: how many characters of it were read. `]` as the first one is a plain
    // character.
    let mut class: Option<usize> = None;
    while let Some(c) = chars.next() {
        match (c, class) {
            ('\\', _) => {
                push_escape(&mut out, chars.next(), class.is_some(), &mut chars);
                class = class.map(|read| read + 1);
            }
            ('[', None) => {
                out.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    out.push('^');
                }
                class = Some(0);
            }
            (']', Some(read)) if read > 0 => {
                out.push(']');
                class = None;
            }
            ('[', Some(read)) => {
                out.push_str(if chars.peek() == Some(&':') {
                    "["
                } else {
                    "\\["
                });
                if chars.peek() == Some(&':') {
                    push_named_class(&mut out, &mut chars);
                }
                class = Some(read + 1);
            }
            (_, Some(read)) => {
                if matches!(c, '&' | '~' | ']' | '^') || c == '-' && chars.peek() == Some(&'-') {
                    out.push('\\');
                }
                out.push(c);
                class = Some(read + 1);
            }
            (_, None) => out.push(c),
        }
    }
    out
}

/// The rest of `[:alpha:]`, its opening bracket being written.
fn push_named_class(out: &mut String, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    for c in chars.by_ref() {
        out.push(c);
        if c == ']' {
            return;
        }
    }
}

/// An escape sequence, of which the backslash was read.
fn push_escape(
    out: &mut String,
    escaped: Option<char>,
    in_class: bool,
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
) {
    const SPACE: &str = r"\t\n\f\r ";
    let Some(c) = escaped else {
        out.push('\\');
        return;
    };
    match (c, in_class) {
        ('d', false) => out.push_str("[0-9]"),
        ('d', true) => out.push_str("0-9"),
        ('D', _) => out.push_str("[^0-9]"),
        ('w', false) => out.push_str("[0-9A-Za-z_]"),
        ('w', true) => out.push_str("0-9A-Za-z_"),
        ('W', _) => out.push_str("[^0-9A-Za-z_]"),
        ('s', false) => out.push_str(&format!("[{SPACE}]")),
        ('s', true) => out.push_str(SPACE),
        ('S', _) => out.push_str(&format!("[^{SPACE}]")),
        ('b', false) => out.push_str(r"(?-u:\b)"),
        ('B', false) => out.push_str(r"(?-u:\B)"),
        // `\Q…\E`: everything between is plain text.
        ('Q', false) => {
            let mut plain = String::new();
            while let Some(c) = chars.next() {
                if c == '\\' && chars.next_if_eq(&'E').is_some() {
                    break;
                }
                plain.push(c);
            }
            out.push_str(&regex::escape(&plain));
        }
        _ => {
            out.push('\\');
            out.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::budget::Budget;

    #[test]
    fn patterns_match_as_in_go() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(
                Patterns::of(&Budget::default())
                    .get(pattern)
                    .map(|found| found.matches(text)),
                Ok(Ok(expected)),
                "{pattern} on {text:?}"
            );
        };
        check(r"^\d+$", "١", false);
        check(r"^[\d.]+$", "1.2", true);
        check(r"^\w+$", "é", false);
        check(r"^[^\s]+$", "a\u{b}", true);
        check(r"^[[]$", "[", true);
        check(r"^[]a]+$", "]a", true);
        check(r"^[[:alpha:]_]+$", "a_", true);
        check(r"^[a&&b]+$", "a&b", true);
        check(r"^\Qa.b\E$", "a.b", true);
        check(r"^\Qa.b\E$", "axb", false);
        check(r"^a{2}$", "aa", true);
        check(r"x", "axb", true);
        check("^a$", "a\n", false);
    }

    #[test]
    fn a_broken_pattern_is_an_error() {
        for pattern in ["(", "(?=a)", "a\\"] {
            assert!(Patterns::of(&Budget::default()).get(pattern).is_err());
        }
    }

    #[test]
    fn compiles_each_pattern_once_and_charges_for_its_size() {
        let budget = Budget::default();
        let large = r"^(\pL{1,40})$";
        Patterns::of(&budget).get("a").unwrap();
        let small = budget.used();
        Patterns::of(&budget).get("a").unwrap();
        assert_eq!(budget.used(), small);
        Patterns::of(&budget).get(large).unwrap();
        assert!(budget.used() > 20 * small);
        let nested = "((a{1,100}){1,100}){1,100}";
        assert!(matches!(
            Patterns::of(&budget).get(nested),
            Err(Fault::Invalid(_))
        ));
        let used = budget.used();
        assert!(Patterns::of(&budget).get(nested).is_err());
        assert_eq!(budget.used(), used);
        let few = Budget::of(100);
        assert!(matches!(
            Patterns::of(&few).get("a"),
            Err(Fault::Exceeded(_))
        ));
    }

    #[test]
    fn matching_takes_steps_by_the_length_of_text_and_program() {
        let budget = Budget::default();
        let pattern = Patterns::of(&budget).get("(a|b)*a(a|b){200}").unwrap();
        let text = "ab".repeat(1 << 19);
        assert!(pattern.matches(&text[..100]).is_ok());
        while pattern.matches(&text).is_ok() {}
        assert!(budget.is_spent(windlass_source::budget::Resource::Steps));
    }
}
