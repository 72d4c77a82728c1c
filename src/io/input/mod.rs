//! Reads the `FILE…` of a command line: files, folders, and `-` for standard input.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::staging::is_commit;
use super::{WorldError, cores};
use windlass_source::Source;
use windlass_source::diag::Report;
use windlass_source::nearest::nearest;

/// The name under which standard input is shown.
pub const STDIN_NAME: &str = "<stdin>";

/// The file name endings that are taken from a folder.
pub const ENDINGS: [&str; 3] = [".yaml", ".yml", ".json"];

/// How much is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file, and of standard input.
    pub file_bytes: u64,
    /// Bytes of all files together.
    pub total_bytes: u64,
    /// Files.
    pub files: usize,
    /// Folders in folders.
    pub depth: usize,
}

impl Default for Limits {
    /// 64 MiB a file, 128 MiB in all, 100,000 files, 64 folders deep: far above every known
    /// release, far below a machine's memory.
    fn default() -> Self {
        Limits {
            file_bytes: 64 << 20,
            total_bytes: 128 << 20,
            files: 100_000,
            depth: 64,
        }
    }
}

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    /// The texts, in the order of the command line; the files of a folder in byte order of their
    /// paths.
    pub sources: Vec<Source>,
    /// Files that are not text.
    pub report: Report,
    /// The folders that were skipped.
    pub skipped: Vec<String>,
}

/// Reads everything that the command line names.
///
/// A folder stands for its `.yaml`, `.yml` and `.json` files, at any depth, without hidden ones and
/// without links. A file that is named itself is read whatever its name is. `-` is standard input.
///
/// # Errors
/// A named file that is missing or unreadable, or more input than `limits` allow.
pub fn read(
    arguments: &[String],
    limits: Limits,
    stdin: &mut dyn Read,
) -> Result<Inputs, WorldError> {
    read_without(arguments, limits, stdin, &|_| false)
}

/// Reads everything that the command line names, without folders below a named one for whose path
/// `skips` returns true.
///
/// # Errors
/// A named file that is missing or unreadable, or more input than `limits` allow.
pub fn read_without(
    arguments: &[String],
    limits: Limits,
    stdin: &mut dyn Read,
    skips: &dyn Fn(&str) -> bool,
) -> Result<Inputs, WorldError> {
    let mut inputs = Inputs::default();
    let mut skipped = Vec::new();
    let mut total = 0;
    let mut stdin = Some(stdin);
    let mut files = |argument: &String| {
        if argument == "-" {
            Ok(Vec::new())
        } else {
            files_of(argument, limits, skips, &mut skipped)
        }
    };
    let named = arguments
        .iter()
        .map(&mut files)
        .collect::<Result<Vec<_>, _>>()?;
    inputs.skipped = skipped;
    reject_too_much(named.iter().flatten(), limits)?;
    for (argument, files) in arguments.iter().zip(named) {
        if argument == "-" {
            // A second `-` finds the stream at its end, as every Unix tool does.
            let bytes = stdin.take().map_or(Ok(Vec::new()), |stdin| {
                read_bounded(stdin, STDIN_NAME, limits.file_bytes, 0)
            })?;
            inputs.add(STDIN_NAME, &bytes, &mut total, limits)?;
            continue;
        }
        for Found { path, shown } in files {
            let bytes = read_file(&path, &shown, limits.file_bytes)?;
            inputs.add(&shown, &bytes, &mut total, limits)?;
        }
    }
    Ok(inputs)
}

/// Rejects files that are too large together, before any of them is read.
fn reject_too_much<'a>(
    files: impl Iterator<Item = &'a Found>,
    limits: Limits,
) -> Result<(), WorldError> {
    let mut total = 0_u64;
    for file in files {
        total = total.saturating_add(fs::metadata(&file.path).map_or(0, |metadata| metadata.len()));
        if total > limits.total_bytes {
            return Err(too_much(&file.shown, limits));
        }
    }
    Ok(())
}

fn too_much(name: &str, limits: Limits) -> WorldError {
    let bound = format!(
        "with it, the input is larger than {} MiB",
        limits.total_bytes >> 20
    );
    WorldError::TooLarge {
        path: name.to_owned(),
        bound,
        help: "name fewer files at once",
    }
}

/// Reads one text file that a command line or a document names; `shown` is the name that findings
/// will use.
///
/// # Errors
/// The file is missing, unreadable or too large. A file that is not UTF-8 is a finding, beside an
/// empty text.
pub fn read_source(path: &Path, shown: &str) -> Result<(Source, Report), WorldError> {
    let mut inputs = Inputs::of(shown, read_file(path, shown, Limits::default().file_bytes)?)?;
    let source = inputs
        .sources
        .pop()
        .unwrap_or_else(|| Source::new(shown, ""));
    Ok((source, inputs.report))
}

impl Inputs {
    /// One file that was read already.
    ///
    /// # Errors
    /// It is too large.
    pub fn of(name: &str, bytes: Vec<u8>) -> Result<Self, WorldError> {
        let mut inputs = Inputs::default();
        inputs.add(name, &bytes, &mut 0, Limits::default())?;
        Ok(inputs)
    }

    fn add(
        &mut self,
        name: &str,
        bytes: &[u8],
        total: &mut u64,
        limits: Limits,
    ) -> Result<(), WorldError> {
        *total += bytes.len() as u64;
        if *total > limits.total_bytes {
            return Err(too_much(name, limits));
        }
        match Source::of_bytes(name, bytes) {
            Ok(source) => self.sources.push(source),
            Err(fault) => self.report.push(*fault),
        }
        Ok(())
    }
}

fn files_of(
    argument: &str,
    limits: Limits,
    skips: &dyn Fn(&str) -> bool,
    skipped: &mut Vec<String>,
) -> Result<Vec<Found>, WorldError> {
    let metadata = fs::metadata(argument)
        .map_err(|error| missing_or(argument, WorldError::reading(argument, &error)))?;
    if !metadata.is_dir() {
        return Ok(vec![Found {
            path: PathBuf::from(argument),
            shown: with_slashes(argument),
        }]);
    }
    let mut found = Vec::new();
    let mut enters = |path: &str| {
        let is_skipped = skips(path);
        skipped.extend(is_skipped.then(|| path.to_owned()));
        !is_skipped
    };
    walk_into(
        argument,
        limits,
        &mut |name| ENDINGS.iter().any(|ending| name.ends_with(ending)),
        &mut enters,
        &mut found,
    )?;
    skipped.sort_unstable();
    Ok(found)
}

/// A file below a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    /// The path as findings show it.
    pub(super) shown: String,
}

impl Found {
    /// The path as text.
    ///
    /// # Errors
    /// It is not UTF-8, so that no document and no release can name the file.
    pub(super) fn text(self) -> Result<String, WorldError> {
        if self.path.to_str().is_some() {
            Ok(self.shown)
        } else {
            Err(not_utf8_name(self.shown))
        }
    }
}

/// The rejection of a file whose name is not UTF-8.
pub(super) fn not_utf8_name(shown: String) -> WorldError {
    WorldError::Unreadable {
        path: shown,
        reason: "its name is not UTF-8".to_owned(),
    }
}

/// A name of the operating system as text: bytes that are not UTF-8 as `\xff`.
pub fn shown_name(name: &OsStr) -> String {
    let mut shown = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        shown.push_str(chunk.valid());
        chunk
            .invalid()
            .iter()
            .for_each(|byte| shown.push_str(&format!("\\x{byte:02x}")));
    }
    shown
}

/// Regular files below a folder whose name `takes`, in byte order; no hidden ones, no links.
pub(super) fn walk(
    folder: &str,
    limits: Limits,
    takes: &mut dyn FnMut(&str) -> bool,
    found: &mut Vec<Found>,
) -> Result<(), WorldError> {
    walk_into(folder, limits, takes, &mut |_| true, found)
}

/// The same, only in folders for whose path `enters` returns true.
fn walk_into(
    folder: &str,
    limits: Limits,
    takes: &mut dyn FnMut(&str) -> bool,
    enters: &mut dyn FnMut(&str) -> bool,
    found: &mut Vec<Found>,
) -> Result<(), WorldError> {
    let root = with_slashes(folder);
    let root = if root.len() > 1 {
        root.trim_end_matches('/').to_owned()
    } else {
        root
    };
    let first = found.len();
    let mut folders = vec![(
        Found {
            path: PathBuf::from(&root),
            shown: root,
        },
        0,
    )];
    while let Some((
        Found {
            path,
            shown: folder,
        },
        depth,
    )) = folders.pop()
    {
        let entries = fs::read_dir(&path).map_err(|error| WorldError::reading(&folder, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| WorldError::reading(&folder, &error))?;
            let name = shown_name(&entry.file_name());
            if is_commit(&name) {
                return Err(WorldError::Unfinished { path: folder });
            }
            if name.starts_with('.') {
                continue;
            }
            let shown = joined(&folder, &name);
            let kind = entry
                .file_type()
                .map_err(|error| WorldError::reading(&shown, &error))?;
            let below = Found {
                path: path.join(entry.file_name()),
                shown,
            };
            if kind.is_dir() && !enters(&below.shown) {
                continue;
            }
            if kind.is_dir() && depth == limits.depth {
                let bound = format!("more than {} folders deep", limits.depth);
                return Err(WorldError::TooLarge {
                    path: below.shown,
                    bound,
                    help: "name a folder that is further down",
                });
            } else if kind.is_dir() {
                folders.push((below, depth + 1));
            } else if kind.is_file() && takes(&name) {
                if found.len() == limits.files {
                    let bound = format!("more than {} files", limits.files);
                    return Err(WorldError::TooLarge {
                        path: folder,
                        bound,
                        help: "name a folder that is further down",
                    });
                }
                found.push(below);
            }
        }
    }
    found[first..].sort_unstable_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    Ok(())
}

/// A path below a folder as it is shown: `.` and nothing add no prefix.
fn joined(folder: &str, name: &str) -> String {
    match folder {
        "" | "." => name.to_owned(),
        "/" => format!("/{name}"),
        _ => format!("{folder}/{name}"),
    }
}

pub(super) fn with_slashes(path: &str) -> String {
    if std::path::MAIN_SEPARATOR == '/' {
        path.to_owned()
    } else {
        path.replace(std::path::MAIN_SEPARATOR, "/")
    }
}

/// A path below a folder, as seen from there.
pub(super) fn relative(path: &str, folder: &str) -> String {
    let folder = with_slashes(folder);
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .map_or(path, |rest| rest.trim_start_matches('/'))
        .to_owned()
}

/// Reads all of standard input, text or not.
///
/// # Errors
/// When it cannot be read, or is larger than one file may be.
pub fn read_stdin(stdin: &mut dyn Read, limits: Limits) -> Result<Vec<u8>, WorldError> {
    read_bounded(stdin, STDIN_NAME, limits.file_bytes, 0)
}

/// Reads a file up to a bound. A pipe or a device that is where a file is expected is rejected,
/// for nobody knows whether it ever ends; what the user names below `/dev` is meant: `/dev/stdin`,
/// a shell's `<(…)`.
pub(super) fn read_file(path: &Path, shown: &str, bound: u64) -> Result<Vec<u8>, WorldError> {
    let is_stream = path.starts_with("/dev") || path.starts_with("/proc/self/fd");
    let file = open(path, is_stream)
        .map_err(|error| missing_or(shown, WorldError::reading(shown, &error)))?;
    let metadata = file
        .metadata()
        .map_err(|error| WorldError::reading(shown, &error))?;
    let kind = metadata.file_type();
    if !is_stream && !kind.is_file() && !kind.is_dir() {
        return Err(WorldError::Unreadable {
            path: shown.to_owned(),
            reason: "it is a pipe or a device, not a file".to_owned(),
        });
    }
    let bytes = read_bounded(file, shown, bound, metadata.len())?;
    cores::share_out(bytes.len());
    Ok(bytes)
}

/// Opens a file; a pipe without anybody at its other end would wait for ever, unless it is opened
/// so.
#[cfg(unix)]
fn open(path: &Path, may_wait: bool) -> std::io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = if may_wait {
        rustix::fs::OFlags::empty()
    } else {
        rustix::fs::OFlags::NONBLOCK
    };
    fs::File::options()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

#[cfg(not(unix))]
fn open(path: &Path, _: bool) -> std::io::Result<fs::File> {
    fs::File::open(path)
}

/// Reads up to `bound` bytes, of which about so many are `expected`.
fn read_bounded(
    from: impl Read,
    shown: &str,
    bound: u64,
    expected: u64,
) -> Result<Vec<u8>, WorldError> {
    // With room for one byte more the end is found without growing.
    let mut bytes = Vec::with_capacity(usize::try_from(expected.min(bound)).unwrap_or(0) + 1);
    from.take(bound + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| WorldError::reading(shown, &error))?;
    if bytes.len() as u64 > bound {
        let bound = format!("larger than {} MiB", bound >> 20);
        return Err(WorldError::TooLarge {
            path: shown.to_owned(),
            bound,
            help: "split the file, or leave it out",
        });
    }
    Ok(bytes)
}

/// Adds the neighbour with nearly the same name to a missing file.
fn missing_or(path: &str, error: WorldError) -> WorldError {
    let WorldError::Missing { path: shown, .. } = error else {
        return error;
    };
    let (folder, name) = path.rsplit_once('/').map_or((".", path), |(folder, name)| {
        (if folder.is_empty() { "/" } else { folder }, name)
    });
    let names: Vec<String> = fs::read_dir(folder)
        .map(|entries| {
            entries
                .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
                .take(10_000)
                .collect()
        })
        .unwrap_or_default();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    let stem = |name: &str| name.rsplit_once('.').map(|(stem, _)| stem.to_owned());
    // The same file with another ending first: `worker.yml` for `worker.yaml`.
    let twin = names.iter().copied().find(|other| {
        stem(name).is_some_and(|own| Some(own) == stem(other))
            && ENDINGS.iter().any(|e| other.ends_with(e))
    });
    let similar = twin
        .or_else(|| nearest(name, names.iter().copied()))
        .map(|other| {
            if folder == "." {
                other.to_owned()
            } else {
                joined(folder, other)
            }
        });
    WorldError::Missing {
        path: shown,
        similar,
    }
}

#[cfg(test)]
mod tests;
