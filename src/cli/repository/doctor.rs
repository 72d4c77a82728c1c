//! `repository doctor`.

use std::path::Path;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::FAMILY;
use super::authors::Authors;
use crate::cli::context::To;
use crate::cli::flags::{Format, LevelFlags, Output};
use crate::cli::settings::IN_PART;
use crate::cli::verbs::{Action, Group, Manner, Run, Verb};
use crate::cli::{Context, Exit, Failure, clusterctl};
use crate::io::WorldError;
use crate::io::clusterctl_files::Disk;
use crate::io::files;
use crate::io::input::read_source;
use crate::io::trees;
use windlass_clusterctl::{Config, World};
use windlass_report::Sources;
use windlass_report::text::plural;
use windlass_repository::CONFIGURATION_FILE;
use windlass_repository::doctor::{self, Examination, Examined, Subject};
use windlass_source::Source;
use windlass_source::diag::Report;

pub(in crate::cli) const DOCTOR: Verb = Verb {
    words: &["repository", "doctor"],
    operands: "[REPOSITORY]",
    summary: "which version and files clusterctl takes, and why; what is missing, and what would surprise",
    family: Some(FAMILY),
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &[
        "repository doctor repository",
        "repository doctor --config repository/clusterctl.yaml -o json",
    ],
    action: Action::of::<Doctor>(),
};

#[derive(Args)]
struct Doctor {
    /// The repository; without it `--config` names the configuration
    ///
    /// Its clusterctl.yaml is read, and folders of providers that the file does not name are
    /// examined too.
    #[arg(value_name = "REPOSITORY")]
    repository: Option<String>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::cli) struct DoctorReport {
    /// One entry for each provider, in the order of the configuration.
    providers: Vec<Examined>,
}

impl Run for Doctor {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let judge = self.levels.judge(context)?;
        let examination = self.examine(context)?;
        let mut authors = Authors::default();
        for release in &examination.releases {
            authors.add(
                release.title.clone(),
                Some(release.folder.clone()),
                &release.report,
            );
        }
        let is_configuration = |source: &Source| {
            let named = context.global.config.as_deref();
            named == Some(source.name()) || source.file_name() == CONFIGURATION_FILE
        };
        let shown = examination.sources.into_iter();
        let mut sources: Sources = shown
            .map(|source| match is_configuration(&source) {
                true => super::masked(&source),
                false => source,
            })
            .collect();
        let verdict = judge.verdict(context, examination.report, &mut sources, IN_PART);
        let (providers, report) = (examination.providers, verdict.report);
        let versions: usize = providers.iter().map(|provider| provider.found.len()).sum();
        let done = format!(
            "{}, {}",
            plural(providers.len(), "provider"),
            plural(versions, "version")
        );
        let is_text = self.output.format == Format::Text;
        let (mut shown, mut lines) = (report.clone(), Vec::new());
        if is_text {
            context.tell(&doctor::text(&providers));
            (shown, lines) = authors.fold(context, &report);
        }
        context.report(
            self.output.format,
            "RepositoryDoctor",
            DoctorReport { providers },
            &shown,
            &sources,
            To::Stdout,
        );
        lines
            .iter()
            .for_each(|line| context.tell(&format!("{line}\n")));
        context.summary(
            &done,
            &report,
            "",
            if is_text { To::Stdout } else { To::Stderr },
        );
        Ok(Exit::failing(verdict.fails))
    }
}

/// What the command line names.
struct Named {
    config: Option<String>,
    /// The repository as it was named, and its absolute path.
    repository: Option<(String, String)>,
}

impl Doctor {
    fn named(&self, context: &Context<'_>) -> Result<Named, Failure> {
        match (&self.repository, &context.global.config) {
            (Some(shown), None) if files::is_folder(Path::new(shown)) => {
                trees::reject_unfinished(shown)?;
                let absolute = std::path::absolute(shown)
                    .map_err(|error| WorldError::reading(shown, &error))?;
                let config = format!("{}/{CONFIGURATION_FILE}", shown.trim_end_matches('/'));
                let is_there = files::is_file(Path::new(&config));
                let repository = Some((shown.clone(), absolute.to_string_lossy().into_owned()));
                Ok(Named {
                    config: is_there.then_some(config),
                    repository,
                })
            }
            (Some(shown), None) => Err(WorldError::Missing {
                path: shown.clone(),
                similar: None,
            }
            .into()),
            (None, Some(config)) => Ok(Named {
                config: Some(config.clone()),
                repository: None,
            }),
            (Some(_), Some(_)) => Err(Failure::usage(
                "`REPOSITORY` and `--config` exclude each other",
                "give one of the two",
            )),
            (None, None) => Err(Failure::usage(
                "there is nothing to examine",
                "name a repository, or a configuration with `--config FILE`",
            )),
        }
    }

    fn examine(&self, context: &Context<'_>) -> Result<Examination, Failure> {
        let Named { config, repository } = self.named(context)?;
        let (source, mut report) = match &config {
            Some(config) => read_source(Path::new(config), config)
                .map(|(source, report)| (Some(source), report))?,
            None => (None, Report::new()),
        };
        let environment = clusterctl::environment_of(context.environment);
        let world = World {
            files: &Disk,
            environment: &environment,
            network: None,
            budget: &context.budget,
        };
        let loaded = config.as_ref().map_or_else(
            || Ok(Config::empty(world)),
            |config| Config::load(world, config),
        );
        let loaded = match loaded {
            Ok(loaded) => loaded,
            Err(rejection) => {
                report.push(doctor::unreadable(source.as_ref(), &rejection));
                return Ok(Examination {
                    report,
                    sources: source.into_iter().collect(),
                    ..Examination::default()
                });
            }
        };
        let repository = repository
            .as_ref()
            .map(|(shown, absolute)| (shown.as_str(), absolute.as_str()));
        let mut examination = doctor::examine(Subject {
            config: &loaded,
            source: source.as_ref(),
            repository,
            files: &Disk,
        });
        report.extend(std::mem::take(&mut examination.report));
        Ok(Examination {
            report,
            ..examination
        })
    }
}
