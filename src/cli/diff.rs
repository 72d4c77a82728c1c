//! `diff OLD NEW`.

use std::path::Path;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::Comparing;
use super::render_flags::RenderFlags;
use super::templates::TemplateFlags;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::io::files;
use crate::io::input::{self, Inputs, Limits, STDIN_NAME};
use windlass_bootstrap::render::Request;
use windlass_debugging::commands::diff::{self, Comparison, MachineChange, Side, markdown, text};
use windlass_report::Sources;

pub(super) const VERB: Verb = Verb {
    words: &["diff"],
    operands: "OLD [NEW]",
    summary: "what changes on the nodes, and whether it replaces machines",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &[
        "diff examples/worker.yaml examples/worker.yaml",
        "diff examples/control-plane.yaml --kubernetes-version v1.33.4..v1.34.1",
        "diff examples/control-plane.yaml --capi-version v1.13..v1.14 -o json",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One JSON object
    Json,
    /// A comment for a pull request on GitHub, in Markdown
    Github,
    /// A page to look at, in one file
    Html,
}

#[derive(Args)]
struct Arguments {
    /// The old side: a file or folder with configs, a cluster, or data Secrets; bootstrap data
    /// itself, also in gzip or base64; - for standard input
    #[arg(value_name = "OLD")]
    old: String,
    /// The new one; without it OLD is compared with itself under A..B of --kubernetes-version or
    /// --capi-version
    ///
    /// Machines are matched by what makes them: control plane, MachineDeployment, or the config
    /// itself. What is missing is filled in alike on both sides, as render does.
    #[arg(value_name = "NEW")]
    new: Option<String>,
    /// The machine of this name, as NAME or NAME:ROLE
    #[arg(long, value_name = "NAME")]
    select: Option<String>,
    #[command(flatten)]
    render_flags: RenderFlags,
    #[command(flatten)]
    templates: TemplateFlags,
    #[command(flatten)]
    comparing: Comparing,
    /// Print as
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        default_value = "text"
    )]
    format: Format,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct NodeDiffReport {
    /// The old side, as it was named.
    old: String,
    /// The new side, as it was named.
    new: String,
    /// The machines of both sides.
    machines: Vec<MachineChange>,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let (earlier, later) = self.render_flags.range()?;
        let is_range = earlier.is_some();
        if self.new.is_none() && !is_range {
            return Err(Failure::usage(
                "`diff` needs two sides",
                "name NEW, or two versions of OLD: `--kubernetes-version v1.33.4..v1.34.1`, `--capi-version v1.13..v1.14`",
            ));
        }
        let new = self.new.clone().unwrap_or_else(|| self.old.clone());
        if self.old == "-" && self.new.as_deref() == Some("-") {
            return Err(Failure::usage(
                "standard input can be only one of the two sides",
                "save one of the two into a file",
            ));
        }
        let old_inputs = load(&self.old, context)?;
        let new_inputs = if self.new.is_some() {
            load(&new, context)?
        } else {
            old_inputs.clone()
        };
        let mut sources: Sources = old_inputs
            .sources
            .iter()
            .chain(&new_inputs.sources)
            .cloned()
            .collect();
        let later = Request {
            budget: Arc::clone(&context.budget),
            ..later.request()?
        };
        let earlier = match earlier {
            Some(earlier) => Request {
                budget: Arc::clone(&context.budget),
                ..earlier.request()?
            },
            None => later.clone(),
        };
        let old_side = self.side(
            self.old.as_str(),
            old_inputs,
            earlier,
            &mut sources,
            context,
        )?;
        let new_side = self.side(new.as_str(), new_inputs, later, &mut sources, context)?;
        let comparing = diff::Comparing {
            show_secrets: self.comparing.show_secrets,
            words: sources.words().clone(),
            select: self.select.as_deref(),
        };
        let comparison = diff::run(&old_side, &new_side, comparing, &context.budget);
        comparison
            .notes
            .iter()
            .for_each(|note| context.talk(&format!("note: {note}")));
        let fails =
            comparison.report.has_errors() || self.comparing.exit_code && comparison.differs();
        self.show(context, new, comparison, &sources);
        Ok(Exit::failing(fails))
    }
}

impl Arguments {
    /// One side, with the variables of a template replaced.
    fn side(
        &self,
        shown: &str,
        inputs: Inputs,
        request: Request,
        sources: &mut Sources,
        context: &mut Context<'_>,
    ) -> Result<Side, Failure> {
        let mut report = inputs.report;
        let (texts, origins) =
            self.templates
                .substituted(context, inputs.sources, &request, &mut report, sources)?;
        Ok(Side::new(
            shown,
            texts,
            report,
            self.templates.template.then_some(origins),
            request,
        ))
    }

    fn show(
        self,
        context: &mut Context<'_>,
        new: String,
        comparison: Comparison,
        sources: &Sources,
    ) {
        let done = text::summary(&comparison);
        let report = &comparison.report;
        match self.format {
            Format::Text => {
                let style = context.style(To::Stdout);
                context.out(&text::text(&comparison, style));
                context.findings(report, sources, To::Stderr);
                return context.summary(&done, report, "", To::Stdout);
            }
            Format::Github => {
                if !comparison.machines.is_empty() {
                    context.out(&markdown::comment(&self.old, &new, &comparison));
                }
                context.findings(report, sources, To::Stderr);
            }
            Format::Html => context.page(report, sources, |report| {
                diff::page(&self.old, &new, &comparison, report, sources)
            }),
            Format::Json => {
                let body = NodeDiffReport {
                    old: self.old,
                    new,
                    machines: comparison.machines,
                };
                context.json("Diff", body, report, sources);
            }
        }
        context.summary(&done, report, "", To::Stderr);
    }
}

fn load(shown: &str, context: &mut Context<'_>) -> Result<Inputs, Failure> {
    let is_there =
        shown == "-" || files::is_folder(Path::new(shown)) || files::is_file(Path::new(shown));
    if let Some((revision, path)) = shown
        .split_once(':')
        .filter(|(revision, path)| !is_there && !revision.is_empty() && !path.is_empty())
    {
        let file = path.rsplit('/').next().unwrap_or(path);
        return Err(Failure::usage(
            format!("`{shown}` is not a file, and revisions of git are not read"),
            format!("write `git show {revision}:{path} > /tmp/{file}`, and name that file"),
        ));
    }
    if files::is_folder(Path::new(shown)) {
        return Ok(input::read(
            &[shown.to_owned()],
            Limits::default(),
            &mut context.stdio.stdin,
        )?);
    }
    let (name, bytes) = match shown {
        "-" => (
            STDIN_NAME,
            input::read_stdin(&mut context.stdio.stdin, Limits::default())?,
        ),
        file => (file, files::read_file(file, Limits::default())?),
    };
    match diff::documents(name, &bytes, &context.budget) {
        Some((sources, report)) => Ok(Inputs {
            sources,
            report,
            ..Inputs::default()
        }),
        None => Ok(Inputs::of(name, bytes)?),
    }
}
