//! `topology plan` and `topology variables`.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::{LevelFlags, ListFormat, ListOutput};
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::io::input::{self, Limits};
use windlass_objects::Pool;
use windlass_report::Sources;
use windlass_report::text::plural;
use windlass_topology::commands::topology::{self, ChangeReport, ClassVariables, PlannedObject};

pub(super) const PLAN: Verb = Verb {
    words: &["topology", "plan"],
    operands: "FILE…",
    summary: "what a ClusterClass makes of a Cluster: the desired objects, patches applied",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &[
        "topology plan examples/topology/harbour.yaml",
        "topology plan examples/topology/harbour.yaml -o json",
    ],
    action: Action::of::<PlanArguments>(),
};

pub(super) const VARIABLES: Verb = Verb {
    words: &["topology", "variables"],
    operands: "FILE…",
    summary: "the variables of a ClusterClass: types, defaults, which patches use them",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &["topology variables examples/topology/harbour.yaml"],
    action: Action::of::<VariablesArguments>(),
};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum PlanFormat {
    /// The objects, as documents
    #[default]
    Yaml,
    /// One JSON object
    Json,
}

#[derive(Args)]
struct PlanArguments {
    /// The Cluster, its ClusterClass and the templates: files, folders, - for standard input
    ///
    /// The Cluster is taken as new, and the templates as they are, with the defaults of their CRDs
    /// where these are given too. Names end with xxxxx where Cluster API draws five characters.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Print as
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        default_value = "yaml"
    )]
    format: PlanFormat,
    /// Show what differs from the plan of these files: which templates get a successor, which
    /// machines are replaced, what changes in place; may be repeated
    ///
    /// Objects that these files lack, such as the ClusterClass, are those of the new files.
    #[arg(long, value_name = "OLD")]
    against: Vec<String>,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `topology plan -o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PlanReport {
    /// The desired objects: for each Cluster itself, its infrastructure, its control plane, then
    /// MachineDeployments and MachinePools.
    objects: Vec<PlannedObject>,
    /// The names that end with a placeholder for what Cluster API draws.
    placeholders: Vec<String>,
    /// With --against: what differs from the plan of those files.
    changes: Vec<ChangeReport>,
}

impl Run for PlanArguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let levels = self.levels.levels(context)?;
        let inputs = input::read(&self.files, Limits::default(), &mut context.stdio.stdin)?;
        let budget = Arc::clone(&context.budget);
        let (pool, unreadable) = Pool::read(&inputs.sources, &budget);
        let allows_external = topology::allows_external(&levels);
        let mut report = inputs.report;
        report.extend(unreadable);
        let mut sources = inputs.sources;
        let earlier = match self.against.is_empty() {
            true => None,
            false => {
                let earlier =
                    input::read(&self.against, Limits::default(), &mut context.stdio.stdin)?;
                let (pool, unreadable) = Pool::read(&earlier.sources, &budget);
                report.extend(earlier.report);
                report.extend(unreadable);
                sources.extend(earlier.sources);
                Some(pool)
            }
        };
        let mut plan = topology::plan(&pool, earlier.as_ref(), allows_external, &budget);
        report.extend(std::mem::take(&mut plan.report));
        report.sort(
            &sources
                .iter()
                .map(|source| source.name().as_ref())
                .collect::<Vec<_>>(),
        );
        let sources: Sources = sources.iter().cloned().collect();
        let verdict = levels.judge(report);
        if self.format == PlanFormat::Json {
            let body = PlanReport {
                objects: plan.objects.iter().map(topology::reported).collect(),
                placeholders: plan.placeholders,
                changes: plan.changes,
            };
            context.json("TopologyPlan", body, &verdict.report, &sources);
            return Ok(Exit::failing(verdict.fails));
        }
        context.findings(&verdict.report, &sources, To::Stderr);
        if verdict.fails {
            context.summary("", &verdict.report, "no objects written", To::Stderr);
            return Ok(Exit::Findings);
        }
        if !self.against.is_empty() {
            context.tell(&topology::changes_text(&plan.changes));
            context.summary(
                &plural(plan.changes.len(), "difference"),
                &verdict.report,
                "",
                To::Stderr,
            );
            return Ok(Exit::Clean);
        }
        let done = topology::done(&plan);
        context.out(&topology::yaml(plan.objects));
        tell(context, &plan.placeholders);
        context.summary(&done, &verdict.report, "", To::Stderr);
        Ok(Exit::Clean)
    }
}

/// Says which names are not those of a cluster.
fn tell(context: &mut Context<'_>, placeholders: &[String]) {
    if let Some(first) = placeholders.first() {
        let others = match placeholders.len() - 1 {
            0 => String::new(),
            others => format!(" and {}", plural(others, "other")),
        };
        context.talk(&format!(
            "placeholder: the end of the name {first}{others}: Cluster API draws five characters"
        ));
    }
}

#[derive(Args)]
struct VariablesArguments {
    /// ClusterClasses: files, folders, - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    #[command(flatten)]
    output: ListOutput,
}

/// What `topology variables -o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct VariablesReport {
    /// The classes with variables, in the order of the input.
    classes: Vec<ClassVariables>,
}

impl Run for VariablesArguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let inputs = input::read(&self.files, Limits::default(), &mut context.stdio.stdin)?;
        let budget = Arc::clone(&context.budget);
        let (pool, unreadable) = Pool::read(&inputs.sources, &budget);
        let (classes, found) = topology::variables(&pool);
        let mut report = inputs.report;
        report.extend(unreadable);
        report.extend(found);
        report.sort(
            &inputs
                .sources
                .iter()
                .map(|source| source.name().as_ref())
                .collect::<Vec<_>>(),
        );
        let sources: Sources = inputs.sources.iter().cloned().collect();
        match self.output.format {
            ListFormat::Json => context.json(
                "TopologyVariables",
                VariablesReport { classes },
                &report,
                &sources,
            ),
            ListFormat::Text => {
                context.tell(&topology::text(&classes));
                context.findings(&report, &sources, To::Stderr);
                let count: usize = classes.iter().map(|class| class.variables.len()).sum();
                context.summary(&plural(count, "variable"), &report, "", To::Stderr);
            }
        }
        Ok(Exit::failing(report.has_errors()))
    }
}
