//! `config repositories`

use clap::Args;

use super::clusterctl::{self, Network};
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use windlass_clusterctl::commands::config_repositories::{self, Output};

pub(super) const VERB: Verb = Verb {
    words: &["config", "repositories"],
    operands: "",
    summary: "the providers that clusterctl knows, and where they are",
    family: None,
    group: Group::Clusterctl,
    manner: Manner::Clusterctl,
    examples: &["config repositories", "config repositories -o yaml"],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// Output format: yaml, text
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: String,
    #[command(flatten)]
    network: Network,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        match Output::parse(&self.output) {
            Ok(output) => clusterctl::run(context, self.network, None, |_, config, _| {
                config_repositories::run(&config, output)
            }),
            Err(rejection) => Ok(clusterctl::reject(context, &rejection)),
        }
    }
}
