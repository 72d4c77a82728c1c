//! `generate crds|rbac|components|metadata|template|clusterclass`: one artifact of a provider on
//! standard output.

use clap::Args;

use super::context::To;
use super::flags::LevelFlags;
use super::provider_file::ProviderFlag;
use super::verbs::{Action, Group, Manner, Run, Verb};
use super::{Context, Exit, Failure};
use windlass_release::commands::generate::{self, Artifact, Generated};
use windlass_release::commands::release_build;
use windlass_source::diag::Report;

const FAMILY: Option<&str> = Some("print one artifact");

const fn verb(
    words: &'static [&'static str],
    operands: &'static str,
    summary: &'static str,
    action: Action,
    examples: &'static [&'static str],
) -> Verb {
    Verb {
        words,
        operands,
        summary,
        family: FAMILY,
        group: Group::Release,
        manner: Manner::Ours,
        examples,
        action,
    }
}

pub(super) const CRDS: Verb = verb(
    &["generate", "crds"],
    "",
    "print the CRDs with their contract labels",
    Action::of::<Crds>(),
    &["generate crds"],
);
pub(super) const RBAC: Verb = verb(
    &["generate", "rbac"],
    "",
    "print ServiceAccount, roles and bindings",
    Action::of::<Rbac>(),
    &["generate rbac"],
);
pub(super) const COMPONENTS: Verb = verb(
    &["generate", "components"],
    "",
    "print the components YAML",
    Action::of::<Components>(),
    &["generate components"],
);
pub(super) const METADATA: Verb = verb(
    &["generate", "metadata"],
    "",
    "print metadata.yaml",
    Action::of::<Metadata>(),
    &["generate metadata"],
);
pub(super) const TEMPLATE: Verb = verb(
    &["generate", "template"],
    "[FLAVOR]",
    "print a cluster template",
    Action::of::<Template>(),
    &["generate template", "generate template topology"],
);
pub(super) const CLUSTER_CLASS: Verb = verb(
    &["generate", "clusterclass"],
    "NAME",
    "print a ClusterClass",
    Action::of::<ClusterClass>(),
    &["generate clusterclass windlass"],
);

/// What all these verbs take.
#[derive(Args)]
struct Shared {
    #[command(flatten)]
    provider: ProviderFlag,
    /// The version, used as the tag of images; default: the first of the newest series
    #[arg(long, value_name = "VERSION")]
    release: Option<String>,
    /// The manager's image in place of the one in provider.yaml, with tag or digest
    #[arg(long, value_name = "IMAGE")]
    image: Vec<String>,
    #[command(flatten)]
    levels: LevelFlags,
}

impl Shared {
    fn print(&self, context: &mut Context<'_>, artifact: &Artifact) -> Result<Exit, Failure> {
        let judge = self.levels.judge(context)?;
        let levels = judge.levels();
        let mut loaded = self.provider.load(context)?;
        judge.roles().hold_for(&mut loaded.inputs);
        let mut report: Report = loaded.report.clone();
        let version = self.release.as_deref().and_then(|text| {
            release_build::version(text)
                .map_err(|finding| report.push(*finding))
                .ok()
        });
        let images: Vec<_> = self
            .image
            .iter()
            .filter_map(|text| {
                release_build::image_override(text)
                    .map_err(|finding| report.push(*finding))
                    .ok()
            })
            .collect();
        let Generated {
            text,
            mut report,
            judged,
        } = generate::run(
            artifact,
            &loaded.providers,
            report,
            &loaded.inputs,
            version.as_ref(),
            &images,
        );
        report.extend(judged);
        report.sort(&[&loaded.shown]);
        let verdict = if text.is_some() {
            levels.judge(report)
        } else {
            levels.judge_unfinished(report)
        };
        context.findings(&verdict.report, &loaded.sources, To::Stderr);
        match text.filter(|_| !verdict.fails) {
            Some(text) => {
                context.out(&text);
                Ok(Exit::Clean)
            }
            None => {
                context.summary("", &verdict.report, "nothing printed", To::Stderr);
                Ok(Exit::Findings)
            }
        }
    }
}

/// A verb without operands of its own.
macro_rules! printing {
    ($name:ident, $artifact:expr) => {
        #[derive(Args)]
        struct $name {
            #[command(flatten)]
            shared: Shared,
        }

        impl Run for $name {
            fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
                self.shared.print(context, &$artifact)
            }
        }
    };
}

printing!(Crds, Artifact::Crds);
printing!(Rbac, Artifact::Rbac);
printing!(Components, Artifact::Components);
printing!(Metadata, Artifact::Metadata);

#[derive(Args)]
struct Template {
    /// The flavor; without it the default template
    #[arg(value_name = "FLAVOR", default_value = "", hide_default_value = true)]
    flavor: String,
    #[command(flatten)]
    shared: Shared,
}

impl Run for Template {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        self.shared.print(context, &Artifact::Template(self.flavor))
    }
}

#[derive(Args)]
struct ClusterClass {
    /// The name of the class
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    shared: Shared,
}

impl Run for ClusterClass {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        self.shared
            .print(context, &Artifact::ClusterClass(self.name))
    }
}
