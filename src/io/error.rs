//! What the world can reject: exit code 2.

use std::fmt;
use std::io;

use super::Difference;
use windlass_source::url::without_credentials;

/// A failure that is nobody's document: a file that is not there, a full disk, a folder that holds
/// something else.
///
/// `Display` is one lower-case phrase that begins with the file; [`WorldError::help`] says what to
/// type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorldError {
    /// A file or folder that was named is not there.
    Missing {
        /// As the user wrote it.
        path: String,
        /// A neighbour with nearly the same name.
        similar: Option<String>,
    },
    /// The operating system does not allow reading.
    Unreadable {
        /// As the user wrote it.
        path: String,
        /// Why, in a few words.
        reason: String,
    },
    /// The operating system does not allow writing.
    Unwritable {
        /// As the user wrote it.
        path: String,
        /// Why, in a few words.
        reason: String,
    },
    /// A file or folder is larger than we read.
    TooLarge {
        /// As the user wrote it.
        path: String,
        /// What is too many or too much, and the bound.
        bound: String,
        /// What to do.
        help: &'static str,
    },
    /// A folder or file is in the way, and `--force` was not given.
    Occupied {
        /// The target as the user wrote it.
        path: String,
        /// The command that would have written it, without the program's name: `release build`.
        verb: String,
        /// What is there.
        difference: Difference,
    },
    /// A process was killed while it moved files into a folder, so that some are old and some new.
    Unfinished {
        /// The folder.
        path: String,
    },
    /// Two files that are one on macOS or Windows.
    Colliding {
        /// The folder in which they would be.
        path: String,
        /// One of them.
        first: String,
        /// The other one.
        second: String,
    },
    /// Ctrl-C while files were written; nothing is left behind.
    Interrupted,
}

impl WorldError {
    /// Turns a failure to read `path` into words.
    pub fn reading(path: impl Into<String>, error: &io::Error) -> Self {
        let path = path.into();
        match error.kind() {
            io::ErrorKind::NotFound => WorldError::Missing {
                path,
                similar: None,
            },
            _ => WorldError::Unreadable {
                path,
                reason: reason(error),
            },
        }
    }

    /// Turns a failure to write `path` into words.
    pub fn writing(path: impl Into<String>, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::Interrupted => WorldError::Interrupted,
            _ => WorldError::Unwritable {
                path: path.into(),
                reason: reason(error),
            },
        }
    }

    /// Two files of a folder that are one on macOS or Windows.
    pub(crate) fn colliding(path: &str, first: &str, second: &str) -> Self {
        WorldError::Colliding {
            path: path.to_owned(),
            first: first.to_owned(),
            second: second.to_owned(),
        }
    }

    /// What to do; `None` where there is nothing to type.
    pub fn help(&self) -> Option<String> {
        match self {
            WorldError::Missing {
                similar: Some(similar),
                ..
            } => Some(format!("did you mean {similar}?")),
            WorldError::Occupied { .. } => {
                Some("choose another folder or pass `--force`".to_owned())
            }
            WorldError::TooLarge { help, .. } => Some((*help).to_owned()),
            WorldError::Unfinished { .. } => {
                Some("run the command that wrote it again, with `--force`".to_owned())
            }
            WorldError::Colliding { .. } => Some("rename one of the two".to_owned()),
            _ => None,
        }
    }
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A user may name a URL where a path is expected.
        match self {
            WorldError::Missing { path, .. } => {
                write!(f, "{}: no such file", without_credentials(path))
            }
            WorldError::Unreadable { path, reason } => {
                write!(f, "{}: cannot be read: {reason}", without_credentials(path))
            }
            WorldError::Unwritable { path, reason } => {
                write!(
                    f,
                    "{}: cannot be written: {reason}",
                    without_credentials(path)
                )
            }
            WorldError::TooLarge { path, bound, .. } => {
                write!(f, "{}: {bound}", without_credentials(path))
            }
            WorldError::Occupied {
                path,
                verb,
                difference,
            } => f.write_str(&difference.rejection(&without_credentials(path), verb)),
            WorldError::Unfinished { path } => write!(
                f,
                "{path}: some of its files are old and some new, because a run was killed"
            ),
            WorldError::Colliding {
                path,
                first,
                second,
            } => write!(
                f,
                "{path}: {first} and {second} are one file on macOS or Windows: they differ only in case or Unicode form"
            ),
            WorldError::Interrupted => f.write_str("interrupted; nothing was left"),
        }
    }
}

impl std::error::Error for WorldError {}

/// The operating system's reason without Rust's error number.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut characters = text.chars();
    characters
        .next()
        .map(|first| first.to_lowercase().chain(characters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_lower_case_and_without_numbers() {
        let error = WorldError::reading("a.yaml", &io::Error::from_raw_os_error(13));
        assert_eq!(
            error.to_string(),
            "a.yaml: cannot be read: permission denied"
        );
        assert_eq!(
            WorldError::reading("a.yaml", &io::Error::from_raw_os_error(2)).to_string(),
            "a.yaml: no such file"
        );
    }

    #[test]
    fn a_missing_file_names_its_neighbour() {
        let error = WorldError::Missing {
            path: "worker.yml".to_owned(),
            similar: Some("worker.yaml".to_owned()),
        };
        assert_eq!(error.help().as_deref(), Some("did you mean worker.yaml?"));
    }

    #[test]
    fn each_failure_is_told_with_what_to_do() {
        let difference = || Difference {
            foreign: vec!["b".to_owned()],
            ..Difference::default()
        };
        let (path, reason) = (|| "a".to_owned(), || "no".to_owned());
        let occupied = WorldError::Occupied {
            path: path(),
            verb: "init".to_owned(),
            difference: difference(),
        };
        let too_large = WorldError::TooLarge {
            path: path(),
            bound: "more than 1 files".to_owned(),
            help: "leave some",
        };
        let failures = [
            (
                WorldError::Missing {
                    path: path(),
                    similar: None,
                },
                "a: no such file",
                None,
            ),
            (
                WorldError::Unreadable {
                    path: path(),
                    reason: reason(),
                },
                "a: cannot be read: no",
                None,
            ),
            (
                WorldError::Unwritable {
                    path: path(),
                    reason: reason(),
                },
                "a: cannot be written: no",
                None,
            ),
            (too_large, "a: more than 1 files", Some("leave some")),
            (
                occupied,
                "a holds 1 file that no init wrote: b",
                Some("choose another folder or pass `--force`"),
            ),
            (
                WorldError::Unfinished { path: path() },
                "a: some of its files are old and some new, because a run was killed",
                Some("run the command that wrote it again, with `--force`"),
            ),
            (
                WorldError::colliding("a", "b", "B"),
                "a: b and B are one file on macOS or Windows: they differ only in case or Unicode form",
                Some("rename one of the two"),
            ),
            (
                WorldError::Interrupted,
                "interrupted; nothing was left",
                None,
            ),
        ];
        for (failure, told, help) in failures {
            assert_eq!(
                (failure.to_string().as_str(), failure.help().as_deref()),
                (told, help)
            );
        }
        let interrupted = io::Error::from(io::ErrorKind::Interrupted);
        assert_eq!(
            WorldError::writing("a", &interrupted),
            WorldError::Interrupted
        );
    }
}
