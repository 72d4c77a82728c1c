//! `outlook PATH…`.

use std::sync::Arc;

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::{Format, LevelFlags};
use super::lint::{excluded_note, read};
use super::settings::IN_PART;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::io::charts;
use crate::io::cores;
use crate::io::input::Inputs;
use windlass_checks::commands::outlook::listing::{self, ListedRelease};
use windlass_checks::commands::outlook::{self, Prediction, ReadFile, Until, markdown, text};
use windlass_report::Sources;
use windlass_report::text::plural;
use windlass_source::diag::Report;

pub(super) const VERB: Verb = Verb {
    words: &["outlook"],
    operands: "[PATH…]",
    summary: "what stops working in your files with coming releases",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &[
        "outlook examples/outlook.yaml",
        "outlook examples --until v1.16 --kubernetes-version 1.38 -o markdown",
    ],
    action: Action::of::<Arguments>(),
};

/// How the outlook is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum OutlookFormat {
    /// For people, by release
    #[default]
    Text,
    /// One JSON object
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// An issue for GitHub, in Markdown: a task for each change
    Markdown,
}

#[derive(Args)]
struct Arguments {
    /// Files, folders, - for standard input; without any the working folder
    ///
    /// Whatever lint and validate read: objects and their templates, ClusterClasses, components,
    /// CRDs, metadata.yaml, provider.yaml, releases, kustomize trees. Listed are API versions,
    /// contracts, kinds, fields, feature gates, flags, versions of kubeadm's configuration, registries
    /// and units of cloud-init that a release ends support for, with the change to make. What upstream
    /// has released or planned is a warning, what is tentative is information.
    #[arg(value_name = "PATH")]
    files: Vec<String>,
    /// The last release of Cluster API that counts, such as v1.16
    #[arg(long, value_name = "VERSION")]
    until: Option<String>,
    /// The last release of Kubernetes that counts, such as 1.38
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<String>,
    /// Print as
    #[arg(
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        default_value = "text",
        hide_default_value = true
    )]
    format: OutlookFormat,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct OutlookReport {
    /// The last releases that count: `Cluster API v1.17 and Kubernetes v1.38`.
    horizon: String,
    /// The files, in the order of the command line.
    files: Vec<ReadFile>,
    /// How many Kubernetes objects were read.
    objects: usize,
    /// The releases with which something stops working, by date.
    releases: Vec<ListedRelease>,
    /// The folders that were skipped: `exclude` of windlass.toml, or test data, tools and charts.
    excluded: Vec<String>,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let until = self.until()?;
        let judge = self.levels.judge(context)?;
        let paths = match self.files.is_empty() {
            true => vec![".".to_owned()],
            false => self.files.clone(),
        };
        let Inputs {
            sources: texts,
            report: unread,
            skipped: excluded,
        } = read(&paths, &judge, context)?;
        cores::share_out_files(texts.len());
        let budget = Arc::clone(&context.budget);
        let outlook = outlook::run(&outlook::Request {
            sources: &texts,
            charts: &charts::folders(&texts),
            until,
            roles: &judge.roles(),
            budget: &budget,
        });
        let mut report = unread;
        report.extend(outlook.report);
        let findings = outlook
            .predictions
            .iter()
            .map(|found| found.finding.clone());
        report.extend(findings);
        report.sort(
            &texts
                .iter()
                .map(|text| text.name().as_ref())
                .collect::<Vec<_>>(),
        );
        let mut sources: Sources = texts.iter().cloned().collect();
        let verdict = judge.verdict(context, report, &mut sources, IN_PART);
        let horizon = until.horizon();
        let done = format!(
            "{}, {}",
            plural(outlook.files.len(), "file"),
            plural(outlook.objects, "object")
        );
        let follows = match outlook::grouped(&outlook.predictions, &verdict.report).is_empty() {
            true if !verdict.fails => text::nothing(&horizon),
            _ => String::new(),
        };
        let note = excluded_note(&excluded);
        let body = OutlookReport {
            releases: listing::releases(&outlook.predictions, &verdict.report),
            horizon,
            files: outlook.files,
            objects: outlook.objects,
            excluded,
        };
        self.show(
            context,
            body,
            &outlook.predictions,
            &verdict.report,
            &sources,
        );
        let to = match self.format {
            OutlookFormat::Text => To::Stdout,
            _ => To::Stderr,
        };
        note.iter().for_each(|line| context.note(line, to));
        context.summary(&done, &verdict.report, &follows, to);
        Ok(Exit::failing(verdict.fails))
    }
}

impl Arguments {
    /// The last releases that count.
    fn until(&self) -> Result<Until, Failure> {
        let parsed = |flag: &str, value: &Option<String>, example: &str| match value {
            None => Ok(None),
            Some(value) => Until::parse(value).map(Some).ok_or_else(|| {
                Failure::usage(
                    format!("`{flag} {value}` is not a version"),
                    format!("write major and minor number, as in `{flag} {example}`"),
                )
            }),
        };
        Ok(Until {
            cluster_api: parsed("--until", &self.until, "v1.16")?,
            kubernetes: parsed("--kubernetes-version", &self.kubernetes_version, "1.38")?,
        })
    }

    fn show(
        &self,
        context: &mut Context<'_>,
        body: OutlookReport,
        predictions: &[Prediction],
        report: &Report,
        sources: &Sources,
    ) {
        match self.format {
            OutlookFormat::Text => show_text(context, predictions, report, sources),
            OutlookFormat::Json => context.json("Outlook", body, report, sources),
            OutlookFormat::Sarif => {
                let format = Format::Sarif;
                context.report(format, "Outlook", body, report, sources, To::Stdout);
            }
            OutlookFormat::Markdown => {
                let others = outlook::others(predictions, report);
                context.findings(&others, sources, To::Stderr);
                context.page(report, sources, |report| {
                    markdown::issue(predictions, report, &body.horizon)
                });
            }
        }
    }
}

/// What could not be read, then a heading for each release with its findings.
fn show_text(
    context: &mut Context<'_>,
    predictions: &[Prediction],
    report: &Report,
    sources: &Sources,
) {
    let others = outlook::others(predictions, report);
    context.findings(&others, sources, To::Stdout);
    for (first, found) in outlook::grouped(predictions, report) {
        let heading = context.style(To::Stdout).bold(&text::heading(first));
        context.out(&format!("{heading}\n"));
        let findings: Report = found
            .into_iter()
            .map(|(_, finding)| finding.clone())
            .collect();
        context.findings(&findings, sources, To::Stdout);
    }
}
