//! File patterns as provider.yaml and windlass.toml write them: `config/crd/bases/x_*.yaml`,
//! `rbac/{role,leader_election_role}.yaml`.
//!
//! `*` stands for any characters of one name but a leading dot, `{a,b}` for each of its words,
//! nested too. Nothing else is special.

use std::collections::BTreeSet;
use std::fmt;

/// How many patterns the braces of one may stand for.
const MOST_ALTERNATIVES: usize = 1024;
/// Bytes of a pattern; file systems take no longer path.
const LONGEST: usize = 4096;

/// Why a pattern is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternError {
    /// `{` without `}` or the other way round.
    UnbalancedBrace,
    /// The braces stand for too many patterns.
    TooManyAlternatives,
    /// No path is that long.
    TooLong,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternError::UnbalancedBrace => f.write_str("has a brace without its partner"),
            PatternError::TooManyAlternatives => {
                write!(f, "matches more than {MOST_ALTERNATIVES} patterns")
            }
            PatternError::TooLong => write!(f, "is longer than {LONGEST} bytes"),
        }
    }
}

/// Whether a name matches a pattern of one name, in which only `*` is special.
pub fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let pieces: Vec<&str> = pattern.split('*').collect();
    let [first, middle @ .., last] = pieces.as_slice() else {
        return pattern == name;
    };
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    // The leftmost fit of each piece is always good enough, so this never goes back.
    for piece in middle {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// A path without `.` and empty names, and without `NAME/..`.
pub fn plain(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}

/// Whether a pattern without braces means a file, or a folder above it. Both are paths without `.`
/// in them.
pub fn covers(pattern: &str, path: &str) -> bool {
    let mut names = path.split('/');
    pattern
        .split('/')
        .all(|pattern| names.next().is_some_and(|name| matches(pattern, name)))
}

/// The patterns that braces stand for, in the order in which they are written, each once.
///
/// # Errors
/// The pattern is faulty.
pub fn alternatives(pattern: &str) -> Result<Vec<String>, PatternError> {
    if pattern.len() > LONGEST {
        return Err(PatternError::TooLong);
    }
    let mut done = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![pattern.to_owned()];
    while let Some(pattern) = open.pop() {
        if !seen.insert(pattern.clone()) {
            continue;
        }
        let Some(BraceGroup {
            before,
            words,
            after,
        }) = first_group(&pattern)?
        else {
            done.push(pattern);
            continue;
        };
        open.extend(
            words
                .iter()
                .rev()
                .map(|word| format!("{before}{word}{after}")),
        );
        if done.len() + open.len() > MOST_ALTERNATIVES {
            return Err(PatternError::TooManyAlternatives);
        }
    }
    Ok(done)
}

/// A pattern around its first brace group.
struct BraceGroup<'a> {
    before: &'a str,
    words: Vec<&'a str>,
    after: &'a str,
}

/// Splits a pattern at its first brace group; `None` when it has no braces.
fn first_group(pattern: &str) -> Result<Option<BraceGroup<'_>>, PatternError> {
    let Some(open) = pattern.find(['{', '}']) else {
        return Ok(None);
    };
    if pattern[open..].starts_with('}') {
        return Err(PatternError::UnbalancedBrace);
    }
    let (mut depth, mut start, mut words) = (0, open + 1, Vec::new());
    for (at, character) in pattern.char_indices().skip_while(|(at, _)| *at <= open) {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => {
                words.push(&pattern[start..at]);
                return Ok(Some(BraceGroup {
                    before: &pattern[..open],
                    words,
                    after: &pattern[at + 1..],
                }));
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                words.push(&pattern[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    Err(PatternError::UnbalancedBrace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_without_dots() {
        for (path, expected) in [
            ("./config/crd/../rbac/a.yaml", "config/rbac/a.yaml"),
            ("../x/./y", "../x/y"),
            ("a//b", "a/b"),
        ] {
            assert_eq!(plain(path), expected);
        }
    }

    #[test]
    fn stars_stand_for_characters_of_one_name() {
        for (pattern, name, expected) in [
            ("*.yaml", "a.yaml", true),
            ("*.yaml", ".a.yaml", false),
            (".*", ".a", true),
            ("a*b*c", "abc", true),
            ("a*b*c", "axxbxbyc", true),
            ("a*b*c", "axxc", false),
            ("ab*ba", "aba", false),
            ("*", "x", true),
            ("x", "x", true),
            ("x", "xy", false),
            ("a**b", "ab", true),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_pattern_covers_what_lies_below() {
        for (pattern, path, expected) in [
            ("a/b.yaml", "a/b.yaml", true),
            ("a", "a/b/c.yaml", true),
            ("a/*", "a/b/c.yaml", true),
            ("*/c.yaml", "a/b/c.yaml", false),
            ("a/b/c", "a/b", false),
            ("b", "a/b", false),
        ] {
            assert_eq!(covers(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn braces_stand_for_each_word() {
        assert_eq!(
            alternatives("a{b,c{d,e}}f{,g}").unwrap(),
            ["abf", "abfg", "acdf", "acdfg", "acef", "acefg"]
        );
        assert_eq!(alternatives(&("{,}".repeat(1000) + "x")).unwrap(), ["x"]);
        assert_eq!(
            alternatives("a{b").unwrap_err(),
            PatternError::UnbalancedBrace
        );
        assert_eq!(
            alternatives("a}b").unwrap_err(),
            PatternError::UnbalancedBrace
        );
        assert_eq!(
            alternatives(&"{a,b}".repeat(11)).unwrap_err(),
            PatternError::TooManyAlternatives
        );
        assert_eq!(
            alternatives(&"{a,b}".repeat(10_000)).unwrap_err(),
            PatternError::TooLong
        );
        assert_eq!(
            alternatives(&"{a,b}".repeat(10)).unwrap().len(),
            MOST_ALTERNATIVES
        );
        // The count goes up by two at a time, from one.
        assert_eq!(
            alternatives(&"{a,b,c}".repeat(7)).unwrap_err(),
            PatternError::TooManyAlternatives
        );
    }
}
