//! `generate yaml`

use clap::Args;

use super::clusterctl::{self, Network, boolean};
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use windlass_clusterctl::commands::generate_yaml;

pub(super) const VERB: Verb = Verb {
    words: &["generate", "yaml"],
    operands: "",
    summary: "replace the variables of a template",
    family: None,
    group: Group::Clusterctl,
    manner: Manner::Clusterctl,
    examples: &["generate yaml --from templates/cluster-template-topology.yaml --list-variables"],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// The template: a path, or - for standard input
    ///
    /// Values for variables come from the environment or clusterctl's configuration; the YAML is
    /// printed as clusterctl prints it.
    #[arg(long, value_name = "FILE", default_value = "-")]
    from: String,
    /// Print the names of the variables instead
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "false", default_missing_value = "true",
          hide_default_value = true, value_parser = boolean)]
    list_variables: bool,
    #[command(flatten)]
    network: Network,
    /// clusterctl takes arguments here and does not look at them.
    #[arg(hide = true)]
    ignored: Vec<String>,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let source = clusterctl::template_source(context, &self.from)?;
        clusterctl::run(context, self.network, None, |_, config, _| {
            generate_yaml::run(&config, &source, self.list_variables)
        })
    }
}
