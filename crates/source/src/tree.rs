//! A folder in memory: relative paths and bytes, in order. What is emitted is a `Tree` long before
//! it is a folder.

use std::collections::BTreeMap;
use std::collections::btree_map;

/// Files by relative path, with `/` between the parts, in byte order of the paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree {
    files: BTreeMap<String, Vec<u8>>,
}

/// The difference of a file between an old and a new tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Only the new tree has the file.
    Added,
    /// Only the old tree has the file.
    Removed,
    /// Both trees have the file, with different bytes.
    Modified,
}

impl Tree {
    /// A tree without files.
    pub fn new() -> Self {
        Tree::default()
    }

    /// Puts a file into the tree; returns the bytes that were there before.
    pub fn insert(
        &mut self,
        path: impl Into<String>,
        bytes: impl Into<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        self.files.insert(path.into(), bytes.into())
    }

    /// The bytes of a file.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The paths, in order.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Whether there is a file of this path, or one below a folder of this path.
    pub fn holds(&self, path: &str) -> bool {
        let below = format!("{path}/");
        self.get(path).is_some()
            || self
                .files
                .range(below.clone()..)
                .next()
                .is_some_and(|(first, _)| first.starts_with(&below))
    }

    /// The files, in order of their paths.
    pub fn iter(&self) -> btree_map::Iter<'_, String, Vec<u8>> {
        self.files.iter()
    }

    /// The files below a folder, as a tree whose paths start there.
    pub fn subtree(&self, folder: &str) -> Tree {
        let prefix = format!("{folder}/");
        self.files
            .range(prefix.clone()..)
            .take_while(|(path, _)| path.starts_with(&prefix))
            .map(|(path, bytes)| (path[prefix.len()..].to_owned(), bytes.clone()))
            .collect()
    }

    /// What changes from `self` to `new`, in order of the paths; empty when both hold the same
    /// bytes.
    pub fn diff<'a>(&'a self, new: &'a Tree) -> Vec<(&'a str, Change)> {
        let mut changes: Vec<_> = self
            .files
            .iter()
            .filter_map(|(path, bytes)| match new.get(path) {
                None => Some((path.as_str(), Change::Removed)),
                Some(other) if other != bytes.as_slice() => Some((path.as_str(), Change::Modified)),
                Some(_) => None,
            })
            .collect();
        changes.extend(
            new.paths()
                .filter(|path| self.get(path).is_none())
                .map(|path| (path, Change::Added)),
        );
        changes.sort_by_key(|(path, _)| *path);
        changes
    }
}

impl<P: Into<String>, B: Into<Vec<u8>>> FromIterator<(P, B)> for Tree {
    fn from_iter<T: IntoIterator<Item = (P, B)>>(iter: T) -> Self {
        let files = iter.into_iter();
        Tree {
            files: files
                .map(|(path, bytes)| (path.into(), bytes.into()))
                .collect(),
        }
    }
}

impl<'a> IntoIterator for &'a Tree {
    type Item = (&'a String, &'a Vec<u8>);
    type IntoIter = btree_map::Iter<'a, String, Vec<u8>>;

    fn into_iter(self) -> Self::IntoIter {
        self.files.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().copied().collect()
    }

    #[test]
    fn diff_names_each_change_once_in_order() {
        let old = tree(&[("a", "1"), ("b", "1"), ("d", "1")]);
        let new = tree(&[("a", "1"), ("b", "2"), ("c", "1")]);
        assert_eq!(
            old.diff(&new),
            [
                ("b", Change::Modified),
                ("c", Change::Added),
                ("d", Change::Removed)
            ]
        );
        assert!(old.diff(&old).is_empty());
    }

    #[test]
    fn folders_are_there_by_their_files() {
        let all = tree(&[("x-y", ""), ("x/a/b", "1")]);
        let known = ["x", "x/a", "x/a/b", "x-y"];
        assert!(known.iter().all(|path| all.holds(path)));
        assert!(
            !["", "x/", "x-", "x/a/b/c", "y", "x/a/"]
                .iter()
                .any(|path| all.holds(path))
        );
    }

    #[test]
    fn subtree_takes_the_files_below_one_folder() {
        let all = tree(&[("x", ""), ("x/a", "1"), ("x/b/c", "2"), ("xy/a", "3")]);
        assert_eq!(all.subtree("x"), tree(&[("a", "1"), ("b/c", "2")]));
    }
}
