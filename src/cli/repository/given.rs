//! The one release that `repository configmap` and `repository push` take: its folder, or a local
//! repository with that release alone.

use clap::Args;

use super::{provider_name, release_flag};
use crate::cli::context::To;
use crate::cli::flags::LevelFlags;
use crate::cli::{Context, Failure};
use crate::io::input::Limits;
use crate::io::trees;
use windlass_report::Sources;
use windlass_report::levels::Levels;
use windlass_repository::{self as repository, Assets, Stated, Within};
use windlass_shell as shell;
use windlass_source::diag::Report;
use windlass_source::tree::Tree;

/// What names the release, and what fails.
#[derive(Args)]
pub(super) struct Flags {
    /// The folder of a release, or a local repository that holds one
    #[arg(value_name = "DIR")]
    folder: String,
    /// The version of files that do not say it
    #[arg(long, value_name = "VERSION")]
    release: Option<String>,
    /// The name of a provider whose objects have no label
    ///
    /// Without it the folder of a repository names the provider, such as
    /// infrastructure-NAME/VERSION.
    #[arg(long, value_name = "NAME", value_parser = provider_name)]
    name: Option<String>,
    #[command(flatten)]
    levels: LevelFlags,
}

/// A release that was checked, and is not rejected.
pub(super) struct Given {
    /// Its folder.
    pub(super) shown: String,
    pub(super) files: Tree,
    pub(super) providers: Vec<Assets>,
    pub(super) report: Report,
    pub(super) sources: Sources,
    levels: Levels,
}

impl Flags {
    /// Reads and checks the release; `None` when it is rejected, which was reported then.
    ///
    /// # Errors
    /// The folder cannot be read, or holds several releases.
    pub(super) fn read(
        &self,
        context: &mut Context<'_>,
        verb: &str,
    ) -> Result<Option<Given>, Failure> {
        let levels = self.levels.levels(context)?;
        let (shown, files) = self.files(context, verb)?;
        let Ok(asked) = release_flag(self.release.as_deref(), context) else {
            return Ok(None);
        };
        let version = asked.or_else(|| repository::version_of_folder(&shown));
        let stated = Stated {
            version: version.as_ref(),
            name: self.name.as_deref(),
        };
        let judged = repository::judged_release_of(&files, &shown, stated, &context.budget);
        let (is_rejected, report) = (judged.is_rejected, judged.report);
        let sources: Sources = super::texts(&shown, &files).into_iter().collect();
        let given = Given {
            shown,
            files,
            providers: judged.providers,
            report,
            sources,
            levels,
        };
        if is_rejected {
            given.reject(context)
        } else {
            Ok(Some(given))
        }
    }

    /// The operands and flags of this run.
    pub(super) fn words(&self) -> String {
        let release = self
            .release
            .as_ref()
            .map(|version| format!(" --release {}", shell::quoted(version)))
            .unwrap_or_default();
        let name = self
            .name
            .as_ref()
            .map(|name| format!(" --name {}", shell::quoted(name)))
            .unwrap_or_default();
        format!("{}{release}{name}", shell::quoted(&self.folder))
    }

    /// The folder of the release, and its files.
    fn files(&self, context: &Context<'_>, verb: &str) -> Result<(String, Tree), Failure> {
        let tree = trees::read_tree(&self.folder, Limits::default())?;
        let folder = self.folder.trim_end_matches('/');
        match repository::release_within(&tree) {
            Ok(Within {
                folder: below,
                files,
            }) if below.is_empty() => Ok((folder.to_owned(), files)),
            Ok(Within {
                folder: below,
                files,
            }) => Ok((format!("{folder}/{below}"), files)),
            Err(folders) => {
                let last = folders.last().map(String::as_str).unwrap_or_default();
                let example = context.command(&format!(
                    "{verb} {}",
                    shell::quoted(&format!("{folder}/{last}"))
                ));
                let message = format!(
                    "{folder} holds {} releases: {}",
                    folders.len(),
                    folders.join(", ")
                );
                Err(Failure::usage(message, format!("name one: `{example}`")))
            }
        }
    }
}

impl Given {
    /// Tells what was found; whether the verb may go on. Whoever lets an error pass has allowed its
    /// rule.
    pub(super) fn judge(self, context: &mut Context<'_>) -> Option<Given> {
        let verdict = self.levels.judge(self.report.clone());
        context.findings(&verdict.report, &self.sources, To::Stderr);
        if verdict.fails {
            context.summary("", &verdict.report, "nothing written", To::Stderr);
            return None;
        }
        Some(Given {
            report: verdict.report,
            ..self
        })
    }

    fn reject(self, context: &mut Context<'_>) -> Result<Option<Given>, Failure> {
        let report = self.levels.judge_unfinished(self.report).report;
        context.findings(&report, &self.sources, To::Stderr);
        context.summary("", &report, "nothing written", To::Stderr);
        Ok(None)
    }
}
