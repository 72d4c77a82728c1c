//! `completion SHELL`: a script for the shell, clusterctl's command.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command, Id};
use clap_complete::{Shell, generate};

use super::flags::known_rules;
use super::verbs::{Action, Group, Manner, Run, Verb, tree};
use super::{Context, Exit, Failure, version};
use crate::builtin::template_files;
use windlass_bootstrap::render::Profile;
use windlass_capi::contract::{cluster_class_name, template_flavor};

pub(super) const VERB: Verb = Verb {
    words: &["completion"],
    operands: "SHELL",
    summary: "completions for bash, zsh or fish",
    family: None,
    group: Group::Clusterctl,
    manner: Manner::Clusterctl,
    examples: &["completion bash"],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// bash, zsh or fish
    ///
    /// bash: source <(windlass completion bash). zsh: windlass completion zsh >
    /// "${fpath[1]}/_windlass". fish: windlass completion fish | source.
    #[arg(value_name = "SHELL")]
    shell: Vec<String>,
}

/// A verb's command as completions show it: without arguments that the verb rejects, with the
/// values that are known.
pub(super) fn shown(name: &'static str, command: &Command) -> Command {
    let arguments: Vec<Arg> = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .cloned()
        .collect();
    let shown = Command::new(name)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .version(version::LINE);
    with_values(
        shown
            .about(command.get_about().cloned().unwrap_or_default())
            .args(arguments),
    )
}

/// A verb's command with the values that are known of its arguments, which are not the only ones
/// that they take: rules, releases of Cluster API, the templates that are built in.
fn with_values(command: Command) -> Command {
    let templates = || template_files().map(|file| file.rsplit('/').next().unwrap_or_default());
    let values = |argument: &Arg| -> Vec<&'static str> {
        match (argument.get_id().as_str(), argument.is_positional()) {
            ("deny", _) => std::iter::once("warnings").chain(known_rules()).collect(),
            ("allow", _) | ("rule", true) => known_rules(),
            ("capi_version", _) => Profile::names().collect(),
            ("flavor", _) => templates()
                .filter_map(template_flavor)
                .filter(|flavor| !flavor.is_empty())
                .collect(),
            ("name", true) if command.get_name() == "clusterclass" => {
                templates().filter_map(cluster_class_name).collect()
            }
            _ => Vec::new(),
        }
    };
    let known: Vec<(Id, Vec<&'static str>)> = command
        .get_arguments()
        .map(|argument| (argument.get_id().clone(), values(argument)))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    known.into_iter().fold(command, |command, (id, values)| {
        command.mut_arg(id, |argument| {
            // A default that is none of them would be a fault of the definition.
            argument
                .default_value(None::<&str>)
                .value_parser(PossibleValuesParser::new(values))
        })
    })
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let [shell] = self.shell.as_slice() else {
            return Err(Failure::ClusterctlUsage(
                "please specify a shell".to_owned(),
            ));
        };
        let shell = match shell.as_str() {
            "bash" => Shell::Bash,
            "zsh" => Shell::Zsh,
            "fish" => Shell::Fish,
            other => {
                return Err(Failure::Clusterctl(format!(
                    "unsupported shell type \"{other}\""
                )));
            }
        };
        let mut script = Vec::new();
        generate(shell, &mut tree("windlass"), "windlass", &mut script);
        context.out_bytes(&script);
        Ok(Exit::Clean)
    }
}
