//! The settings of a project, `windlass.toml`, and the verdict that they and the flags give.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::flags::{LevelFlags, known_rules};
use super::{Context, Failure};
use crate::io::files;
use crate::io::glob::Globs;
use crate::io::input::read_source;
use windlass_checks::settings::{self, EXCLUDED, ProjectRoles, SETTINGS_FILE, Settings, excludes};
use windlass_report::Sources;
use windlass_report::levels::{ALL_WARNINGS, Levels, Verdict};
use windlass_report::waivers::{self, ProjectWaiver, Waivers};
use windlass_source::Source;
use windlass_source::diag::Report;
use windlass_source::glob;
use windlass_source::nearest::nearest;

/// The settings of a project, as they were read.
#[derive(Debug, Clone)]
struct Project {
    settings: Settings,
    source: Source,
    /// What is found in them that is not an error.
    report: Report,
    /// The working folder, and the folder beside which paths of the settings begin.
    here: PathBuf,
    base: PathBuf,
}

impl Project {
    /// Reads the settings that the command line names, or those of the working folder or a folder
    /// above it.
    fn load(context: &mut Context<'_>) -> Result<Option<Project>, Failure> {
        let here = std::path::absolute(".").unwrap_or_default();
        let Some(shown) = context.global.settings.clone().or_else(|| found(&here)) else {
            return Ok(None);
        };
        let (source, unreadable) = read_source(Path::new(&shown), &shown)?;
        context.trace(1, &format!("settings {shown}"));
        let known = known_rules().into_iter().collect();
        let (settings, mut report) = settings::read(&source, &known, &context.budget);
        report.extend(unreadable);
        if report.has_errors() {
            return Err(Failure::Settings { report, source });
        }
        let base = here
            .join(&shown)
            .parent()
            .map_or_else(PathBuf::new, Path::to_path_buf);
        Ok(Some(Project {
            settings,
            source,
            report,
            here,
            base,
        }))
    }

    /// The path of a file relative to the folder of the settings.
    fn path_of(&self, shown: &str) -> String {
        let plain = |path: &Path| glob::plain(&path.to_string_lossy().replace('\\', "/"));
        let (file, base) = (plain(&self.here.join(shown)), plain(&self.base));
        file.strip_prefix(&base)
            .and_then(|rest| rest.strip_prefix('/'))
            .map_or_else(|| file.clone(), str::to_owned)
    }

    /// Whether all files of a waiver were checked by its rule. `shown` are the names of the files
    /// that were, by their paths.
    fn is_settled(
        &self,
        waiver: &ProjectWaiver,
        shown: &BTreeMap<String, &str>,
        globs: &mut Globs<'_>,
        judged: Judged<'_>,
    ) -> bool {
        let is_judged = |file: &String| {
            shown
                .get(&glob::plain(file))
                .is_some_and(|shown| judged(shown, &waiver.rule))
        };
        let mut all = |pattern: &String| match globs.expand(&self.base, pattern) {
            Ok(expansion) => {
                expansion.unmatched.is_empty() && expansion.files.iter().all(is_judged)
            }
            Err(_) => false,
        };
        waiver.patterns.iter().all(&mut all)
    }
}

/// The settings of the working folder or the nearest folder above it, up to the root of the
/// repository in which it lies.
fn found(here: &Path) -> Option<String> {
    let is_root = |folder: &Path| {
        files::is_folder(&folder.join(".git")) || files::is_file(&folder.join(".git"))
    };
    let root = here.ancestors().position(is_root).unwrap_or(0);
    (0..=root)
        .map(|above| "../".repeat(above) + SETTINGS_FILE)
        .find(|path| files::is_file(Path::new(path)))
}

/// By what a run is checked: flags, and the settings of the project.
pub(super) struct Judge {
    levels: Levels,
    project: Option<Project>,
}

/// Whether a run would have found what a rule finds in a file, so that a waiver that suppresses
/// nothing there can go.
pub(super) type Judged<'a> = &'a dyn Fn(&str, &str) -> bool;

/// Of runs that ask only some of the rules of some of the files.
pub(super) const IN_PART: Judged<'static> = &|_, _| false;

impl LevelFlags {
    /// The levels that flags and settings ask for.
    ///
    /// # Errors
    /// A flag with a rule that does not exist: a typing error must not let a release through.
    /// Settings that cannot be read, or are faulty.
    pub(super) fn levels(&self, context: &mut Context<'_>) -> Result<Levels, Failure> {
        Ok(self.judge(context)?.levels)
    }

    /// The same for a verb that also heeds waivers.
    pub(super) fn judge(&self, context: &mut Context<'_>) -> Result<Judge, Failure> {
        let flags = self.asked_for()?;
        let project = Project::load(context)?;
        let levels = project.as_ref().map_or_else(
            || flags.clone(),
            |project| merged(&flags, &project.settings),
        );
        Ok(Judge { levels, project })
    }

    fn asked_for(&self) -> Result<Levels, Failure> {
        let levels = Levels::new(
            self.deny.iter().map(String::as_str),
            self.allow.iter().map(String::as_str),
        );
        let known = known_rules();
        let Some(unknown) = levels.rules().find(|rule| !known.contains(rule)) else {
            return Ok(levels);
        };
        let help = match nearest(unknown, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`windlass rules` lists all rules".to_owned(),
        };
        Err(Failure::usage(format!("unknown rule `{unknown}`"), help))
    }
}

/// What the settings ask for and the flags do not contradict, and what the flags ask for.
fn merged(flags: &Levels, settings: &Settings) -> Levels {
    let mut levels = flags.clone();
    levels.deny_warnings |= settings.deny.iter().any(|rule| rule == ALL_WARNINGS);
    levels.deny.extend(
        settings
            .deny
            .iter()
            .filter(|rule| *rule != ALL_WARNINGS)
            .cloned(),
    );
    levels.allow.extend(
        settings
            .allow
            .iter()
            .filter(|rule| !flags.deny.contains(*rule))
            .cloned(),
    );
    levels
}

impl Judge {
    pub(super) fn roles(&self) -> ProjectRoles {
        self.project
            .as_ref()
            .map(|project| project.settings.roles.clone())
            .unwrap_or_default()
    }

    /// Whether `lint` skips a folder below those that it is given.
    pub(super) fn excludes(&self, folder: &str) -> bool {
        let project = self.project.as_ref();
        let patterns = project.and_then(|project| project.settings.exclude.as_ref());
        match (patterns, project) {
            (Some(patterns), Some(project)) => {
                let path = project.path_of(folder);
                patterns.iter().any(|pattern| excludes(pattern, &path))
            }
            _ => EXCLUDED.iter().any(|pattern| excludes(pattern, folder)),
        }
    }

    /// The levels, for what no waiver speaks of.
    pub(super) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// Checks a report of what is whole.
    pub(super) fn verdict(
        &self,
        context: &Context<'_>,
        report: Report,
        sources: &mut Sources,
        judged: Judged<'_>,
    ) -> Verdict {
        self.levels
            .judge(self.waived(context, report, sources, judged))
    }

    /// Checks a report of something that is not whole.
    pub(super) fn verdict_of_unfinished(
        &self,
        context: &Context<'_>,
        report: Report,
        sources: &mut Sources,
    ) -> Verdict {
        self.levels
            .judge_unfinished(self.waived(context, report, sources, IN_PART))
    }

    /// The report with what is waived, what is wrong with waivers, and what the settings of the
    /// project are warned of.
    fn waived(
        &self,
        context: &Context<'_>,
        report: Report,
        sources: &mut Sources,
        judged: Judged<'_>,
    ) -> Report {
        let known = known_rules().into_iter().collect();
        let project = self.project.as_ref();
        let path_of =
            |file: &str| project.map_or_else(String::new, |project| project.path_of(file));
        let shown: BTreeMap<String, &str> = sources
            .names()
            .filter(|_| project.is_some())
            .map(|file| (path_of(file), file))
            .collect();
        let globs = RefCell::new(Globs::new(&context.budget));
        let is_settled = |waiver: &ProjectWaiver| {
            project.is_some_and(|project| {
                project.is_settled(waiver, &shown, &mut globs.borrow_mut(), judged)
            })
        };
        let waivers = Waivers {
            project: project.map_or(&[], |project| &project.settings.waivers),
            path_of: &path_of,
            known: &known,
            is_judged: judged,
            is_settled: &is_settled,
            budget: &context.budget,
        };
        let mut report = waivers::apply(report, sources, &waivers);
        if let Some(project) = project {
            report.extend(project.report.clone());
            if report
                .findings()
                .iter()
                .any(|finding| finding.place.file.as_ref() == Some(project.source.name()))
            {
                sources.add(project.source.clone());
            }
        }
        in_order_of_files(report)
    }
}

/// The report in the order in which its files come first.
fn in_order_of_files(mut report: Report) -> Report {
    let files: Vec<_> = report
        .findings()
        .iter()
        .filter_map(|finding| finding.place.file.clone())
        .collect();
    report.sort(&files.iter().map(AsRef::as_ref).collect::<Vec<_>>());
    report
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(deny: &[&str], allow: &[&str]) -> Levels {
        Levels::new(deny.iter().copied(), allow.iter().copied())
    }

    #[test]
    fn unknown_rules_are_rejected_with_the_nearest() {
        let flags = |deny: &str| {
            LevelFlags {
                deny: vec![deny.to_owned()],
                allow: Vec::new(),
            }
            .asked_for()
        };
        assert_eq!(flags("warnings"), Ok(Levels::new(["warnings"], [])));
        assert_eq!(
            flags("input-not-utf8"),
            Ok(Levels::new(["input-not-utf8"], []))
        );
        let failure = flags("input-not-utf").unwrap_err();
        assert_eq!(
            failure,
            Failure::usage(
                "unknown rule `input-not-utf`",
                "did you mean `input-not-utf8`?"
            )
        );
    }

    #[test]
    fn flags_go_before_settings() {
        let settings = |deny: &[&str], allow: &[&str]| {
            let owned = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect();
            Settings {
                deny: owned(deny),
                allow: owned(allow),
                ..Settings::default()
            }
        };
        let of_file = settings(&["warnings", "a"], &["b"]);
        assert_eq!(
            merged(&flags(&[], &[]), &of_file),
            flags(&["warnings", "a"], &["b"])
        );
        assert_eq!(
            merged(&flags(&["b"], &["c"]), &of_file),
            flags(&["warnings", "a", "b"], &["c"])
        );
        assert_eq!(
            merged(&flags(&["warnings"], &[]), &of_file),
            flags(&["warnings", "a"], &["b"])
        );
        // What is allowed beats what is denied, as among flags.
        assert_eq!(
            merged(&flags(&[], &["a"]), &of_file).allow,
            flags(&[], &["a", "b"]).allow
        );
        assert_eq!(
            merged(&flags(&["warnings"], &[]), &settings(&[], &["b"])),
            flags(&["warnings"], &["b"])
        );
    }
}
