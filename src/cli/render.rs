//! `render FILE…`.

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
use super::{Context, Exit, Failure, remedy};
use crate::io::files::Privacy;
use crate::io::trees::{self, Mode};
use windlass_bootstrap::render::Encoder;
use windlass_bootstrap::render::{Rendered, Request};
use windlass_capi::api::boot::IgnitionVersion;
use windlass_debugging::commands::render::{
    self, Disclosure, Machine, MachineReport, Rendering, Selection, is_gzip,
};
use windlass_objects::Pool;
use windlass_report::Sources;
use windlass_report::text::{plural, visible};
use windlass_source::budget::Budget;
use windlass_source::diag::Report;
use windlass_source::tree::Tree;
use windlass_topology::commands::topology;

pub(super) const VERB: Verb = Verb {
    words: &["render"],
    operands: "FILE…",
    summary: "bootstrap data of a KubeadmConfig or WindlassConfig, without a cluster",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &[
        "render examples/worker.yaml",
        "render examples/worker.yaml -o json",
        "render --all examples/control-plane.yaml --to nodes",
        "render --all examples/topology/harbour.yaml --to machines",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The data, byte for byte
    Raw,
    /// The Secret that the provider would write
    Secret,
    /// One JSON object, also on a fault
    Json,
    /// One page for a browser, also on a fault; without secrets
    Html,
}

#[derive(Args)]
struct Arguments {
    /// Documents of any kind: files, folders, - for standard input
    ///
    /// Only the config is required. Cluster, Machine or MachinePool, Secrets and the control plane
    /// are looked up among the documents; what is missing is filled in, and each placeholder is
    /// listed. For a Cluster with a topology its ClusterClass and the templates are planned first.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// What to print
    #[arg(short, long, value_enum, default_value = "raw", value_name = "FORMAT")]
    output: Format,
    /// Every machine of the input
    #[arg(long, conflicts_with_all = ["select", "extract"])]
    all: bool,
    /// The machine of this name, as NAME or NAME:ROLE
    #[arg(long, value_name = "NAME")]
    select: Option<String>,
    /// With --all: one file for each machine, in this folder
    #[arg(long, value_name = "DIR", requires = "all")]
    to: Option<String>,
    /// Write each file of the machine below this folder
    ///
    /// Lists of files and commands, and the data, are below .windlass.
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    extract: Option<String>,
    /// Overwrite other content of the folder
    #[arg(long, hide_short_help = true)]
    force: bool,
    #[command(flatten)]
    render_flags: RenderFlags,
    #[command(flatten)]
    templates: TemplateFlags,
    /// How texts are written: capi as CAPI does, typed quotes what YAML would misread
    #[arg(long, value_name = "ENCODER", value_parser = ["capi", "typed"], hide_short_help = true)]
    encoder: Option<String>,
    /// Show compressed data as the text that the node unpacks
    #[arg(long, conflicts_with_all = ["to", "extract", "output"])]
    plain: bool,
    /// The version of Ignition, for configs of that format
    ///
    /// 2.3 is what CAPI writes; 3.4 is read by Flatcar and Fedora CoreOS today.
    #[arg(long, value_name = "VERSION", value_parser = ["2.3", "3.4"], hide_short_help = true)]
    ignition: Option<String>,
    /// Show secrets where reports would hide them
    #[arg(long, hide_short_help = true)]
    show_secrets: bool,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RenderReport {
    /// The machines, in the order of the input.
    machines: Vec<MachineReport>,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let levels = self.levels.levels(context)?;
        if self.force && self.to.is_none() && self.extract.is_none() {
            return Err(Failure::usage(
                "`--force` overwrites a folder, and none is written",
                "name it: `--extract DIR`, or `--all --to DIR`",
            ));
        }
        if self.output == Format::Html && self.to.is_some() {
            return Err(Failure::usage(
                "`--output html` is one page for all machines, and `--to` writes a file for each",
                "leave `--to` out, and send the page to a file with `>`",
            ));
        }
        let request = self.request(&context.budget)?;
        let mut documents = Documents::read(&self.files, &self.templates, &request, context)?;
        let mut report = std::mem::take(&mut documents.report);
        let pool = std::mem::take(&mut documents.pool);
        let (pool, topologies) =
            render::with_topologies(pool, topology::allows_external(&levels), &request.budget);
        let rendering = documents
            .is_usable
            .then(|| render::run(&pool, &topologies, &request, &self.selection()));
        let mut rendering = rendering.unwrap_or_default();
        if self.output == Format::Secret {
            rendering.write_secrets(&request);
        }
        report.extend(std::mem::take(&mut rendering.report));
        if self.to.is_some() {
            report.extend(render::file_written_twice(&rendered(&rendering)));
        }
        let has_certificates = rendering
            .machines
            .iter()
            .any(|machine| machine.role.is_control_plane());
        rendering.secrets.extend(
            self.render_flags
                .certs_dir
                .iter()
                .filter(|_| has_certificates)
                .cloned(),
        );
        let report = documents.settle(&mut rendering, report);
        let verdict = levels.judge(report);
        if self.output == Format::Html {
            return self.page(
                context,
                (&rendering, &pool),
                &request,
                &verdict.report,
                &documents.sources,
                verdict.fails,
            );
        }
        self.show(
            context,
            &rendering,
            &request,
            &verdict.report,
            &documents.sources,
            verdict.fails,
        )
    }
}

impl Arguments {
    fn request(&self, budget: &Arc<Budget>) -> Result<Request, Failure> {
        let named = |text: &str| {
            IgnitionVersion::ALL
                .iter()
                .copied()
                .find(|version| version.as_str() == text)
        };
        Ok(Request {
            ignition: self.ignition.as_deref().and_then(named),
            encoder: self.encoder.as_deref().and_then(|name| {
                Encoder::ALL
                    .into_iter()
                    .find(|encoder| encoder.as_str() == name)
            }),
            show_secrets: self.show_secrets,
            budget: Arc::clone(budget),
            ..self.render_flags.request()?
        })
    }

    fn selection(&self) -> Selection {
        match (&self.select, self.all) {
            (Some(name), _) => Selection::Named(name.clone()),
            (None, true) => Selection::All,
            (None, false) => Selection::Only,
        }
    }

    fn show(
        &self,
        context: &mut Context<'_>,
        rendering: &Rendering<'_>,
        request: &Request,
        report: &Report,
        sources: &Sources,
        fails: bool,
    ) -> Result<Exit, Failure> {
        let shown = match (self.show_secrets, rendering.secrets.is_empty()) {
            (true, _) => Disclosure::All,
            (false, true) => Disclosure::WithoutSecrets,
            (false, false) => Disclosure::Nothing,
        };
        let incomplete = rendering
            .machines
            .iter()
            .any(|machine| machine.rendered.is_none());
        if self.output == Format::Json {
            let to = self.to.as_deref().filter(|_| !fails && !incomplete);
            if let Some(folder) = to {
                self.write(folder, &self.files(&rendered(rendering)))?;
            }
            let machines = rendering.machines.iter().map(|machine| {
                let path = to
                    .zip(machine.rendered.as_ref())
                    .map(|(to, rendered)| below(to, &self.file_name(machine, rendered)));
                render::machine_report(machine, request, shown, path, remedy::flag)
            });
            context.json(
                "Render",
                RenderReport {
                    machines: machines.collect(),
                },
                report,
                sources,
            );
            return Ok(Exit::failing(fails || incomplete));
        }
        context.findings(report, sources, To::Stderr);
        if fails || incomplete || rendering.machines.is_empty() {
            if !fails {
                tell_rejected(context, rendering);
            }
            context.summary("", report, "no data written", To::Stderr);
            return Ok(Exit::Findings);
        }
        tell(context, rendering, request);
        let machines = rendered(rendering);
        let (folder, tree) = match (&self.extract, &self.to) {
            (Some(folder), _) => (
                folder,
                machines
                    .first()
                    .map(|(_, rendered)| render::extract(rendered, &request.budget))
                    .unwrap_or_default(),
            ),
            (None, Some(folder)) => (folder, self.files(&machines)),
            (None, None) => {
                return self.print(context, &machines);
            }
        };
        self.write(folder, &tree)?;
        context.paths(tree.paths().map(|path| below(folder, path)));
        Ok(Exit::Clean)
    }

    /// One file for each machine.
    fn files(&self, machines: &[(&Machine<'_>, &Rendered)]) -> Tree {
        machines
            .iter()
            .map(|(machine, rendered)| {
                (self.file_name(machine, rendered), bytes(machine, rendered))
            })
            .collect()
    }

    fn page(
        &self,
        context: &mut Context<'_>,
        (rendering, pool): (&Rendering<'_>, &Pool),
        request: &Request,
        report: &Report,
        sources: &Sources,
        fails: bool,
    ) -> Result<Exit, Failure> {
        let shown = if self.show_secrets {
            Disclosure::All
        } else {
            Disclosure::Nothing
        };
        let machine = |machine| render::machine_report(machine, request, shown, None, remedy::flag);
        let machines: Vec<MachineReport> = rendering.machines.iter().map(machine).collect();
        let incomplete = machines.is_empty()
            || rendering
                .machines
                .iter()
                .any(|machine| machine.rendered.is_none());
        context.page(report, sources, |report| {
            render::page(
                rendering,
                machines,
                pool,
                self.show_secrets,
                (report, sources),
                &request.budget,
            )
        });
        Ok(Exit::failing(fails || incomplete))
    }

    fn print(
        &self,
        context: &mut Context<'_>,
        machines: &[(&Machine<'_>, &Rendered)],
    ) -> Result<Exit, Failure> {
        let packed = machines
            .iter()
            .find(|(machine, rendered)| is_gzip(&self.shown(machine, rendered)));
        if let Some((machine, _)) = packed.filter(|_| context.stdio.stdout.is_terminal()) {
            let message = format!(
                "the data of {} is compressed, and standard output is a terminal",
                machine.name()
            );
            return Err(Failure::usage(
                message,
                "pass `--plain` to see its text, or send it to a file with `>`",
            ));
        }
        for (index, (machine, rendered)) in machines.iter().enumerate() {
            match self.output {
                Format::Secret if index > 0 => context.out("---\n"),
                Format::Raw if self.all => {
                    let gap = if index > 0 { "\n" } else { "" };
                    context.out(&format!(
                        "{gap}==> {} {} <==\n",
                        visible(&machine.name()),
                        machine.role
                    ));
                }
                _ => {}
            }
            context.out_bytes(&self.shown(machine, rendered));
        }
        Ok(Exit::Clean)
    }

    fn shown(&self, machine: &Machine<'_>, rendered: &Rendered) -> Vec<u8> {
        let bytes = bytes(machine, rendered);
        if self.plain {
            render::unpacked(bytes)
        } else {
            bytes
        }
    }

    fn file_name(&self, machine: &Machine<'_>, rendered: &Rendered) -> String {
        let name = machine.file_name(rendered);
        if self.output == Format::Secret {
            format!("{name}.yaml")
        } else {
            name
        }
    }

    fn write(&self, folder: &str, tree: &Tree) -> Result<(), Failure> {
        let mode = if self.force {
            Mode::Force
        } else {
            Mode::Create
        };
        trees::write_tree(folder, tree, mode, Privacy::Secret, "render")?;
        Ok(())
    }
}

fn rendered<'r>(rendering: &'r Rendering<'r>) -> Vec<(&'r Machine<'r>, &'r Rendered)> {
    rendering
        .machines
        .iter()
        .filter_map(|machine| Some((machine, machine.rendered.as_ref()?)))
        .collect()
}

fn below(folder: &str, path: &str) -> String {
    format!("{}/{path}", folder.trim_end_matches('/'))
}

/// What is printed or written of a machine: its Secret when that was asked for, else its data.
fn bytes(machine: &Machine<'_>, rendered: &Rendered) -> Vec<u8> {
    machine.secret.as_ref().map_or_else(
        || rendered.data.expose().clone(),
        |secret| secret.clone().into_bytes(),
    )
}

/// Says on standard error what was filled in, each once.
pub(super) fn report_placeholders(context: &mut Context<'_>, rendering: &Rendering<'_>) {
    let mut reported = std::collections::BTreeSet::new();
    for placeholder in rendering
        .machines
        .iter()
        .flat_map(|machine| &machine.placeholders)
    {
        if reported.insert(placeholder) {
            let given_by = placeholder
                .setting
                .map_or_else(|| "FILE".to_owned(), remedy::flag);
            context.talk(&format!("{placeholder} ({given_by})"));
        }
    }
}

/// Says whose data is missing, where the report does not: the finding that says why was allowed.
fn tell_rejected(context: &mut Context<'_>, rendering: &Rendering<'_>) {
    for machine in rendering
        .machines
        .iter()
        .filter(|machine| machine.rendered.is_none())
    {
        let title = machine.target.config.title();
        context.talk(&format!(
            "{title}: no data, because Cluster API does not generate any; `--allow` and waiver comments only remove the finding from the report"
        ));
    }
}

/// Says on standard error what was rendered, and what it was filled in with.
fn tell(context: &mut Context<'_>, rendering: &Rendering<'_>, request: &Request) {
    if request.profile.is_untried() {
        let newest = request.profile.newest_tried();
        context.talk(&format!(
            "note: CAPI {} was not tried; {newest} was",
            request.profile.version()
        ));
    }
    for (machine, rendered) in rendered(rendering) {
        context.talk(&machine.headline(rendered, request));
    }
    report_placeholders(context, rendering);
    if !rendering.secrets.is_empty() {
        context.stdio.err(&format!(
            "note: the data holds {}\n",
            visible(&rendering.secrets.join(", "))
        ));
    }
    if rendering.machines.len() > 1 {
        let size = |machine: &&Machine<'_>| {
            machine
                .rendered
                .as_ref()
                .map_or(0, |rendered| rendered.data.expose().len())
        };
        if let Some(largest) = rendering.machines.iter().max_by_key(size) {
            let (count, name) = (
                plural(rendering.machines.len(), "machine kind"),
                largest.target.config.name(),
            );
            context.talk(&format!(
                "{count}; largest {name} {}, {} bytes",
                largest.role,
                size(&largest)
            ));
        }
    }
}
