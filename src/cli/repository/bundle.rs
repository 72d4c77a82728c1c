//! `repository bundle`.

use std::path::{Component, Path, PathBuf};

use clap::Args;

use super::FAMILY;
use crate::cli::clusterctl::{self, Network};
use crate::cli::context::To;
use crate::cli::flags::LevelFlags;
use crate::cli::images::{self, Listed};
use crate::cli::render_flags::RenderFlags;
use crate::cli::templates::TemplateFlags;
use crate::cli::verbs::{Action, Group, Manner, Run, Verb};
use crate::cli::{Context, Exit, Failure};
use crate::io::WorldError;
use crate::io::files::{self, Privacy};
use crate::io::input::Limits;
use crate::io::trees::{self, Outcome};
use windlass_clusterctl::{Config, fetch};
use windlass_report::Sources;
use windlass_report::levels::{Levels, Verdict};
use windlass_report::text::plural;
use windlass_repository::{CONFIGURATION_FILE, Implied, bundle, tars};
use windlass_shell as shell;
use windlass_source::tree::Tree;

pub(in crate::cli) const BUNDLE: Verb = Verb {
    words: &["repository", "bundle"],
    operands: "REPOSITORY --write-to FILE",
    summary: "pack a local repository into one tar for a site without a network",
    family: Some(FAMILY),
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &[
        "repository bundle repository --write-to bundle.tar",
        "repository bundle repository --images-of examples/control-plane.yaml --write-to bundle-with-machines.tar",
    ],
    action: Action::of::<Bundle>(),
};

const COMPRESSED: [&str; 6] = [".gz", ".tgz", ".bz2", ".xz", ".zst", ".zip"];

#[derive(Args)]
struct Bundle {
    /// The repository
    #[arg(value_name = "REPOSITORY")]
    repository: String,
    /// The tar
    ///
    /// It holds the releases, cert-manager, clusterctl.yaml, images.txt with all images that they
    /// run, mirror.sh, which copies these with skopeo, and SHA256SUMS. Of clusterctl.yaml only
    /// providers, images and cert-manager are packed, without credentials in URLs; other settings
    /// are listed. The same repository gives the same bytes, wherever and whenever it is packed.
    /// What `clusterctl init` also installs and the repository lacks is reported, or fetched with
    /// --allow-network.
    #[arg(long, value_name = "FILE")]
    write_to: String,
    /// Overwrite a file with other content
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    machines: MachineFlags,
    #[command(flatten)]
    network: Network,
    #[command(flatten)]
    levels: LevelFlags,
}

/// The machines whose images are listed beside those of the releases.
#[derive(Args)]
struct MachineFlags {
    /// List what the machines of this file pull at their first boot, too
    ///
    /// A file, a folder, or - for standard input, as `windlass images` takes it, with its flags
    /// for templates and versions. May be given several times.
    #[arg(long, value_name = "FILE")]
    images_of: Vec<String>,
    #[command(flatten)]
    render_flags: RenderFlags,
    #[command(flatten)]
    templates: TemplateFlags,
}

impl MachineFlags {
    /// The images of the machines; none without `--images-of`.
    fn listed(
        &self,
        levels: &Levels,
        context: &mut Context<'_>,
    ) -> Result<Option<Listed>, Failure> {
        if !self.images_of.is_empty() {
            let flags = (&self.render_flags, &self.templates);
            return images::listed(&self.images_of, flags, levels, context).map(Some);
        }
        let of_template = self.templates.template.then_some("--template");
        match of_template.or_else(|| self.render_flags.first_given()) {
            Some(flag) => Err(Failure::usage(
                format!("`{flag}` has no effect without `--images-of`"),
                format!("add `--images-of FILE`, or leave `{flag}` out"),
            )),
            None => Ok(None),
        }
    }
}

impl Run for Bundle {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        if let Some(ending) = COMPRESSED
            .iter()
            .find(|ending| self.write_to.ends_with(*ending))
        {
            let message = format!(
                "a bundle is a tar that is not compressed, and `{}` ends in {ending}",
                self.write_to
            );
            return Err(Failure::usage(
                message,
                "name it `….tar`, and compress that file where needed",
            ));
        }
        self.is_beside(context)?;
        let levels = self.levels.levels(context)?;
        let machines = self.machines.listed(&levels, context)?;
        let mut tree = trees::read_tree(&self.repository, Limits::default())?;
        if self.network.allow_network {
            self.fetch(context, &mut tree)?;
        }
        let of_machines = machines
            .as_ref()
            .map(|listed| listed.images.names())
            .unwrap_or_default();
        let (packed, mut report) = bundle::pack(
            &tree,
            self.repository.trim_end_matches('/'),
            &of_machines,
            &context.budget,
        );
        let mut sources: Sources = super::texts(&self.repository, &tree).into_iter().collect();
        if let Some(listed) = machines {
            report.extend(listed.report);
            sources.join(listed.sources);
        }
        let Verdict { report, fails } = levels.judge(report);
        context.findings(&report, &sources, To::Stderr);
        let Some(packed) = packed.filter(|_| !fails) else {
            context.summary("", &report, "nothing written", To::Stderr);
            return Ok(Exit::Findings);
        };
        let outcome = store(&self.write_to, self.force, &packed.bytes)?;
        for provider in &packed.providers {
            context.talk(&format!("{} v{}", provider.label, provider.version));
        }
        let unchanged = if outcome == Outcome::Unchanged {
            ", unchanged"
        } else {
            ""
        };
        let (contents, images) = (plural(packed.files, "file"), plural(packed.images, "image"));
        context.talk(&format!(
            "{}: {contents}, {images}, sha256 {}{unchanged}",
            self.write_to,
            bundle::sha256(&packed.bytes)
        ));
        let tar = shell::quoted(&self.write_to);
        let add = context.command(&format!(
            "repository add {tar} --to REPOSITORY --mirror REGISTRY"
        ));
        context.talk(&format!(
            "next: bring it to the site, its images with `tar -xf {tar} mirror.sh && sh mirror.sh REGISTRY`, and run `{add}` there"
        ));
        context.paths([self.write_to.clone()]);
        Ok(Exit::Clean)
    }
}

/// The absolute path without `.` and `..`, as it is written: links are not followed.
fn plain(path: &str) -> Result<PathBuf, WorldError> {
    let absolute = std::path::absolute(path).map_err(|error| WorldError::reading(path, &error))?;
    let mut plain = PathBuf::new();
    for component in absolute.components() {
        if component == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(component);
        }
    }
    Ok(plain)
}

/// How deep the files of a release lie in a repository: LABEL/VERSION/FILE.
const DEPTH: usize = 3;

impl Bundle {
    /// Says that the tar is in the repository that it packs; as a file of a release the next one
    /// would hold it.
    fn is_beside(&self, context: &mut Context<'_>) -> Result<(), Failure> {
        let (to, repository) = (plain(&self.write_to)?, plain(&self.repository)?);
        let Ok(below) = to.strip_prefix(&repository) else {
            return Ok(());
        };
        if below.components().count() >= DEPTH {
            let message = format!(
                "`{}` would be a file of a release in {}, which is packed",
                self.write_to, self.repository
            );
            return Err(Failure::usage(
                message,
                "choose a file beside the repository, such as `--write-to bundle.tar`",
            ));
        }
        context.talk(&format!(
            "note: {} is in {}, and is not part of what is packed",
            self.write_to, self.repository
        ));
        Ok(())
    }

    /// Adds what `clusterctl init` also installs and the repository lacks, from where its
    /// configuration says.
    fn fetch(&self, context: &mut Context<'_>, tree: &mut Tree) -> Result<(), Failure> {
        let lacking = bundle::lacking(tree, &context.budget);
        let config = format!(
            "{}/{CONFIGURATION_FILE}",
            self.repository.trim_end_matches('/')
        );
        let config = if files::is_file(Path::new(&config)) {
            config
        } else {
            String::new()
        };
        for implied in lacking {
            let label = implied.label();
            let fetched = clusterctl::with_world(context, &self.network, |world| {
                let config = Config::load(world, &config)?;
                match implied {
                    Implied::Provider(provider_type, name) => {
                        fetch(&config, config.provider_of(name, provider_type)?, None)
                    }
                    Implied::CertManager => {
                        let cert_manager = config.cert_manager()?;
                        fetch(
                            &config,
                            cert_manager.provider(),
                            Some(&cert_manager.version),
                        )
                    }
                }
            });
            let help = "lay it in from files with `repository add`, or leave `--allow-network` out";
            let fetched = fetched.map_err(|rejection| {
                Failure::usage(format!("{label} cannot be fetched: {rejection}"), help)
            })?;
            context.talk(&format!("fetched {label} {}", fetched.version));
            let folder = format!("{label}/{}", fetched.version);
            fetched
                .files
                .into_iter()
                .for_each(|(file, bytes)| drop(tree.insert(format!("{folder}/{file}"), bytes)));
        }
        Ok(())
    }
}

/// Writes the tar, unless something else is there.
fn store(write_to: &str, force: bool, bytes: &[u8]) -> Result<Outcome, Failure> {
    if files::is_file(Path::new(write_to)) {
        let limits = Limits {
            file_bytes: tars::MOST_BYTES,
            ..Limits::default()
        };
        if files::read_file(write_to, limits).is_ok_and(|there| there == bytes) {
            return Ok(Outcome::Unchanged);
        }
        if !force {
            return Err(Failure::usage(
                format!("{write_to} is there with other content"),
                "choose another name or pass `--force`",
            ));
        }
    }
    files::write_file(write_to, bytes, Privacy::Public)?;
    Ok(Outcome::Written)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bundle may be larger than any file of a release.
    #[test]
    fn a_large_bundle_that_is_there_is_unchanged() {
        let folder = tempfile::tempdir().unwrap();
        let write_to = folder.path().join("b.tar").to_str().unwrap().to_owned();
        let bytes = vec![0; usize::try_from(Limits::default().file_bytes).unwrap() + 1];
        assert_eq!(store(&write_to, false, &bytes).ok(), Some(Outcome::Written));
        assert_eq!(
            store(&write_to, false, &bytes).ok(),
            Some(Outcome::Unchanged)
        );
        assert!(
            store(&write_to, false, &bytes[1..]).is_err(),
            "other content"
        );
    }
}
