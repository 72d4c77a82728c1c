//! File patterns as provider.yaml writes them: `config/crd/bases/x_*.yaml`, `rbac/{role,leader_election_role}.yaml`.
//!
//! `*` stands for any characters of one name but a leading dot, `{a,b}` for each of its words, nested too. Nothing else is special.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::WorldError;
use super::input::{not_utf8_name, shown_name};
use crate::text::budget::{Budget, Exceeded};

/// How many patterns the braces of one may stand for.
const MOST_ALTERNATIVES: usize = 1024;
/// Bytes of a pattern; file systems take no longer path.
const LONGEST: usize = 4096;
/// How many files one pattern may stand for.
const MOST_FILES: usize = 100_000;
/// Steps of a question to the file system.
const QUESTION: usize = 1000;

/// What a pattern stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The files, relative to the base as the pattern is, each once, in byte order.
    pub files: Vec<String>,
    /// The alternatives of the braces (or the pattern itself) that no file matches; for the caller to report.
    pub unmatched: Vec<String>,
}

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

/// Why a pattern could not be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpandError {
    /// The pattern is faulty.
    Pattern(PatternError),
    /// A folder cannot be read.
    World(WorldError),
}

impl std::fmt::Display for PatternError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PatternError::UnbalancedBrace => f.write_str("has a brace without its partner"),
            PatternError::TooManyAlternatives => write!(f, "stands for more than {MOST_ALTERNATIVES} patterns"),
            PatternError::TooLong => write!(f, "is longer than {LONGEST} bytes"),
        }
    }
}

/// Finds files by the patterns of one run. A folder is read once, whatever the number of patterns.
#[derive(Debug)]
pub struct Globs<'b> {
    budget: &'b Budget,
    listings: BTreeMap<PathBuf, Listing>,
}

impl<'b> Globs<'b> {
    /// Looks as long as the budget lasts.
    pub fn new(budget: &'b Budget) -> Self {
        Globs { budget, listings: BTreeMap::new() }
    }

    /// Finds the files that a pattern means, below `base` unless the pattern is absolute. Folders are never a match.
    ///
    /// # Errors
    /// The pattern is faulty, which is a finding about the document that holds it; a folder cannot be read; or the budget is spent.
    pub fn expand(&mut self, base: &Path, pattern: &str) -> Result<Expansion, ExpandError> {
        let mut expansion = Expansion::default();
        for alternative in alternatives(pattern).map_err(ExpandError::Pattern)? {
            let before = expansion.files.len();
            self.find(base, &alternative, &mut expansion.files).map_err(ExpandError::World)?;
            if expansion.files.len() == before {
                expansion.unmatched.push(alternative);
            }
        }
        expansion.files.sort_unstable();
        expansion.files.dedup();
        Ok(expansion)
    }

    /// The files that a pattern without braces means.
    fn find(&mut self, base: &Path, pattern: &str, found: &mut Vec<String>) -> Result<(), WorldError> {
        let too_large = |bound: String| WorldError::TooLarge { path: pattern.to_owned(), bound };
        let spent = |spent: Exceeded| too_large(format!("takes {spent}"));
        // Each round takes one name of the pattern; `prefixes` are the folders that matched so far, as the pattern spells them.
        let mut prefixes = vec![String::new()];
        let names: Vec<&str> = pattern.split('/').collect();
        for (at, name) in names.iter().enumerate() {
            let separator = if at + 1 == names.len() { "" } else { "/" };
            let mut next = Vec::new();
            for prefix in &prefixes {
                if name.contains('*') {
                    let entries = self.listing(resolved(base, prefix)).map_err(|fault| fault.unwrap_or_else(|| spent(Exceeded::STEPS)))?;
                    if let Some(odd) = entries.odd.iter().find(|entry| matches(name, entry)) {
                        return Err(not_utf8_name(resolved(base, prefix).join(odd).to_string_lossy().into_owned()));
                    }
                    let matching = entries.names.iter().filter(|entry| matches(name, entry));
                    next.extend(matching.map(|entry| format!("{prefix}{entry}{separator}")));
                } else {
                    next.push(format!("{prefix}{name}{separator}"));
                }
                if next.len() > MOST_FILES {
                    return Err(too_large(format!("stands for more than {MOST_FILES} files")));
                }
            }
            prefixes = next;
        }
        self.budget.charge(prefixes.len() * QUESTION).map_err(spent)?;
        found.extend(prefixes.into_iter().filter(|path| resolved(base, path).is_file()));
        Ok(())
    }

    /// The names in a folder, none when there is no such folder. The error is `None` when the budget is spent.
    fn listing(&mut self, folder: PathBuf) -> Result<&Listing, Option<WorldError>> {
        if !self.listings.contains_key(&folder) {
            self.budget.charge(QUESTION).map_err(|_| None)?;
            let names = names_in(&folder)?;
            self.listings.insert(folder.clone(), names);
        }
        let listing = &self.listings[&folder];
        self.budget.charge(1 + listing.names.len()).map_err(|_| None)?;
        Ok(listing)
    }
}

fn resolved(base: &Path, path: &str) -> PathBuf {
    if path.is_empty() { base.to_owned() } else { base.join(path) }
}

/// The names in a folder.
#[derive(Debug, Default)]
struct Listing {
    names: Vec<String>,
    /// Those that are not UTF-8, with such bytes escaped.
    odd: Vec<String>,
}

fn names_in(folder: &Path) -> Result<Listing, WorldError> {
    match fs::read_dir(folder) {
        Ok(entries) => {
            let mut listing = Listing::default();
            for entry in entries.filter_map(Result::ok) {
                match entry.file_name().into_string() {
                    Ok(name) => listing.names.push(name),
                    Err(name) => listing.odd.push(shown_name(&name)),
                }
            }
            Ok(listing)
        }
        Err(error) if matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => Ok(Listing::default()),
        Err(error) => Err(WorldError::reading(folder.display().to_string(), &error)),
    }
}

/// Whether a name matches a pattern of one name, in which only `*` is special.
pub fn matches(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let pieces: Vec<&str> = pattern.split('*').collect();
    let [first, middle @ .., last] = pieces.as_slice() else { return pattern == name };
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    // The leftmost fit of each piece is always good enough, so this never goes back.
    for piece in middle {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// The patterns that braces stand for, in the order in which they are written, each once.
fn alternatives(pattern: &str) -> Result<Vec<String>, PatternError> {
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
        let Some(BraceGroup { before, words, after }) = first_group(&pattern)? else {
            done.push(pattern);
            continue;
        };
        open.extend(words.iter().rev().map(|word| format!("{before}{word}{after}")));
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
    let Some(open) = pattern.find(['{', '}']) else { return Ok(None) };
    if pattern[open..].starts_with('}') {
        return Err(PatternError::UnbalancedBrace);
    }
    let (mut depth, mut start, mut words) = (0, open + 1, Vec::new());
    for (at, character) in pattern.char_indices().skip_while(|(at, _)| *at <= open) {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => {
                words.push(&pattern[start..at]);
                return Ok(Some(BraceGroup { before: &pattern[..open], words, after: &pattern[at + 1..] }));
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

    /// To ask the file system for one file costs what it costs, whatever else the budget is for.
    #[test]
    fn each_file_that_is_asked_for_is_charged() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.yaml", "b.yaml", "c.yaml"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let files = |pattern: &str| {
            let budget = Budget::default();
            let found = Globs::new(&budget).expand(folder.path(), pattern).map(|expansion| expansion.files.len());
            (found.ok(), usize::try_from(budget.used()).unwrap() / QUESTION)
        };
        assert_eq!(files("a.yaml"), (Some(1), 1));
        assert_eq!(files("{a,b,c}.yaml"), (Some(3), 3));
        // The folder is asked for its names, too.
        assert_eq!(files("*.yaml"), (Some(3), 4));
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
    fn braces_stand_for_each_word() {
        assert_eq!(alternatives("a{b,c{d,e}}f{,g}").unwrap(), ["abf", "abfg", "acdf", "acdfg", "acef", "acefg"]);
        assert_eq!(alternatives(&("{,}".repeat(1000) + "x")).unwrap(), ["x"]);
        assert_eq!(alternatives("a{b").unwrap_err(), PatternError::UnbalancedBrace);
        assert_eq!(alternatives("a}b").unwrap_err(), PatternError::UnbalancedBrace);
        assert_eq!(alternatives(&"{a,b}".repeat(11)).unwrap_err(), PatternError::TooManyAlternatives);
        assert_eq!(alternatives(&"{a,b}".repeat(10_000)).unwrap_err(), PatternError::TooLong);
        assert_eq!(alternatives(&"{a,b}".repeat(10)).unwrap().len(), MOST_ALTERNATIVES);
        // The count goes up by two at a time, from one.
        assert_eq!(alternatives(&"{a,b,c}".repeat(7)).unwrap_err(), PatternError::TooManyAlternatives);
    }

    #[test]
    fn patterns_find_files_in_byte_order() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["crd/x_b.yaml", "crd/x_a.yaml", "crd/y.yaml", "rbac/role.yaml", "rbac/leader.yaml"] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let check = |pattern: &str, files: &[&str], unmatched: &[&str]| {
            let found = Globs::new(&Budget::default()).expand(folder.path(), pattern).unwrap();
            assert_eq!((found.files, found.unmatched), (owned(files), owned(unmatched)), "{pattern}");
        };
        check("crd/x_*.yaml", &["crd/x_a.yaml", "crd/x_b.yaml"], &[]);
        check("rbac/{role,leader,auth}.yaml", &["rbac/leader.yaml", "rbac/role.yaml"], &["rbac/auth.yaml"]);
        check("*/*a*.yaml", &["crd/x_a.yaml", "rbac/leader.yaml"], &[]);
        check("crd/../crd/y.yaml", &["crd/../crd/y.yaml"], &[]);
        check("{crd,crd}/y.yaml", &["crd/y.yaml"], &[]);
        check("none/*.yaml", &[], &["none/*.yaml"]);
        check("crd", &[], &["crd"]);
    }

    #[test]
    fn a_folder_is_read_once_and_many_patterns_cost_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.yaml"), "").unwrap();
        let steps = |patterns: usize| {
            let budget = Budget::default();
            let mut globs = Globs::new(&budget);
            for at in 0..patterns {
                globs.expand(folder.path(), &format!("{{,}}{{,}}{{,}}*{at}.yaml")).unwrap();
            }
            budget.used()
        };
        assert!(steps(800) < 9 * steps(100), "{} {}", steps(100), steps(800));
        let budget = Budget::of(QUESTION as u64);
        let mut globs = Globs::new(&budget);
        assert!(globs.expand(folder.path(), "*").is_err());
    }

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }
}
