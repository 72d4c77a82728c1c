//! Programs as child processes, each with its log in a file.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::free_port;

/// How long a program gets to end after SIGTERM, as a Pod does by default.
const GRACE: Duration = Duration::from_secs(30);

/// The command line of a provider, with its placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandLine(Vec<String>);

/// The values of placeholders.
pub(crate) struct Places<'a> {
    pub(crate) kubeconfig: &'a Path,
    pub(crate) webhook_port: u16,
    pub(crate) webhook_folder: &'a Path,
}

impl CommandLine {
    /// Splits a line as a POSIX shell does, without expansions.
    ///
    /// # Errors
    /// The message for the user, if a quote is not closed or the line is empty.
    pub(crate) fn parse(line: &str) -> Result<CommandLine, String> {
        let words = shlex::split(line).ok_or("--run: a quote is not closed")?;
        match words.is_empty() {
            true => Err("--run: the command is empty".to_owned()),
            false => Ok(CommandLine(words)),
        }
    }

    /// Whether the provider serves webhooks at the port that this program chooses.
    pub(crate) fn has_webhooks(&self) -> bool {
        self.0.iter().any(|word| word.contains("{webhook-port}"))
    }

    /// # Errors
    /// The message for the user, if the run lacks what the placeholders mean.
    pub(crate) fn check(&self, has_kubeconfig: bool, has_assets: bool) -> Result<(), String> {
        let names_webhooks = self.0.iter().any(|word| word.contains("{webhook-"));
        match (has_kubeconfig, has_assets) {
            (false, _) => Err(
                "--run needs --assets or --kubeconfig: the cluster in which the provider works"
                    .to_owned(),
            ),
            (true, false) if names_webhooks => Err(
                "--run: {webhook-port} and {webhook-cert-dir} need --assets: webhooks of another cluster lead to its Services"
                    .to_owned(),
            ),
            _ => Ok(()),
        }
    }

    /// The words with the placeholders replaced; each `{free-port}` is another port.
    ///
    /// # Errors
    /// The message for the user, if no port is free or a placeholder is unknown.
    pub(crate) fn fill(&self, places: &Places<'_>) -> Result<Vec<String>, String> {
        self.0
            .iter()
            .map(|word| {
                let mut word = word
                    .replace("{kubeconfig}", &places.kubeconfig.display().to_string())
                    .replace("{webhook-port}", &places.webhook_port.to_string())
                    .replace(
                        "{webhook-cert-dir}",
                        &places.webhook_folder.display().to_string(),
                    );
                while word.contains("{free-port}") {
                    word = word.replacen("{free-port}", &free_port()?.to_string(), 1);
                }
                Ok(word)
            })
            .collect()
    }
}

/// A running program. Dropping it kills it.
pub(crate) struct Process {
    name: String,
    words: Vec<String>,
    environment: Vec<(String, String)>,
    log: PathBuf,
    child: Child,
}

impl Process {
    /// Starts a program whose output goes to `NAME.log` of a folder.
    ///
    /// # Errors
    /// The message for the user, if it does not start.
    pub(crate) fn start(
        name: &str,
        words: Vec<String>,
        environment: Vec<(String, String)>,
        folder: &Path,
    ) -> Result<Process, String> {
        let log = folder.join(format!("{name}.log"));
        let child = spawn(&words, &[], &environment, &log)?;
        Ok(Process {
            name: name.to_owned(),
            words,
            environment,
            log,
            child,
        })
    }

    /// # Errors
    /// The message for the user with the end of the log, if the program has ended.
    pub(crate) fn check(&mut self) -> Result<(), String> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => {
                let log = self.log();
                let lines: Vec<&str> = log.lines().collect();
                let end = lines[lines.len().saturating_sub(10)..].join("\n");
                Err(format!("{} ended ({status}):\n{end}", self.name))
            }
            Err(error) => Err(format!("{}: {error}", self.name)),
        }
    }

    /// Everything that it has logged.
    pub(crate) fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Asks it to end, waits, and kills it if it does not.
    pub(crate) async fn stop(&mut self) {
        let deadline = tokio::time::Instant::now() + GRACE;
        if let Ok(None) = self.child.try_wait() {
            // It may have ended by itself.
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        }
        while let Ok(None) = self.child.try_wait()
            && tokio::time::Instant::now() < deadline
        {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        self.kill();
    }

    /// Ends it at once (SIGKILL).
    pub(crate) fn kill(&mut self) {
        // Both do nothing to a child that has ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }

    fn start_again(&mut self, more: &[String]) -> Result<(), String> {
        self.child = spawn(&self.words, more, &self.environment, &self.log)?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(
    words: &[String],
    more: &[String],
    environment: &[(String, String)],
    log: &Path,
) -> Result<Child, String> {
    let told = |error: std::io::Error| format!("{}: {error}", words[0]);
    let file = File::options()
        .create(true)
        .append(true)
        .open(log)
        .map_err(told)?;
    let also = file.try_clone().map_err(told)?;
    Command::new(&words[0])
        .args(&words[1..])
        .args(more)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(file)
        .stderr(also)
        .spawn()
        .map_err(told)
}

/// The provider under test as a process that checks restart.
pub(crate) struct Provided(pub(crate) Process);

impl Provided {
    /// Stops it as a kubelet does and starts it with further arguments.
    ///
    /// # Errors
    /// The message for the user, if it does not start.
    pub(crate) async fn restart(&mut self, more: &[String]) -> Result<(), String> {
        self.0.stop().await;
        self.0.start_again(more)
    }

    /// Kills it and starts it again.
    ///
    /// # Errors
    /// As [`Provided::restart`].
    pub(crate) fn kill_and_start(&mut self) -> Result<(), String> {
        self.0.kill();
        self.0.start_again(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced_and_ports_differ() {
        let line = CommandLine::parse(
            "manager '--kubeconfig={kubeconfig}' --a={free-port} --b={free-port}",
        )
        .unwrap();
        assert!(!line.has_webhooks());
        let places = Places {
            kubeconfig: Path::new("/tmp/a b"),
            webhook_port: 1,
            webhook_folder: Path::new("/c"),
        };
        let words = line.fill(&places).unwrap();
        assert_eq!(words[..2], ["manager", "--kubeconfig=/tmp/a b"]);
        assert!(
            words[2].trim_start_matches("--a=").parse::<u16>().is_ok(),
            "{words:?}"
        );
        assert!(line.check(true, false).is_ok() && line.check(false, false).is_err());
        let webhooks = CommandLine::parse("a {webhook-port}").unwrap();
        assert!(webhooks.check(true, true).is_ok() && webhooks.check(true, false).is_err());
        assert!(CommandLine::parse("a 'b").is_err() && CommandLine::parse(" ").is_err());
    }
}
