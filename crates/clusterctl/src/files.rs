//! What clusterctl reads of the world, as an interface: the engine never touches a file.

use std::collections::BTreeSet;

use windlass_go_text::path::clean;
use windlass_source::tree::Tree;

/// Why a file or folder cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileFault {
    /// It is not there.
    Missing,
    /// A file was asked for, and a folder is there.
    IsFolder,
    /// The operating system's reason: `permission denied`.
    Other(String),
}

impl FileFault {
    /// The reason as Go words it.
    pub fn reason(&self) -> &str {
        match self {
            FileFault::Missing => "no such file or directory",
            FileFault::IsFolder => "is a directory",
            FileFault::Other(reason) => reason,
        }
    }
}

/// Folders that can be read. Paths have `/` between their parts; relative ones start at the working
/// folder.
pub trait Files {
    /// The bytes of a file; links are followed.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileFault>;

    /// Whether a file or folder is there; links are followed.
    fn exists(&self, path: &str) -> bool;

    /// What is directly in a folder, in byte order of the names; links as links.
    ///
    /// # Errors
    /// When there is no such folder, or it cannot be read.
    fn entries(&self, path: &str) -> Result<Vec<Entry>, FileFault>;
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A file.
    File,
    /// A symbolic link, whatever it leads to.
    Link,
}

/// A tree is the root folder `/`; for tests, and for repositories that are no folder yet.
impl Files for Tree {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileFault> {
        let path = clean(path);
        let path = path.trim_start_matches('/');
        match self.get(path) {
            Some(bytes) => Ok(bytes.to_vec()),
            None if holds(self, path) => Err(FileFault::IsFolder),
            None => Err(FileFault::Missing),
        }
    }

    fn exists(&self, path: &str) -> bool {
        !matches!(self.read(path), Err(FileFault::Missing))
    }

    fn entries(&self, path: &str) -> Result<Vec<Entry>, FileFault> {
        let path = clean(path);
        let path = path.trim_start_matches('/');
        if !holds(self, path) {
            return Err(FileFault::Missing);
        }
        let below = self.paths().filter_map(|file| {
            file.strip_prefix(path)
                .filter(|rest| path.is_empty() || rest.starts_with('/'))
        });
        let entries = below.map(|rest| match rest.trim_start_matches('/').split_once('/') {
            Some((folder, _)) => Entry {
                name: folder.to_owned(),
                kind: EntryKind::Folder,
            },
            None => Entry {
                name: rest.trim_start_matches('/').to_owned(),
                kind: EntryKind::File,
            },
        });
        Ok(entries.collect::<BTreeSet<_>>().into_iter().collect())
    }
}

fn holds(tree: &Tree, folder: &str) -> bool {
    folder.is_empty()
        || tree.paths().any(|file| {
            file.strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_a_root_folder() {
        let tree = Tree::from_iter([
            ("r/p/v1.0.0/f", "x"),
            ("r/p/v2.0.0/g/h", ""),
            ("r/p/note", ""),
        ]);
        assert_eq!(tree.read("/r/p/v1.0.0/f"), Ok(b"x".to_vec()));
        assert_eq!(tree.read("/r/p/v1.0.0"), Err(FileFault::IsFolder));
        assert_eq!(tree.read("/r/x"), Err(FileFault::Missing));
        let entry = |name: &str, kind| Entry {
            name: name.to_owned(),
            kind,
        };
        let folders = ["v1.0.0", "v2.0.0"].map(|name| entry(name, EntryKind::Folder));
        assert_eq!(
            tree.entries("/r/p"),
            Ok([&[entry("note", EntryKind::File)][..], &folders].concat())
        );
        assert_eq!(tree.entries("/r/q"), Err(FileFault::Missing));
    }
}
