//! Programs as child processes: started with an environment of their own, logged into a file, ended
//! by their id.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{wait, watchdog};

/// How long a program gets to end after it was asked to.
const GRACE: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(20);
/// The first pause: most programs that are waited for end in some milliseconds.
const SHORT: Duration = Duration::from_millis(2);

/// A running program. Dropping it ends it.
pub(crate) struct Process {
    name: String,
    command: Command,
    child: Child,
    log: PathBuf,
}

/// What a program that ran to its end left.
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Finished {
    /// Panics with both streams unless the exit code is 0.
    pub(crate) fn assert_success(&self, command: &str) {
        let Finished {
            code,
            stdout,
            stderr,
        } = self;
        assert!(
            *code == Some(0),
            "{command}: exit {code:?}\n{stdout}\n{stderr}"
        );
    }
}

/// A program to start: what it is called here, where it is, with what, and the folder that is its
/// working folder, home and log folder.
pub(crate) struct Start<'a> {
    pub(crate) name: &'a str,
    pub(crate) program: &'a Path,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) folder: &'a Path,
}

impl Start<'_> {
    /// Starts it and lets it run; stdout and stderr go to `NAME.log` in the folder.
    pub(crate) fn spawn(self) -> Process {
        let folder = self.folder;
        self.spawn_in(folder)
    }

    /// The same, with another working folder.
    pub(crate) fn spawn_in(self, working_folder: &Path) -> Process {
        let log = self.folder.join(format!("{}.log", self.name));
        let file = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .expect("the log can be written");
        let also = file.try_clone().expect("a file handle can be cloned");
        let mut command = self.command();
        command
            .current_dir(working_folder)
            .stdout(file)
            .stderr(also);
        let child = spawn(&mut command);
        Process {
            name: self.name.to_owned(),
            command,
            child,
            log,
        }
    }

    /// Starts it and waits for its end, at most for `limit`; both streams are also kept in the
    /// folder.
    pub(crate) fn finish(self, limit: Duration) -> Finished {
        let streams =
            ["stdout", "stderr"].map(|stream| self.folder.join(format!("{}.{stream}", self.name)));
        let [out, err] = streams
            .each_ref()
            .map(|path| File::create(path).expect("the folder can be written"));
        let mut command = self.command();
        command.stdout(out).stderr(err);
        let child = spawn(&mut command);
        let mut process = Process {
            name: self.name.to_owned(),
            command,
            child,
            log: streams[1].clone(),
        };
        let deadline = Instant::now() + limit;
        let mut pause = SHORT;
        let status = loop {
            match process.ended() {
                Some(status) => break status,
                None if Instant::now() >= deadline => {
                    panic!(
                        "{} still runs after {} s; its last words:\n{}",
                        process.name,
                        limit.as_secs(),
                        process.last_words()
                    )
                }
                None => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(PAUSE);
                }
            }
        };
        let [stdout, stderr] = streams.map(|path| {
            String::from_utf8_lossy(&std::fs::read(path).expect("the stream was written to a file"))
                .into_owned()
        });
        Finished {
            code: status.code(),
            stdout,
            stderr,
        }
    }

    /// Nothing of our own environment gets in but the search path.
    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command
            .args(&self.arguments)
            .current_dir(self.folder)
            .stdin(Stdio::null())
            .env_clear();
        command
            .env("HOME", self.folder)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        // Programs in Go spend a fifth of their time on memory that nobody here is short of.
        command.env("GOGC", "400").env("GOMEMLIMIT", "2GiB");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

fn spawn(command: &mut Command) -> Child {
    let child = command.spawn().unwrap_or_else(|error| {
        panic!(
            "{} does not start: {error}",
            command.get_program().display()
        )
    });
    watchdog::watch(child.id());
    child
}

impl Process {
    /// Its id on this machine.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it is called here.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Kills it, if it runs, and starts it once more as it was started.
    pub(crate) fn start_again(&mut self) {
        self.kill();
        watchdog::forget(self.child.id());
        self.child = spawn(&mut self.command);
    }

    /// How it ended, if it has.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child
            .try_wait()
            .expect("a child can be asked for its state")
    }

    /// Panics with the end of the log when the program has ended although it should run.
    pub(crate) fn assert_running(&mut self) {
        if let Some(status) = self.ended() {
            panic!(
                "{} ended ({status}); its last words:\n{}",
                self.name,
                self.last_words()
            );
        }
    }

    /// The end of the log.
    pub(crate) fn last_words(&self) -> String {
        let bytes = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        format!(
            "{}\n({})",
            lines[lines.len().saturating_sub(15)..].join("\n"),
            self.log.display()
        )
    }

    /// Waits until its log has these words.
    pub(crate) fn until_it_says(&mut self, limit: Duration, words: &str) {
        wait::until(&format!("{} to say {words:?}", self.name), limit, || {
            self.assert_running();
            let said = std::fs::read(&self.log).unwrap_or_default();
            if String::from_utf8_lossy(&said).contains(words) {
                Ok(())
            } else {
                Err("it does not".to_owned())
            }
        });
    }

    /// Ends it where it stands (SIGKILL).
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a child that was killed ends");
    }

    /// Stops it where it stands (SIGSTOP), until [`Process::wake`].
    pub(crate) fn freeze(&mut self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).expect("a child can be stopped");
    }

    /// Lets it go on (SIGCONT).
    pub(crate) fn wake(&mut self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).expect("a child can be woken");
    }

    /// Asks it to end, waits, and kills it when it does not. Nothing happens when it has ended
    /// already.
    pub(crate) fn stop(&mut self) {
        let id = Pid::from_child(&self.child);
        if matches!(self.child.try_wait(), Ok(None)) && kill_process(id, Signal::TERM).is_ok() {
            let deadline = Instant::now() + GRACE;
            while Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
                std::thread::sleep(PAUSE);
            }
        }
        // Both do nothing to a child that was waited for.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop();
        watchdog::forget(self.child.id());
    }
}
