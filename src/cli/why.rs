//! `why WHAT FILE…`.

use std::sync::Arc;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::{LevelFlags, ListFormat, ListOutput};
use super::surroundings::Surroundings;
use super::templates::TemplateFlags;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure, remedy};
use crate::ops::render::{self, Selection};
use crate::ops::topology;
use crate::ops::why::{self, Asking, MachineAnswer};
use crate::render::{Origins, Pool, Request, undeclared};
use crate::report::Sources;
use crate::report::text::plural;
use crate::shell::input::{self, Limits};
use crate::text::source::Source;

pub(super) const VERB: Verb = Verb {
    words: &["why"],
    operands: "WHAT FILE…",
    summary: "where a file, command, user, label, argument or field of a node comes from, or why it is not there",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &[
        "why /etc/sysctl.d/90-huge-pages.conf examples/topology/harbour.yaml",
        "why field:clusterConfiguration.imageRepository examples/topology/harbour.yaml",
        "why command:sysctl examples/worker.yaml -o json",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// A path on the node, KIND:NAME, or a word
    ///
    /// What starts with / (or C:\) is a path: a file or directory, and all below it. Otherwise file:NAME (the end of its path), command:TEXT (any part of
    /// a command), user:NAME, label:KEY and taint:KEY of the Node, argument:NAME of the kubelet or a component, or field:PATH of kubeadm's configuration, such as
    /// field:networking.podSubnet. A word without a kind is looked up in all of them.
    #[arg(value_name = "WHAT", required = true)]
    what: String,
    /// Documents as for render: files, folders, - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// The machine of this name, as NAME or NAME:ROLE
    #[arg(long, value_name = "NAME")]
    select: Option<String>,
    /// Show values and commands as they are
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    surroundings: Surroundings,
    #[command(flatten)]
    templates: TemplateFlags,
    #[command(flatten)]
    output: ListOutput,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WhyReport {
    /// What was asked for, as it was written.
    what: String,
    /// The machines, in the order of the input.
    machines: Vec<MachineAnswer>,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let levels = self.levels.levels(context)?;
        let request = Request { budget: Arc::clone(&context.budget), ..self.surroundings.request()? };
        // Before anything is read: standard input may be long in coming.
        self.asking(&[], &Origins::default()).map(drop)?;
        let inputs = input::read(&self.files, Limits::default(), &mut context.stdio.stdin)?;
        let mut sources: Sources = inputs.sources.iter().cloned().collect();
        let mut report = inputs.report;
        let (texts, origins) = self.templates.substituted(context, inputs.sources, &request, &mut report)?;
        if self.templates.template {
            texts.iter().cloned().for_each(|text| sources.add_unseen(text));
        }
        let (pool, unreadable) = Pool::read(&texts, &request.budget);
        report.extend(unreadable);
        let undeclared = if self.templates.template { None } else { undeclared(&texts, &pool, report.has_errors()) };
        let is_unusable = undeclared.is_some() || report.has_errors() && pool.objects().is_empty();
        report.extend(undeclared);
        let asking = self.asking(&texts, &origins)?;
        let selection = self.select.clone().map_or(Selection::All, Selection::Named);
        let (pool, topologies) = render::with_histories(pool, topology::allows_external(&levels), &request.budget);
        let mut rendering = if is_unusable { render::Rendering::default() } else { render::run(&pool, &topologies, &request, &selection) };
        report.extend(std::mem::take(&mut rendering.report));
        let answer = why::run(&pool, &rendering, &request, &asking);
        report.extend(answer.report.clone());
        let mut report = render::settle(&mut rendering, report, &origins);
        report.sort(&texts.iter().map(|source| source.name().as_ref()).collect::<Vec<_>>());
        let verdict = levels.judge(report);
        match self.output.format {
            ListFormat::Json => {
                let body = WhyReport { what: self.what.clone(), machines: answer.machines };
                context.json("Why", body, &verdict.report, &sources);
            }
            ListFormat::Text => {
                context.tell(&why::text(&answer));
                context.findings(&verdict.report, &sources, To::Stderr);
                context.summary(&plural(answer.machines.len(), "machine"), &verdict.report, "", To::Stderr);
            }
        }
        Ok(Exit::failing(verdict.fails))
    }
}

impl Arguments {
    fn asking<'a>(&'a self, texts: &[Source], origins: &'a Origins) -> Result<Asking<'a>, Failure> {
        Asking::new(&self.what, texts, origins, self.show_secrets, remedy::flag).map_err(|fault| Failure::usage(fault.message, fault.help))
    }
}
