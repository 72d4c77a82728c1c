//! Files that are not finished stand in a hidden folder beside their target, until renames make
//! them count.
//!
//! A process that is killed leaves that folder behind. Unfinished (`.partial`) it is nothing, and
//! the next run removes it. Finished (`.commit`) it is what the target was to become: the next run
//! that writes there brings it to its end, and until then nobody reads the target, which is neither
//! old nor new. Whoever works in such a folder holds a lock on it, which ends with the process; the
//! number of the process would say nothing, because containers that share a volume count on their
//! own.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::sync::{Arc, OnceLock};

const PREFIX: &str = ".windlass-";
const PARTIAL: &str = "partial";
const COMMIT: &str = "commit";

/// A hidden folder for files that are not finished; it goes away with this value, also after a
/// failure or Ctrl-C.
pub(super) struct Staging {
    path: PathBuf,
    is_committed: bool,
    /// The lock, where a folder can be locked.
    held: Option<File>,
    /// The folders that had to be made for it, the outermost first.
    made: Vec<PathBuf>,
    interrupt: &'static Interrupt,
}

impl Staging {
    /// Makes the folder, and those that contains it. What killed processes left beside it is
    /// removed.
    pub(super) fn new(beside: &Path) -> io::Result<Self> {
        let interrupt = Interrupt::watch()?;
        interrupt.set_idle(false);
        let mut staging = Staging {
            path: PathBuf::new(),
            is_committed: false,
            held: None,
            made: Vec::new(),
            interrupt,
        };
        staging.make_folders(beside)?;
        for path in leftovers(beside, PARTIAL) {
            if let Hold::Taken(_lock) = hold(&path)? {
                let _ = fs::remove_dir_all(&path);
            }
        }
        // The number is for several in one process, and for leftovers.
        for number in 0..u32::MAX {
            let path = beside.join(format!("{PREFIX}{}-{number}.{PARTIAL}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            staging.held = match hold(&path)? {
                Hold::Taken(lock) => Some(lock),
                Hold::Impossible => None,
                // Before it was locked somebody took it for a leftover.
                Hold::Busy => continue,
            };
            staging.path = path;
            return Ok(staging);
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn make_folders(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = folder
            .ancestors()
            .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
            .collect();
        for path in missing.into_iter().rev() {
            match fs::create_dir(path) {
                Ok(()) => self.made.push(path.to_owned()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Fails once Ctrl-C was pressed.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.interrupt.is_pressed() {
            Err(io::ErrorKind::Interrupted.into())
        } else {
            Ok(())
        }
    }

    /// From here on the files count: what moves them to their places may be ended at any time, and
    /// is brought to its end by the next run.
    pub(super) fn commit(&mut self) -> io::Result<()> {
        let committed = self.path.with_extension(COMMIT);
        fs::rename(&self.path, &committed)?;
        self.path = committed;
        self.is_committed = true;
        Ok(())
    }

    /// All files are where they belong.
    pub(super) fn finished(mut self) {
        self.is_committed = false;
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // It is gone already when it was renamed as a whole; and nothing can be done when it cannot
        // be removed.
        if !self.is_committed && !self.path.as_os_str().is_empty() {
            let _ = fs::remove_dir_all(&self.path);
        }
        // Only those that are still empty.
        self.made
            .iter()
            .rev()
            .for_each(|folder| drop(fs::remove_dir(folder)));
        self.interrupt.set_idle(true);
    }
}

/// Whether a name is that of files which somebody has finished and not yet moved to their places.
pub(super) fn is_commit(name: &str) -> bool {
    is_named(name, COMMIT)
}

/// Brings to its end what killed processes have finished in a folder, and waits for one that is at
/// it. `move_in` moves one file, which is named relative to the folder.
pub(super) fn finish(
    folder: &Path,
    move_in: &dyn Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    for path in leftovers(folder, COMMIT) {
        let _lock = match hold(&path)? {
            Hold::Taken(lock) => lock,
            Hold::Busy => match wait_for(&path)? {
                Some(lock) => lock,
                None => continue,
            },
            Hold::Impossible => continue,
        };
        if path.exists() {
            finish_one(&path, move_in)?;
        }
    }
    Ok(())
}

fn finish_one(
    committed: &Path,
    move_in: &dyn Fn(&Path, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let mut folders = vec![committed.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in fs::read_dir(&inner)? {
            let (entry, kind) =
                entry.and_then(|entry| entry.file_type().map(|kind| (entry.path(), kind)))?;
            if kind.is_dir() {
                folders.push(entry);
            } else if kind.is_file() {
                move_in(
                    &entry,
                    entry.strip_prefix(committed).map_err(io::Error::other)?,
                )?;
            }
        }
    }
    fs::remove_dir_all(committed)
}

/// The staging folders of a kind in a folder, of running processes too.
fn leftovers(folder: &Path, kind: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let left = entries.filter(|entry| {
        entry
            .file_name()
            .to_str()
            .is_some_and(|name| is_named(name, kind))
            && entry.file_type().is_ok_and(|found| found.is_dir())
    });
    left.map(|entry| entry.path()).collect()
}

fn is_named(name: &str, kind: &str) -> bool {
    let numbers = name
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(kind)?.strip_suffix('.')?.split_once('-'));
    let is_number =
        |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    numbers.is_some_and(|(process, number)| is_number(process) && is_number(number))
}

/// What came of locking a staging folder.
enum Hold {
    /// It is ours until the file is closed.
    Taken(File),
    /// Another one works in it, or it is gone.
    Busy,
    /// Folders cannot be locked here: nobody can tell whose it is.
    Impossible,
}

fn hold(folder: &Path) -> io::Result<Hold> {
    if !cfg!(unix) {
        return Ok(Hold::Impossible);
    }
    let file = match File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Hold::Busy),
        opened => opened?,
    };
    Ok(match file.try_lock() {
        Ok(()) if folder.exists() => Hold::Taken(file),
        Ok(()) | Err(TryLockError::WouldBlock) => Hold::Busy,
        Err(TryLockError::Error(_)) => Hold::Impossible,
    })
}

/// Waits until whoever works in a folder is done with it; `None` when the folder is gone.
fn wait_for(folder: &Path) -> io::Result<Option<File>> {
    match File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(file) => file.lock().map(|()| Some(file)),
    }
}

/// Ctrl-C and SIGTERM while files are staged: a flag, so that the staged files can be removed. At
/// any other time they end the process.
#[cfg(unix)]
struct Interrupt {
    /// No files are staged: the signal does what it always does.
    idle: Arc<AtomicBool>,
    /// The signal came while files were staged.
    pressed: Arc<AtomicBool>,
}

#[cfg(unix)]
impl Interrupt {
    fn watch() -> io::Result<&'static Interrupt> {
        static INTERRUPT: OnceLock<Interrupt> = OnceLock::new();
        if let Some(interrupt) = INTERRUPT.get() {
            return Ok(interrupt);
        }
        let interrupt = Interrupt {
            idle: Arc::new(AtomicBool::new(true)),
            pressed: Arc::default(),
        };
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&interrupt.idle))?;
            signal_hook::flag::register(signal, Arc::clone(&interrupt.pressed))?;
        }
        Ok(INTERRUPT.get_or_init(|| interrupt))
    }

    fn set_idle(&self, idle: bool) {
        self.idle.store(idle, Ordering::SeqCst);
    }

    fn is_pressed(&self) -> bool {
        self.pressed.load(Ordering::SeqCst)
    }
}

/// Elsewhere the process just ends, and the hidden folder stays until somebody removes it.
#[cfg(not(unix))]
struct Interrupt;

#[cfg(not(unix))]
impl Interrupt {
    fn watch() -> io::Result<&'static Interrupt> {
        Ok(&Interrupt)
    }

    fn set_idle(&self, _: bool) {}

    fn is_pressed(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_waited_for_only_while_it_is_there() {
        let base = tempfile::tempdir().unwrap();
        assert!(wait_for(&base.path().join("gone")).unwrap().is_none());
        assert!(wait_for(base.path()).unwrap().is_some());
    }

    /// The names in a folder, hidden ones too.
    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    #[cfg(unix)]
    #[test]
    fn who_works_in_a_folder_holds_it() {
        let base = tempfile::tempdir().unwrap();
        let path = |name: &str| base.path().join(name);
        fs::create_dir(path("free")).unwrap();
        std::os::unix::fs::symlink("loop", path("loop")).unwrap();
        assert!(matches!(hold(&path("gone")), Ok(Hold::Busy)));
        assert!(hold(&path("loop")).is_err() && wait_for(&path("loop")).is_err());
        let Ok(Hold::Taken(_lock)) = hold(&path("free")) else {
            panic!("nobody has it")
        };
        assert!(matches!(hold(&path("free")), Ok(Hold::Busy)));
    }

    #[test]
    fn what_is_committed_stays_until_it_is_finished() {
        let own = std::process::id();
        let check = |commits: bool, finishes: bool, expected: &[String]| {
            let base = tempfile::tempdir().unwrap();
            let mut staging = Staging::new(base.path()).unwrap();
            assert_eq!(names(base.path()), [format!(".windlass-{own}-0.partial")]);
            fs::write(staging.path().join("file"), "1").unwrap();
            if commits {
                staging.commit().unwrap();
                assert_eq!(
                    staging.path(),
                    base.path().join(format!(".windlass-{own}-0.commit"))
                );
            }
            if finishes {
                staging.finished();
            } else {
                drop(staging);
            }
            assert_eq!(names(base.path()), expected);
        };
        check(false, false, &[]);
        check(true, false, &[format!(".windlass-{own}-0.commit")]);
        check(true, true, &[]);
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_another_one_holds_is_not_taken() {
        let base = tempfile::tempdir().unwrap();
        let own = std::process::id();
        let taken = base.path().join(format!(".windlass-{own}-0.partial"));
        fs::create_dir(&taken).unwrap();
        let lock = File::open(&taken).unwrap();
        lock.lock().unwrap();
        let staging = Staging::new(base.path()).unwrap();
        assert_eq!(
            staging.path(),
            base.path().join(format!(".windlass-{own}-1.partial"))
        );
        drop(staging);
        assert_eq!(names(base.path()), [format!(".windlass-{own}-0.partial")]);
    }

    #[cfg(unix)]
    #[test]
    fn folders_are_made_and_go_again() {
        let base = tempfile::tempdir().unwrap();
        // The second name of a folder is there when its turn comes.
        let staging = Staging::new(&base.path().join("new/../new/deep")).unwrap();
        assert_eq!(names(&base.path().join("new")), ["deep"]);
        drop(staging);
        assert!(names(base.path()).is_empty());
        std::os::unix::fs::symlink("nowhere", base.path().join("link")).unwrap();
        let rejected = Staging::new(&base.path().join("link/below")).err();
        assert_eq!(
            rejected.map(|error| error.kind()),
            Some(io::ErrorKind::AlreadyExists),
            "a link to nowhere is in the way"
        );
    }

    /// The name of the hidden folder is longer than that of a file: what the system rejects is
    /// told, and not tried again.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_too_long_is_rejected() {
        let base = tempfile::tempdir().unwrap();
        let mut folder = base.path().to_owned();
        while folder.as_os_str().len() < 4080 {
            folder.push("d".repeat((4079 - folder.as_os_str().len()).clamp(1, 100)));
        }
        fs::create_dir_all(&folder).unwrap();
        let rejected = Staging::new(&folder).err();
        assert_eq!(
            rejected.map(|error| error.kind()),
            Some(io::ErrorKind::InvalidFilename)
        );
        assert!(names(&folder).is_empty());
    }
}
