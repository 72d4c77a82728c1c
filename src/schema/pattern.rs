//! Regular expressions of schemas, in Go's syntax.

use std::collections::BTreeMap;

use regex::Regex;

use crate::text::go::regexp;

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
        let regex = regexp::compile(source)?;
        Ok(Pattern {
            source: source.to_owned(),
            regex,
        })
    }

    /// Whether the text has a part that matches.
    pub(super) fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// Patterns that were compiled before: CRDs repeat the same few many times.
#[derive(Debug, Default)]
pub(super) struct PatternCache(BTreeMap<String, Pattern>);

impl PatternCache {
    pub(super) fn get(&mut self, source: &str) -> Result<Pattern, String> {
        if let Some(known) = self.0.get(source) {
            return Ok(known.clone());
        }
        let pattern = Pattern::new(source)?;
        self.0.insert(source.to_owned(), pattern.clone());
        Ok(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(
                Pattern::new(pattern).map(|p| p.matches(text)),
                Ok(expected),
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
        assert!(Pattern::new("(").is_err());
        assert!(Pattern::new("(?=a)").is_err());
        assert!(Pattern::new("a\\").is_err());
    }
}
