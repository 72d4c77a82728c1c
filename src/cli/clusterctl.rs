//! What clusterctl's four verbs share: configuration, verbosity, output, and the words of a
//! rejection.

use super::{Context, Exit, Failure, remedy};
use crate::io::WorldError;
use crate::io::clusterctl_files::Disk;
use crate::io::environment::Environment;
use crate::io::network::{Bounds, Client, Transport, Visible};
use crate::io::{files, input};
use windlass_clusterctl as engine;
use windlass_clusterctl::{Config, Log, Rejection, TemplateSource, World};
use windlass_report::text::visible_lines;

/// `--list-variables`, `--list-variables=false`: what pflag takes for a boolean.
pub(super) fn boolean(text: &str) -> Result<bool, GoFault> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Ok(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Ok(false),
        other => Err(GoFault(format!(
            "strconv.ParseBool: parsing \"{other}\": invalid syntax"
        ))),
    }
}

/// What pflag takes for an `int64`.
pub(super) fn integer(text: &str) -> Result<i64, GoFault> {
    text.parse().map_err(|_| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let fault = if is_number {
            "value out of range"
        } else {
            "invalid syntax"
        };
        GoFault(format!("strconv.ParseInt: parsing \"{text}\": {fault}"))
    })
}

/// Why a flag's value is none, in the words of Go's `strconv`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GoFault(String);

impl std::fmt::Display for GoFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for GoFault {}

/// What the engine may look at.
pub(super) fn environment_of(environment: &Environment) -> impl Fn(&str) -> Option<String> {
    |name| environment.get(name).map(str::to_owned)
}

/// Whether the network may be used.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub(super) struct Network {
    /// Fetch releases and files from the network
    ///
    /// From GitHub's and GitLab's APIs, with the tokens GITHUB_TOKEN and GITLAB_ACCESS_TOKEN.
    /// Files of releases are kept in the folder windlass of $XDG_CACHE_HOME. HTTPS_PROXY and
    /// NO_PROXY count.
    #[arg(long)]
    pub(super) allow_network: bool,
    /// Send GITLAB_ACCESS_TOKEN to this host too, such as gitlab.example.com
    ///
    /// gitlab.com always gets it, and any host does when the token is in the same
    /// configuration file as its URL.
    #[arg(long, value_name = "HOST", hide_short_help = true)]
    pub(super) gitlab_host: Vec<String>,
}

/// The network as a person, or a script, looks on.
fn client(context: &Context<'_>) -> Client {
    let visible = visible_network(context);
    Client::new(
        context.environment,
        Transport::of_process(),
        Bounds::default(),
        visible,
    )
}

/// What the user of this run sees of the network.
pub(super) fn visible_network(context: &Context<'_>) -> Visible {
    let is_ci = context.environment.non_empty("CI").is_some();
    visible(
        context.global.quiet,
        is_ci,
        context.stdio.stderr.is_terminal(),
    )
}

/// A bar that moves is for a person alone: logs of CI keep each of its steps, also where CI has a
/// terminal.
fn visible(quiet: bool, is_ci: bool, is_terminal: bool) -> Visible {
    Visible {
        hosts: !quiet,
        progress: !quiet && !is_ci && is_terminal,
    }
}

/// Gives the engine what it may look at, the network only where it is allowed.
pub(super) fn with_world<T>(
    context: &Context<'_>,
    network: &Network,
    engine: impl FnOnce(World<'_>) -> T,
) -> T {
    let environment = environment_of(context.environment);
    let client = network
        .allow_network
        .then(|| client(context).with_gitlab_hosts(&network.gitlab_host));
    engine(World {
        files: &Disk,
        environment: &environment,
        network: client.as_ref().map(|client| client as &dyn engine::Network),
        budget: &context.budget,
    })
}

/// Runs a verb of clusterctl: reads the configuration, tells what is to be reported, and prints or
/// writes what the verb gives.
pub(super) fn run(
    context: &mut Context<'_>,
    network: Network,
    write_to: Option<&str>,
    verb: impl FnOnce(World<'_>, Config<'_>, &mut Log) -> Result<String, Rejection>,
) -> Result<Exit, Failure> {
    let read = with_world(context, &network, |world| {
        let config = Config::load(world, context.global.config.as_deref().unwrap_or_default());
        let verbosity = match config
            .as_ref()
            .map(|config| config.verbosity(context.global.verbosity))
        {
            Ok(Ok(verbosity)) => verbosity,
            Ok(Err(line)) => return Err(line),
            Err(_) => context.global.verbosity,
        };
        let mut log = Log::default();
        let result = config.and_then(|config| verb(world, config, &mut log));
        Ok((verbosity, log, result))
    });
    let (verbosity, log, result) = match read {
        Ok(read) => read,
        Err(line) => {
            context.stdio.err(&format!("{}\n", visible_lines(&line)));
            return Ok(Exit::Findings);
        }
    };
    log.at(verbosity)
        .for_each(|line| context.stdio.err(&format!("{}\n", visible_lines(line))));
    match result {
        Ok(text) => print(context, write_to, &text),
        Err(rejection) => Ok(reject(context, &rejection)),
    }
}

/// Says clusterctl's sentence, and below it what we add.
pub(super) fn reject(context: &mut Context<'_>, rejection: &Rejection) -> Exit {
    context
        .stdio
        .err(&format!("Error: {}\n", visible_lines(rejection.message())));
    let hints = if context.stdio.stderr.is_terminal() {
        rejection.hints()
    } else {
        &[]
    };
    for note in rejection
        .notes()
        .iter()
        .map(remedy::words)
        .chain(hints.iter().cloned())
    {
        let note = context.pasteable(&note);
        context.talk(&format!("note: {note}"));
    }
    if let Some(help) = rejection
        .suggestion()
        .filter(|_| context.stdio.stderr.is_terminal())
    {
        let help = context.pasteable(&remedy::words(help));
        context.talk(&format!("  help: {help}"));
    }
    Exit::Findings
}

/// The source that `--from` names.
pub(super) fn template_source(
    context: &mut Context<'_>,
    from: &str,
) -> Result<TemplateSource, Failure> {
    if from != "-" {
        return Ok(TemplateSource::Url(from.into()));
    }
    Ok(TemplateSource::Stdin(input::read_stdin(
        &mut context.stdio.stdin,
        input::Limits::default(),
    )?))
}

/// Writes to the file of `--write-to`; nothing and `-` are standard output.
fn print(context: &mut Context<'_>, write_to: Option<&str>, text: &str) -> Result<Exit, Failure> {
    match write_to.map(str::trim) {
        None | Some("" | "-") => context.out(text),
        Some(path) => files::write_output(path, text.as_bytes()).map_err(|error| {
            let reason = match error {
                WorldError::Unwritable { reason, .. } => reason,
                other => other.to_string(),
            };
            Failure::Clusterctl(format!(
                "failed to write to destination file: open {path}: {reason}"
            ))
        })?,
    }
    Ok(Exit::Clean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;
    use crate::io::stdio::{Stdio, Stream};
    use std::io::{self, Read};

    /// What standard error gets of a run that ends with 1.
    fn stderr_of(arguments: &[&str], stdin: &'static str, is_terminal: bool) -> String {
        let (mut reader, writer) = io::pipe().unwrap();
        let stderr = Stream::new("standard error", writer);
        let stderr = if is_terminal {
            stderr.as_terminal(80)
        } else {
            stderr
        };
        let stdio = Stdio {
            stdin: Box::new(stdin.as_bytes()),
            stdout: Stream::new("standard output", io::sink()),
            stderr,
        };
        let arguments = std::iter::once("windlass")
            .chain(arguments.iter().copied())
            .map(Into::into);
        assert_eq!(
            cli::run(arguments, stdio, &Environment::default()),
            Exit::Findings
        );
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_person_is_told_where_a_missing_variable_is_used() {
        let said = "Error: value for variables [A] is not set. Please set the value using os environment variables or the clusterctl \
                    config file\n";
        let (arguments, stdin) = (["generate", "yaml"], "x: 1\ny: ${A}\n");
        assert_eq!(stderr_of(&arguments, stdin, false), said);
        let hint = "note: A is used at <stdin>:2:4 and has no default\n";
        assert_eq!(stderr_of(&arguments, stdin, true), format!("{said}{hint}"));
        let broken = "Error: missing closing brace\n";
        assert_eq!(stderr_of(&arguments, "\n ${A", false), broken);
        assert_eq!(
            stderr_of(&arguments, "\n ${A", true),
            format!("{broken}note: see <stdin>:2:2\n")
        );
    }

    #[test]
    fn a_person_is_told_which_flags_replace_a_cluster() {
        let namespace =
            "Error: management cluster not available. Cannot auto-discover target namespace.";
        let help = "  help: without a cluster, give `--target-namespace NAMESPACE`, and `--infrastructure NAME:VERSION` or a template with `--from`\n";
        let arguments = ["generate", "cluster", "c"];
        let piped = stderr_of(&arguments, "", false);
        assert!(piped.starts_with(namespace) && piped.lines().count() == 1);
        assert_eq!(stderr_of(&arguments, "", true), format!("{piped}{help}"));
        let with_namespace = ["generate", "cluster", "c", "-n", "d"];
        let piped = stderr_of(&with_namespace, "", false);
        let help = "  help: without a cluster, give `--infrastructure NAME:VERSION`, or a template with `--from`\n";
        assert_eq!(
            stderr_of(&with_namespace, "", true),
            format!("{piped}{help}")
        );
    }

    #[test]
    fn progress_is_for_a_person_who_looks_on() {
        let shown = |quiet, is_ci, is_terminal| {
            let Visible { hosts, progress } = visible(quiet, is_ci, is_terminal);
            (hosts, progress)
        };
        assert_eq!(shown(false, false, true), (true, true));
        assert_eq!(shown(false, true, true), (true, false));
        assert_eq!(shown(false, false, false), (true, false));
        assert_eq!(shown(true, false, true), (false, false));
    }

    #[test]
    fn values_are_gos() {
        assert_eq!((boolean("T"), boolean("0")), (Ok(true), Ok(false)));
        assert_eq!(
            boolean("yes").unwrap_err().to_string(),
            "strconv.ParseBool: parsing \"yes\": invalid syntax"
        );
        assert_eq!((integer("-3"), integer("+4")), (Ok(-3), Ok(4)));
        assert_eq!(
            integer("x").unwrap_err().to_string(),
            "strconv.ParseInt: parsing \"x\": invalid syntax"
        );
        assert_eq!(
            integer("99999999999999999999").unwrap_err().to_string(),
            "strconv.ParseInt: parsing \"99999999999999999999\": value out of range"
        );
    }
}
