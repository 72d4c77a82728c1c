//! `vars FILE…`.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::{ListFormat, ListOutput};
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::io::input::{self, Limits};
use windlass_checks::commands::vars::{self, Variable};
use windlass_report::Sources;
use windlass_report::text::plural;

pub(super) const VERB: Verb = Verb {
    words: &["vars"],
    operands: "FILE…",
    summary: "the variables of templates: defaults, required or not, every place",
    family: None,
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &[
        "vars templates",
        "vars templates/cluster-template.yaml -o json",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// Templates and components: files, folders, - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Only the variables, not where they are used
    #[arg(long, short, conflicts_with = "format")]
    short: bool,
    #[command(flatten)]
    output: ListOutput,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VarsReport {
    /// The variables, by name.
    variables: Vec<Variable>,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let inputs = input::read(&self.files, Limits::default(), &mut context.stdio.stdin)?;
        let (variables, found) = vars::list(&inputs.sources);
        let mut report = inputs.report;
        report.extend(found);
        let sources: Sources = inputs.sources.iter().cloned().collect();
        match self.output.format {
            ListFormat::Json => context.json("Vars", VarsReport { variables }, &report, &sources),
            ListFormat::Text => {
                let done = format!(
                    "{}, {}",
                    plural(inputs.sources.len(), "file"),
                    plural(variables.len(), "variable")
                );
                context.tell(&vars::text(&variables, self.short));
                context.findings(&report, &sources, To::Stderr);
                context.summary(&done, &report, "", To::Stderr);
            }
        }
        Ok(Exit::failing(report.has_errors()))
    }
}
