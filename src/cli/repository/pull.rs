//! `repository pull`.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;

use super::laying::{By, Given, Laying, Release};
use super::oci::{Place, failure};
use super::{FAMILY, provider_name, release_flag};
use crate::cli::verbs::{Action, Group, Manner, Run, Verb};
use crate::cli::{Context, Exit, Failure};
use crate::io::input::Limits;
use crate::io::registry::Access;
use crate::io::trees;
use windlass_report::text::plural;
use windlass_repository::pull::{
    Contents, keep, of_layout, opened, version, with_clusterctls_names,
};
use windlass_repository::push::{MOST_MANIFEST, Reference, Store};
use windlass_source::diag::{Diagnostic, Report};
use windlass_source::tree::Tree;

pub(in crate::cli) const PULL: Verb = Verb {
    words: &["repository", "pull"],
    operands: "REF --to REPOSITORY",
    summary: "lay a release that is an OCI artifact out for clusterctl, with every digest checked",
    family: Some(FAMILY),
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &["repository pull oci:artifact:v0.2.0 --to pulled"],
    action: Action::of::<Pull>(),
};

#[derive(Args)]
struct Pull {
    #[command(flatten)]
    place: Place,
    /// The version, where neither tag nor artifact say it
    #[arg(long, value_name = "VERSION")]
    release: Option<String>,
    /// The name of a provider whose objects have no label
    #[arg(long, value_name = "NAME", value_parser = provider_name)]
    name: Option<String>,
    #[command(flatten)]
    laying: Laying,
}

/// What was pulled, or why it is rejected.
type Pulled = Result<(Tree, Contents), Box<Diagnostic>>;

impl Run for Pull {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let reference = self.place.parse()?;
        let trust = self.laying.trust.verifier()?;
        let asked = match release_flag(self.release.as_deref(), context) {
            Ok(version) => version,
            Err(exit) => return Ok(exit),
        };
        let pulled = match &reference.store {
            Store::Layout { folder } => {
                self.laying.is_beside(Path::new(folder))?;
                let layout = trees::read_tree(folder, Limits::default())?;
                of_layout(
                    &layout,
                    folder,
                    reference.tag.as_deref(),
                    reference.digest.as_deref(),
                )
            }
            Store::Registry { host, repository } => {
                self.fetch(context, &reference, host, repository)?
            }
        };
        let mut given = Given::default();
        match pulled {
            Ok((files, contents)) => {
                if contents.untitled > 0 {
                    context.talk(&format!(
                        "note: {} without a title, which is not a file",
                        plural(contents.untitled, "layer")
                    ));
                }
                let version =
                    asked.or_else(|| version(reference.tag.as_deref(), &contents.annotations));
                let shown = self.place.reference.clone();
                given.releases.push(Release {
                    shown,
                    files: with_clusterctls_names(files),
                    version,
                    name: self.name.clone(),
                    called: BTreeMap::new(),
                    is_vouched: false,
                    is_on_disk: false,
                });
            }
            Err(finding) => given.report = Report::from_iter([*finding]),
        }
        self.laying.lay_in(
            context,
            given,
            By {
                verb: "repository pull",
                trust: trust.as_deref(),
            },
        )
    }
}

impl Pull {
    /// Fetches the manifest and the files.
    fn fetch(
        &self,
        context: &mut Context<'_>,
        reference: &Reference,
        host: &str,
        repository: &str,
    ) -> Result<Pulled, Failure> {
        let shown = self.place.reference.as_str();
        let Some(wanted) = reference.digest.as_deref().or(reference.tag.as_deref()) else {
            return Err(Failure::usage(
                format!("{shown} has neither tag nor digest"),
                format!("name the version: `{shown}:VERSION`"),
            ));
        };
        let registry = self.place.registry(context, host, repository, Access::Pull);
        let Some(manifest) = registry.manifest(wanted, MOST_MANIFEST).map_err(failure)? else {
            let help = "check repository and tag; a registry may also hide what you may not see: OCI_USERNAME, OCI_PASSWORD";
            return Err(Failure::usage(
                format!("{host} has no {repository} with {wanted}"),
                help,
            ));
        };
        let contents = match opened(&manifest, reference.digest.as_deref(), shown) {
            Ok(contents) => contents,
            Err(finding) => return Ok(Err(finding)),
        };
        let mut files = Tree::new();
        for file in &contents.files {
            let bytes = registry
                .blob(&file.digest, file.size, &file.title)
                .map_err(failure)?;
            if let Err(finding) = keep(&mut files, file, bytes, shown) {
                return Ok(Err(finding));
            }
        }
        context.talk(&format!(
            "{shown}: {}, each with its digest",
            plural(contents.files.len(), "file")
        ));
        Ok(Ok((files, contents)))
    }
}
