//! Folders read into trees, and trees written: a folder is old or new, and nothing is left behind.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::files::{Privacy, is_folder, parent, write_new};
use super::input::{self, Limits};
use super::staging::{self, Staging};
use super::{Difference, WorldError, compare};
use windlass_source::names;
use windlass_source::tree::Tree;

/// What to do with a target that holds something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reject to write.
    Create,
    /// Overwrite the files of the tree. Foreign files stay and are reported: `--to ~ --force` must
    /// not empty a home.
    Force,
    /// Write nothing, only compare (`--check`).
    Check,
}

/// What became of a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It holds exactly the tree now; it did not before.
    Written,
    /// It held exactly the tree before.
    Unchanged,
    /// With [`Mode::Force`]: it holds the tree and these foreign files.
    WrittenBeside(Vec<String>),
    /// With [`Mode::Check`]: it differs.
    Differs(Difference),
}

/// Reads the files of a folder, at any depth, without hidden ones and without links.
///
/// # Errors
/// The folder is missing or unreadable, or larger than `limits`.
pub fn read_tree(folder: &str, limits: Limits) -> Result<Tree, WorldError> {
    if Path::new(folder).is_file() {
        return Err(WorldError::Unreadable {
            path: folder.to_owned(),
            reason: "it is a file, not a folder".to_owned(),
        });
    }
    let mut paths = Vec::new();
    input::walk(folder, limits, &mut |_| true, &mut paths)?;
    let mut tree = Tree::new();
    let mut total = 0;
    for found in paths {
        let path = found.text()?;
        let bytes = input::read_file(Path::new(&path), &path, limits.file_bytes)?;
        total += bytes.len() as u64;
        if total > limits.total_bytes {
            let bound = format!("larger than {} MiB", limits.total_bytes >> 20);
            return Err(WorldError::TooLarge {
                path: folder.to_owned(),
                bound,
                help: "move what does not belong to it to another folder",
            });
        }
        tree.insert(input::relative(&path, folder), bytes);
    }
    Ok(tree)
}

/// Writes a tree to a folder, or compares the two. `verb` is named when the target is rejected
/// (`release build`).
///
/// A new folder appears as a whole, by one rename. Into a folder that is there each file is first
/// written beside, so that a full disk leaves everything as it was, and then renamed; when the
/// process is killed between two renames, nobody reads the folder until the next run has done the
/// others.
///
/// # Errors
/// [`WorldError::Occupied`] with [`Mode::Create`] when the folder holds other content; otherwise
/// what the operating system rejects.
pub fn write_tree(
    folder: &str,
    tree: &Tree,
    mode: Mode,
    privacy: Privacy,
    verb: &str,
) -> Result<Outcome, WorldError> {
    let target = Path::new(folder);
    match mode {
        Mode::Check => reject_unfinished(folder)?,
        _ => staging::finish(target, &|from, path| move_in(target, from, path))
            .map_err(|error| WorldError::writing(folder, &error))?,
    }
    let difference = compare(folder, tree)?;
    if difference.is_empty() {
        return Ok(Outcome::Unchanged);
    }
    match mode {
        Mode::Check => return Ok(Outcome::Differs(difference)),
        Mode::Create if difference.is_occupied() => {
            return Err(WorldError::Occupied {
                path: folder.to_owned(),
                verb: verb.to_owned(),
                difference,
            });
        }
        Mode::Create | Mode::Force => {}
    }
    let foreign = difference.foreign.iter().map(String::as_str);
    if let Some((first, second)) = names::collision(foreign, tree.paths()) {
        return Err(WorldError::colliding(folder, first, second));
    }
    let stale: Vec<&String> = difference
        .modified
        .iter()
        .chain(&difference.missing)
        .collect();
    place(target, tree, &stale, privacy, &mut || {})
        .map_err(|error| WorldError::writing(folder, &error))?;
    Ok(if difference.foreign.is_empty() {
        Outcome::Written
    } else {
        Outcome::WrittenBeside(difference.foreign)
    })
}

/// Rejects a folder that a killed process has left neither old nor new, at any depth.
///
/// # Errors
/// [`WorldError::Unfinished`], or the folder cannot be read.
pub fn reject_unfinished(folder: &str) -> Result<(), WorldError> {
    if !is_folder(Path::new(folder)) {
        return Ok(());
    }
    input::walk(folder, Limits::default(), &mut |_| false, &mut Vec::new())
}

/// Stages the named files of a tree beside their target and moves them in. `step` is called before
/// each change that a reader could see.
fn place(
    target: &Path,
    tree: &Tree,
    paths: &[&String],
    privacy: Privacy,
    step: &mut dyn FnMut(),
) -> io::Result<()> {
    let is_new = !target.exists();
    // Beside a new folder, so that one rename is enough; inside one that is there, which may be the
    // root of a file system.
    let beside = if is_new {
        parent(target)
    } else {
        target.to_owned()
    };
    let mut staging = Staging::new(&beside)?;
    for path in paths {
        if !stays_inside(path) {
            return Err(io::Error::other(format!(
                "the path `{path}` leaves the folder"
            )));
        }
        step();
        let bytes = tree
            .get(path)
            .expect("internal error: the path comes from this tree");
        write_new(&staging.path().join(path), bytes, privacy)?;
        staging.check()?;
    }
    if is_new {
        step();
        return fs::rename(staging.path(), target);
    }
    for path in paths {
        if target.join(path).is_dir() {
            return Err(io::Error::other(format!("`{path}` is a folder")));
        }
        make_way(target, path)?;
    }
    step();
    staging.commit()?;
    for path in paths {
        step();
        fs::rename(staging.path().join(path), target.join(path))?;
    }
    step();
    staging.finished();
    Ok(())
}

/// Makes the folders of a path below the target.
fn make_way(target: &Path, path: &str) -> io::Result<()> {
    if let Some(link) = link_on_the_way(target, path) {
        return Err(io::Error::other(format!(
            "`{}` is a link, which leads out of the folder",
            link.display()
        )));
    }
    fs::create_dir_all(parent(&target.join(path)))
}

/// Moves a file that was left to its place.
fn move_in(target: &Path, from: &Path, path: &Path) -> io::Result<()> {
    make_way(target, &input::with_slashes(&path.to_string_lossy()))?;
    fs::rename(from, target.join(path))
}

/// The first folder of a path below the target that is a link.
fn link_on_the_way(target: &Path, path: &str) -> Option<PathBuf> {
    let mut folder = target.to_owned();
    let (folders, _) = path.rsplit_once('/')?;
    folders.split('/').find_map(|name| {
        folder.push(name);
        fs::symlink_metadata(&folder)
            .is_ok_and(|metadata| metadata.is_symlink())
            .then(|| folder.clone())
    })
}

/// Whether a path of a tree is what it should be: names with `/` between them, and no way up.
fn stays_inside(path: &str) -> bool {
    !path.is_empty()
        && path.split('/').all(|name| {
            matches!(
                Path::new(name).components().collect::<Vec<_>>()[..],
                [Component::Normal(_)]
            )
        })
}

#[cfg(test)]
mod tests;
