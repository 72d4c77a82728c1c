//! How a folder differs from the tree that is to stand there.

/// What a target folder holds, compared with what it should hold. Each list is in byte order, paths
/// relative to the folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Files that are there with other bytes.
    pub modified: Vec<String>,
    /// Files that are not there.
    pub missing: Vec<String>,
    /// Files that are there and should not be. At most [`Difference::MOST_FOREIGN`]; the rest is
    /// not looked at.
    pub foreign: Vec<String>,
}

impl Difference {
    /// How many foreign files are listed at most: a target that was named by mistake may hold a
    /// million.
    pub const MOST_FOREIGN: usize = 1000;

    /// Whether the folder is exactly what it should be.
    pub fn is_empty(&self) -> bool {
        self.modified.is_empty() && self.missing.is_empty() && self.foreign.is_empty()
    }

    /// Whether writing would destroy or mix with something that is there.
    pub fn is_occupied(&self) -> bool {
        !self.modified.is_empty() || !self.foreign.is_empty()
    }

    /// Why `verb` does not write to `target`.
    pub(super) fn rejection(&self, target: &str, verb: &str) -> String {
        // No more of them are looked for.
        let more = if self.foreign.len() >= Self::MOST_FOREIGN {
            " or more"
        } else {
            ""
        };
        let foreign = || {
            format!(
                "{} that no {verb} wrote: {}",
                files(self.foreign.len(), more),
                list(&self.foreign)
            )
        };
        let modified = || {
            format!(
                "{} with other content: {}",
                files(self.modified.len(), ""),
                list(&self.modified)
            )
        };
        match (self.modified.is_empty(), self.foreign.is_empty()) {
            (true, _) => format!("{target} holds {}", foreign()),
            (false, true) => format!("{target} holds {}", modified()),
            (false, false) => format!("{target} holds {}, and {}", modified(), foreign()),
        }
    }
}

fn files(count: usize, more: &str) -> String {
    let word = if count == 1 { "file" } else { "files" };
    format!("{count}{more} {word}")
}

/// The first names; enough to recognise the folder.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut text = names
        .iter()
        .take(SHOWN)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(", …");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(modified: &[&str], foreign: &[&str], expected: &str) {
        let own = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
        let difference = Difference {
            modified: own(modified),
            missing: Vec::new(),
            foreign: own(foreign),
        };
        assert_eq!(difference.rejection("out", "release build"), expected);
    }

    #[test]
    fn rejections_list_what_is_there() {
        check(
            &[],
            &["notes.md", "x.tgz"],
            "out holds 2 files that no release build wrote: notes.md, x.tgz",
        );
        check(&["a"], &[], "out holds 1 file with other content: a");
        check(
            &["a"],
            &["b"],
            "out holds 1 file with other content: a, and 1 file that no release build wrote: b",
        );
        check(
            &[],
            &["1", "2", "3", "4", "5", "6"],
            "out holds 6 files that no release build wrote: 1, 2, 3, 4, 5, …",
        );
        check(
            &[],
            &["1", "2", "3", "4", "5"],
            "out holds 5 files that no release build wrote: 1, 2, 3, 4, 5",
        );
    }

    /// Foreign files are looked for until there are a thousand; what was written is known exactly.
    #[test]
    fn only_foreign_files_are_counted_up_to_a_bound() {
        let first = "a, a, a, a, a, …";
        check(
            &[],
            &["a"; 999],
            &format!("out holds 999 files that no release build wrote: {first}"),
        );
        check(
            &[],
            &["a"; 1000],
            &format!("out holds 1000 or more files that no release build wrote: {first}"),
        );
        check(
            &["a"; 1500],
            &[],
            &format!("out holds 1500 files with other content: {first}"),
        );
    }

    /// Only what is there already can be destroyed or mixed with.
    #[test]
    fn a_folder_is_occupied_by_what_is_there() {
        let list = |is_some: bool| {
            if is_some {
                vec!["a".to_owned()]
            } else {
                Vec::new()
            }
        };
        for number in 0..8 {
            let [is_modified, is_missing, is_foreign] = [1, 2, 4].map(|bit| number & bit != 0);
            let difference = Difference {
                modified: list(is_modified),
                missing: list(is_missing),
                foreign: list(is_foreign),
            };
            assert_eq!(difference.is_empty(), number == 0, "{difference:?}");
            assert_eq!(
                difference.is_occupied(),
                is_modified || is_foreign,
                "{difference:?}"
            );
        }
    }
}
