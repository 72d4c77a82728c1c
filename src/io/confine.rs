//! Files that a document names stay below the document's folder: nobody who only sends a change to
//! it reads the machine on which it is checked.

use std::path::{Component, Path, PathBuf};

use windlass_provider::Strayed;

/// A folder that the files of a document do not leave.
#[derive(Debug)]
pub struct Confine {
    folder: PathBuf,
}

impl Confine {
    /// The folder, with links resolved.
    ///
    /// # Errors
    /// The folder is not there.
    pub fn new(folder: &Path) -> std::io::Result<Self> {
        Ok(Confine {
            folder: folder.canonicalize()?,
        })
    }

    /// Where a file lies that does not belong to the folder; `None` when it does. Links count as
    /// what they lead to.
    pub fn strayed(&self, file: &Path) -> Option<Strayed> {
        let Ok(real) = file.canonicalize() else {
            return Some(Strayed::Outside);
        };
        let Ok(below) = real.strip_prefix(&self.folder) else {
            return Some(Strayed::Outside);
        };
        let is_hidden = |part: Component<'_>| part.as_os_str().as_encoded_bytes().starts_with(b".");
        below.components().any(is_hidden).then_some(Strayed::Hidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_count_as_what_they_lead_to() {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        for (folder, file) in [
            ("p/crd", "p/crd/a"),
            ("p/.git", "p/.git/config"),
            ("other", "other/b"),
            ("p2", "p2/c"),
        ] {
            std::fs::create_dir_all(path(folder)).unwrap();
            std::fs::write(path(file), "").unwrap();
        }
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, path(name)).unwrap();
        link("crd/a", "p/inside");
        link("../other/b", "p/outside");
        link("../other", "p/folder");
        link(".git/config", "p/token.yaml");
        let confine = Confine::new(&path("p")).unwrap();
        for (file, expected) in [
            ("p/crd/a", None),
            ("p/crd/../inside", None),
            ("p/../p/crd/a", None),
            ("p/outside", Some(Strayed::Outside)),
            ("p/folder/b", Some(Strayed::Outside)),
            ("p/../other/b", Some(Strayed::Outside)),
            ("p2/c", Some(Strayed::Outside)),
            ("/proc/self/environ", Some(Strayed::Outside)),
            ("p/.git/config", Some(Strayed::Hidden)),
            ("p/token.yaml", Some(Strayed::Hidden)),
        ] {
            assert_eq!(confine.strayed(&path(file)), expected, "{file}");
        }
    }
}
