//! One at a time: a lock file in a folder that several runs may want to change.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use super::WorldError;

/// The file that is locked. It is there only while somebody works.
const NAME: &str = ".windlass.lock";

/// A folder that is ours until this value goes away. A process that is killed holds nothing.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    /// The folder, when it was made for the lock.
    made: Option<PathBuf>,
}

impl Lock {
    /// Takes the folder, which is made if it is not there. When another process has it, `waiting`
    /// is called once, and this waits.
    ///
    /// # Errors
    /// What the operating system rejects.
    pub fn take(folder: &str, waiting: impl FnOnce()) -> Result<Self, WorldError> {
        take(Path::new(folder), waiting).map_err(|error| WorldError::writing(folder, &error))
    }
}

fn take(folder: &Path, waiting: impl FnOnce()) -> io::Result<Lock> {
    let mut waiting = Some(waiting);
    let mut is_new = false;
    let path = folder.join(NAME);
    loop {
        is_new |= !folder.exists();
        fs::create_dir_all(folder)?;
        let file = match File::options().create(true).append(true).open(&path) {
            // Between the two lines the folder was removed by the one that had made it. In a folder
            // that is there the name is a link to nowhere.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => continue,
            opened => opened?,
        };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                waiting.take().into_iter().for_each(|tell| tell());
                file.lock()?;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        if is_still(&file, &path) {
            return Ok(Lock {
                path,
                file,
                made: is_new.then(|| folder.to_owned()),
            });
        }
    }
}

/// Whether the path leads to the file that was locked: the one who had the lock before has removed
/// it.
#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity =
        |metadata: io::Result<fs::Metadata>| metadata.map(|found| (found.dev(), found.ino())).ok();
    let ours = identity(file.metadata());
    ours.is_some() && ours == identity(fs::metadata(path))
}

/// Elsewhere a file that is open is not removed.
#[cfg(not(unix))]
fn is_still(_: &File, path: &Path) -> bool {
    path.is_file()
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Whoever waits sees that the file is another one now. A folder in which nothing was
        // written goes as it came.
        let _ = fs::remove_file(&self.path);
        let _ = self.made.as_ref().map(fs::remove_dir);
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_second_waits_for_the_first_and_nothing_is_left() {
        let base = tempfile::tempdir().unwrap();
        let folder = base.path().join("new");
        let shown = folder.to_str().unwrap().to_owned();
        let first = Lock::take(&shown, || panic!("no other writer is there")).unwrap();
        let (tell, told) = mpsc::channel();
        let second = std::thread::spawn(move || {
            let waits = tell.clone();
            let lock = Lock::take(&shown, || waits.send("waits").unwrap()).unwrap();
            tell.send("has it").unwrap();
            drop(lock);
        });
        assert_eq!(told.recv(), Ok("waits"));
        assert_eq!(told.try_recv(), Err(mpsc::TryRecvError::Empty));
        drop(first);
        assert_eq!(told.recv(), Ok("has it"));
        second.join().unwrap();
        assert!(!folder.exists());
    }

    /// Nobody waits for what does not come.
    #[cfg(unix)]
    #[test]
    fn a_name_that_leads_nowhere_is_rejected() {
        let base = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("missing/file", base.path().join(NAME)).unwrap();
        let rejected = Lock::take(base.path().to_str().unwrap(), || panic!("nobody has it"));
        assert!(matches!(rejected, Err(WorldError::Unwritable { .. })));
    }

    /// Nor for what can never be locked.
    #[test]
    fn a_folder_in_the_place_of_the_file_is_rejected() {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join(NAME)).unwrap();
        let rejected =
            Lock::take(base.path().to_str().unwrap(), || panic!("nobody has it")).unwrap_err();
        assert_eq!(
            rejected.to_string(),
            format!(
                "{}: cannot be written: is a directory",
                base.path().display()
            )
        );
    }

    /// Who waited for a file that was removed meanwhile has nothing.
    #[cfg(unix)]
    #[test]
    fn a_file_counts_only_under_its_name() {
        let base = tempfile::tempdir().unwrap();
        let (path, other) = (base.path().join("a"), base.path().join("b"));
        let file = File::create(&path).unwrap();
        assert!(is_still(&file, &path));
        File::create(&other).unwrap();
        assert!(!is_still(&file, &other));
        fs::remove_file(&path).unwrap();
        assert!(!is_still(&file, &path));
        fs::rename(&other, &path).unwrap();
        assert!(!is_still(&file, &path), "another file has the name");
    }

    #[test]
    fn a_folder_that_was_there_stays_and_the_file_is_there_while_somebody_works() {
        let base = tempfile::tempdir().unwrap();
        let lock = Lock::take(base.path().to_str().unwrap(), || panic!("nobody has it")).unwrap();
        assert!(base.path().join(".windlass.lock").is_file());
        drop(lock);
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
    }
}
