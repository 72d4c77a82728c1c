//! The command line: finds the verb, reads its arguments, runs it, and turns what comes back into
//! streams and an exit code.
//!
//! A command is one file here with a row in [`verbs::VERBS`]: it reads, calls the module of the
//! same name in `commands` of a crate, and writes. There is one overview, and help fits a screen.
//! Commands that clusterctl has too use its messages and exit codes.

mod bug;
mod clusterctl;
mod completion;
mod config_repositories;
mod context;
mod diff;
mod dispatch;
mod documents;
mod exit;
mod explain;
pub mod flags;
mod generate;
mod generate_cluster;
mod generate_provider;
mod generate_yaml;
mod guesses;
mod help;
mod image_layout;
mod images;
mod init;
mod init_verify;
mod inspect;
mod lint;
mod lsp;
mod man;
mod migrate;
mod outlook;
mod overview;
mod provenance_flags;
mod provider_file;
pub mod reference;
mod release;
mod release_check;
mod release_diff;
mod release_image;
mod remedy;
mod render;
mod render_flags;
mod repository;
mod rules;
mod sbom_flags;
pub mod schema;
mod settings;
mod size;
mod templates;
mod topology;
mod usage;
mod validate;
mod vars;
pub mod verbs;
mod version;
mod why;

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use clap::error::ErrorKind;

pub use bug::report_panics;
pub use context::{Context, Global};
pub use exit::{Exit, Failure};

use crate::io::environment::Environment;
use crate::io::input::shown_name;
use crate::io::stdio::Stdio;
use dispatch::Request;
use flags::Colour;
use verbs::Verb;
use windlass_report::text::{self, Style, visible_lines};

/// Runs one command line. `arguments` begin with the name under which the program was called: as
/// `clusterctl-windlass` it is a plugin, and speaks of itself as `clusterctl windlass`.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    mut stdio: Stdio,
    environment: &Environment,
) -> Exit {
    let mut arguments = arguments.into_iter();
    let program = program_name(&arguments.next().unwrap_or_default());
    let arguments = arguments
        .map(OsString::into_string)
        .collect::<Result<Vec<String>, _>>();
    let colour = arguments
        .as_ref()
        .map_or(Colour::Auto, |arguments| Colour::asked_for(arguments));
    let mut invocation = Invocation {
        program,
        stdio: &mut stdio,
        environment,
        colour,
    };
    let exit = match arguments {
        Ok(arguments) => invocation.answer(&arguments),
        Err(argument) => {
            let message = format!("the argument `{}` is not UTF-8", shown_name(&argument));
            invocation.fail(&Failure::usage(message, "rename the file"))
        }
    };
    match invocation.stdio.finish() {
        Ok(()) => exit,
        Err(error) => invocation.fail(&Failure::World(error)),
    }
}

/// How the program calls itself, so that what it prints can be pasted.
fn program_name(called_as: &OsStr) -> &'static str {
    let stem = std::path::Path::new(called_as)
        .file_stem()
        .unwrap_or_default();
    if stem == "clusterctl-windlass" {
        "clusterctl windlass"
    } else {
        "windlass"
    }
}

struct Invocation<'a> {
    program: &'static str,
    stdio: &'a mut Stdio,
    environment: &'a Environment,
    /// What `--color` says, known also when the rest of the command line is faulty.
    colour: Colour,
}

impl Invocation<'_> {
    fn answer(&mut self, arguments: &[String]) -> Exit {
        let stdout = &self.stdio.stdout;
        let width = if stdout.is_terminal() {
            stdout.width().min(help::WIDTH)
        } else {
            help::WIDTH
        };
        match dispatch::request(self.program, verbs::VERBS, arguments, width) {
            Request::Print(text) => {
                self.stdio.out(&text);
                Exit::Clean
            }
            Request::Help(verb) => {
                self.stdio
                    .out(&help::long(self.program, verb, self.stdio.stdout.width()));
                Exit::Clean
            }
            Request::Reject { stderr, exit } => {
                self.stdio.err(&visible_lines(&stderr));
                exit
            }
            Request::Fail(failure) => self.fail(&failure),
            Request::Run { verb, rest } => self.run_verb(verb, &rest),
        }
    }

    fn run_verb(&mut self, verb: &'static Verb, rest: &[String]) -> Exit {
        let command = verb.command(self.program);
        let name = command.get_bin_name().unwrap_or(self.program).to_owned();
        let matches = match command.try_get_matches_from(std::iter::once(&name).chain(rest)) {
            Ok(matches) => matches,
            Err(error) => return self.explain(verb, rest, &error),
        };
        let global = Global::of(&matches);
        if global.config.is_some() && !verb.reads_configuration() {
            let message = format!(
                "`{} {}` does not read clusterctl's configuration",
                self.program,
                verb.name()
            );
            return self.fail_verb(verb, &Failure::usage(message, "leave `--config` out"));
        }
        if global.settings.is_some() && !verb.reads_settings() {
            let message = format!(
                "`{} {}` does not read the settings of a project",
                self.program,
                verb.name()
            );
            return self.fail_verb(verb, &Failure::usage(message, "leave `--settings` out"));
        }
        let mut context = Context {
            stdio: self.stdio,
            environment: self.environment,
            global,
            program: self.program,
            verb: verb.name(),
            budget: Arc::default(),
        };
        let result = verb.run(&matches, &mut context);
        result.unwrap_or_else(|failure| self.fail_verb(verb, &failure))
    }

    /// Answers a command line that clap did not take: help that was asked for, or what is wrong.
    fn explain(&mut self, verb: &Verb, rest: &[String], error: &clap::Error) -> Exit {
        match error.kind() {
            ErrorKind::DisplayHelp => {
                let is_long = rest.iter().any(|argument| argument == "--help");
                let help = if is_long { help::long } else { help::short };
                self.stdio
                    .out(&help(self.program, verb, self.stdio.stdout.width()));
                Exit::Clean
            }
            ErrorKind::DisplayVersion => {
                self.stdio.out(&format!("{}\n", version::LINE));
                Exit::Clean
            }
            _ => {
                let failure = usage::failure(self.program, verb, rest, error);
                self.fail_verb(verb, &failure)
            }
        }
    }

    /// Says why nothing came of a verb, and how it is used where clusterctl does.
    fn fail_verb(&mut self, verb: &Verb, failure: &Failure) -> Exit {
        let exit = self.fail(failure);
        if matches!(failure, Failure::ClusterctlUsage(_)) {
            self.stdio
                .out(&help::long(self.program, verb, self.stdio.stdout.width()));
        }
        exit
    }

    fn fail(&mut self, failure: &Failure) -> Exit {
        let style = Style {
            colour: self.colour.applies(&self.stdio.stderr, self.environment),
            width: self.stdio.stderr.width(),
        };
        let (text, exit) = match failure {
            Failure::World(error) => (
                style.failure(&error.to_string(), error.help().as_deref()),
                Exit::World,
            ),
            Failure::Usage { message, help } => (style.failure(message, Some(help)), Exit::World),
            Failure::Settings { report, source } => (
                text::render(report, &std::iter::once(source.clone()).collect(), style),
                Exit::Findings,
            ),
            Failure::Clusterctl(message) => (
                format!("Error: {}\n", visible_lines(message)),
                Exit::Findings,
            ),
            Failure::ClusterctlUsage(message) => (
                format!("Error: {}\n\n", visible_lines(message)),
                Exit::Findings,
            ),
        };
        self.stdio.err(&text);
        exit
    }
}
