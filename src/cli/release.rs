//! `release build|bump`.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use schemars::JsonSchema;
use semver::Version;
use serde::Serialize;

use super::context::To;
use super::flags::{Format, LevelFlags, Output, Target};
use super::provenance_flags::ProvenanceFlags;
use super::provider_file::{Loaded, ProviderFlag};
use super::settings::{IN_PART, Judge};
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure, image_layout, sbom_flags};
use crate::io::cores;
use crate::io::files::{self, Privacy};
use crate::io::input::{Limits, STDIN_NAME, read_source};
use crate::io::trees::{self, Mode, Outcome};
use windlass_provider::{Declared, STDIN};
use windlass_release::commands::release_build::{self, FIXED_EPOCH, Order};
use windlass_release::commands::release_bump::{self, Bumped};
use windlass_release::commands::release_changes;
use windlass_release::commands::release_compare;
use windlass_release::commands::release_provenance;
use windlass_release::emit::release::{ImageOverride, Release};
use windlass_report::Sources;
use windlass_report::text::plural;
use windlass_shell as shell;
use windlass_source::diag::{Diagnostic, Report};

pub(super) const BUILD: Verb = Verb {
    words: &["release", "build"],
    operands: "VERSION --to DIR",
    summary: "write the whole release: components, metadata, templates, checksums, images, SBOM",
    family: None,
    group: Group::Release,
    manner: Manner::Ours,
    examples: &[
        "release build v0.2.0 --to out",
        "release build v0.2.0 --to out --check",
    ],
    action: Action::of::<Build>(),
};

pub(super) const BUMP: Verb = Verb {
    words: &["release", "bump"],
    operands: "VERSION",
    summary: "add a release series to metadata.yaml",
    family: None,
    group: Group::Release,
    manner: Manner::Ours,
    examples: &["release bump v0.3.0"],
    action: Action::of::<Bump>(),
};

/// Write the whole release: components, metadata, templates, checksums, images, SBOM
///
/// With `components: -` in provider.yaml, as `windlass init` writes it, the objects are those of
/// kustomize: `kustomize build config/default | windlass release build VERSION --to out`. They
/// stay as they are, except for what clusterctl's contract requires: contract labels, the
/// provider label, and the version as the tag of the manager's image. With `-v 1` every change is
/// listed.
#[derive(Args)]
struct Build {
    /// The version to release, such as v0.2.0
    #[arg(value_name = "VERSION")]
    release: String,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    provider: ProviderFlag,
    /// The manager's image in place of the one in provider.yaml, with tag or digest
    ///
    /// With several providers in the file: LABEL=IMAGE, such as bootstrap-k3s=ghcr.io/x/y:v1. May
    /// be given several times.
    #[arg(long, value_name = "IMAGE")]
    image: Vec<String>,
    /// The layout of the manager's image, as `release image` writes it: its digest takes the place
    /// of the tag
    ///
    /// Of the images in the layout it is the one with the tag VERSION, or the only one without a
    /// tag. With several providers in the file: LABEL=DIR. May be given several times.
    #[arg(long, value_name = "DIR")]
    image_layout: Vec<String>,
    /// What the manager's image contains, by its build: SPDX 2.2 or 2.3, or CycloneDX 1, in JSON
    ///
    /// Its packages go into the release's SBOM, as what the image contains, whatever language they
    /// are of. With several providers in the file: LABEL=FILE. May be given several times.
    #[arg(long, value_name = "FILE")]
    sbom: Vec<String>,
    #[command(flatten)]
    provenance: ProvenanceFlags,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    levels: LevelFlags,
}

impl Build {
    /// The flags on which the files depend, as a command that builds the same has them.
    fn words(&self) -> String {
        let given = [
            ("--image", &self.image),
            ("--image-layout", &self.image_layout),
            ("--sbom", &self.sbom),
        ];
        let words = given.into_iter().flat_map(|(flag, values)| {
            values
                .iter()
                .map(move |value| format!(" {flag} {}", shell::quoted(value)))
        });
        std::iter::once(self.provider.words())
            .chain(words)
            .collect()
    }
}

/// What `-o json` says beside the findings.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct BuildReport {
    /// The labels of the providers, such as `bootstrap-windlass`.
    providers: Vec<String>,
    /// The version.
    version: String,
    /// The contract of its release series; null when metadata.yaml does not list it.
    contract: Option<String>,
    /// The folder.
    to: String,
    /// Whether the folder holds the release now, or held it before with `--check`.
    written: bool,
    /// The files of the release, relative to the folder; empty on a fault.
    files: Vec<String>,
    /// The images that it runs.
    images: Vec<String>,
    /// How many Kubernetes objects its components hold.
    objects: usize,
}

impl Run for Build {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        cores::main_works_too();
        let judge = self.levels.judge(context)?;
        let mut loaded = self.provider.load(context)?;
        if let Some(empty) = empty_input(context, &loaded) {
            return Err(empty);
        }
        judge.roles().hold_for(&mut loaded.inputs);
        if context.global.verbosity > 0 {
            loaded.inputs.keep_originals();
        }
        let mut report = loaded.report.clone();
        let version = kept(release_build::version(&self.release), &mut report);
        let mut images: Vec<ImageOverride> = self
            .image
            .iter()
            .filter_map(|text| kept(release_build::image_override(text), &mut report))
            .collect();
        if let Some(version) = &version {
            images.extend(image_layout::digests(
                &self.image_layout,
                &loaded.providers,
                version,
                &mut report,
            )?);
        }
        let parts = sbom_flags::parts(&self.sbom, &loaded.providers, &mut report)?;
        let origin = self.provenance.origin(&self.target.to, &mut report)?;
        let epoch = source_date(context)?.unwrap_or(FIXED_EPOCH);
        let release = match &version {
            Some(version) => {
                let order = Order {
                    version,
                    images: &images,
                    parts: &parts,
                    epoch,
                };
                release_build::run(&loaded.providers, report, &loaded.inputs, order)
            }
            None => Release {
                report,
                is_incomplete: true,
                ..Release::default()
            },
        };
        image_layout::are_used(&images, &release)?;
        let provenance = origin.map(|origin| {
            release_provenance::provenance(
                &origin,
                &release,
                &loaded.shown,
                &self.release,
                &images,
                epoch,
            )
        });
        Building {
            arguments: &self,
            judge,
            loaded,
            release,
            provenance,
        }
        .finish(context)
    }
}

/// provider.yaml takes its objects from standard input, and nothing is there: the pipe from
/// kustomize was left out, or kustomize failed.
fn empty_input(context: &Context<'_>, loaded: &Loaded) -> Option<Failure> {
    let takes_input = |declared: &Declared| declared.provider.components.as_deref() == Some(STDIN);
    let is_empty = loaded
        .inputs
        .sources()
        .all(|source| **source.name() != *STDIN_NAME || source.text().trim().is_empty());
    (loaded.providers.iter().any(takes_input) && is_empty).then(|| {
        let build = context.command("release build VERSION --to DIR");
        Failure::usage(
            format!(
                "{} takes its objects from standard input, which is empty",
                loaded.shown
            ),
            format!(
                "run `kustomize build config/default | {build}`; if it was run so, kustomize failed"
            ),
        )
    })
}

/// The value, or its finding in the report.
pub(super) fn kept<T>(result: Result<T, Box<Diagnostic>>, report: &mut Report) -> Option<T> {
    result.map_err(|finding| report.push(*finding)).ok()
}

/// The date of the sources, `SOURCE_DATE_EPOCH` in seconds since 1970, where the environment has
/// one.
///
/// # Errors
/// It is not a date.
pub(super) fn source_date(context: &Context<'_>) -> Result<Option<i64>, Failure> {
    let Some(text) = context.environment.non_empty("SOURCE_DATE_EPOCH") else {
        return Ok(None);
    };
    let fault = || {
        Failure::usage(
            format!("SOURCE_DATE_EPOCH is `{text}`"),
            "set it to seconds since 1970, or unset it",
        )
    };
    let epoch = text.parse().map_err(|_| fault())?;
    jiff::Timestamp::from_second(epoch).map_err(|_| fault())?;
    Ok(Some(epoch))
}

/// A release that was built in memory, on its way to the folder.
struct Building<'a> {
    arguments: &'a Build,
    judge: Judge,
    loaded: Loaded,
    release: Release,
    /// The statement about it, where one is asked for.
    provenance: Option<String>,
}

impl Building<'_> {
    fn finish(mut self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        self.release.report.sort(&[&self.loaded.shown]);
        context.talk(&self.headline());
        if context.global.verbosity > 0 {
            let budget = Arc::clone(&context.budget);
            for line in release_changes::lines(&self.release, &budget) {
                context.trace(1, &line);
            }
        }
        let report = std::mem::take(&mut self.release.report);
        let sources = &mut self.loaded.sources;
        let verdict = if self.release.is_incomplete {
            self.judge.verdict_of_unfinished(context, report, sources)
        } else {
            self.judge.verdict(context, report, sources, IN_PART)
        };
        self.release.report = verdict.report;
        if verdict.fails {
            self.show(context, false, To::Stderr);
            context.summary("", &self.release.report, "nothing written", To::Stderr);
            return Ok(Exit::Findings);
        }
        match self.arguments.target.mode() {
            Mode::Check => self.check(context),
            mode => self.write(context, mode),
        }
    }

    /// Whose release this is, and which file says so.
    fn headline(&self) -> String {
        let labels: Vec<String> = self
            .loaded
            .providers
            .iter()
            .map(|declared| declared.provider.label())
            .collect();
        let contract = if self.release.contract.is_empty() {
            String::new()
        } else {
            format!(", contract {}", self.release.contract)
        };
        let whose = if labels.is_empty() {
            "release".to_owned()
        } else {
            labels.join(" + ")
        };
        format!(
            "{whose} {}{contract} ({})",
            self.arguments.release, self.loaded.shown
        )
    }

    fn write(&self, context: &mut Context<'_>, mode: Mode) -> Result<Exit, Failure> {
        let to = &self.arguments.target.to;
        if let Some(statement) = &self.provenance {
            self.arguments.provenance.is_free(statement, mode)?;
        }
        let outcome = trees::write_tree(
            to,
            &self.release.files,
            mode,
            Privacy::Public,
            "release build",
        )?;
        let provenance = self
            .provenance
            .as_ref()
            .and(self.arguments.provenance.provenance.as_ref());
        if let Some((file, statement)) = provenance.zip(self.provenance.as_ref()) {
            files::write_file(file, statement.as_bytes(), Privacy::Public)?;
        }
        self.show(context, true, To::Stderr);
        if self.arguments.output.format == Format::Text {
            context.paths(
                self.release
                    .files
                    .paths()
                    .map(|path| format!("{}/{path}", to.trim_end_matches('/')))
                    .chain(provenance.cloned()),
            );
        }
        let counts = [
            plural(self.release.files.len(), "file"),
            plural(self.release.objects, "object"),
            plural(self.release.images.len(), "image"),
        ];
        let unchanged = if outcome == Outcome::Unchanged {
            "; unchanged"
        } else {
            ""
        };
        context.talk(&format!("{}{unchanged}", counts.join(", ")));
        if let Outcome::WrittenBeside(foreign) = &outcome {
            context.talk(&format!(
                "note: {to} also holds {} that the release does not have: {}",
                plural(foreign.len(), "file"),
                foreign.join(", ")
            ));
        }
        let next = context.command(&format!("repository add {} --to DIR", shell::quoted(to)));
        context.talk(&format!("next: {next}"));
        Ok(Exit::Clean)
    }

    /// Compares and writes nothing: the report is what was asked for.
    fn check(&mut self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let to = self.arguments.target.to.clone();
        let present = trees::read_tree(&to, Limits::default())?;
        let comparison =
            release_compare::compare(&present, &self.release.files, &to, &self.loaded.shown);
        for (name, source) in comparison.sources {
            self.loaded
                .sources
                .add(windlass_source::Source::new(name, source));
        }
        let verdict = self.judge.levels().judge(comparison.report);
        let differing = verdict.report.findings().len();
        let foreign = verdict
            .report
            .findings()
            .iter()
            .filter(|finding| finding.rule == &release_compare::FOREIGN)
            .count();
        self.release.report.extend(verdict.report);
        self.show(context, differing == 0, To::Stdout);
        let build = context.command(&format!(
            "release build {} --to {}{} --force",
            self.arguments.release,
            shell::quoted(&to),
            self.arguments.words()
        ));
        let (stale, total) = (differing - foreign, self.release.files.len());
        if differing == 0 {
            context.talk(&format!("{to} is what {} gives", self.loaded.shown));
        }
        if stale > 0 {
            let verb = if stale == 1 { "differs" } else { "differ" };
            context.talk(&format!(
                "{to} is not what {} gives: {stale} of {total} files {verb}; run `{build}`",
                self.loaded.shown
            ));
        }
        if foreign > 0 {
            let (count, them) = (
                plural(foreign, "file"),
                if foreign == 1 { "it" } else { "them" },
            );
            context.talk(&format!(
                "{to} also holds {count} that {} does not give: remove {them}, `--force` does not",
                self.loaded.shown
            ));
        }
        Ok(Exit::failing(differing > 0))
    }

    /// The findings in the format that was asked for.
    fn show(&self, context: &mut Context<'_>, written: bool, to: To) {
        let (report, sources) = (&self.release.report, &self.loaded.sources);
        context.report(
            self.arguments.output.format,
            "ReleaseBuild",
            self.body(written),
            report,
            sources,
            to,
        );
    }

    fn body(&self, written: bool) -> BuildReport {
        let contract = &self.release.contract;
        let is_faulty =
            self.release.is_incomplete || (!written && self.release.report.has_errors());
        BuildReport {
            providers: self
                .loaded
                .providers
                .iter()
                .map(|declared| declared.provider.label())
                .collect(),
            version: self.arguments.release.clone(),
            contract: (!contract.is_empty()).then(|| contract.clone()),
            to: self.arguments.target.to.clone(),
            written,
            files: if is_faulty {
                Vec::new()
            } else {
                self.release.files.paths().map(str::to_owned).collect()
            },
            images: self.release.images.iter().cloned().collect(),
            objects: self.release.objects,
        }
    }
}

#[derive(Args)]
struct Bump {
    /// The version whose series is added, such as v0.2.0
    #[arg(value_name = "VERSION")]
    release: String,
    /// The file to change
    #[arg(long, value_name = "FILE", default_value = "metadata.yaml")]
    metadata: String,
    /// The contract of the new series; without it that of the newest one
    #[arg(long, value_name = "CONTRACT")]
    contract: Option<String>,
}

impl Run for Bump {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let (source, mut report) = read_source(Path::new(&self.metadata), &self.metadata)?;
        let version = kept(release_build::version(&self.release), &mut report);
        let bumped = version.as_ref().and_then(|version| {
            let (bumped, found) =
                release_bump::run(&source, version, self.contract.as_deref(), &context.budget);
            report.extend(found);
            bumped
        });
        let sources: Sources = [source].into_iter().collect();
        context.findings(&report, &sources, To::Stderr);
        let (Some(bumped), Some(version)) = (bumped, version) else {
            context.summary("", &report, "nothing written", To::Stderr);
            return Ok(Exit::Findings);
        };
        self.store(context, &bumped, &version)?;
        Ok(Exit::Clean)
    }
}

impl Bump {
    fn store(
        &self,
        context: &mut Context<'_>,
        bumped: &Bumped,
        version: &Version,
    ) -> Result<(), Failure> {
        let series = format!("{}.{}", version.major, version.minor);
        match bumped {
            Bumped::Unchanged => context.talk(&format!(
                "{} lists series {series} already; unchanged",
                self.metadata
            )),
            Bumped::Changed(text) => {
                files::change_file(&self.metadata, text.as_bytes())?;
                context.talk(&format!("{} lists series {series} now", self.metadata));
            }
        }
        context.paths([self.metadata.clone()]);
        Ok(())
    }
}
