//! `repository add`.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use semver::Version;

use super::laying::{By, Given, Laying, Release};
use super::trust;
use super::{FAMILY, provider_name, release_flag};
use crate::cli::verbs::{Action, Group, Manner, Run, Verb};
use crate::cli::{Context, Exit, Failure};
use crate::io::files;
use crate::io::input::Limits;
use crate::io::trees;
use windlass_clusterctl::MANIFEST_FILE;
use windlass_repository::signed::{self, Unverified, Verifier};
use windlass_repository::{self as repository, bundle, tars};
use windlass_source::tree::Tree;

pub(in crate::cli) const ADD: Verb = Verb {
    words: &["repository", "add"],
    operands: "DIR|FILE… --to REPOSITORY",
    summary: "lay a release out for clusterctl, and print the next command",
    family: Some(FAMILY),
    group: Group::Repository,
    manner: Manner::Ours,
    examples: &["repository add out --to repository"],
    action: Action::of::<Add>(),
};

/// How every file that gzip writes begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

#[derive(Args)]
struct Add {
    /// Folders of releases, bundles, files that together are one release, and cert-manager.yaml
    #[arg(value_name = "DIR|FILE", required = true)]
    releases: Vec<String>,
    /// The version of files that do not say it
    #[arg(long, value_name = "VERSION")]
    release: Option<String>,
    /// The name of a provider whose objects have no label
    ///
    /// Without it the folder of a repository names the provider, such as
    /// infrastructure-NAME/VERSION.
    #[arg(long, value_name = "NAME", value_parser = provider_name)]
    name: Option<String>,
    /// Take a bundle's clusterctl.yaml also when it sets urls elsewhere, images or cert-manager
    ///
    /// The signature of the signer that is asked for allows the same. Other settings of it are never
    /// taken.
    #[arg(long)]
    trust_configuration: bool,
    #[command(flatten)]
    laying: Laying,
}

impl Run for Add {
    fn run(self, context: &mut Context<'_>) -> Result<Exit, Failure> {
        let trust = self.laying.trust.verifier()?;
        let version = match release_flag(self.release.as_deref(), context) {
            Ok(version) => version,
            Err(exit) => return Ok(exit),
        };
        let given = self.read(context, version.as_ref(), trust.as_deref())?;
        let by = By {
            verb: "repository add",
            trust: trust.as_deref(),
        };
        self.laying.lay_in(context, given, by)
    }
}

impl Add {
    /// The releases: each folder is one, a bundle holds several, all other files together are one.
    fn read(
        &self,
        context: &mut Context<'_>,
        version: Option<&Version>,
        trust: Option<&dyn Verifier>,
    ) -> Result<Given, Failure> {
        let mut given = Given::default();
        let (mut loose, mut called) = (Tree::new(), BTreeMap::new());
        let mut shown = ".".to_owned();
        for argument in &self.releases {
            let path = Path::new(argument);
            if files::is_folder(path) {
                self.laying.is_beside(path)?;
                let tree = trees::read_tree(argument, Limits::default())?;
                let flat = tree
                    .iter()
                    .filter(|(name, _)| !name.contains('/'))
                    .map(|(name, bytes)| (name.clone(), bytes.clone()));
                given.releases.push(Release {
                    shown: argument.clone(),
                    files: flat.collect(),
                    version: version
                        .cloned()
                        .or_else(|| repository::version_of_folder(argument)),
                    name: self.name.clone(),
                    called: BTreeMap::new(),
                    is_vouched: false,
                    is_on_disk: true,
                });
                continue;
            }
            let bytes = files::read_file(
                argument,
                Limits {
                    file_bytes: tars::MOST_BYTES,
                    ..Limits::default()
                },
            )?;
            if bytes.starts_with(&GZIP) {
                return Err(Failure::usage(
                    format!("{argument} is compressed"),
                    format!("run `gunzip {argument}`, and add the tar"),
                ));
            }
            if tars::is_tar(&bytes) {
                self.unpack(context, &mut given, (argument, &bytes), trust)?;
                continue;
            }
            if is_of_bundle(argument, &self.releases) {
                continue;
            }
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default();
            called.insert(name.clone(), argument.clone());
            if loose.get(&name).is_some_and(|other| other != bytes) {
                return Err(Failure::usage(
                    format!("{argument} is not the only file called {name}"),
                    "name the files of one release, or a folder for each",
                ));
            }
            loose.insert(name, bytes);
            if let Some(parent) = path
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty())
            {
                shown = parent.to_string_lossy().into_owned();
            }
        }
        // The version of a provider's release is not that of cert-manager.
        let manifest = loose
            .get(MANIFEST_FILE)
            .map(<[u8]>::to_vec)
            .filter(|_| loose.len() > 1);
        if let Some(manifest) = manifest {
            let others = loose
                .iter()
                .filter(|(name, _)| name.as_str() != MANIFEST_FILE);
            loose = others
                .map(|(name, bytes)| (name.clone(), bytes.clone()))
                .collect();
            let files = [(MANIFEST_FILE.to_owned(), manifest)].into_iter().collect();
            given.releases.push(Release {
                shown: shown.clone(),
                files,
                version: None,
                name: None,
                called: called.clone(),
                is_vouched: false,
                is_on_disk: true,
            });
        }
        if !loose.is_empty() {
            given.releases.push(Release {
                shown,
                files: loose,
                version: version.cloned(),
                name: self.name.clone(),
                called,
                is_vouched: false,
                is_on_disk: true,
            });
        }
        Ok(given)
    }

    /// Adds what a bundle holds, when its signature, if it has one, is that of who was asked for.
    fn unpack(
        &self,
        context: &mut Context<'_>,
        given: &mut Given,
        (shown, bytes): (&str, &[u8]),
        trust: Option<&dyn Verifier>,
    ) -> Result<(), Failure> {
        let mut is_vouched = false;
        if let Some((signature, signed)) = trust::beside(shown)? {
            match trust.map(|trust| (trust, trust.verify(bytes, &signed))) {
                None => given.unverified.push(Unverified {
                    release: shown.to_owned(),
                    file: shown.to_owned(),
                    signature: signed,
                }),
                Some((trust, Ok(()))) => {
                    is_vouched = true;
                    trust::tell(context, trust, shown);
                }
                Some((trust, Err(why))) => {
                    given
                        .report
                        .push(signed::wrong(&signature, shown, &trust.signer(), &why));
                    return Ok(());
                }
            }
        }
        let (unpacked, found) = bundle::unpack(bytes, shown);
        given.report.extend(found);
        if trust.is_none() || is_vouched || self.trust_configuration {
            if given.configuration.is_none() {
                given.configuration = unpacked.configuration;
                given.is_trusted = is_vouched || self.trust_configuration;
            }
        } else if unpacked.configuration.is_some() {
            context.talk(&format!(
                "note: the clusterctl.yaml of {shown} is left out, because it is not signed: sign the bundle as {shown}.sigstore.json, or pass `--trust-configuration`"
            ));
        }
        let releases = unpacked.releases.into_iter().chain(unpacked.cert_managers);
        given
            .releases
            .extend(releases.map(|(folder, version, files)| Release {
                shown: format!("{shown}/{folder}"),
                files,
                version: Some(version),
                name: None,
                called: BTreeMap::new(),
                is_vouched,
                is_on_disk: false,
            }));
        Ok(())
    }
}

/// Whether a file is named as the signature of a bundle that is named too.
fn is_of_bundle(argument: &str, all: &[String]) -> bool {
    argument
        .strip_suffix(".sigstore.json")
        .is_some_and(|signed| {
            all.iter()
                .any(|other| other == signed && signed.ends_with(".tar"))
        })
}
