//! `release check`.

use std::path::Path;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::{Format, LevelFlags, Output};
use super::repository::texts;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::io::files;
use crate::io::input::Limits;
use crate::io::trees;
use crate::rules::{self, Knows};
use windlass_release::assets::Assets;
use windlass_release::commands::release_build;
use windlass_release::commands::release_check::{self, Files, Request};
use windlass_report::Sources;
use windlass_report::text::plural;
use windlass_source::diag::Report;
use windlass_source::tree::Tree;
use windlass_source::url::without_credentials;

pub(super) const VERB: Verb = Verb {
    words: &["release", "check"],
    operands: "VERSION DIR…",
    summary: "check a release before it is published, and whether users can upgrade to it",
    family: None,
    group: Group::Release,
    manner: Manner::Ours,
    examples: &[
        "release check v0.2.0 releases/bootstrap-windlass/v0.2.0",
        "release check v0.2.0 releases/bootstrap-windlass/v0.2.0 --previous releases/bootstrap-windlass/v0.1.0",
    ],
    action: Action::of::<Check>(),
};

#[derive(Args)]
struct Check {
    /// The version to publish, such as v0.2.0
    #[arg(value_name = "VERSION")]
    release: String,
    /// The folders with the files of the release
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<String>,
    /// The release that users upgrade from: what would break for them is reported
    #[arg(long, value_name = "DIR")]
    previous: Option<String>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    levels: LevelFlags,
}

/// What `-o json` prints.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckReport {
    /// The version that was asked for.
    version: String,
    /// The labels of the providers, such as `bootstrap-windlass`.
    providers: Vec<String>,
    /// The contract of the release series; null when metadata.yaml does not list it.
    contract: Option<String>,
    /// The release that users upgrade from.
    previous: Option<String>,
}

impl Run for Check {
    fn run(mut self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let judge = self.levels.judge(context)?;
        self.put_in_order()?;
        if self.previous.is_some() && self.folders.len() > 1 {
            return Err(Failure::usage(
                "`--previous` goes with one folder",
                "check each folder by itself",
            ));
        }
        let mut body = CheckReport {
            version: self.release.clone(),
            providers: Vec::new(),
            contract: None,
            previous: self.previous.clone(),
        };
        let (mut report, mut sources, mut is_unchecked) = (Report::new(), Sources::new(), false);
        let previous = self.previous.as_deref().map(read).transpose()?;
        match release_build::version(&self.release) {
            Err(finding) => {
                is_unchecked = true;
                report.push(*finding);
            }
            Ok(version) => {
                for folder in &self.folders {
                    let tree = read(folder)?;
                    sources.extend(texts(folder, &tree));
                    let previous = self
                        .previous
                        .as_deref()
                        .zip(previous.as_ref())
                        .map(|(shown, tree)| Files { tree, shown });
                    let release = Files {
                        tree: &tree,
                        shown: folder,
                    };
                    let roles = &judge.roles();
                    let request = Request {
                        release,
                        version: &version,
                        previous,
                        roles,
                        budget: &context.budget,
                    };
                    let checked = release_check::run(&request);
                    is_unchecked |= checked.judged.is_empty();
                    body.add(checked.judged, &checked.providers);
                    report.extend(checked.report);
                }
                let previous = self.previous.as_deref().zip(previous.as_ref());
                previous
                    .into_iter()
                    .for_each(|(shown, tree)| sources.extend(texts(shown, tree)));
            }
        }
        report.sort(&sources.names().collect::<Vec<_>>());
        let asked = rules::asked(if self.previous.is_some() {
            Knows::Previous
        } else {
            Knows::Version
        });
        let is_before = |file: &str| {
            self.previous
                .as_deref()
                .is_some_and(|previous| Path::new(file).starts_with(previous))
        };
        // An unchecked object has no findings that could be allowed.
        let verdict = if is_unchecked {
            judge.verdict_of_unfinished(context, report, &mut sources)
        } else {
            judge.verdict(context, report, &mut sources, &|file, rule| {
                asked.contains(rule) && !is_before(file)
            })
        };
        let done = format!(
            "{} {}",
            plural(body.providers.len(), "provider"),
            self.release
        );
        let is_text = self.output.format == Format::Text;
        context.report(
            self.output.format,
            "ReleaseCheck",
            body,
            &verdict.report,
            &sources,
            To::Stdout,
        );
        context.summary(
            &done,
            &verdict.report,
            "",
            if is_text { To::Stdout } else { To::Stderr },
        );
        Ok(Exit::failing(verdict.fails))
    }
}

impl Check {
    /// Puts a version that was given behind the folders before them.
    fn put_in_order(&mut self) -> Result<(), Failure> {
        let is_version = |text: &String| release_build::version(text).is_ok();
        if is_version(&self.release) {
            return Ok(());
        }
        if let Some(at) = self.folders.iter().position(is_version) {
            let version = self.folders.remove(at);
            let folder = std::mem::replace(&mut self.release, version);
            self.folders.insert(0, folder);
        } else if files::is_folder(Path::new(&self.release)) {
            return Err(Failure::usage(
                format!("{} is a folder, and no argument is a version", self.release),
                "write the version first, such as `v0.1.0`, and then the folders",
            ));
        }
        Ok(())
    }
}

fn read(folder: &str) -> Result<Tree, Failure> {
    if !files::is_folder(Path::new(folder)) {
        return Err(Failure::usage(
            format!("{} is not a folder", without_credentials(folder)),
            "name the folder of a release",
        ));
    }
    Ok(trees::read_tree(folder, Limits::default())?)
}

impl CheckReport {
    fn add(&mut self, judged: Vec<String>, installable: &[Assets]) {
        self.contract = self.contract.take().or_else(|| {
            installable
                .first()
                .map(|provider| provider.contract.clone())
        });
        self.providers.extend(judged);
    }
}
