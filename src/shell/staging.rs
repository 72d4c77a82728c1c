//! Files that are not finished stand in a hidden folder beside their target, until renames make them count.
//!
//! A process that is killed leaves that folder behind. Unfinished (`.partial`) it is nothing, and the next run removes it. Finished
//! (`.commit`) it is what the target was to become: the next run that writes there brings it to its end, and until then nobody reads the
//! target, which is neither old nor new.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::sync::{Arc, OnceLock};

const PREFIX: &str = ".windlass-";
const PARTIAL: &str = "partial";
const COMMIT: &str = "commit";

/// A hidden folder for files that are not finished; it goes away with this value, also after a failure or Ctrl-C.
pub(super) struct Staging {
    path: PathBuf,
    is_committed: bool,
    /// The folders that had to be made for it, the outermost first.
    made: Vec<PathBuf>,
    interrupt: &'static Interrupt,
}

impl Staging {
    /// Makes the folder, and those that it stands in. What killed processes left beside it is removed.
    pub(super) fn new(beside: &Path) -> io::Result<Self> {
        let interrupt = Interrupt::watch()?;
        interrupt.set_idle(false);
        let mut staging = Staging { path: PathBuf::new(), is_committed: false, made: Vec::new(), interrupt };
        staging.make_folders(beside)?;
        leftovers(beside, PARTIAL).iter().filter(|(_, process)| is_gone(*process)).for_each(|(path, _)| drop(fs::remove_dir_all(path)));
        // The process id makes the name unique among running processes; the number is for several in one, and for leftovers.
        for number in 0..u32::MAX {
            let path = beside.join(format!("{PREFIX}{}-{number}.{PARTIAL}", std::process::id()));
            match fs::create_dir(&path) {
                Ok(()) => {
                    staging.path = path;
                    return Ok(staging);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    fn make_folders(&mut self, folder: &Path) -> io::Result<()> {
        let missing: Vec<&Path> = folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
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
        if self.interrupt.is_pressed() { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }

    /// From here on the files count: what moves them to their places may be ended at any time, and is brought to its end by the next run.
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
        // It is gone already when it was renamed as a whole; and nothing can be done when it cannot be removed.
        if !self.is_committed && !self.path.as_os_str().is_empty() {
            let _ = fs::remove_dir_all(&self.path);
        }
        // Only those that are still empty.
        self.made.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
        self.interrupt.set_idle(true);
    }
}

/// Whether a name is that of files which somebody has finished and not yet moved to their places.
pub(super) fn is_commit(name: &str) -> bool {
    parsed(name, COMMIT).is_some()
}

/// Brings to its end what killed processes have finished in a folder. `move_in` moves one file, which is named relative to the folder.
pub(super) fn finish(folder: &Path, move_in: &dyn Fn(&Path, &Path) -> io::Result<()>) -> io::Result<()> {
    for (path, _) in leftovers(folder, COMMIT).iter().filter(|(_, process)| is_gone(*process)) {
        let mut folders = vec![path.clone()];
        while let Some(inner) = folders.pop() {
            for entry in fs::read_dir(&inner)? {
                let (entry, kind) = entry.and_then(|entry| entry.file_type().map(|kind| (entry.path(), kind)))?;
                if kind.is_dir() {
                    folders.push(entry);
                } else if kind.is_file() {
                    move_in(&entry, entry.strip_prefix(path).map_err(io::Error::other)?)?;
                }
            }
        }
        fs::remove_dir_all(path)?;
    }
    Ok(())
}

/// What processes left in a folder, with their numbers.
fn leftovers(folder: &Path, kind: &str) -> Vec<(PathBuf, u32)> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let left = entries.filter_map(|entry| {
        let process = parsed(entry.file_name().to_str()?, kind)?;
        entry.file_type().ok()?.is_dir().then(|| (entry.path(), process))
    });
    left.collect()
}

fn parsed(name: &str, kind: &str) -> Option<u32> {
    let (process, number) = name.strip_prefix(PREFIX)?.strip_suffix(kind)?.strip_suffix('.')?.split_once('-')?;
    number.bytes().all(|digit| digit.is_ascii_digit()).then(|| process.parse().ok()).flatten()
}

/// Whether a process has ended. A leftover of our own number is that of another one, which had it before us.
#[cfg(unix)]
fn is_gone(process: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return true };
    test_kill_process(pid).is_err_and(|error| error == rustix::io::Errno::SRCH)
}

/// Nobody can tell here.
#[cfg(not(unix))]
fn is_gone(_: u32) -> bool {
    false
}

/// Ctrl-C and SIGTERM while files are staged: a flag, so that the staged files can be removed. At any other time they end the process.
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
        let interrupt = Interrupt { idle: Arc::new(AtomicBool::new(true)), pressed: Arc::default() };
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
