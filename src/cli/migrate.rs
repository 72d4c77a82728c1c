//! `migrate FILE…`.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;
use clap::builder::PossibleValuesParser;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::{Format, LevelFlags, Output};
use super::settings::{IN_PART, Judge};
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::io::charts;
use crate::io::files;
use crate::io::input::{self, Inputs, Limits};
use windlass_capi::api::names::Version;
use windlass_checks::charts::take as take_charts;
use windlass_checks::commands::migrate::{self, Family, FileChange, Migration, Wanted};
use windlass_report::Sources;
use windlass_report::levels::Verdict;
use windlass_report::text::{self, plural};
use windlass_source::Source;

pub(super) const VERB: Verb = Verb {
    words: &["migrate"],
    operands: "FILE…",
    summary: "your files in v1beta1 or v1beta2, or with the other kind of configs; comments and layout stay",
    family: None,
    group: Group::Render,
    manner: Manner::Ours,
    examples: &[
        "migrate --to-version v1beta1 examples/worker.yaml",
        "migrate --to-kind WindlassConfig examples/worker.yaml",
    ],
    action: Action::of::<Arguments>(),
};

#[derive(Args)]
struct Arguments {
    /// Files, folders, or - for standard input
    ///
    /// Without --write or --check, only one file is accepted, and its new text is printed. Other
    /// kinds and clusterctl variables are left unchanged.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    /// The version of Cluster API's kinds
    ///
    /// Of KubeadmConfig, KubeadmControlPlane, WindlassConfig, their templates, Cluster,
    /// ClusterClass with its patches, Machine, MachineDeployment, MachineSet, MachinePool,
    /// MachineHealthCheck, and of references to them.
    #[arg(long, value_name = "VERSION", value_parser = PossibleValuesParser::new(Version::ALL.map(Version::as_str)))]
    to_version: Option<String>,
    /// The kind of configs, including their templates and references to them
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(Family::ALL.map(Family::as_str)))]
    to_kind: Option<String>,
    /// Change the files; without it the text of one file is printed
    #[arg(long, conflicts_with = "check")]
    write: bool,
    /// Show the difference and write nothing; exit 1 if there is one
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MigrateReport {
    /// The files, in the order of the command line.
    files: Vec<FileChange>,
    /// Whether the files were changed.
    written: bool,
}

impl Run for Arguments {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let judge = self.levels.judge(context)?;
        let wanted = self.wanted()?;
        let mut inputs = input::read(&self.files, Limits::default(), &mut context.stdio.stdin)?;
        self.reject(&inputs.sources)?;
        let shown = inputs.sources.clone();
        let folders = charts::folders(&shown);
        inputs.report.extend(take_charts(
            &mut inputs.sources,
            &folders,
            &self.command(),
            &context.budget,
        ));
        let (migration, verdict, sources) =
            self.migrated(context, &judge, (inputs, &shown), &wanted);
        let (done, differs) = self.hand_over(context, &migration, &sources, verdict.fails)?;
        let to = if self.write && self.output.format == Format::Text {
            To::Stdout
        } else {
            To::Stderr
        };
        let done_any = migration.documents() > 0;
        let body = MigrateReport {
            files: migration.files,
            written: self.write && (done_any || !verdict.fails),
        };
        context.report(
            self.output.format,
            "Migrate",
            body,
            &verdict.report,
            &sources,
            to,
        );
        context.summary(&done, &verdict.report, "", to);
        Ok(Exit::failing(differs || verdict.fails))
    }
}

impl Arguments {
    /// The command that migrates standard input in the same way.
    fn command(&self) -> String {
        let version = self
            .to_version
            .as_ref()
            .map(|to| format!(" --to-version {to}"));
        let kind = self.to_kind.as_ref().map(|to| format!(" --to-kind {to}"));
        let flags = [version, kind].into_iter().flatten().collect::<String>();
        format!("windlass migrate{flags} -")
    }

    fn wanted(&self) -> Result<Wanted, Failure> {
        let version = self.to_version.as_deref().and_then(Version::parse);
        let family = Family::ALL
            .into_iter()
            .find(|family| self.to_kind.as_deref() == Some(family.as_str()));
        if version.is_none() && family.is_none() {
            return Err(Failure::usage(
                "nothing says what the files are to become",
                "add `--to-version v1beta2`, or `--to-kind WindlassConfig`",
            ));
        }
        Ok(Wanted { version, family })
    }

    /// Migrates the documents that nothing speaks against: one with a finding that makes the run
    /// fail stays as it is.
    fn migrated(
        &self,
        context: &Context<'_>,
        judge: &Judge,
        (inputs, shown): (Inputs, &[Source]),
        wanted: &Wanted,
    ) -> (Migration, Verdict, Sources) {
        let mut held = BTreeSet::new();
        loop {
            // Of templates of a chart alone nothing is migrated.
            let mut migration = match inputs.sources.is_empty() && inputs.report.has_errors() {
                true => Migration::default(),
                false => migrate::run(&inputs.sources, wanted, &held, &context.budget),
            };
            migration.is_unfinished |= inputs.report.has_errors();
            let mut report = inputs.report.clone();
            report.extend(std::mem::take(&mut migration.report));
            let names = shown.iter().map(|source| source.name().as_ref());
            report.sort(&names.collect::<Vec<_>>());
            let mut sources: Sources = shown.iter().cloned().collect();
            let verdict = if migration.is_unfinished {
                judge.verdict_of_unfinished(context, report, &mut sources)
            } else {
                judge.verdict(context, report, &mut sources, IN_PART)
            };
            let failing = migration.failing(&verdict.report);
            if failing.is_empty() {
                return (migration, verdict, sources);
            }
            held.extend(failing);
        }
    }

    /// Rejects what cannot be printed or written.
    fn reject(&self, sources: &[Source]) -> Result<(), Failure> {
        if !self.write && !self.check {
            if self.output.format != Format::Text {
                return Err(Failure::usage(
                    "a report replaces the text",
                    "add `--check`, or `--write`",
                ));
            }
            if sources.len() > 1 {
                let files = plural(sources.len(), "file");
                return Err(Failure::usage(
                    format!("the text of one file can be printed, and here are {files}"),
                    "add `--write`, or `--check`",
                ));
            }
        }
        // What standard input is called may be the name of a file too.
        if self.write && self.files.iter().any(|file| file == "-") {
            return Err(Failure::usage(
                "`--write` changes files, and standard input is not a file",
                "leave `--write` out",
            ));
        }
        match sources
            .iter()
            .find(|source| self.write && !files::is_file(Path::new(source.name().as_ref())))
        {
            Some(source) => Err(Failure::usage(
                format!(
                    "`--write` changes files, and {} is not a file",
                    source.name()
                ),
                "leave `--write` out",
            )),
            None => Ok(()),
        }
    }

    /// Prints the text, changes the files, or shows the difference; says what was done, and whether
    /// `--check` found a difference.
    fn hand_over(
        &self,
        context: &mut Context<'_>,
        migration: &Migration,
        sources: &Sources,
        fails: bool,
    ) -> Result<(String, bool), Failure> {
        let count = format!(
            "{} in {}",
            plural(migration.documents(), "document"),
            plural(migration.changed.len(), "file")
        );
        if self.check {
            if self.output.format == Format::Text {
                let style = context.style(To::Stdout);
                migration
                    .changed
                    .iter()
                    .for_each(|changed| context.out(&text::unified(changed, sources, style)));
            }
            return Ok((
                format!("{count} would change; nothing written"),
                !migration.changed.is_empty(),
            ));
        }
        if fails && migration.documents() == 0 {
            return Ok(("nothing written".to_owned(), false));
        }
        if !self.write {
            migration
                .sources
                .iter()
                .for_each(|source| context.out(source.text()));
            return Ok((
                format!("{} migrated", plural(migration.documents(), "document")),
                false,
            ));
        }
        let changes = migration.changed.iter().map(|changed| {
            (
                changed.before.name().as_ref(),
                changed.before.text().as_bytes(),
                changed.after.text().as_bytes(),
            )
        });
        files::change_read_files(&changes.collect::<Vec<_>>())?;
        Ok((format!("{count} migrated"), false))
    }
}
