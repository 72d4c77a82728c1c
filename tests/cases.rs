//! The command line by cases: `tests/cases/COMMAND/CASE/` holds what is run and what comes of it.
//!
//! - `in/`: the folder in which the commands run (a copy; absent: an empty one).
//! - `cmd`: the session. `# TEXT` says why, and where the expectation comes from. `$ COMMAND` runs
//!   `windlass`, or one of the few commands of [`Sandbox::builtin`] that prepare the next step. The
//!   lines below it are its result: `? CODE` (only if it is not 0), `1> LINE` of standard output,
//!   `2> LINE` of standard error, and `+ PATH`, `~ PATH`, `- PATH` for each file that the command
//!   wrote, changed and removed. `$ A=B windlass …` sets a variable of an otherwise empty
//!   environment, `< FILE` and `> FILE` are standard input and output.
//! - `out/`: the content of files that were written or changed. A file that is not there is not
//!   compared; to have one compared, create it empty and rewrite the case.
//!
//! `[CWD]` is the folder of the case, `[ROOT]` the checkout. `UPDATE=1 cargo test --test cases`
//! rewrites `cmd` and `out/`; a person reads the difference. `cargo test --test cases -- lint/` runs
//! the cases whose names contain `lint/`. A first line `# only on Unix` or `# only without the
//! feature signatures` leaves a case out elsewhere.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests read files and start the program"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Trial};
use snapbox::assert::Action;
use snapbox::data::DataFormat;
use snapbox::{Assert, Data};

fn main() -> ExitCode {
    let trials = cases().into_iter().map(|case| {
        let begins = |line: &str| case.session.starts_with(line);
        let ignored = cfg!(not(unix)) && begins("# only on Unix\n")
            || cfg!(feature = "signatures") && begins("# only without the feature signatures\n");
        Trial::test(case.name.clone(), move || Ok(case.run()?)).with_ignored_flag(ignored)
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder of `tests/cases`.
struct Case {
    name: String,
    folder: PathBuf,
    session: String,
}

/// All cases, sorted by name.
fn cases() -> Vec<Case> {
    let top = root().join("tests/cases");
    let mut cases: Vec<Case> = subfolders(&top)
        .iter()
        .flat_map(|command| subfolders(command))
        .map(|folder| Case {
            name: slashes(folder.strip_prefix(&top).unwrap()),
            session: std::fs::read_to_string(folder.join("cmd"))
                .unwrap_or_else(|error| panic!("{}/cmd: {error}", folder.display())),
            folder,
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_dir()).collect()
}

fn slashes(path: &Path) -> String {
    path.to_str().unwrap().replace('\\', "/")
}

impl Case {
    /// Runs the session and compares it, and the files in `out/`, with what is committed.
    fn run(&self) -> Result<(), String> {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().canonicalize().unwrap();
        let mut sandbox = Sandbox {
            current: folder.clone(),
            folder,
        };
        let input = self.folder.join("in");
        if input.exists() {
            copy(&input, &sandbox.folder);
        }
        let transcript = self.transcript(&mut sandbox)?;
        self.compare("cmd", transcript)?;
        let out = self.folder.join("out");
        if out.exists() {
            for path in files(&out).into_keys() {
                let actual = std::fs::read(sandbox.folder.join(&path))
                    .map_err(|error| format!("{path} was not written: {error}"))?;
                self.compare(&format!("out/{path}"), sandbox.redact(&actual))?;
            }
        }
        Ok(())
    }

    /// The session with the results that its commands have now.
    fn transcript(&self, sandbox: &mut Sandbox) -> Result<String, String> {
        const RESULTS: [&str; 7] = ["? ", "1>", "2>", "+ ", "~ ", "- ", "\\ "];
        let mut transcript = String::new();
        for line in self.session.lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                transcript += &format!("{line}\n{}", sandbox.step(command)?);
            } else if line.is_empty() || line.starts_with('#') {
                transcript += &format!("{line}\n");
            } else if !RESULTS.iter().any(|prefix| line.starts_with(prefix)) {
                return Err(format!("{}/cmd: not part of a session: {line}", self.name));
            }
        }
        Ok(transcript)
    }

    fn compare(&self, file: &str, actual: String) -> Result<(), String> {
        let update = std::env::var("UPDATE").is_ok_and(|value| value == "1");
        let assert = Assert::new().action(match update {
            true => Action::Overwrite,
            false => Action::Verify,
        });
        let expected = Data::read_from(&self.folder.join(file), Some(DataFormat::Text)).raw();
        assert
            .try_eq(Some(&"actual"), Data::text(actual), expected)
            .map_err(|difference| {
                format!("{difference}\n`UPDATE=1 cargo test --test cases` rewrites the cases")
            })
    }
}

/// The temporary folder in which a session runs.
struct Sandbox {
    folder: PathBuf,
    /// Where the next command runs: `folder` or one below it.
    current: PathBuf,
}

impl Sandbox {
    /// Runs one line of a session; returns the lines of its result.
    fn step(&mut self, line: &str) -> Result<String, String> {
        let mut words = shlex::split(line).ok_or_else(|| format!("not a command line: {line}"))?;
        for word in &mut words {
            *word = word
                .replace("[ROOT]", root().to_str().unwrap())
                .replace("[CWD]", self.folder.to_str().unwrap());
        }
        let mut variables = Vec::new();
        while let Some((name, value)) = words[0].split_once('=') {
            variables.push((name.to_owned(), value.to_owned()));
            words.remove(0);
        }
        let input = redirection(&mut words, "<");
        let output = redirection(&mut words, ">");
        let before = files(&self.folder);
        let mut result = if words[0] == "windlass" {
            self.windlass(&words[1..], variables, input, output)
        } else {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            return self.builtin(&words, output).map(|()| String::new());
        };
        result += &changes(&before, &files(&self.folder));
        Ok(result)
    }

    fn windlass(
        &self,
        arguments: &[String],
        variables: Vec<(String, String)>,
        input: Option<String>,
        output: Option<String>,
    ) -> String {
        let stdin = match input {
            Some(file) => std::fs::File::open(self.current.join(file)).unwrap().into(),
            None => Stdio::null(),
        };
        let run = Command::new(env!("CARGO_BIN_EXE_windlass"))
            .args(arguments)
            .current_dir(&self.current)
            .env_clear()
            .envs(variables)
            .stdin(stdin)
            .output()
            .unwrap();
        let mut result = match run.status.code() {
            Some(0) => String::new(),
            Some(code) => format!("? {code}\n"),
            None => format!("? {}\n", run.status),
        };
        match output {
            Some(file) => std::fs::write(self.current.join(file), run.stdout).unwrap(),
            None => result += &stream("1>", &self.redact(&run.stdout)),
        }
        result + &stream("2>", &self.redact(&run.stderr))
    }

    /// Commands that prepare the next step: `cd FOLDER` (from the folder of the case), `cp FROM… TO`,
    /// `mv FROM TO`, `rm PATH…`, `mkdir PATH…`, `ln -s TARGET PATH`, and `echo TEXT > FILE`, where
    /// `\n` in TEXT is a line end.
    fn builtin(&mut self, words: &[&str], output: Option<String>) -> Result<(), String> {
        if let ["cd", folder] = words {
            self.current = self.folder.join(folder);
            return Ok(());
        }
        let at = |path: &str| self.current.join(path);
        match (words, output) {
            (["echo", text], Some(file)) => {
                std::fs::write(at(&file), text.replace("\\n", "\n") + "\n").unwrap();
            }
            (["cp", from @ .., to], None) => {
                for from in from.iter().map(|from| at(from)) {
                    let into = at(to).is_dir() || to.ends_with('/');
                    let to = match into {
                        true => at(to).join(from.file_name().unwrap()),
                        false => at(to),
                    };
                    copy(&from, &to);
                }
            }
            (["mv", from, to], None) => std::fs::rename(at(from), at(to)).unwrap(),
            (["rm", paths @ ..], None) => {
                for path in paths.iter().map(|path| at(path)) {
                    match path.is_dir() && !path.is_symlink() {
                        true => std::fs::remove_dir_all(path).unwrap(),
                        false => std::fs::remove_file(path).unwrap(),
                    }
                }
            }
            (["mkdir", paths @ ..], None) => {
                paths
                    .iter()
                    .for_each(|path| std::fs::create_dir_all(at(path)).unwrap());
            }
            #[cfg(unix)]
            (["ln", "-s", target, path], None) => {
                std::os::unix::fs::symlink(target, at(path)).unwrap();
            }
            _ => return Err(format!("not a command of a session: {}", words.join(" "))),
        }
        Ok(())
    }

    /// The text, with the folders of this run replaced by their placeholders.
    fn redact(&self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes)
            .replace(self.folder.to_str().unwrap(), "[CWD]")
            .replace(root().to_str().unwrap(), "[ROOT]")
    }
}

/// Takes `SIGN FILE` out of the words of a command.
fn redirection(words: &mut Vec<String>, sign: &str) -> Option<String> {
    let position = words.iter().position(|word| word == sign)?;
    words.remove(position);
    Some(words.remove(position))
}

/// The lines of a stream, each behind the sign.
fn stream(sign: &str, text: &str) -> String {
    let Some(whole) = text.strip_suffix('\n') else {
        return match text {
            "" => String::new(),
            _ => stream(sign, &format!("{text}\n")) + &format!("\\ no line end after {sign}\n"),
        };
    };
    let lines = whole.split('\n').map(|line| match line {
        "" => format!("{sign}\n"),
        _ => format!("{sign} {line}\n"),
    });
    lines.collect()
}

/// What became of the files between two looks at a folder.
fn changes(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> String {
    let mut lines = String::new();
    for (path, content) in after {
        match before.get(path) {
            None => lines += &format!("+ {path}\n"),
            Some(old) if old != content => lines += &format!("~ {path}\n"),
            Some(_) => {}
        }
    }
    for path in before.keys().filter(|path| !after.contains_key(*path)) {
        lines += &format!("- {path}\n");
    }
    lines
}

/// The files below a folder by their paths, with their content; links are not followed.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_symlink() {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = slashes(path.strip_prefix(folder).unwrap());
                found.insert(name, std::fs::read(path).unwrap_or_default());
            }
        }
    }
    found
}

/// Copies a file or a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    if !from.is_dir() {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(from, to).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
        return;
    }
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        copy(&entry.path(), &to.join(entry.file_name()));
    }
}
