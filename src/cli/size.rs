//! `size FILE…`.

use std::sync::Arc;

use clap::Args;
use clap::builder::PossibleValuesParser;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::documents::Documents;
use super::flags::{LevelFlags, PageFormat, PageOutput};
use super::render::report_placeholders;
use super::render_flags::RenderFlags;
use super::templates::TemplateFlags;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use windlass_bootstrap::render::Request;
use windlass_debugging::commands::render::{self, Selection};
use windlass_debugging::commands::size::{self, MachineSize, Measuring, Percent};
use windlass_report::text::plural;
use windlass_topology::commands::topology;

pub(super) const VERB: Verb = Verb {
    words: &["size"],
    operands: "FILE…",
    summary: "how large the data of each machine is, what makes it large, and which infrastructure takes it",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &[
        "size examples/control-plane.yaml",
        "size --infrastructure hetzner,openstack --fail-over 90% examples/control-plane.yaml",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// Documents as for render: files, folders, - for standard input
    ///
    /// Every machine of the input is measured, dummies of certificates as if they were real. Sizes
    /// with gzip are those of `compression: gzip`; a provider's own gzip differs by some bytes.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// Where the machines run
    ///
    /// Without it the Cluster's and the machine templates' infrastructure, and else all.
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = PossibleValuesParser::new(size::infrastructures()))]
    infrastructure: Vec<String>,
    /// Fail when more of a limit is used, such as 90%
    #[arg(long, value_name = "PERCENT")]
    fail_over: Option<String>,
    /// List every part, and every machine for every infrastructure
    #[arg(long)]
    all: bool,
    /// The machine of this name, as NAME or NAME:ROLE
    #[arg(long, value_name = "NAME")]
    select: Option<String>,
    #[command(flatten)]
    render_flags: RenderFlags,
    #[command(flatten)]
    templates: TemplateFlags,
    #[command(flatten)]
    output: PageOutput,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SizeReport {
    /// The machines, in the order of the input.
    machines: Vec<MachineSize>,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let levels = self.levels.levels(context)?;
        let measuring = self.measuring()?;
        let request = Request {
            budget: Arc::clone(&context.budget),
            ..self.render_flags.request()?
        };
        let mut documents = Documents::read(&self.files, &self.templates, &request, context)?;
        let mut report = std::mem::take(&mut documents.report);
        let selection = self.select.map_or(Selection::All, Selection::Named);
        let pool = std::mem::take(&mut documents.pool);
        let (pool, topologies) =
            render::with_topologies(pool, topology::allows_external(&levels), &request.budget);
        let rendering = documents
            .is_usable
            .then(|| render::run(&pool, &topologies, &request, &selection));
        let mut rendering = rendering.unwrap_or_default();
        report.extend(std::mem::take(&mut rendering.report));
        let sizes = size::run(&pool, &rendering, &measuring, &request.budget);
        report.extend(sizes.report.clone());
        let report = documents.settle(&mut rendering, report);
        let sources = &documents.sources;
        let verdict = levels.judge(report);
        match self.output.format {
            PageFormat::Json => context.json(
                "Size",
                SizeReport {
                    machines: sizes.machines,
                },
                &verdict.report,
                sources,
            ),
            PageFormat::Html => context.page(&verdict.report, sources, |report| {
                size::page(&sizes, report, sources)
            }),
            PageFormat::Text => {
                if !sizes.machines.is_empty() {
                    report_placeholders(context, &rendering);
                    context.tell(&size::text(&sizes, self.all));
                }
                context.findings(&verdict.report, sources, To::Stdout);
                context.summary(
                    &plural(sizes.machines.len(), "machine"),
                    &verdict.report,
                    "",
                    To::Stdout,
                );
            }
        }
        Ok(Exit::failing(verdict.fails))
    }
}

impl Arguments {
    fn measuring(&self) -> Result<Measuring, Failure> {
        let fail_over = self.fail_over.as_deref().map(|text| {
            let help = "write a whole number from 1 to 100, such as `--fail-over 90%`";
            Percent::parse(text).ok_or_else(|| {
                Failure::usage(format!("`--fail-over {text}` is not a percentage"), help)
            })
        });
        let named = |known: &&str| self.infrastructure.iter().any(|name| name == known);
        Ok(Measuring {
            infrastructures: size::infrastructures().filter(named).collect(),
            fail_over: fail_over.transpose()?,
        })
    }
}
