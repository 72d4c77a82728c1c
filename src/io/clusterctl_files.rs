//! The folders that clusterctl's verbs read.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::WorldError;
use super::input::{self, Limits};
use windlass_clusterctl::{Entry, EntryKind, FileFault, Files};

/// The file system; relative paths start at the working folder.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Files for Disk {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileFault> {
        let metadata = fs::metadata(path).map_err(|error| fault(&error))?;
        if metadata.is_dir() {
            return Err(FileFault::IsFolder);
        }
        input::read_file(Path::new(path), path, Limits::default().file_bytes).map_err(|error| {
            match error {
                WorldError::Missing { .. } => FileFault::Missing,
                WorldError::Unreadable { reason, .. } => FileFault::Other(reason),
                other => FileFault::Other(other.to_string()),
            }
        })
    }

    fn exists(&self, path: &str) -> bool {
        fs::metadata(path).is_ok()
    }

    fn entries(&self, path: &str) -> Result<Vec<Entry>, FileFault> {
        let entries = fs::read_dir(path).map_err(|error| fault(&error))?;
        let named = entries.filter_map(Result::ok).filter_map(|entry| {
            // The type of the entry itself: a link to a folder is a link.
            let kind = entry.file_type().ok()?;
            let kind = match kind {
                kind if kind.is_dir() => EntryKind::Folder,
                kind if kind.is_symlink() => EntryKind::Link,
                _ => EntryKind::File,
            };
            Some(Entry {
                name: input::shown_name(&entry.file_name()),
                kind,
            })
        });
        let mut entries: Vec<Entry> = named.collect();
        entries.sort_unstable();
        Ok(entries)
    }
}

fn fault(error: &std::io::Error) -> FileFault {
    match error.kind() {
        ErrorKind::NotFound => FileFault::Missing,
        ErrorKind::NotADirectory => FileFault::Other("not a directory".to_owned()),
        _ => FileFault::Other(super::error::reason(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_those_of_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| format!("{}/{name}", folder.path().to_str().unwrap());
        fs::create_dir_all(path("v1.0.0")).unwrap();
        fs::write(path("file"), "x").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(path("v1.0.0"), path("v2.0.0")).unwrap();
        assert_eq!(Disk.read(&path("file")), Ok(b"x".to_vec()));
        assert_eq!(Disk.read(&path("v1.0.0")), Err(FileFault::IsFolder));
        assert_eq!(Disk.read(&path("nope")), Err(FileFault::Missing));
        let entry = |name: &str, kind| Entry {
            name: name.to_owned(),
            kind,
        };
        let mut expected = vec![
            entry("file", EntryKind::File),
            entry("v1.0.0", EntryKind::Folder),
        ];
        if cfg!(unix) {
            expected.push(entry("v2.0.0", EntryKind::Link));
        }
        assert_eq!(Disk.entries(&path("")), Ok(expected));
        assert!(Disk.exists(&path("v1.0.0")) && !Disk.exists(&path("nope")));
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_read_says_why_without_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(path("file"), "x").unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        let other = |reason: &str| FileFault::Other(reason.to_owned());
        assert_eq!(
            Disk.read(&path("socket")),
            Err(other("no such device or address"))
        );
        assert_eq!(
            Disk.read(&path("file/below")),
            Err(other("not a directory"))
        );
        assert_eq!(Disk.entries(&path("file")), Err(other("not a directory")));
        assert_eq!(Disk.entries(&path("gone")), Err(FileFault::Missing));
    }
}
