//! Finds the files that patterns mean ([`windlass_source::glob`]).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::WorldError;
use super::input::{not_utf8_name, shown_name};
use windlass_source::budget::{Budget, Exceeded};
use windlass_source::glob::{PatternError, alternatives, matches};

/// How many files one pattern may stand for.
const MOST_FILES: usize = 100_000;
/// Steps of a question to the file system.
const QUESTION: usize = 1000;

/// What a pattern stands for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The files, relative to the base as the pattern is, each once, in byte order.
    pub files: Vec<String>,
    /// The alternatives of the braces (or the pattern itself) that no file matches; for the caller
    /// to report.
    pub unmatched: Vec<String>,
}

/// Why a pattern could not be expanded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpandError {
    /// The pattern is faulty.
    Pattern(PatternError),
    /// A folder cannot be read.
    World(WorldError),
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
        Globs {
            budget,
            listings: BTreeMap::new(),
        }
    }

    /// Finds the files that a pattern means, below `base` unless the pattern is absolute. Folders
    /// are never a match.
    ///
    /// # Errors
    /// The pattern is faulty, which is a finding about the document that holds it; a folder cannot
    /// be read; or the budget is spent.
    pub fn expand(&mut self, base: &Path, pattern: &str) -> Result<Expansion, ExpandError> {
        let mut expansion = Expansion::default();
        for alternative in alternatives(pattern).map_err(ExpandError::Pattern)? {
            let before = expansion.files.len();
            self.find(base, &alternative, &mut expansion.files)
                .map_err(ExpandError::World)?;
            if expansion.files.len() == before {
                expansion.unmatched.push(alternative);
            }
        }
        expansion.files.sort_unstable();
        expansion.files.dedup();
        Ok(expansion)
    }

    /// Collects the files that match a pattern without braces.
    fn find(
        &mut self,
        base: &Path,
        pattern: &str,
        found: &mut Vec<String>,
    ) -> Result<(), WorldError> {
        let too_large = |bound: String| WorldError::TooLarge {
            path: pattern.to_owned(),
            bound,
            help: "name a folder that is further down",
        };
        let spent = |spent: Exceeded| too_large(format!("takes {spent}"));
        // Each round takes one name of the pattern; `prefixes` are the folders that matched so far,
        // as the pattern spells them.
        let mut prefixes = vec![String::new()];
        let names: Vec<&str> = pattern.split('/').collect();
        for (at, name) in names.iter().enumerate() {
            let separator = if at + 1 == names.len() { "" } else { "/" };
            let mut next = Vec::new();
            for prefix in &prefixes {
                if name.contains('*') {
                    let entries = self
                        .listing(resolved(base, prefix))
                        .map_err(|fault| fault.unwrap_or_else(|| spent(Exceeded::STEPS)))?;
                    if let Some(odd) = entries.odd.iter().find(|entry| matches(name, entry)) {
                        return Err(not_utf8_name(
                            resolved(base, prefix)
                                .join(odd)
                                .to_string_lossy()
                                .into_owned(),
                        ));
                    }
                    let matching = entries.names.iter().filter(|entry| matches(name, entry));
                    next.extend(matching.map(|entry| format!("{prefix}{entry}{separator}")));
                } else {
                    next.push(format!("{prefix}{name}{separator}"));
                }
                if next.len() > MOST_FILES {
                    return Err(too_large(format!("matches more than {MOST_FILES} files")));
                }
            }
            prefixes = next;
        }
        self.budget
            .charge(prefixes.len() * QUESTION)
            .map_err(spent)?;
        found.extend(
            prefixes
                .into_iter()
                .filter(|path| resolved(base, path).is_file()),
        );
        Ok(())
    }

    /// The names in a folder, none when there is no such folder. The error is `None` when the
    /// budget is spent.
    fn listing(&mut self, folder: PathBuf) -> Result<&Listing, Option<WorldError>> {
        if !self.listings.contains_key(&folder) {
            self.budget.charge(QUESTION).map_err(|_| None)?;
            let names = names_in(&folder)?;
            self.listings.insert(folder.clone(), names);
        }
        let listing = &self.listings[&folder];
        self.budget
            .charge(1 + listing.names.len())
            .map_err(|_| None)?;
        Ok(listing)
    }
}

fn resolved(base: &Path, path: &str) -> PathBuf {
    if path.is_empty() {
        base.to_owned()
    } else {
        base.join(path)
    }
}

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
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(Listing::default())
        }
        Err(error) => Err(WorldError::reading(folder.display().to_string(), &error)),
    }
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
            let found = Globs::new(&budget)
                .expand(folder.path(), pattern)
                .map(|expansion| expansion.files.len());
            (
                found.ok(),
                usize::try_from(budget.used()).unwrap() / QUESTION,
            )
        };
        assert_eq!(files("a.yaml"), (Some(1), 1));
        assert_eq!(files("{a,b,c}.yaml"), (Some(3), 3));
        // The folder is asked for its names, too.
        assert_eq!(files("*.yaml"), (Some(3), 4));
    }

    #[test]
    fn patterns_find_files_in_byte_order() {
        let folder = tempfile::tempdir().unwrap();
        for file in [
            "crd/x_b.yaml",
            "crd/x_a.yaml",
            "crd/y.yaml",
            "rbac/role.yaml",
            "rbac/leader.yaml",
        ] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let check = |pattern: &str, files: &[&str], unmatched: &[&str]| {
            let found = Globs::new(&Budget::default())
                .expand(folder.path(), pattern)
                .unwrap();
            assert_eq!(
                (found.files, found.unmatched),
                (owned(files), owned(unmatched)),
                "{pattern}"
            );
        };
        check("crd/x_*.yaml", &["crd/x_a.yaml", "crd/x_b.yaml"], &[]);
        check(
            "rbac/{role,leader,auth}.yaml",
            &["rbac/leader.yaml", "rbac/role.yaml"],
            &["rbac/auth.yaml"],
        );
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
                globs
                    .expand(folder.path(), &format!("{{,}}{{,}}{{,}}*{at}.yaml"))
                    .unwrap();
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

    /// A pattern may stand for a hundred thousand files, whatever names it spells them with.
    #[test]
    fn a_pattern_stands_for_a_bounded_number_of_files() {
        let folder = tempfile::tempdir().unwrap();
        let pattern = ["*"; 5].join("/../");
        let expand = || {
            let budget = Budget::default();
            Globs::new(&budget).expand(folder.path(), &pattern)
        };
        (0..10).for_each(|n| fs::create_dir(folder.path().join(n.to_string())).unwrap());
        assert_eq!(
            expand(),
            Ok(Expansion {
                files: Vec::new(),
                unmatched: vec![pattern.clone()]
            }),
            "these are folders"
        );
        fs::create_dir(folder.path().join("more")).unwrap();
        let bound = "matches more than 100000 files".to_owned();
        let rejected = WorldError::TooLarge {
            path: pattern.clone(),
            bound,
            help: "name a folder that is further down",
        };
        assert_eq!(expand(), Err(ExpandError::World(rejected)));
    }

    /// A folder costs a question, and each look at its names what they are and one.
    #[test]
    fn each_look_at_a_folder_is_charged() {
        let folder = tempfile::tempdir().unwrap();
        ["a.yaml", "b.yaml", "c.yaml"]
            .iter()
            .for_each(|name| fs::write(folder.path().join(name), "").unwrap());
        let budget = Budget::default();
        let mut globs = Globs::new(&budget);
        globs.expand(folder.path(), "*.yaml").unwrap();
        assert_eq!(budget.used(), 1000 + (1 + 3) + 3 * 1000);
        globs.expand(folder.path(), "*.json").unwrap();
        assert_eq!(budget.used(), 4004 + (1 + 3), "the names are known");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_cannot_be_read_and_a_name_that_is_no_text_are_told() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let shown = folder.path().display();
        std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
        fs::write(folder.path().join("file"), "").unwrap();
        let expand = |pattern: &str| Globs::new(&Budget::default()).expand(folder.path(), pattern);
        assert!(expand("file/*").is_ok_and(|found| found.files.is_empty()));
        let Err(ExpandError::World(WorldError::Unreadable { path, .. })) = expand("loop/*") else {
            panic!("it leads to itself")
        };
        assert_eq!(path, format!("{shown}/loop/"));
        fs::write(
            folder
                .path()
                .join(std::ffi::OsStr::from_bytes(b"odd\xff.yaml")),
            "",
        )
        .unwrap();
        let Err(ExpandError::World(rejected)) = expand("o*.yaml") else {
            panic!("no document can name it")
        };
        assert_eq!(
            rejected.to_string(),
            format!("{shown}/odd\\xff.yaml: cannot be read: its name is not UTF-8")
        );
        assert!(expand("*.json").is_ok(), "it is asked for by no pattern");
    }
}
