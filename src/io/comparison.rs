//! Compares a folder with the tree that is to stand there.

use std::fs;
use std::io;
use std::path::Path;

use super::input::{self, Limits};
use super::{Difference, WorldError};
use windlass_source::tree::Tree;

/// Compares a folder with the tree that is to stand there. A folder that is missing is an empty
/// one. Hidden files do not count.
///
/// # Errors
/// The folder or one of the tree's files is there and cannot be read.
pub fn compare(folder: &str, tree: &Tree) -> Result<Difference, WorldError> {
    let mut difference = Difference::default();
    match fs::metadata(folder) {
        Ok(metadata) if !metadata.is_dir() => {
            return Err(WorldError::Unwritable {
                path: folder.to_owned(),
                reason: "it is a file, not a folder".to_owned(),
            });
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            difference.missing = tree.paths().map(str::to_owned).collect();
            return Ok(difference);
        }
        Err(error) => return Err(WorldError::reading(folder, &error)),
    }
    for (path, bytes) in tree {
        match same_bytes(&Path::new(folder).join(path), bytes) {
            Ok(true) => {}
            Ok(false) => difference.modified.push(path.clone()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                difference.missing.push(path.clone())
            }
            Err(error) => return Err(WorldError::reading(format!("{folder}/{path}"), &error)),
        }
    }
    difference.foreign = foreign(folder, tree)?;
    Ok(difference)
}

/// Files of a folder that are not in the tree, as many as are listed.
fn foreign(folder: &str, tree: &Tree) -> Result<Vec<String>, WorldError> {
    let mut paths = Vec::new();
    let limits = Limits {
        files: usize::MAX,
        depth: 16,
        ..Limits::default()
    };
    let mut seen = 0;
    let enough = Difference::MOST_FOREIGN + tree.len();
    let walked = input::walk(
        folder,
        limits,
        &mut |_| {
            seen += 1;
            seen <= enough
        },
        &mut paths,
    );
    let mut foreign: Vec<String> = paths
        .iter()
        .map(|found| input::relative(&found.shown, folder))
        .filter(|path| tree.get(path).is_none())
        .collect();
    match walked {
        // Too deep or unreadable inside: the foreign files that were found on the way say enough.
        Err(WorldError::TooLarge { .. } | WorldError::Unreadable { .. }) if !foreign.is_empty() => {
        }
        Err(WorldError::TooLarge { path, bound, .. }) => {
            return Err(WorldError::TooLarge {
                path,
                bound,
                help: "choose another folder, or remove this one",
            });
        }
        other => other?,
    }
    foreign.sort_unstable();
    foreign.truncate(Difference::MOST_FOREIGN);
    Ok(foreign)
}

fn same_bytes(path: &Path, bytes: &[u8]) -> io::Result<bool> {
    let metadata = fs::metadata(path)?;
    Ok(metadata.is_file() && metadata.len() == bytes.len() as u64 && fs::read(path)? == bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of files that all hold `1`; they stand in the folder, too, when one is given.
    fn tree(paths: &[&str], within: Option<&Path>) -> Tree {
        let tree: Tree = paths
            .iter()
            .map(|path| ((*path).to_owned(), b"1".to_vec()))
            .collect();
        for (path, bytes) in within.iter().flat_map(|folder| {
            tree.iter()
                .map(move |(path, bytes)| (folder.join(path), bytes))
        }) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        tree
    }

    /// A folder that goes deeper than anybody's release is somebody else's where a foreign file
    /// shows it; where none does, it is not checked.
    #[test]
    fn what_cannot_be_walked_is_foreign_only_where_a_foreign_file_was_found() {
        let base = tempfile::tempdir().unwrap();
        let own = tree(&["a"], Some(base.path()));
        let folder = base.path().to_str().unwrap();
        fs::create_dir_all(base.path().join(["d"; 17].join("/"))).unwrap();
        let rejected = compare(folder, &own).unwrap_err();
        let deep = format!(
            "{folder}/{}: more than 16 folders deep",
            ["d"; 17].join("/")
        );
        assert_eq!(
            (rejected.to_string(), rejected.help()),
            (
                deep,
                Some("choose another folder, or remove this one".to_owned())
            )
        );
        fs::write(base.path().join("notes.md"), "mine").unwrap();
        assert_eq!(compare(folder, &own).unwrap().foreign, ["notes.md"]);
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_looked_at_is_neither_missing_nor_modified() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().to_str().unwrap();
        fs::write(base.path().join("file"), "").unwrap();
        std::os::unix::fs::symlink("loop", base.path().join("loop")).unwrap();
        let rejected = |folder: &str, path: &str| match compare(folder, &tree(&[path], None)) {
            Err(WorldError::Unreadable { path, .. }) => path,
            other => panic!("{other:?}"),
        };
        let below_a_file = format!("{folder}/file/out");
        assert_eq!(rejected(&below_a_file, "a"), below_a_file);
        assert_eq!(rejected(folder, "loop"), format!("{folder}/loop"));
    }

    /// As many as are listed at all, however many of ours lie among them.
    #[test]
    fn a_thousand_foreign_files_are_found_among_our_own() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().to_str().unwrap();
        let own = tree(&["own/a", "own/b", "own/c"], Some(base.path()));
        let names: Vec<String> = (0..1000).map(|n| format!("{n:04}")).collect();
        names
            .iter()
            .for_each(|name| fs::write(base.path().join(name), "").unwrap());
        assert_eq!(compare(folder, &own).unwrap().foreign, names);
        assert_eq!(compare(folder, &Tree::new()).unwrap().foreign.len(), 1000);
    }

    #[test]
    fn a_folder_is_looked_at_sixteen_folders_deep() {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir_all(base.path().join(["d"; 16].join("/"))).unwrap();
        assert_eq!(
            compare(base.path().to_str().unwrap(), &Tree::new()),
            Ok(Difference::default())
        );
    }
}
