//! `vars FILE…`.

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::ops::vars::{self, Variable};
use crate::report::Sources;
use crate::report::text::plural;
use crate::shell::input::{self, Limits};

pub(super) const VERB: Verb = Verb {
    words: &["vars"],
    operands: "FILE…",
    summary: "the variables of templates: defaults, required or not, every place",
    family: None,
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &["vars templates", "vars templates/cluster-template.yaml -o json"],
    action: Action::of::<Arguments>(),
};

/// How the list is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A line for each variable, and one for each use
    Text,
    /// One JSON object, also on a fault
    Json,
}

#[derive(Args)]
struct Arguments {
    /// Templates and components: files, folders, - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// How to print the list
    #[arg(short, long, value_enum, default_value = "text", value_name = "FORMAT")]
    output: Format,
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
        match self.output {
            Format::Json => context.json("Vars", VarsReport { variables }, &report, &sources),
            Format::Text => {
                let done = format!("{}, {}", plural(inputs.sources.len(), "file"), plural(variables.len(), "variable"));
                context.tell(&vars::text(&variables));
                context.findings(&report, &sources, To::Stderr);
                context.summary(&done, &report, "", To::Stderr);
            }
        }
        Ok(Exit::failing(report.has_errors()))
    }
}
