//! The findings of `lint`, `validate` and `release build` about the open files of a folder, by the
//! settings and waivers of the project.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::documents::folder_of;
use super::objects::Neighbours;
use crate::rules;
use windlass_checks::charts::Charts;
use windlass_checks::commands::lint::{self, Form};
use windlass_checks::object_check;
use windlass_checks::settings::{self, ProjectRoles, Settings, excludes};
use windlass_lint::templates::is_template;
use windlass_provider::KUSTOMIZATION_FILES;
use windlass_report::Sources;
use windlass_report::levels::Levels;
use windlass_report::waivers::{self, Waivers};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

/// A folder with open files.
#[derive(Debug, Clone, Default)]
pub(super) struct Folder {
    /// Its files, those that are open as they are in the editor.
    pub(super) sources: Vec<Source>,
    /// The kustomizations of the folders above.
    pub(super) above: Vec<Source>,
    /// The settings of the project.
    pub(super) settings: Option<Source>,
    /// The names of the open files.
    pub(super) open: BTreeSet<Arc<str>>,
}

/// Builds the release of a provider.yaml; returns the findings and the files that were read.
pub(super) type Build<'a> =
    &'a dyn Fn(&Source, &ProjectRoles, &Report, &Arc<Budget>) -> Result<(Report, Sources), String>;

/// The findings about the open files.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Those that are not waived.
    pub(super) report: Report,
    /// The texts that they point into.
    pub(super) sources: Sources,
    /// Messages about files that were not checked.
    pub(super) notes: Vec<String>,
}

/// Checks the open files of a folder.
pub(super) fn check(folder: &Folder, build: Build<'_>, budget: &Arc<Budget>) -> Checked {
    let known: BTreeSet<&'static str> = rules::all().iter().map(|rule| rule.id).collect();
    let (settings, of_settings) = folder.settings.as_ref().map_or_else(
        || (Settings::default(), Report::new()),
        |source| settings::read(source, &known, budget),
    );
    let mut checked = Checked {
        sources: folder.sources.iter().cloned().collect(),
        report: of_settings,
        notes: Vec::new(),
    };
    if !is_excluded(folder, &settings) {
        let found = found(folder, &settings.roles, build, budget, &mut checked);
        checked.report.extend(found);
    }
    let report = std::mem::take(&mut checked.report);
    let report = waived(report, &checked.sources, &settings, folder, &known, budget);
    let report = levels(&settings).judge(report).report;
    checked.sources.extend(folder.settings.clone());
    let is_shown = |finding: &windlass_source::diag::Diagnostic| {
        let is_open = |file: &Arc<str>| folder.open.contains(file);
        finding.waived.is_none() && finding.place.file.as_ref().is_some_and(is_open)
    };
    checked.report = report.into_iter().filter(is_shown).collect();
    checked.report.sort(&[]);
    checked
}

/// The findings of all files, before waivers and levels.
fn found(
    folder: &Folder,
    roles: &ProjectRoles,
    build: Build<'_>,
    budget: &Arc<Budget>,
    checked: &mut Checked,
) -> Report {
    let sources: Vec<Source> = folder
        .sources
        .iter()
        .chain(&folder.above)
        .cloned()
        .collect();
    let linted = lint::run(&lint::Request {
        sources: &sources,
        form: None,
        contract: None,
        charts: &Charts::new(),
        roles,
        budget,
    });
    // A folder need not have anything of a provider.
    let mut report: Report = linted
        .report
        .into_iter()
        .filter(|finding| finding.rule != &lint::NOTHING)
        .collect();
    let has_form = |source: &Source, forms: &[Form]| {
        linted.files.iter().any(|file| {
            file.file == source.name().as_ref()
                && forms.iter().any(|form| form.as_str() == file.form)
        })
    };
    let open = || {
        folder
            .sources
            .iter()
            .filter(|source| folder.open.contains(source.name()))
    };
    let is_kustomized = folder
        .sources
        .iter()
        .any(|source| KUSTOMIZATION_FILES.contains(&source.file_name()));
    // Templates of a release are checked with their classes, and parts of a kustomization are not
    // complete.
    let of_users = |source: &&Source| {
        !is_template(source.file_name()) && has_form(source, &[Form::Objects, Form::Template])
    };
    if !is_kustomized {
        let users = Neighbours::of(folder.sources.iter().filter(of_users), budget);
        let is_open = |source: &&Source| folder.open.contains(source.name());
        for source in users.sources().filter(is_open) {
            let others = users.related(source);
            let found = object_check::check_among(source, &others, &report, budget);
            report.extend(found);
        }
    }
    for source in open().filter(|source| has_form(source, &[Form::Provider])) {
        match build(source, roles, &report, budget) {
            Ok((found, texts)) => {
                report.extend(found);
                checked.sources.join(texts);
            }
            Err(message) => checked.notes.push(format!(
                "the files that {} names are not checked: {message}",
                source.name()
            )),
        }
    }
    report
}

/// Whether the project excludes the folder.
fn is_excluded(folder: &Folder, settings: &Settings) -> bool {
    let (Some(patterns), Some(source), Some(file)) =
        (&settings.exclude, &folder.settings, folder.sources.first())
    else {
        return false;
    };
    let path = beside(source, folder_of(file.name()));
    let ends = path
        .match_indices('/')
        .map(|(at, _)| at)
        .chain([path.len()]);
    ends.filter(|end| *end > 0).any(|end| {
        patterns
            .iter()
            .any(|pattern| excludes(pattern, &path[..end]))
    })
}

/// A path relative to the folder of the settings.
fn beside(settings: &Source, path: &str) -> String {
    path.strip_prefix(folder_of(settings.name()))
        .map_or(path, |rest| rest.trim_start_matches('/'))
        .to_owned()
}

fn waived(
    report: Report,
    sources: &Sources,
    settings: &Settings,
    folder: &Folder,
    known: &BTreeSet<&'static str>,
    budget: &Budget,
) -> Report {
    let path_of = |file: &str| {
        folder
            .settings
            .as_ref()
            .map_or_else(|| file.to_owned(), |settings| beside(settings, file))
    };
    let waivers = Waivers {
        project: &settings.waivers,
        path_of: &path_of,
        known,
        // Only a run over the whole project knows that a waiver suppresses nothing.
        is_judged: &|_, _| false,
        is_settled: &|_| false,
        budget,
    };
    waivers::apply(report, sources, &waivers)
}

fn levels(settings: &Settings) -> Levels {
    Levels::new(
        settings.deny.iter().map(String::as_str),
        settings.allow.iter().map(String::as_str),
    )
}
