//! `completion SHELL`: a script for the shell, clusterctl's command.

use clap::Args;
use clap_complete::{Shell, generate};

use super::verbs::{Action, Group, Manner, Run, Verb, tree};
use super::{Context, Exit, Failure};

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
    /// bash: source <(windlass completion bash). zsh: windlass completion zsh > "${fpath[1]}/_windlass".
    /// fish: windlass completion fish | source.
    #[arg(value_name = "SHELL")]
    shell: Vec<String>,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let [shell] = self.shell.as_slice() else { return Err(Failure::ClusterctlUsage("please specify a shell".to_owned())) };
        let shell = match shell.as_str() {
            "bash" => Shell::Bash,
            "zsh" => Shell::Zsh,
            "fish" => Shell::Fish,
            other => return Err(Failure::Clusterctl(format!("unsupported shell type \"{other}\""))),
        };
        let mut script = Vec::new();
        generate(shell, &mut tree("windlass"), "windlass", &mut script);
        context.out_bytes(&script);
        Ok(Exit::Clean)
    }
}
