//! Single files, read and written: never half a file, nothing left behind.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::WorldError;
use super::input::{self, Limits};
use super::staging::Staging;

/// Who may read what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// As the umask says.
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

/// Writes one file: beside, then renamed. A link that stands there is replaced, not followed. Parent folders are made.
///
/// # Errors
/// What the operating system refuses; the file is then as it was.
pub fn write_file(path: &str, bytes: &[u8], privacy: Privacy) -> Result<(), WorldError> {
    replace(Path::new(path), bytes, privacy, None).map_err(|error| WorldError::writing(path, &error))
}

/// Gives a file that somebody keeps a new content: its mode stays, and a link still leads to it. Without such a file this is
/// [`write_file`].
///
/// # Errors
/// What the operating system refuses; the file is then as it was.
pub fn change_file(path: &str, bytes: &[u8]) -> Result<(), WorldError> {
    let change = || {
        if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return replace(Path::new(path), bytes, Privacy::Public, None);
        }
        let target = fs::canonicalize(path)?;
        let permissions = fs::metadata(&target)?.permissions();
        replace(&target, bytes, Privacy::Secret, Some(permissions))
    };
    change().map_err(|error| WorldError::writing(path, &error))
}

/// Gives a file that was read a new content, as [`change_file`] does.
///
/// # Errors
/// A file that nobody may write to, or that somebody has changed since it was read; what the operating system refuses. The file is then as
/// it was.
pub fn change_read_file(path: &str, read: &[u8], bytes: &[u8]) -> Result<(), WorldError> {
    let refused = |reason: &str| Err(WorldError::Unwritable { path: path.to_owned(), reason: reason.to_owned() });
    match fs::metadata(path) {
        Ok(found) if found.permissions().readonly() => return refused("it is read-only"),
        _ => {}
    }
    if fs::read(path).is_ok_and(|now| now != read) {
        return refused("it changed while it was judged; nothing of that is lost: run the command again");
    }
    change_file(path, bytes)
}

/// `permissions` come last, so that nobody reads a file that is not finished.
fn replace(target: &Path, bytes: &[u8], privacy: Privacy, permissions: Option<fs::Permissions>) -> io::Result<()> {
    let staging = Staging::new(&parent(target))?;
    let beside = staging.path().join("file");
    write_new(&beside, bytes, privacy)?;
    if let Some(permissions) = permissions {
        fs::set_permissions(&beside, permissions)?;
    }
    staging.check()?;
    fs::rename(beside, target)
}

/// Writes what a verb prints to a file that only the owner may read (mode 0600), as clusterctl's `--write-to` does: the folder must be
/// there, and a device or pipe that stands there is written to.
///
/// # Errors
/// What the operating system refuses; a file is then as it was.
pub fn write_output(path: &str, bytes: &[u8]) -> Result<(), WorldError> {
    let target = Path::new(path);
    let folder = parent(target);
    if let Err(error) = fs::metadata(&folder) {
        return Err(WorldError::writing(path, &error));
    }
    match fs::metadata(target) {
        Ok(found) if !found.is_file() => fs::write(target, bytes).map_err(|error| WorldError::writing(path, &error)),
        _ => write_file(path, bytes, Privacy::Secret),
    }
}

/// Writes a file that is not there yet.
pub(super) fn write_new(path: &Path, bytes: &[u8], privacy: Privacy) -> io::Result<()> {
    fs::create_dir_all(parent(path))?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    if privacy == Privacy::Secret {
        for_the_owner(&mut options);
    }
    options.open(path)?.write_all(bytes)
}

#[cfg(unix)]
fn for_the_owner(options: &mut fs::OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

/// Who may read a file is what its folder says: people's own folders are theirs alone.
#[cfg(not(unix))]
fn for_the_owner(_: &mut fs::OpenOptions) {}

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
        let refusal = change_read_file(shown, b"old\n", b"new\n").unwrap_err().to_string();
        assert!(refusal.contains("changed while it was judged"), "{refusal}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old\nmine\n");
        change_read_file(shown, b"old\nmine\n", b"new\n").unwrap();
        let mut permissions = fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).unwrap();
        let refusal = change_read_file(shown, b"new\n", b"newer\n").unwrap_err().to_string();
        assert!(refusal.contains("read-only") && fs::read_to_string(&path).unwrap() == "new\n", "{refusal}");
    }

    #[cfg(unix)]
    #[test]
    fn a_changed_file_keeps_its_mode_and_its_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let base = tempfile::tempdir().unwrap();
        let (file, link) = (base.path().join("kept/real.yaml"), base.path().join("link.yaml"));
        write_file(file.to_str().unwrap(), b"old", Privacy::Public).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("kept/real.yaml", &link).unwrap();
        change_file(link.to_str().unwrap(), b"new").unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("kept/real.yaml"));
        assert_eq!(
            (fs::read(&file).unwrap(), fs::metadata(&file).unwrap().permissions().mode() & 0o777),
            (b"new".to_vec(), 0o640)
        );
        symlink("nowhere", base.path().join("dangling")).unwrap();
        assert!(matches!(
            change_file(base.path().join("dangling").to_str().unwrap(), b"x"),
            Err(WorldError::Unwritable { .. })
        ));
    }
}
