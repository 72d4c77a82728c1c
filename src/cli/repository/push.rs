//! `repository push`.

use std::path::Path;

use clap::Args;

use super::FAMILY;
use super::given::{Flags, Given};
use super::oci::{Place, failure};
use crate::cli::verbs::{Action, Group, Manner, Run, Verb};
use crate::cli::{Context, Exit, Failure};
use crate::io::files::{self, Privacy};
use crate::io::input::Limits;
use crate::io::lock::Lock;
use crate::io::registry::Access;
use crate::io::trees::{self, Mode, Outcome};
use windlass_repository::push::{
    Beside, MANIFEST_TYPE, MOST_MANIFEST, Packed, Store, beside, pack,
};
use windlass_shell as shell;
use windlass_source::tree::Tree;

pub(in crate::cli) const PUSH: Verb = Verb {
    words: &["repository", "push"],
    operands: "DIR REF",
    summary: "push a release as an OCI artifact, which the Cluster API operator reads",
    family: Some(FAMILY),
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &["repository push releases/bootstrap-windlass/v0.2.0 oci:artifact:v0.2.0"],
    action: Action::of::<Push>(),
};

#[derive(Args)]
struct Push {
    #[command(flatten)]
    release: Flags,
    #[command(flatten)]
    place: Place,
    /// Replace another artifact that has the tag
    #[arg(long)]
    force: bool,
}

/// What to do about a tag that means something else.
const TAKEN: &str =
    "release another version, for others hold a tag to be what they pulled; or pass `--force`";

impl Run for Push {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let reference = self.place.parse()?;
        if reference.digest.is_some() {
            return Err(Failure::usage(
                "an artifact cannot be pushed to a digest",
                "name a tag, or none: then it is the version",
            ));
        }
        let Some(mut given) = self.release.read(context, "repository push")? else {
            return Ok(Exit::Findings);
        };
        let (packed, found) = pack(
            &given.files,
            &given.shown,
            &given.providers,
            reference.tag.as_deref(),
        );
        given.report.extend(found);
        let Some(given) = given.judge(context) else {
            return Ok(Exit::Findings);
        };
        let Some(packed) = packed else {
            return Ok(Exit::Findings);
        };
        let digest = packed.artifact.described.digest.as_str();
        match &reference.store {
            Store::Layout { folder } => {
                self.write(folder, &packed, context)?;
                context.paths([format!("oci:{folder}@{digest}")]);
            }
            Store::Registry { host, repository } => {
                self.upload(context, host, repository, &packed)?;
                context.paths([format!("oci://{host}/{repository}@{digest}")]);
            }
        }
        self.go_on(context, &given, &reference.store, &packed);
        Ok(Exit::Clean)
    }
}

impl Push {
    /// Writes the layout, beside what it has under other tags.
    fn write(
        &self,
        folder: &str,
        packed: &Packed,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let _lock = Lock::take(folder, || {
            context.talk(&format!(
                "waiting for another process that changes {folder}"
            ))
        })?;
        let (tag, layout) = (&packed.tag, packed.artifact.layout(&packed.tag));
        let existing = if files::is_folder(Path::new(folder)) {
            trees::read_tree(folder, Limits::default())?
        } else {
            Tree::new()
        };
        let (layout, mode) = match beside(&existing, &layout, tag) {
            Some(Beside {
                is_replaced: true, ..
            }) if !self.force => {
                return Err(Failure::usage(
                    format!("{folder} has the tag {tag} with other content"),
                    TAKEN,
                ));
            }
            // What is there stays.
            Some(Beside { files, .. }) => (files, Mode::Force),
            None => (
                layout,
                if self.force {
                    Mode::Force
                } else {
                    Mode::Create
                },
            ),
        };
        match trees::write_tree(folder, &layout, mode, Privacy::Public, "repository push")? {
            Outcome::Unchanged => context.talk(&format!("{tag} is unchanged in {folder}")),
            Outcome::WrittenBeside(foreign) => {
                context.talk(&format!("note: {folder} also holds {}", foreign.join(", ")))
            }
            Outcome::Written | Outcome::Differs(_) => context.talk(&format!("{tag} into {folder}")),
        }
        Ok(())
    }

    /// Uploads what the registry does not have. The manifest is last, so that nobody sees an
    /// artifact in part.
    fn upload(
        &self,
        context: &mut Context<'_>,
        host: &str,
        repository: &str,
        packed: &Packed,
    ) -> Result<(), Failure> {
        let registry = self.place.registry(context, host, repository, Access::Push);
        let Packed { artifact, tag, .. } = packed;
        let there = registry.manifest(tag, MOST_MANIFEST).map_err(failure)?;
        let is_same = there
            .as_ref()
            .is_some_and(|there| *there == artifact.manifest);
        if there.is_some() && !is_same && !self.force {
            let message = format!("{host}/{repository}:{tag} is there with other content");
            return Err(Failure::usage(message, TAKEN));
        }
        let mut count = 0;
        for (digest, blob) in &artifact.blobs {
            count += usize::from(
                registry
                    .push_blob(digest, &blob.bytes, &blob.name)
                    .map_err(failure)?,
            );
        }
        if !is_same {
            registry
                .push_manifest(tag, MANIFEST_TYPE, &artifact.manifest)
                .map_err(failure)?;
        }
        let done = if is_same {
            ", unchanged".to_owned()
        } else {
            format!(", {count} uploaded")
        };
        context.talk(&format!(
            "{host}/{repository}:{tag}: {} blobs{done}",
            artifact.blobs.len()
        ));
        Ok(())
    }

    fn go_on(&self, context: &mut Context<'_>, given: &Given, store: &Store, packed: &Packed) {
        let tag = &packed.tag;
        let (host, repository) = match store {
            Store::Layout { folder } => {
                let from = format!("oci:{folder}:{tag}");
                let from = shell::quoted(&from);
                context.talk(&format!("next: `skopeo copy --preserve-digests {from} docker://REGISTRY/REPOSITORY:{tag}`"));
                return;
            }
            Store::Registry { host, repository } => (host, repository),
        };
        if let Some(path) = packed
            .path
            .as_ref()
            .filter(|path| !repository.ends_with(path.as_str()))
        {
            context.talk(&format!("note: Cluster API's proposal for such artifacts has repositories whose paths end in {path}"));
        }
        let scheme = if self.place.is_plain(host) {
            "http://"
        } else {
            ""
        };
        for assets in &given.providers {
            let (kind, name, version) =
                (assets.provider_type.as_str(), &assets.name, &assets.version);
            context.talk(&format!(
                "the operator takes it as {kind}/{name}: `spec: {{version: v{version}, fetchConfig: {{oci: \"{scheme}{host}/{repository}:{tag}\"}}}}`"
            ));
        }
        let pull = context.command(&format!(
            "repository pull oci://{host}/{repository}:{tag} --to REPOSITORY"
        ));
        context.talk(&format!("next, for clusterctl: `{pull}`"));
    }
}
