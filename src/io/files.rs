//! Single files, read and written: never half a file, nothing left behind.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::WorldError;
use super::input::{self, Limits};
use super::staging::Staging;

/// Who may read what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// As the umask says; only the owner writes (mode 0644 at most).
    Public,
    /// Only the owner (mode 0600): the file holds secrets.
    Secret,
}

/// Whether a path leads to a file.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Whether a path leads to a folder.
pub fn is_folder(path: &Path) -> bool {
    path.is_dir()
}

/// The names in a folder and in the folders below it: `a`, `a/b`. A folder that is not there has
/// none.
///
/// # Errors
/// A folder cannot be read.
pub fn two_levels(folder: &str) -> Result<Vec<String>, WorldError> {
    let names = |folder: &Path| match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries?
            .map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<_>>>(),
    };
    let failure = |error: io::Error| WorldError::reading(folder, &error);
    let mut found = Vec::new();
    for name in names(Path::new(folder)).map_err(failure)? {
        let inner = Path::new(folder).join(&name);
        if inner.is_dir() {
            let below = names(&inner).map_err(failure)?;
            found.extend(below.into_iter().map(|below| format!("{name}/{below}")));
        }
        found.push(name);
    }
    Ok(found)
}

/// The path without links, as far as it is there.
pub fn real_path(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let real = |above: &Path| Some((fs::canonicalize(above).ok()?, above.to_owned()));
    match absolute.ancestors().find_map(real) {
        Some((real, above)) => real.join(absolute.strip_prefix(above).unwrap_or(Path::new(""))),
        None => absolute,
    }
}

/// Makes a write beyond the size limit of the process (`ulimit -f`) fail, so that staged files are
/// removed: without a handler the signal ends the process.
pub fn fail_at_size_limit() {
    #[cfg(unix)]
    drop(signal_hook::flag::register(
        signal_hook::consts::SIGXFSZ,
        std::sync::Arc::default(),
    ));
}

/// Reads one file that a command line names.
///
/// # Errors
/// The file is missing, unreadable or larger than `limits`.
pub fn read_file(path: &str, limits: Limits) -> Result<Vec<u8>, WorldError> {
    input::read_file(Path::new(path), path, limits.file_bytes)
}

/// The first bytes of a file; none when it cannot be read, which whoever reads it whole will tell.
pub fn read_start(path: &str, bytes: u64) -> Vec<u8> {
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(bytes).read_to_end(&mut start));
    read.map_or_else(|_| Vec::new(), |_| start)
}

/// Writes one file: beside, then renamed. A link that stands there is replaced, not followed.
/// Parent folders are made.
///
/// # Errors
/// What the operating system rejects; the file is then as it was.
pub fn write_file(path: &str, bytes: &[u8], privacy: Privacy) -> Result<(), WorldError> {
    replace(Path::new(path), bytes, privacy, None)
        .map_err(|error| WorldError::writing(path, &error))
}

/// Gives a file that somebody keeps a new content: its owner and mode stay, and a link still leads
/// to it. Without such a file this is [`write_file`], for the owner alone: people keep credentials
/// in such files.
///
/// # Errors
/// What the operating system rejects; the file is then as it was.
pub fn change_file(path: &str, bytes: &[u8]) -> Result<(), WorldError> {
    let change = || {
        if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return replace(Path::new(path), bytes, Privacy::Secret, None);
        }
        let target = fs::canonicalize(path)?;
        let kept = fs::metadata(&target)?;
        replace(&target, bytes, Privacy::Secret, Some(kept))
    };
    change().map_err(|error| WorldError::writing(path, &error))
}

/// Gives files that were read a new content, as [`change_file`] does: each path with what was read
/// and what it becomes. A file with two names among them is changed once. Nothing is written before
/// all are known to take it.
///
/// # Errors
/// A file that nobody may write to, that has other names, or that somebody has changed since it was
/// read; what the operating system rejects, and then which files were changed before. The file
/// itself is as it was.
pub fn change_read_files(changes: &[(&str, &[u8], &[u8])]) -> Result<(), WorldError> {
    let mut known = BTreeSet::new();
    let is_first = |(path, ..): &&(&str, &[u8], &[u8])| {
        fs::canonicalize(path).map_or(true, |path| known.insert(path))
    };
    let changes: Vec<_> = changes.iter().filter(is_first).collect();
    for (path, read, _) in &changes {
        takes_change(path, read)?;
    }
    for (at, (path, _, bytes)) in changes.iter().enumerate() {
        change_file(path, bytes).map_err(|error| match at {
            0 => error,
            _ => {
                let done: Vec<&str> = changes[..at].iter().map(|(path, ..)| *path).collect();
                let reason = match error {
                    WorldError::Unwritable { reason, .. } => reason,
                    other => other.to_string(),
                };
                WorldError::Unwritable {
                    path: (*path).to_owned(),
                    reason: format!("{reason}; changed before it: {}", done.join(", ")),
                }
            }
        })?;
    }
    Ok(())
}

/// Whether a file that was read can be changed.
fn takes_change(path: &str, read: &[u8]) -> Result<(), WorldError> {
    let rejected = |reason: &str| {
        Err(WorldError::Unwritable {
            path: path.to_owned(),
            reason: reason.to_owned(),
        })
    };
    match fs::metadata(path) {
        Ok(found) if found.permissions().readonly() => return rejected("it is read-only"),
        Ok(found) if names_of(&found) > 1 => {
            return rejected("it has other names (hard links), which would keep the old content");
        }
        _ => {}
    }
    if fs::read(path).is_ok_and(|now| now != read) {
        return rejected(
            "it changed while it was checked; nothing of that is lost: run the command again",
        );
    }
    Ok(())
}

/// How many names a file has.
#[cfg(unix)]
fn names_of(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

/// The standard library does not say it.
#[cfg(not(unix))]
fn names_of(_: &fs::Metadata) -> u64 {
    1
}

/// Gives a file the owner of another one, as far as they differ.
#[cfg(unix)]
fn keep_owner(file: &Path, old: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, chown};
    let new = fs::metadata(file)?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    chown(file, Some(old.uid()), Some(old.gid()))
}

/// Owners are inherited from the folder.
#[cfg(not(unix))]
fn keep_owner(_: &Path, _: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// `kept` is the file whose owner and mode stay; the mode comes last, so that nobody reads a file
/// that is not finished.
fn replace(
    target: &Path,
    bytes: &[u8],
    privacy: Privacy,
    kept: Option<fs::Metadata>,
) -> io::Result<()> {
    let staging = Staging::new(&parent(target))?;
    let beside = staging.path().join("file");
    write_new(&beside, bytes, privacy)?;
    if let Some(kept) = kept {
        keep_owner(&beside, &kept)?;
        fs::set_permissions(&beside, kept.permissions())?;
    }
    staging.check()?;
    fs::rename(beside, target)
}

/// Writes what a verb prints to a file that only the owner may read (mode 0600), as clusterctl's
/// `--write-to` does: the folder must be there, and a device or pipe that stands there is written
/// to. So is what a link leads to, `/dev/stdout` for one: the link stays.
///
/// # Errors
/// What the operating system rejects; a file that is named itself is then as it was.
pub fn write_output(path: &str, bytes: &[u8]) -> Result<(), WorldError> {
    let target = Path::new(path);
    let folder = parent(target);
    if let Err(error) = fs::metadata(&folder) {
        return Err(WorldError::writing(path, &error));
    }
    match fs::metadata(target) {
        Ok(found) if !found.is_file() => {
            write_through(target, bytes).map_err(|error| WorldError::writing(path, &error))
        }
        _ if target.is_symlink() => {
            write_through(target, bytes).map_err(|error| WorldError::writing(path, &error))
        }
        _ => write_file(path, bytes, Privacy::Secret),
    }
}

/// Writes to what stands behind a path, and makes it where nothing does.
fn write_through(target: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    with_mode(&mut options, Privacy::Secret);
    options.open(target)?.write_all(bytes)
}

/// Writes a file that is not there yet.
pub(super) fn write_new(path: &Path, bytes: &[u8], privacy: Privacy) -> io::Result<()> {
    fs::create_dir_all(parent(path))?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    with_mode(&mut options, privacy);
    options.open(path)?.write_all(bytes)
}

#[cfg(unix)]
fn with_mode(options: &mut fs::OpenOptions, privacy: Privacy) {
    let mode = match privacy {
        Privacy::Public => 0o644,
        Privacy::Secret => 0o600,
    };
    std::os::unix::fs::OpenOptionsExt::mode(options, mode);
}

/// Who may read a file is what its folder says: people's own folders are theirs alone.
#[cfg(not(unix))]
fn with_mode(_: &mut fs::OpenOptions, _: Privacy) {}

pub(super) fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_wrote_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.yaml");
        let shown = path.to_str().unwrap();
        fs::write(&path, "old\nmine\n").unwrap();
        let change_read_file =
            |read: &[u8], bytes: &[u8]| change_read_files(&[(shown, read, bytes)]);
        let rejection = change_read_file(b"old\n", b"new\n")
            .unwrap_err()
            .to_string();
        assert!(
            rejection.contains("changed while it was checked"),
            "{rejection}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "old\nmine\n");
        change_read_file(b"old\nmine\n", b"new\n").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        let rejection = change_read_file(b"new\n", b"newer\n")
            .unwrap_err()
            .to_string();
        assert!(
            rejection.contains("read-only") && fs::read_to_string(&path).unwrap() == "new\n",
            "{rejection}"
        );
    }

    /// All or nothing, and a file with two names once.
    #[test]
    fn several_files_are_changed_when_all_of_them_take_it() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<String> = ["a", "b"]
            .map(|name| folder.path().join(name).to_str().unwrap().to_owned())
            .into();
        paths
            .iter()
            .for_each(|path| fs::write(path, "old").unwrap());
        let again = folder.path().join("./a").to_str().unwrap().to_owned();
        let changes = |second: &'static [u8]| {
            change_read_files(&[
                (&paths[0], b"old", b"new"),
                (&paths[1], second, b"new"),
                (&again, b"old", b"new"),
            ])
        };
        assert!(
            changes(b"other")
                .unwrap_err()
                .to_string()
                .contains("changed while it was checked")
        );
        assert_eq!(fs::read_to_string(&paths[0]).unwrap(), "old");
        changes(b"old").unwrap();
        assert!(
            paths
                .iter()
                .all(|path| fs::read_to_string(path).unwrap() == "new")
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_with_other_names_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&file, "old").unwrap();
        fs::hard_link(&file, &other).unwrap();
        let rejection = change_read_files(&[(file.to_str().unwrap(), b"old", b"new")])
            .unwrap_err()
            .to_string();
        assert!(
            rejection.contains("hard links") && fs::read_to_string(&file).unwrap() == "old",
            "{rejection}"
        );
    }

    /// As root, where it can be seen: the file stays its owner's.
    #[cfg(unix)]
    #[test]
    fn a_changed_file_keeps_its_owner() {
        use std::os::unix::fs::{MetadataExt, chown};
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "old").unwrap();
        let other = chown(&file, Some(1234), Some(1234))
            .map_or_else(|_| fs::metadata(&file).unwrap().uid(), |()| 1234);
        change_file(file.to_str().unwrap(), b"new").unwrap();
        assert_eq!(
            (
                fs::metadata(&file).unwrap().uid(),
                fs::read_to_string(&file).unwrap().as_str()
            ),
            (other, "new")
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_changed_file_keeps_its_mode_and_its_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let base = tempfile::tempdir().unwrap();
        let (file, link) = (
            base.path().join("kept/real.yaml"),
            base.path().join("link.yaml"),
        );
        write_file(file.to_str().unwrap(), b"old", Privacy::Public).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("kept/real.yaml", &link).unwrap();
        change_file(link.to_str().unwrap(), b"new").unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("kept/real.yaml"));
        assert_eq!(
            (
                fs::read(&file).unwrap(),
                fs::metadata(&file).unwrap().permissions().mode() & 0o777
            ),
            (b"new".to_vec(), 0o640)
        );
        symlink("nowhere", base.path().join("dangling")).unwrap();
        assert!(matches!(
            change_file(base.path().join("dangling").to_str().unwrap(), b"x"),
            Err(WorldError::Unwritable { .. })
        ));
    }

    #[cfg(unix)]
    #[test]
    fn what_a_verb_prints_is_for_the_owner_and_a_device_is_written_to() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let base = tempfile::tempdir().unwrap();
        let path = |name: &str| base.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("old"), "0").unwrap();
        fs::set_permissions(path("old"), fs::Permissions::from_mode(0o644)).unwrap();
        for name in ["new", "old"] {
            write_output(&path(name), b"1").unwrap();
            let mode = fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;
            assert_eq!(
                (fs::read(path(name)).unwrap(), mode),
                (b"1".to_vec(), 0o600),
                "{name}"
            );
        }
        symlink("/dev/null", path("device")).unwrap();
        write_output(&path("device"), b"1").unwrap();
        assert_eq!(
            fs::read_link(path("device")).unwrap(),
            Path::new("/dev/null")
        );
        // A link stays, and what it leads to is written or made.
        fs::write(path("real"), "longer than what is written").unwrap();
        for name in ["real", "made"] {
            symlink(name, path("link")).unwrap();
            write_output(&path("link"), b"1").unwrap();
            assert_eq!(
                (
                    fs::read_link(path("link")).unwrap().as_path(),
                    fs::read(path(name)).unwrap()
                ),
                (Path::new(name), b"1".to_vec())
            );
            fs::remove_file(path("link")).unwrap();
        }
        assert_eq!(
            fs::metadata(path("made")).unwrap().permissions().mode() & 0o777,
            0o600
        );
        fs::create_dir(path("folder")).unwrap();
        for (name, reason) in [
            ("gone/file", "no such file or directory"),
            ("folder", "is a directory"),
        ] {
            let rejected = write_output(&path(name), b"1").unwrap_err();
            assert_eq!(
                rejected.to_string(),
                format!("{}: cannot be written: {reason}", path(name))
            );
        }
        assert!(
            !base.path().join("gone").exists(),
            "no folder is made for it"
        );
    }

    #[test]
    fn the_start_of_a_file_is_as_much_of_it_as_is_asked_for() {
        let base = tempfile::tempdir().unwrap();
        let path = |name: &str| base.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("a"), "12345").unwrap();
        let starts = [("a", 3), ("a", 5), ("a", 9), ("gone", 3), ("", 3)]
            .map(|(name, bytes)| read_start(&path(name), bytes));
        assert_eq!(starts, [&b"123"[..], b"12345", b"12345", b"", b""]);
        assert!(is_file(Path::new(&path("a"))) && !is_file(base.path()));
        assert!(is_folder(base.path()) && !is_folder(Path::new(&path("a"))));
    }

    #[test]
    fn a_file_that_is_not_there_is_written_where_it_is_changed() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("new/file").to_str().unwrap().to_owned();
        change_file(&path, b"1").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"1");
    }

    /// Where several files are changed, it is said which were changed before one could not be.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_changed_before_a_failure_is_named() {
        let base = tempfile::tempdir().unwrap();
        // In this folder there is room for the name of a file, and not for that of the hidden
        // folder beside it.
        let mut folder = base.path().to_owned();
        while folder.as_os_str().len() < 4080 {
            folder.push("d".repeat((4079 - folder.as_os_str().len()).clamp(1, 100)));
        }
        fs::create_dir_all(&folder).unwrap();
        let path = |path: PathBuf| path.to_str().unwrap().to_owned();
        let (first, second, rejected) = (
            path(base.path().join("a")),
            path(base.path().join("b")),
            path(folder.join("f")),
        );
        [&first, &second, &rejected]
            .iter()
            .for_each(|path| fs::write(path, "old").unwrap());
        let changed = |paths: &[&str]| {
            let changes: Vec<(&str, &[u8], &[u8])> = paths
                .iter()
                .map(|path| (*path, &b"old"[..], &b"new"[..]))
                .collect();
            change_read_files(&changes).unwrap_err().to_string()
        };
        let reason = "cannot be written: file name too long";
        assert_eq!(
            changed(&[&rejected, &first]),
            format!("{rejected}: {reason}")
        );
        assert_eq!(fs::read(&first).unwrap(), b"old");
        let told = changed(&[&first, &second, &rejected]);
        assert!(
            told.ends_with(&format!(
                "{rejected}: {reason}; changed before it: {first}, {second}"
            )),
            "{told}"
        );
        assert_eq!(
            [&first, &second, &rejected].map(|path| fs::read(path).unwrap()),
            [b"new", b"new", b"old"]
        );
    }
}
