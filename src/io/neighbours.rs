//! The files beside those that are open in an editor. What did not change on the disk is not read
//! again.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::input::{ENDINGS, read_source};
use windlass_source::Source;

/// The maximum number of files and bytes of a folder that are read beside an open file.
const MOST_FILES: usize = 500;
const MOST_BYTES: u64 = 16 << 20;

/// A file as it was read, and by what a change of it is recognized.
#[derive(Debug)]
struct Known {
    source: Source,
    length: u64,
    modified: Option<SystemTime>,
}

/// Files that were read.
#[derive(Debug, Default)]
pub struct Neighbours {
    known: Mutex<BTreeMap<String, Known>>,
}

impl Neighbours {
    /// The YAML and JSON files of a folder, without hidden ones, links, and those below it. `None`
    /// when they are more or larger than can be checked while someone types.
    pub fn folder(&self, folder: &str) -> Option<Vec<Source>> {
        let Ok(entries) = fs::read_dir(folder) else {
            return Some(Vec::new());
        };
        let (mut files, mut bytes) = (Vec::new(), 0);
        for entry in entries.flatten() {
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let has_ending = ENDINGS.iter().any(|ending| name.ends_with(ending));
            if name.starts_with('.') || !has_ending {
                continue;
            }
            // The metadata of a link is not that of its target.
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if !metadata.is_file() {
                continue;
            }
            bytes += metadata.len();
            files.push((format!("{}/{name}", folder.trim_end_matches('/')), metadata));
        }
        if files.len() > MOST_FILES || bytes > MOST_BYTES {
            return None;
        }
        files.sort_by(|a, b| a.0.cmp(&b.0));
        Some(
            files
                .iter()
                .filter_map(|(name, metadata)| self.read(name, metadata))
                .collect(),
        )
    }

    /// A file; `None` when it cannot be read or is too large.
    pub fn file(&self, name: &str) -> Option<Source> {
        let metadata = fs::metadata(name).ok()?;
        if !metadata.is_file() || metadata.len() > MOST_BYTES {
            return None;
        }
        self.read(name, &metadata)
    }

    fn read(&self, name: &str, metadata: &Metadata) -> Option<Source> {
        let (length, modified) = (metadata.len(), metadata.modified().ok());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known
            .get(name)
            .filter(|known| modified.is_some() && known.modified == modified)
            .filter(|known| known.length == length)
        {
            return Some(known.source.clone());
        }
        let (source, _) = read_source(Path::new(name), name).ok()?;
        known.insert(
            name.to_owned(),
            Known {
                source: source.clone(),
                length,
                modified,
            },
        );
        Some(source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_changed_again() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().to_str().unwrap();
        let write = |name: &str, text: &str| fs::write(temporary.path().join(name), text).unwrap();
        write("a.yaml", "a: 1\n");
        write(".hidden.yaml", "");
        write("b.txt", "");
        fs::create_dir(temporary.path().join("c.yaml")).unwrap();
        let neighbours = Neighbours::default();
        let texts = || -> Vec<String> {
            let sources = neighbours.folder(folder).unwrap();
            sources
                .iter()
                .map(|source| source.text().to_owned())
                .collect()
        };
        assert_eq!(texts(), ["a: 1\n"]);
        write("a.yaml", "a: 12\n");
        assert_eq!(texts(), ["a: 12\n"]);
        fs::remove_file(temporary.path().join("a.yaml")).unwrap();
        assert!(texts().is_empty());
        assert_eq!(neighbours.folder("/does/not/exist"), Some(Vec::new()));
    }

    #[test]
    fn leaves_out_folders_that_are_too_large() {
        let temporary = tempfile::tempdir().unwrap();
        for number in 0..=MOST_FILES {
            fs::write(temporary.path().join(format!("{number}.yaml")), "").unwrap();
        }
        let folder = temporary.path().to_str().unwrap();
        assert_eq!(Neighbours::default().folder(folder), None);
    }
}
