//! `why WHAT FILE…`.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::documents::Documents;
use super::flags::{LevelFlags, ListFormat, ListOutput};
use super::render_flags::RenderFlags;
use super::templates::TemplateFlags;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure, remedy};
use crate::io::files;
use windlass_bootstrap::render::{Origins, Request};
use windlass_debugging::commands::render::{self, Selection};
use windlass_debugging::commands::why::{self, Asking, MachineAnswer};
use windlass_objects::secrets::Words;
use windlass_report::text::plural;
use windlass_topology::commands::topology;

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
    /// What starts with / (or C:\) is a path: a file or directory, and all below it. Otherwise
    /// file:NAME (the end of its path), command:TEXT (any part of a command), user:NAME,
    /// label:KEY and taint:KEY of the Node, argument:NAME of the kubelet or a component, or
    /// field:PATH of kubeadm's configuration, such as field:networking.podSubnet. A word
    /// without a kind is looked up in all of them.
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
    render_flags: RenderFlags,
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
        self.in_order()?;
        let levels = self.levels.levels(context)?;
        let request = Request {
            budget: Arc::clone(&context.budget),
            ..self.render_flags.request()?
        };
        // Before anything is read: standard input may be long in coming.
        self.asking(Words::default(), &Origins::default())
            .map(drop)?;
        let mut documents = Documents::read(&self.files, &self.templates, &request, context)?;
        let mut report = std::mem::take(&mut documents.report);
        let pool = std::mem::take(&mut documents.pool);
        let selection = self.select.clone().map_or(Selection::All, Selection::Named);
        let (pool, topologies) =
            render::with_histories(pool, topology::allows_external(&levels), &request.budget);
        let rendering = documents
            .is_usable
            .then(|| render::run(&pool, &topologies, &request, &selection));
        let mut rendering = rendering.unwrap_or_default();
        report.extend(std::mem::take(&mut rendering.report));
        let answer = why::run(
            &pool,
            &rendering,
            &request,
            &self.asking(documents.sources.words().clone(), &documents.origins)?,
        );
        report.extend(answer.report.clone());
        let report = documents.settle(&mut rendering, report);
        let sources = &documents.sources;
        let verdict = levels.judge(report);
        match self.output.format {
            ListFormat::Json => {
                let body = WhyReport {
                    what: self.what.clone(),
                    machines: answer.machines,
                };
                context.json("Why", body, &verdict.report, sources);
            }
            ListFormat::Text => {
                context.tell(&why::text(&answer));
                context.findings(&verdict.report, sources, To::Stderr);
                context.summary(
                    &plural(answer.machines.len(), "machine"),
                    &verdict.report,
                    "",
                    To::Stderr,
                );
            }
        }
        Ok(Exit::failing(verdict.fails))
    }
}

impl Arguments {
    /// Rejects standard input that is named twice, and a file where the question belongs. A path of
    /// the node may be one of this machine too: then it is a file of the input only if a
    /// question follows.
    fn in_order(&self) -> Result<(), Failure> {
        if self.files.iter().filter(|file| *file == "-").count() > 1 {
            return Err(Failure::usage(
                "standard input can be read only once",
                "name `-` once, or save the documents into files",
            ));
        }
        let what = Path::new(&self.what);
        let is_question = |name: &String| {
            name.contains(':')
                && !files::is_file(Path::new(name))
                && !files::is_folder(Path::new(name))
        };
        let is_of_node = what.is_absolute() && !self.files.iter().any(is_question);
        if (self.what == "-" || files::is_file(what)) && !is_of_node {
            let message = format!(
                "`{}` is a file, and is where the question belongs",
                self.what
            );
            return Err(Failure::usage(
                message,
                "write `windlass why WHAT FILE…`, or `file:NAME` for a file of that name on the node",
            ));
        }
        Ok(())
    }

    fn asking<'a>(&'a self, words: Words, origins: &'a Origins) -> Result<Asking<'a>, Failure> {
        Asking::new(&self.what, words, origins, self.show_secrets, remedy::flag)
            .map_err(|fault| Failure::usage(fault.message, fault.help))
    }
}
