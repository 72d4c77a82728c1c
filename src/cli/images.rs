//! `images FILE…`.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::documents::Documents;
use super::flags::LevelFlags;
use super::render_flags::RenderFlags;
use super::templates::TemplateFlags;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use windlass_bootstrap::render::Request;
use windlass_debugging::commands::images::{self, Images, Known, MachineImages};
use windlass_debugging::commands::render::{self, Selection};
use windlass_report::Sources;
use windlass_report::levels::Levels;
use windlass_report::text::plural;
use windlass_source::diag::{Diagnostic, Report, Setting};
use windlass_topology::commands::topology;

pub(super) const VERB: Verb = Verb {
    words: &["images"],
    operands: "FILE…",
    summary: "every image that machines pull at their first boot, and what names it",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &[
        "images examples/control-plane.yaml",
        "images examples/control-plane.yaml -o list",
    ],
    action: Action::of::<Arguments>(),
};

/// How the images are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum ImagesFormat {
    /// A table for each role
    #[default]
    Text,
    /// One name per line, each once
    List,
    /// One JSON object
    Json,
    /// A package definition of Zarf
    Zarf,
    /// A manifest of Hauler
    Hauler,
}

#[derive(Args)]
struct Arguments {
    /// Documents as for render: files, folders, - for standard input
    ///
    /// Lists kubeadm's images for the Kubernetes version and clusterConfiguration, those of static
    /// pods and other manifests in files, those that commands pull, and that of the container
    /// runtime's settings. Reports what a machine downloads and runs at boot, and image names that
    /// a script computes.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    #[command(flatten)]
    render_flags: RenderFlags,
    #[command(flatten)]
    templates: TemplateFlags,
    /// Print as
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        default_value = "text",
        hide_default_value = true
    )]
    format: ImagesFormat,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImagesReport {
    /// The machines, in the order of the input.
    machines: Vec<MachineImages>,
    /// The names of all images, each once, in byte order.
    images: Vec<String>,
}

/// The images of the user's documents.
pub(super) struct Listed {
    pub(super) images: Images,
    pub(super) report: Report,
    pub(super) sources: Sources,
}

/// Reads and renders documents, and lists the images of their machines.
///
/// # Errors
/// Flags that contradict each other, and a configuration of clusterctl that cannot be read.
pub(super) fn listed(
    files: &[String],
    (render_flags, templates): (&RenderFlags, &TemplateFlags),
    levels: &Levels,
    context: &mut Context<'_>,
) -> Result<Listed, Failure> {
    let request = Request {
        budget: Arc::clone(&context.budget),
        ..render_flags.request()?
    };
    let mut documents = Documents::read(files, templates, &request, context)?;
    let mut report = std::mem::take(&mut documents.report);
    let pool = std::mem::take(&mut documents.pool);
    let (pool, topologies) =
        render::with_topologies(pool, topology::allows_external(levels), &request.budget);
    let rendering = documents
        .is_usable
        .then(|| render::run(&pool, &topologies, &request, &Selection::All));
    let mut rendering = rendering.unwrap_or_default();
    report.extend(std::mem::take(&mut rendering.report));
    let known = Known {
        has_version: request.kubernetes_version.is_some()
            || !documents.origins.stands_in(Setting::KubernetesVersion),
        is_version_of_flag: request.kubernetes_version.is_some(),
        is_unset: &|name| documents.origins.is_unset(name),
    };
    let images = images::run(&rendering, &known, &request.budget);
    let with_flag = |finding: Diagnostic| match finding.place.file {
        None => finding.note("the version is that of `--kubernetes-version`"),
        Some(_) => finding,
    };
    let found = images.report.clone().into_findings();
    report.extend(found.into_iter().map(with_flag).collect::<Report>());
    let report = documents.settle_for(
        &mut rendering,
        report,
        images.unset.iter().map(String::as_bytes),
    );
    Ok(Listed {
        images,
        report,
        sources: documents.sources,
    })
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let levels = self.levels.levels(context)?;
        let flags = (&self.render_flags, &self.templates);
        let Listed {
            images,
            report,
            sources,
        } = listed(&self.files, flags, &levels, context)?;
        let (absent, report): (Vec<_>, Vec<_>) = report
            .into_findings()
            .into_iter()
            .partition(|finding| finding.rule == &render::NO_CONFIG);
        if !absent.is_empty() {
            context
                .talk("note: the input holds no machine that is rendered, so no image is listed");
        }
        let verdict = levels.judge(report.into_iter().collect());
        match self.format {
            ImagesFormat::Json => {
                let names = images.names().into_iter().map(str::to_owned).collect();
                let body = ImagesReport {
                    images: names,
                    machines: images.machines,
                };
                context.json("Images", body, &verdict.report, &sources);
                return Ok(Exit::failing(verdict.fails));
            }
            ImagesFormat::Text => context.tell(&images::text(&images)),
            ImagesFormat::List => context.paths(images.names().into_iter().map(str::to_owned)),
            ImagesFormat::Zarf => context.out(&images::zarf(&images)),
            ImagesFormat::Hauler => context.out(&images::hauler(&images)),
        }
        context.findings(&verdict.report, &sources, To::Stderr);
        let done = format!(
            "{}, {}",
            plural(images.machines.len(), "machine kind"),
            plural(images.names().len(), "image")
        );
        context.summary(&done, &verdict.report, "", To::Stderr);
        Ok(Exit::failing(verdict.fails))
    }
}
