//! `release image`.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::context::To;
use super::flags::{Format, Output, Target};
use super::provider_file::{Loaded, ProviderFlag};
use super::release::source_date;
use super::usage::list;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use crate::io::files::{self, Privacy};
use crate::io::input::Limits;
use crate::io::lock::Lock;
use crate::io::trees::{self, Mode, Outcome};
use windlass_release::commands::release_build;
use windlass_release::commands::release_image::{self, Binary, MOST_BYTES, Made, Request};
use windlass_report::Sources;
use windlass_report::text::plural;
use windlass_shell as shell;
use windlass_source::diag::Report;
use windlass_source::nearest::nearest;

pub(super) const VERB: Verb = Verb {
    words: &["release", "image"],
    operands: "VERSION --binary PLATFORM=FILE --to DIR",
    summary: "an image of the manager from static binaries, as a layout on disk; no container tool is needed",
    family: None,
    group: Group::Release,
    manner: Manner::Ours,
    examples: &[
        "release image v0.2.0 --binary linux/amd64=bin/manager --to image",
        "release image v0.2.0 --binary linux/amd64=bin/manager --binary linux/arm64=bin/manager-arm64 --to images",
    ],
    action: Action::of::<Image>(),
};

#[derive(Args)]
struct Image {
    /// The version, which becomes the tag, such as v0.2.0
    #[arg(value_name = "VERSION")]
    release: String,
    /// A static binary and what it runs on, such as linux/amd64=bin/manager
    ///
    /// May be given several times, for amd64, arm64, ppc64le, riscv64 and s390x. In the image it
    /// is /manager, which the user 65532 runs. The image holds nothing else: no shell, no
    /// libraries, no certificates of the world.
    #[arg(long, value_name = "PLATFORM=FILE", required = true)]
    binary: Vec<String>,
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    provider: ProviderFlag,
    #[command(flatten)]
    output: Output,
}

/// What `-o json` says beside the findings.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImageReport {
    /// The version, which is the tag.
    version: String,
    /// The digest of the image, `sha256:…`; null on a fault.
    digest: Option<String>,
    /// The folder.
    to: String,
    /// Whether the folder holds the image now, or held it before with `--check`.
    written: bool,
    /// The manifest of each binary.
    manifests: Vec<ManifestReport>,
    /// The files of the layout, relative to the folder; empty on a fault.
    files: Vec<String>,
}

/// What was made of one binary.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ManifestReport {
    /// What it runs on, `linux/amd64`.
    platform: String,
    /// The file of the binary.
    binary: String,
    /// The digest of its manifest, `sha256:…`.
    digest: String,
}

impl Run for Image {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let binaries = self.binaries()?;
        let epoch = source_date(context)?;
        let (providers, mut report, sources) = match self.loaded(context)? {
            Some(Loaded {
                providers,
                report,
                sources,
                ..
            }) => (providers, report, sources),
            None => Default::default(),
        };
        let mut made = Made::default();
        match release_build::version(&self.release) {
            Ok(version) => {
                made = release_image::run(&Request {
                    version: &version,
                    binaries: &binaries,
                    providers: &providers,
                    epoch,
                })
            }
            Err(finding) => report.push(*finding),
        }
        report.extend(std::mem::take(&mut made.report));
        if report.has_errors() {
            self.show(
                context,
                &Made::default(),
                false,
                &report,
                &sources,
                To::Stderr,
            );
            context.summary("", &report, "nothing written", To::Stderr);
            return Ok(Exit::Findings);
        }
        let to = &self.target.to;
        let _lock = match self.target.mode() {
            Mode::Check => None,
            _ => Some(Lock::take(to, || {
                context.talk(&format!(
                    "waiting for another process that is writing to {to}"
                ))
            })?),
        };
        let outcome = trees::write_tree(
            to,
            &made.files,
            self.target.mode(),
            Privacy::Public,
            "release image",
        )?;
        let holds = !matches!(outcome, Outcome::Differs(_));
        self.show(context, &made, holds, &report, &sources, To::Stderr);
        self.tell(context, &made, &outcome);
        Ok(Exit::failing(!holds))
    }
}

impl Image {
    /// The binaries that the command line names, read.
    fn binaries(&self) -> Result<Vec<Binary>, Failure> {
        let mut binaries: Vec<Binary> = Vec::new();
        for given in &self.binary {
            let help = || "write it such as `--binary linux/amd64=bin/manager`".to_owned();
            let Some((platform, file)) = given.split_once('=').filter(|(_, file)| !file.is_empty())
            else {
                return Err(Failure::usage(
                    format!("`--binary {given}` is not PLATFORM=FILE"),
                    help(),
                ));
            };
            let Some(architecture) = release_image::architecture(platform) else {
                let known: Vec<String> = release_image::platforms().collect();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let help = match nearest(platform, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("use {}", list(&known)),
                };
                return Err(Failure::usage(
                    format!("no image can be made for `{platform}`"),
                    help,
                ));
            };
            if binaries
                .iter()
                .any(|binary| binary.architecture == architecture)
            {
                return Err(Failure::usage(
                    format!("`--binary` names two files for {platform}"),
                    "name one",
                ));
            }
            let bytes = files::read_file(
                file,
                Limits {
                    file_bytes: MOST_BYTES,
                    ..Limits::default()
                },
            )?;
            binaries.push(Binary {
                architecture,
                shown: file.to_owned(),
                bytes,
            });
        }
        Ok(binaries)
    }

    /// Whose image it is, where a provider.yaml says it.
    fn loaded(&self, context: &mut Context<'_>) -> Result<Option<Loaded>, Failure> {
        if self.provider.is_there() {
            return self.provider.load(context).map(Some);
        }
        context.talk("note: no provider.yaml in this folder: the image says its version, but neither whose it is nor its license");
        Ok(None)
    }

    /// The findings in the format that was asked for.
    fn show(
        &self,
        context: &mut Context<'_>,
        made: &Made,
        written: bool,
        report: &Report,
        sources: &Sources,
        to: To,
    ) {
        let manifest = |made: &release_image::Manifest| ManifestReport {
            platform: made.platform.clone(),
            binary: made.binary.clone(),
            digest: made.digest.clone(),
        };
        let body = ImageReport {
            version: self.release.clone(),
            digest: Some(made.digest.clone()).filter(|digest| !digest.is_empty()),
            to: self.target.to.clone(),
            written,
            manifests: made.manifests.iter().map(manifest).collect(),
            files: made.files.paths().map(str::to_owned).collect(),
        };
        context.report(
            self.output.format,
            "ReleaseImage",
            body,
            report,
            sources,
            to,
        );
    }

    /// What was made or compared, and what to do with it.
    fn tell(&self, context: &mut Context<'_>, made: &Made, outcome: &Outcome) {
        let to = &self.target.to;
        for manifest in &made.manifests {
            context.talk(&format!(
                "{} {} from {}",
                manifest.platform, manifest.digest, manifest.binary
            ));
        }
        match outcome {
            Outcome::Differs(difference) => {
                let stale = difference.modified.len() + difference.missing.len();
                let foreign = plural(difference.foreign.len(), "file");
                context.talk(&format!(
                    "{to} is not this image: {} of {} files differ, {foreign} more",
                    stale,
                    made.files.len()
                ));
                return;
            }
            Outcome::WrittenBeside(foreign) => {
                context.talk(&format!("note: {to} also holds {}", foreign.join(", ")))
            }
            Outcome::Written | Outcome::Unchanged => {}
        }
        if self.output.format == Format::Text {
            context.tell(&format!("{}\n", made.digest));
        }
        if self.target.mode() != Mode::Check {
            context.talk(&format!(
                "next: `skopeo copy --all --preserve-digests {} docker://REGISTRY/NAME:{}`",
                shell::quoted(&format!("oci:{to}:{}", self.release)),
                self.release
            ));
            let (layout, provider) = (shell::quoted(to), self.provider.words());
            let build = context.command(&format!(
                "release build {} --image-layout {layout}{provider} --to DIR",
                self.release
            ));
            context.talk(&format!("then: `{build}`"));
        }
    }
}
