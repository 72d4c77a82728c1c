//! Regular expressions of schemas: Go's syntax, written for Rust's engine.
//!
//! Both engines come from RE2 and are linear; they differ in details that schemas use: in Go `\d`, `\w`, `\s` and `\b` are ASCII, a `[`
//! inside a class is a plain character, and there are no set operations. Source: the documentation of Go's `regexp/syntax`.

use std::collections::BTreeMap;

use regex::Regex;

/// A compiled pattern with the text it came from.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    /// As the schema has it; messages quote it.
    pub(super) source: String,
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern written in Go's syntax; the error says why it is none.
    pub(super) fn new(source: &str) -> Result<Self, String> {
        let regex = Regex::new(&translate(source)).map_err(|error| reason(&error))?;
        Ok(Pattern { source: source.to_owned(), regex })
    }

    /// Whether the text has a part that matches.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// The last line of a regex error: the rest draws a caret.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// Patterns that were compiled before: CRDs repeat the same few many times.
#[derive(Debug, Default)]
pub(super) struct PatternCache(BTreeMap<String, Pattern>);

impl PatternCache {
    /// The compiled pattern.
    pub(super) fn get(&mut self, source: &str) -> Result<Pattern, String> {
        if let Some(known) = self.0.get(source) {
            return Ok(known.clone());
        }
        let pattern = Pattern::new(source)?;
        self.0.insert(source.to_owned(), pattern.clone());
        Ok(pattern)
    }
}

/// Rewrites what the two syntaxes read differently; everything else stays as it is, faults included.
fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 16);
    let mut chars = source.chars().peekable();
    // Inside a class: how many characters of it were read. `]` as the first one is a plain character.
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
                out.push_str(if chars.peek() == Some(&':') { "[" } else { "\\[" });
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
fn push_escape(out: &mut String, escaped: Option<char>, in_class: bool, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
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

    #[test]
    fn patterns_match_as_in_go() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(Pattern::new(pattern).map(|p| p.matches(text)), Ok(expected), "{pattern} on {text:?}");
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
        assert!(Pattern::new("(").is_err());
        assert!(Pattern::new("(?=a)").is_err());
        assert!(Pattern::new("a\\").is_err());
    }
}
