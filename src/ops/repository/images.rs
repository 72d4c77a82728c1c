//! `repository images`: every image that the releases of a repository run, as clusterctl installs
//! them.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::assets::{components_files, versions_below};
use crate::clusterctl::{self, CERT_MANAGER, Config, MANIFEST_FILE, RunImage};
use crate::diag::{Diagnostic, Place, Quoted, Report, rules};
use crate::lint::templates::substitution_finding;
use crate::objects::{self, Object, fields, pods};
use crate::text::budget::Budget;
use crate::text::envsubst;
use crate::text::source::Source;
use crate::text::tree::Tree;

rules! {
    /// clusterctl refuses an image of a release, or the overrides of images
    REFUSED = error("repository-image-refused");
}

/// The argument by which cert-manager's controller names the image that solves ACME challenges.
/// clusterctl's overrides do not reach it.
const SOLVER: &str = "--acme-http01-solver-image=";

/// An image that a release runs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedImage {
    /// The name, after the overrides of the configuration.
    pub image: String,
    /// The name in the release; null when nothing overrides it.
    pub source: Option<String>,
    /// The folder of the release: the label of its provider, or `cert-manager`.
    pub provider: String,
    /// The version of the release.
    pub version: String,
}

/// The images of all releases in a repository, by name. Variables have the values of the
/// configuration and the environment, or their defaults.
pub fn images(repository: &Tree, shown: &str, config: &Config<'_>) -> (Vec<ListedImage>, Report) {
    let (found, report) = reached(repository, shown, config);
    let listed: BTreeSet<ListedImage> = found.into_iter().map(|found| found.listed).collect();
    (listed.into_iter().collect(), report)
}

/// An image that a release runs, and whether overrides reach it where it is named.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reached {
    pub(super) listed: ListedImage,
    /// Whether clusterctl's overrides apply to it: they do in Deployments and DaemonSets.
    pub(super) is_overridden: bool,
}

/// What [`images`] lists, by name.
pub(super) fn reached(
    repository: &Tree,
    shown: &str,
    config: &Config<'_>,
) -> (BTreeSet<Reached>, Report) {
    let budget = config.world().budget;
    let mut report = Report::new();
    let mut found = BTreeSet::new();
    for folder in versions_below(repository) {
        let Some((label, version)) = folder.split_once('/') else {
            continue;
        };
        let files = repository.subtree(&folder);
        for file in image_files(label, &files) {
            let name = format!("{}/{folder}/{file}", shown.trim_end_matches('/'));
            let of_file = objects_of(
                &name,
                files.get(&file).unwrap_or_default(),
                &|name| config.variable(name),
                budget,
            );
            let objects = match of_file {
                Ok(objects) => objects,
                Err(finding) => {
                    report.push(*finding);
                    continue;
                }
            };
            match clusterctl::run_images(config, label, &objects) {
                Ok(images) => found.extend(images.into_iter().chain(solvers(label, &objects)).map(
                    |RunImage {
                         written,
                         run,
                         is_overridden,
                     }| {
                        let source = (written != run).then_some(written);
                        let listed = ListedImage {
                            source,
                            image: run,
                            provider: label.to_owned(),
                            version: version.to_owned(),
                        };
                        Reached {
                            listed,
                            is_overridden,
                        }
                    },
                )),
                Err(refusal) => {
                    let finding =
                        Diagnostic::of(&REFUSED, "clusterctl refuses the images of the release")
                            .at(Place::file(name.as_str()));
                    let finding = finding.help(
                        "correct the image, or `images` of the configuration, as the note says",
                    );
                    report.push(
                        finding
                            .note(format!(
                                "clusterctl says: {refusal}",
                                refusal = Quoted(&refusal)
                            ))
                            .upstream(refusal.message()),
                    );
                }
            }
        }
    }
    budget.tell(&mut report);
    (found, report)
}

/// The files of a release in whose objects pods are.
fn image_files(label: &str, files: &Tree) -> Vec<String> {
    if label == CERT_MANAGER {
        return vec![MANIFEST_FILE.to_owned()];
    }
    components_files(files)
        .into_iter()
        .map(|(_, file)| file)
        .collect()
}

fn objects_of(
    name: &str,
    bytes: &[u8],
    variable: &dyn Fn(&str) -> Option<String>,
    budget: &Budget,
) -> Result<Vec<Object>, Box<Diagnostic>> {
    let written = Source::new(name, String::from_utf8_lossy(bytes).into_owned());
    let substituted = envsubst::parse(bytes).and_then(|template| template.expand(variable, budget));
    let done = substituted.map_err(|error| substitution_finding(&written, &error))?;
    let source = Source::new(name, String::from_utf8_lossy(&done.bytes).into_owned());
    Ok(objects::documents(&source, budget).0)
}

/// The images that stand in arguments alone.
fn solvers<'o>(label: &str, objects: &'o [Object]) -> impl Iterator<Item = RunImage> + use<'o> {
    let objects = if label == CERT_MANAGER { objects } else { &[] };
    let containers = objects
        .iter()
        .flat_map(|object| pods::containers(object.value()))
        .map(|(_, container)| container);
    let arguments = containers
        .flat_map(|container| fields::items(container, &["args"]))
        .filter_map(|argument| argument.as_str());
    arguments
        .filter_map(|argument| argument.strip_prefix(SOLVER))
        .map(|image| RunImage {
            written: image.to_owned(),
            run: image.to_owned(),
            is_overridden: false,
        })
}
