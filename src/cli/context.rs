//! What a verb is given, and what it gives back.

use clap::{ArgMatches, FromArgMatches};

use super::flags::Colour;
use super::verbs::Verb;
use crate::diag::{Diagnostic, Report, Severity};
use crate::report::Sources;
use crate::report::text::{self, Style};
use crate::shell::WorldError;
use crate::shell::environment::Environment;
use crate::shell::stdio::Stdio;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: no error finding.
    Clean,
    /// 1: an error finding, a denied one, a difference with `--check`, or what clusterctl ends with 1.
    Findings,
    /// 2: a flag, a permission, a file named on the command line that is missing.
    World,
}

impl Exit {
    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Exit::Clean => 0,
            Exit::Findings => 1,
            Exit::World => 2,
        }
    }

    /// 1 when a verdict fails, else 0.
    pub fn failing(fails: bool) -> Self {
        if fails { Exit::Findings } else { Exit::Clean }
    }
}

/// Why a verb could not do its work, when the reason is nobody's document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The world refused: exit 2.
    World(WorldError),
    /// The command line is wrong in a way that only the verb sees: exit 2.
    Usage {
        /// What is wrong.
        message: String,
        /// What to type.
        help: String,
    },
    /// clusterctl's verbs: clusterctl's sentence after `Error: `, exit 1.
    Clusterctl(String),
    /// The same for a wrong number of operands, where clusterctl also prints the help to standard output.
    ClusterctlUsage(String),
}

impl Failure {
    /// A wrong command line.
    pub fn usage(message: impl Into<String>, help: impl Into<String>) -> Self {
        Failure::Usage { message: message.into(), help: help.into() }
    }
}

impl From<WorldError> for Failure {
    fn from(error: WorldError) -> Self {
        Failure::World(error)
    }
}

/// The flags of every verb.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct Global {
    /// clusterctl's configuration: a file, or a URL
    #[arg(long, value_name = "FILE", help_heading = "Global")]
    pub config: Option<String>,
    /// No notes, stand-ins, next steps or summaries; errors and warnings stay
    #[arg(short, long, help_heading = "Global")]
    pub quiet: bool,
    /// How much to tell: 1 choices that were made, 5 everything
    #[arg(short = 'v', long = "v", value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = "Global")]
    pub verbosity: i32,
    /// Colours
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Global")]
    pub color: Colour,
}

impl Global {
    /// The values of a command line that was understood.
    pub(super) fn of(matches: &ArgMatches) -> Self {
        Global::from_arg_matches(matches).expect("internal error: every verb has the global flags")
    }
}

/// What a verb works with: the streams, the environment, the flags that all verbs have.
pub struct Context<'a> {
    /// The streams. Prefer the methods of this context: they know `-q`.
    pub stdio: &'a mut Stdio,
    /// The environment.
    pub environment: &'a Environment,
    /// The flags of every verb.
    pub global: Global,
    /// How the program calls itself.
    pub program: &'static str,
    /// The verb that runs.
    pub verb: &'static Verb,
}

/// Where a report goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    /// It is what was asked for.
    Stdout,
    /// It goes beside what was asked for.
    Stderr,
}

impl Context<'_> {
    /// Writes what was asked for to standard output, as it is.
    pub fn out(&mut self, text: &str) {
        self.stdio.out(text);
    }

    /// Writes what was asked for to standard output, as it is.
    pub fn out_bytes(&mut self, bytes: &[u8]) {
        self.stdio.out_bytes(bytes);
    }

    /// Says one line on standard error, unless `-q`.
    pub fn talk(&mut self, line: &str) {
        if !self.global.quiet {
            self.stdio.err(&format!("{line}\n"));
        }
    }

    /// Says one line on standard error at this verbosity and above, also with `-q`: `-v` was asked for.
    pub fn trace(&mut self, level: i32, line: &str) {
        if self.global.verbosity >= level {
            self.stdio.err(&format!("{line}\n"));
        }
    }

    /// Shows findings. With `-q` advice is left out.
    pub fn findings(&mut self, report: &Report, sources: &Sources, to: To) {
        let shown: Report = report.findings().iter().filter(|finding| self.is_shown(finding)).map(|finding| self.named(finding)).collect();
        let style = self.style(to);
        let text = text::render(&shown, sources, style);
        self.write(&text, to);
    }

    /// Shows the last line of a run, unless `-q`: what was done, what was found, what follows.
    pub fn summary(&mut self, done: &str, report: &Report, follows: &str, to: To) {
        let line = text::summary_line(done, report.summary(), follows);
        if !self.global.quiet && !line.is_empty() {
            self.write(&format!("{line}\n"), to);
        }
    }

    /// How text is written to a stream.
    pub fn style(&self, to: To) -> Style {
        let stream = match to {
            To::Stdout => &self.stdio.stdout,
            To::Stderr => &self.stdio.stderr,
        };
        Style { colour: self.global.color.applies(stream, self.environment), width: stream.width() }
    }

    /// A command of ours that can be pasted: the name under which we were called, and `words`.
    pub fn command(&self, words: &str) -> String {
        format!("{} {words}", self.program)
    }

    fn write(&mut self, text: &str, to: To) {
        match to {
            To::Stdout => self.stdio.out(text),
            To::Stderr => self.stdio.err(text),
        }
    }

    fn is_shown(&self, finding: &Diagnostic) -> bool {
        !self.global.quiet || finding.severity != Severity::Info
    }

    /// The finding with the commands in its help spelt as this program was called.
    fn named(&self, finding: &Diagnostic) -> Diagnostic {
        let mut finding = finding.clone();
        if self.program != "windlass" {
            let rename = |text: &mut String| *text = text.replace("`windlass ", &format!("`{} ", self.program));
            finding.help.iter_mut().for_each(rename);
            finding.notes.iter_mut().for_each(rename);
        }
        finding
    }
}
