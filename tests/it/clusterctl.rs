//! clusterctl's offline commands against the recorded behaviour of clusterctl: all invocations, run
//! with the built binary.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::shared;

/// Invocations whose standard output or exit code is not clusterctl's yet. The list only shrinks:
/// one that passes must leave it.
const KNOWN_GAPS: &[&str] = &[];

/// Refusals that end with the words of a Go library (its YAML reader, mostly), of which we say the
/// meaning in our own words. What clusterctl itself says before them must be the same. This list
/// only shrinks too.
const OTHER_WORDS: &[&str] = &[];

/// Commands of clusterctl that this program does not have: they are refused, whatever clusterctl
/// says.
const NOT_OURS: &[&str] = &["alpha", "convert", "upgrade"];

/// The group of help texts and argument errors: help is our own, so only exit codes and refusals
/// are compared there.
const HELP_GROUP: &str = "cli-";

/// What one run did.
struct Run {
    exit_code: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

/// How an invocation compares with its record.
#[derive(Default)]
struct Verdict {
    /// Standard output, exit code, files.
    gap: Option<String>,
    /// Standard error.
    words: Option<String>,
}

struct Case {
    folder: PathBuf,
    name: String,
    record: Value,
}

#[test]
fn every_recorded_invocation_gives_the_same() {
    let Some(folder) = shared("vectors/clusterctl") else {
        return;
    };
    let cases = cases(&folder);
    assert!(cases.len() >= 672, "{} invocations", cases.len());
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let verdicts: Vec<(String, Verdict)> = std::thread::scope(|scope| {
        let chunks: Vec<_> = cases.chunks(cases.len().div_ceil(threads)).collect();
        let running: Vec<_> = chunks
            .into_iter()
            .map(|chunk| scope.spawn(|| chunk.iter().map(judge).collect::<Vec<_>>()))
            .collect();
        running
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });
    let gaps = failures(
        "differ in standard output, exit code or files",
        KNOWN_GAPS,
        &verdicts,
        |verdict| verdict.gap.as_ref(),
    );
    let words = failures(
        "differ in standard error",
        OTHER_WORDS,
        &verdicts,
        |verdict| verdict.words.as_ref(),
    );
    let failures = [gaps, words].concat();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Compares what failed with a list of what may fail.
fn failures<'v>(
    what: &str,
    known: &[&str],
    verdicts: &'v [(String, Verdict)],
    of: impl Fn(&'v Verdict) -> Option<&'v String>,
) -> Vec<String> {
    let known: BTreeSet<&str> = known.iter().copied().collect();
    let failed: Vec<(&str, &String)> = verdicts
        .iter()
        .filter_map(|(name, verdict)| Some((name.as_str(), of(verdict)?)))
        .collect();
    let names: BTreeSet<&str> = failed.iter().map(|(name, _)| *name).collect();
    let mut messages: Vec<String> = failed
        .iter()
        .filter(|(name, _)| !known.contains(name))
        .map(|(name, said)| format!("{name}: {said}"))
        .collect();
    if !messages.is_empty() {
        messages.insert(0, format!("{} invocations {what}:", messages.len()));
    }
    let stale: Vec<&&str> = known
        .iter()
        .filter(|name| !names.contains(**name))
        .collect();
    if !stale.is_empty() {
        messages.push(format!(
            "these pass, or are no more; take them off the list of those that {what}: {stale:?}"
        ));
    }
    messages
}

fn cases(folder: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let folder = entry.unwrap().path();
        if let Ok(record) = fs::read(folder.join("case.json")) {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            cases.push(Case {
                folder,
                name,
                record: serde_json::from_slice(&record).unwrap(),
            });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn judge(case: &Case) -> (String, Verdict) {
    let work = tempfile::Builder::new()
        .prefix("windlass-")
        .tempdir()
        .unwrap();
    let root = work.path().canonicalize().unwrap();
    case.prepare(&root);
    let run = case.run(&root);
    (case.name.clone(), case.compare(&root, &run))
}

impl Case {
    fn texts(&self, field: &str) -> Vec<(&str, &str)> {
        let entries = self.record[field].as_object().into_iter().flatten();
        entries
            .map(|(key, value)| (key.as_str(), value.as_str().unwrap()))
            .collect()
    }

    fn list(&self, field: &str) -> &[Value] {
        self.record[field].as_array().map_or(&[], Vec::as_slice)
    }

    /// Lays out the work folder.
    fn prepare(&self, root: &Path) {
        let at = |path: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            path
        };
        for folder in self.list("dirs") {
            fs::create_dir_all(root.join(folder.as_str().unwrap())).unwrap();
        }
        for (path, source) in self.texts("files") {
            // Read and written, not copied: the sources may be read-only.
            fs::write(at(path), fs::read(self.folder.join(source)).unwrap()).unwrap();
        }
        for path in self.list("tokenFiles") {
            let path = root.join(path.as_str().unwrap());
            let text = replaced(
                &fs::read(&path).unwrap(),
                b"@CASE@",
                root.to_str().unwrap().as_bytes(),
            );
            fs::write(path, text).unwrap();
        }
        for edit in self.list("edits") {
            let path = root.join(edit["path"].as_str().unwrap());
            let (find, replace) = (
                edit["find"].as_str().unwrap(),
                edit["replace"].as_str().unwrap(),
            );
            let text = replaced(
                &fs::read(&path).unwrap(),
                find.as_bytes(),
                replace.as_bytes(),
            );
            fs::write(path, text).unwrap();
        }
        for (link, target) in self.texts("symlinks") {
            std::os::unix::fs::symlink(target, at(link)).unwrap();
        }
    }

    fn run(&self, root: &Path) -> Run {
        let here = |text: &str| text.replace("@CASE@", root.to_str().unwrap());
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command.current_dir(root).env_clear();
        command.args(
            self.list("args")
                .iter()
                .map(|argument| here(argument.as_str().unwrap())),
        );
        command.envs(
            self.texts("env")
                .into_iter()
                .map(|(name, value)| (name, here(value))),
        );
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdin = self.record["stdin"]
            .as_str()
            .map_or_else(Vec::new, |source| {
                fs::read(self.folder.join(source)).unwrap()
            });
        let mut pipe = child.stdin.take().unwrap();
        // A program that does not read its input may close it first.
        let feeding = std::thread::spawn(move || drop(pipe.write_all(&stdin)));
        let output = child.wait_with_output().unwrap();
        feeding.join().unwrap();
        let away = |bytes: &[u8]| replaced(bytes, root.to_str().unwrap().as_bytes(), b"@CASE@");
        Run {
            exit_code: output.status.code().unwrap_or(-1),
            stdout: away(&output.stdout),
            stderr: away(&output.stderr),
        }
    }

    fn compare(&self, root: &Path, run: &Run) -> Verdict {
        if let Some(command) = self.record["args"][0]
            .as_str()
            .filter(|word| NOT_OURS.contains(word))
        {
            let refusal = format!(
                "Error: unknown command \"{command}\" for \"windlass\"\nRun 'windlass --help' for usage.\n"
            );
            let is_refused =
                run.exit_code == 1 && run.stdout.is_empty() && run.stderr == refusal.as_bytes();
            return Verdict {
                gap: (!is_refused).then(|| format!("not refused: {}", shown(&run.stderr))),
                words: None,
            };
        }
        let expected = |name: &str| fs::read(self.folder.join(name)).unwrap_or_default();
        let is_help = self.name.starts_with(HELP_GROUP);
        let exit_code = self.record["exitCode"].as_i64().unwrap();
        let same_exit = if exit_code == 2 {
            run.exit_code != 0
        } else {
            i64::from(run.exit_code) == exit_code
        };
        let (ours, theirs) = (self.own_name(&run.stdout), expected("stdout"));
        // Help texts are our own.
        let same_stdout = ours == theirs || is_help && !ours.is_empty() && !theirs.is_empty();
        let wrong_file = self
            .list("outputs")
            .iter()
            .find_map(|output| self.wrong_file(root, output));
        let gap = if !same_exit {
            Some(format!(
                "exit {} instead of {exit_code}: {}",
                run.exit_code,
                shown(&run.stderr)
            ))
        } else if !same_stdout {
            Some(first_difference("standard output", &ours, &theirs))
        } else {
            wrong_file
        };
        let alternatives = self
            .list("stderrAlternatives")
            .iter()
            .map(|name| expected(name.as_str().unwrap()));
        let accepted: Vec<Vec<u8>> = std::iter::once(expected("stderr"))
            .chain(alternatives)
            .collect();
        let ours = self.own_name(&run.stderr);
        let same_stderr = self.record["stderrCompare"] == "ignore" || accepted.contains(&ours);
        assert!(
            gap.is_some()
                || same_stderr
                || accepted
                    .iter()
                    .any(|theirs| before_library(theirs) == before_library(&ours)),
            "{}: clusterctl's own words differ: {} instead of {}",
            self.name,
            shown(&ours),
            shown(&accepted[0])
        );
        let words = (gap.is_none() && !same_stderr)
            .then(|| format!("{} instead of {}", shown(&ours), shown(&accepted[0])));
        Verdict { gap, words }
    }

    /// Our program's name stands where clusterctl's does.
    fn own_name(&self, text: &[u8]) -> Vec<u8> {
        if self.name.starts_with(HELP_GROUP) {
            replaced(text, b"windlass", b"clusterctl")
        } else {
            text.to_vec()
        }
    }

    fn wrong_file(&self, root: &Path, output: &Value) -> Option<String> {
        let path = root.join(output["path"].as_str().unwrap());
        if output["exists"] == false {
            return path
                .exists()
                .then(|| format!("{} was written", path.display()));
        }
        let Ok(ours) = fs::read(&path) else {
            return Some(format!("{} was not written", path.display()));
        };
        let theirs = fs::read(self.folder.join(output["file"].as_str().unwrap())).unwrap();
        if ours != theirs {
            return Some(first_difference("file", &ours, &theirs));
        }
        let mode =
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions())
                & 0o777;
        let expected = output["mode"]
            .as_str()
            .and_then(|mode| u32::from_str_radix(mode.trim_start_matches("0o"), 8).ok());
        expected
            .filter(|expected| *expected != mode)
            .map(|expected| format!("mode {mode:o} instead of {expected:o}"))
    }
}

/// What clusterctl says before the words of its YAML reader.
fn before_library(text: &[u8]) -> &[u8] {
    let at = text.windows(6).rposition(|window| window == b"yaml: ");
    &text[..at.unwrap_or(text.len())]
}

fn replaced(text: &[u8], find: &[u8], replace: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(find.len()).position(|window| window == find) {
        result.extend_from_slice(&rest[..at]);
        result.extend_from_slice(replace);
        rest = &rest[at + find.len()..];
    }
    result.extend_from_slice(rest);
    result
}

fn shown(text: &[u8]) -> String {
    format!(
        "{:?}",
        String::from_utf8_lossy(text)
            .chars()
            .take(600)
            .collect::<String>()
    )
}

fn first_difference(what: &str, ours: &[u8], theirs: &[u8]) -> String {
    let (ours, theirs) = (
        String::from_utf8_lossy(ours),
        String::from_utf8_lossy(theirs),
    );
    let (mut a, mut b) = (ours.lines(), theirs.lines());
    for line in 1.. {
        match (a.next(), b.next()) {
            (None, None) => break,
            (ours, theirs) if ours == theirs => {}
            (ours, theirs) => {
                return format!("{what}, line {line}: {ours:?} instead of {theirs:?}");
            }
        }
    }
    format!("{what}: line ends differ")
}
