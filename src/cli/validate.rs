//! `validate FILE…`.

use std::sync::Arc;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::documents::Documents;
use super::flags::{Format, LevelFlags, Output};
use super::render_flags::RenderFlags;
use super::settings::IN_PART;
use super::templates::TemplateFlags;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use windlass_bootstrap::render::Request;
use windlass_checks::commands::validate::{self, CheckedMachine};
use windlass_source::diag::Setting;

pub(super) const VERB: Verb = Verb {
    words: &["validate"],
    operands: "FILE…",
    summary: "check the configs of machines before they boot",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &[
        "validate examples/control-plane.yaml --kubernetes-version v1.34.1",
        "validate templates/cluster-template.yaml --template --kubernetes-version v1.34.1 -o json",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// Configs, control planes, their templates, Cluster API's own objects, with what they refer
    /// to: files, folders, - for standard input
    ///
    /// Checked are schema, CEL rules and webhooks of the CAPI release, what kubeadm, kubelet and
    /// the control plane of the Kubernetes version take, commands as a shell reads them, and
    /// what is rendered. What is missing is filled in, as render does.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    #[command(flatten)]
    render_flags: RenderFlags,
    #[command(flatten)]
    templates: TemplateFlags,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ValidateReport {
    /// The machines that were checked, in the order of the input.
    machines: Vec<CheckedMachine>,
    /// How many objects of Cluster API's core were checked: Clusters, ClusterClasses, machines and
    /// the sets of them, health checks.
    topologies: usize,
    /// Objects of which nothing is known here, as `Kind/name`.
    others: Vec<String>,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let judge = self.levels.judge(context)?;
        let request = Request {
            budget: Arc::clone(&context.budget),
            ..self.render_flags.request()?
        };
        let mut documents = Documents::read(&self.files, &self.templates, &request, context)?;
        let mut report = std::mem::take(&mut documents.report);
        let pool = std::mem::take(&mut documents.pool);
        let judged = documents
            .is_usable
            .then(|| validate::Judged::new(pool, &request));
        let mut rendering = judged
            .as_ref()
            .map(|judged| judged.render(&request))
            .unwrap_or_default();
        let is_version_said = !documents.origins.stands_in(Setting::KubernetesVersion);
        let validation = judged
            .as_ref()
            .map(|judged| validate::run(judged, &request, &mut rendering, is_version_said))
            .unwrap_or_default();
        let done = validate::done(&validation);
        report.extend(validation.report);
        let report = documents.settle_judged(&mut rendering, report);
        let verdict = judge.verdict(context, report, &mut documents.sources, IN_PART);
        validation.others.iter().for_each(|title| {
            context.trace(1, &format!("{title} is of no kind that is checked here"))
        });
        let to = if self.output.format == Format::Text {
            To::Stdout
        } else {
            To::Stderr
        };
        let body = ValidateReport {
            machines: validation.machines,
            topologies: validation.topologies,
            others: validation.others,
        };
        context.report(
            self.output.format,
            "Validate",
            body,
            &verdict.report,
            &documents.sources,
            to,
        );
        context.summary(&done, &verdict.report, "", to);
        Ok(Exit::failing(verdict.fails))
    }
}
