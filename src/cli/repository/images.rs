//! `repository images`.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::FAMILY;
use crate::cli::clusterctl::{self, Network};
use crate::cli::flags::ListOutput;
use crate::cli::verbs::{Action, Group, Manner, Run, Verb};
use crate::cli::{Context, Exit, Failure};
use crate::io::files;
use crate::io::input::{Limits, read_source};
use crate::io::trees;
use windlass_clusterctl::Config;
use windlass_report::Sources;
use windlass_repository::{self as repository, CONFIGURATION_FILE, ListedImage, bundle, doctor};
use windlass_source::diag::Report;
use windlass_source::tree::Tree;

pub(in crate::cli) const IMAGES: Verb = Verb {
    words: &["repository", "images"],
    operands: "REPOSITORY",
    summary: "every image that the releases of a local repository run, with the overrides of its clusterctl.yaml",
    family: Some(FAMILY),
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &[
        "repository images releases",
        "repository images releases -o json",
    ],
    action: Action::of::<Images>(),
};

#[derive(Args)]
struct Images {
    /// The repository
    ///
    /// Variables have the values of the environment and of its clusterctl.yaml, or their defaults,
    /// as `clusterctl init` replaces them.
    #[arg(value_name = "REPOSITORY")]
    repository: String,
    #[command(flatten)]
    output: ListOutput,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct ImagesReport {
    /// The repository as it was named.
    repository: String,
    /// One entry for each image of each release, by image.
    images: Vec<ListedImage>,
}

impl Run for Images {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let tree = trees::read_tree(&self.repository, Limits::default())?;
        let mut sources: Sources = super::texts(&self.repository, &tree).into_iter().collect();
        let file = format!(
            "{}/{CONFIGURATION_FILE}",
            self.repository.trim_end_matches('/')
        );
        let source = files::is_file(Path::new(&file))
            .then(|| read_source(Path::new(&file), &file))
            .transpose()?;
        let name = if source.is_some() { file.as_str() } else { "" };
        let read = clusterctl::with_world(context, &Network::default(), |world| {
            let config = if name.is_empty() {
                Ok(Config::empty(world))
            } else {
                Config::load(world, name)
            };
            let text = source.as_ref().map(|(source, _)| source);
            config.map(|config| repository::images(&tree, &self.repository, &config, text))
        });
        let (images, mut report) = match read {
            Ok(read) => read,
            Err(rejection) => (
                Vec::new(),
                [doctor::unreadable(
                    source.as_ref().map(|(source, _)| source),
                    &rejection,
                )]
                .into_iter()
                .collect(),
            ),
        };
        if let Some((source, found)) = source {
            sources.add(super::masked(&source));
            report.extend(found);
        }
        self.tell_what_is_not_listed(context, &tree, &images);
        self.print(context, images, &report, &sources);
        Ok(Exit::failing(report.has_errors()))
    }
}

impl Images {
    fn tell_what_is_not_listed(
        &self,
        context: &mut Context<'_>,
        tree: &Tree,
        images: &[ListedImage],
    ) {
        if images.is_empty() {
            context.talk(&format!(
                "{} holds no release that runs an image",
                self.repository
            ));
        }
        for implied in bundle::lacking(tree, &context.budget) {
            let label = implied.label();
            context.talk(&format!(
                "note: images of {label}, which `clusterctl init` also installs, are not listed: the repository lacks it"
            ));
        }
    }

    fn print(
        self,
        context: &mut Context<'_>,
        images: Vec<ListedImage>,
        report: &Report,
        sources: &Sources,
    ) {
        let names = |body: &ImagesReport| {
            let names: BTreeSet<&str> = body
                .images
                .iter()
                .map(|image| image.image.as_str())
                .collect();
            names
                .into_iter()
                .map(|name| format!("{name}\n"))
                .collect::<String>()
        };
        let body = ImagesReport {
            repository: self.repository,
            images,
        };
        context.list(
            self.output.format,
            "RepositoryImages",
            body,
            names,
            report,
            sources,
        );
    }
}
