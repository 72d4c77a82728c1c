//! `release diff`.

use std::path::Path;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::Comparing;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::io::files;
use crate::io::input::Limits;
use crate::io::trees;
use windlass_release::commands::release_diff::{self, Difference, Side, markdown, text};
use windlass_report::Sources;
use windlass_source::diag::Report;
use windlass_source::tree::Tree;

pub(super) const VERB: Verb = Verb {
    words: &["release", "diff"],
    operands: "OLD NEW",
    summary: "what changes between two releases or files of components, object by object",
    family: None,
    group: Group::Release,
    manner: Manner::Ours,
    examples: &[
        "release diff releases/bootstrap-windlass/v0.1.0 out",
        "release diff out out -o github",
    ],
    action: Action::of::<Diff>(),
};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object
    Json,
    /// A comment for a pull request on GitHub, in Markdown
    Github,
}

#[derive(Args)]
struct Diff {
    /// The old release: its folder (also one of a local repository), or a components file
    #[arg(value_name = "OLD")]
    old: String,
    /// The new one
    ///
    /// Objects are matched by API group, kind, namespace and name, items of lists by what
    /// Kubernetes uses as their key. Where both are folders, templates and metadata.yaml are
    /// compared too, and other files by their bytes.
    #[arg(value_name = "NEW")]
    new: String,
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
pub(super) struct DiffReport {
    /// The old side, as it was named.
    old: String,
    /// The new side, as it was named.
    new: String,
    /// What changes; null when a side is nothing that can be compared.
    difference: Option<Difference>,
}

/// The files of a side, and whether it is a folder.
fn load(shown: &str) -> Result<(Tree, bool), Failure> {
    let is_folder = files::is_folder(Path::new(shown));
    let files = if is_folder {
        trees::reject_unfinished(shown)?;
        trees::read_tree(shown, Limits::default())?
    } else {
        [(
            shown.to_owned(),
            files::read_file(shown, Limits::default())?,
        )]
        .into_iter()
        .collect()
    };
    Ok((files, is_folder))
}

impl Run for Diff {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let (old, new) = (load(&self.old)?, load(&self.new)?);
        let old = Side {
            shown: &self.old,
            files: &old.0,
            is_folder: old.1,
        };
        let new = Side {
            shown: &self.new,
            files: &new.0,
            is_folder: new.1,
        };
        let comparison = release_diff::run(old, new, self.comparing.show_secrets, &context.budget);
        comparison
            .notes
            .iter()
            .for_each(|note| context.talk(&format!("note: {note}")));
        let sources: Sources = comparison.sources.into_iter().collect();
        let differs = comparison
            .difference
            .as_ref()
            .is_some_and(|difference| !difference.is_empty());
        let fails = comparison.report.has_errors() || self.comparing.exit_code && differs;
        self.show(context, comparison.difference, &comparison.report, &sources);
        Ok(Exit::failing(fails))
    }
}

impl Diff {
    fn show(
        self,
        context: &mut Context<'_>,
        difference: Option<Difference>,
        report: &Report,
        sources: &Sources,
    ) {
        let done = difference.as_ref().map(text::summary).unwrap_or_default();
        let to = if self.format == Format::Text && difference.is_some() {
            To::Stdout
        } else {
            To::Stderr
        };
        match (self.format, difference) {
            (Format::Json, difference) => {
                let body = DiffReport {
                    old: self.old,
                    new: self.new,
                    difference,
                };
                context.json("ReleaseDiff", body, report, sources);
            }
            (Format::Text, Some(difference)) => {
                let style = context.style(To::Stdout);
                context.out(&text::text(&difference, style));
                context.findings(report, sources, To::Stderr);
            }
            (Format::Github, Some(difference)) => {
                context.out(&markdown::comment(&self.old, &self.new, &difference));
                context.findings(report, sources, To::Stderr);
            }
            (Format::Text | Format::Github, None) => context.findings(report, sources, To::Stderr),
        }
        context.summary(&done, report, "", to);
    }
}
