//! clusterctl's offline commands against the recorded behaviour of clusterctl: all invocations, run
//! with the built binary.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rayon::prelude::*;
use serde_json::Value;

use crate::support::{CORPUS_OF_CASES, recorded_source, shared, vectors};

/// Commands of clusterctl that this program does not have: they are rejected, whatever clusterctl
/// says.
const NOT_OURS: &[&str] = &["alpha", "convert", "upgrade"];

/// The group of help texts and argument errors: help is our own, so only exit codes and rejections
/// are compared there.
const HELP_GROUP: &str = "cli-";

/// What one run did.
struct Run {
    exit_code: i32,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

struct Case<'a> {
    folder: PathBuf,
    name: String,
    record: Value,
    /// The corpus, for an invocation over files of it.
    corpus: Option<&'a Path>,
}

#[test]
fn every_recorded_invocation_gives_the_same() {
    check(430, cases(|record| !is_over_corpus(record), None));
}

#[test]
fn every_recorded_invocation_over_the_corpus_gives_the_same() {
    if let Some(corpus) = shared("corpus") {
        check(242, cases(is_over_corpus, Some(&corpus)));
    }
}

/// Whether an invocation reads files of the corpus.
fn is_over_corpus(record: &Value) -> bool {
    let files = record["files"].as_object().into_iter().flatten();
    files
        .map(|(_, source)| source)
        .chain([&record["stdin"]])
        .filter_map(Value::as_str)
        .any(|source| source.starts_with(CORPUS_OF_CASES))
}

fn cases(is_meant: impl Fn(&Value) -> bool, corpus: Option<&Path>) -> Vec<Case<'_>> {
    let mut cases = Vec::new();
    for entry in fs::read_dir(vectors("clusterctl")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(record) = fs::read(folder.join("case.json")) else {
            continue;
        };
        let record = serde_json::from_slice(&record).unwrap();
        if is_meant(&record) {
            let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
            cases.push(Case {
                folder,
                name,
                record,
                corpus,
            });
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

/// Checks the cases, of which there are at least so many.
fn check(least: usize, cases: Vec<Case>) {
    assert!(cases.len() >= least, "{} invocations", cases.len());
    let wrong: Vec<String> = cases
        .par_iter()
        .filter_map(|case| Some(format!("{}: {}", case.name, judge(case)?)))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} invocations differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The first difference from the record.
fn judge(case: &Case) -> Option<String> {
    let work = tempfile::Builder::new()
        .prefix("windlass-")
        .tempdir()
        .unwrap();
    let root = work.path().canonicalize().unwrap();
    case.prepare(&root);
    let run = case.run(&root);
    case.compare(&root, &run)
}

impl Case<'_> {
    fn texts(&self, field: &str) -> Vec<(&str, &str)> {
        let entries = self.record[field].as_object().into_iter().flatten();
        entries
            .map(|(key, value)| (key.as_str(), value.as_str().unwrap()))
            .collect()
    }

    fn read(&self, source: &str) -> Vec<u8> {
        fs::read(recorded_source(&self.folder, source, self.corpus).unwrap()).unwrap()
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
            fs::write(at(path), self.read(source)).unwrap();
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
            .map_or_else(Vec::new, |source| self.read(source));
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

    fn compare(&self, root: &Path, run: &Run) -> Option<String> {
        if let Some(command) = self.record["args"][0]
            .as_str()
            .filter(|word| NOT_OURS.contains(word))
        {
            let rejection = format!(
                "Error: unknown command \"{command}\" for \"windlass\"\nRun 'windlass --help' for usage.\n"
            );
            let is_rejected =
                run.exit_code == 1 && run.stdout.is_empty() && run.stderr == rejection.as_bytes();
            return (!is_rejected).then(|| format!("not rejected: {}", shown(&run.stderr)));
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
        if !same_exit {
            return Some(format!(
                "exit {} instead of {exit_code}: {}",
                run.exit_code,
                shown(&run.stderr)
            ));
        }
        if !same_stdout {
            return Some(first_difference("standard output", &ours, &theirs));
        }
        let wrong_file = self
            .list("outputs")
            .iter()
            .find_map(|output| self.wrong_file(root, output));
        let alternatives = self
            .list("stderrAlternatives")
            .iter()
            .map(|name| expected(name.as_str().unwrap()));
        let accepted: Vec<Vec<u8>> = std::iter::once(expected("stderr"))
            .chain(alternatives)
            .collect();
        let ours = self.own_name(&run.stderr);
        let same_stderr = self.record["stderrCompare"] == "ignore" || accepted.contains(&ours);
        wrong_file.or_else(|| {
            (!same_stderr).then(|| format!("{} instead of {}", shown(&ours), shown(&accepted[0])))
        })
    }

    /// Our program's name is where clusterctl's does.
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
