//! `repository images`: every image that the releases of a repository run, as clusterctl installs
//! them.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::doctor::image_keys;
use windlass_clusterctl::{
    self as clusterctl, CERT_MANAGER, Config, MANIFEST_FILE, Rejection, RunImage,
};
use windlass_envsubst as envsubst;
use windlass_lint::templates::substitution_finding;
use windlass_objects::{self as objects, Object, fields, pods};
use windlass_release::assets::{components_files, versions_below};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Place, Quoted, Report, rules};
use windlass_source::tree::Tree;
use windlass_source::url::without_credentials;

rules! {
    /// clusterctl rejects an image of a release or an image override
    REJECTED = error("repository-image-rejected");
    /// an image depends on a variable without a value
    UNKNOWN = warning("repository-image-unknown");
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
/// Keys of `images` in the configuration, whose text is `source`, that name nothing are reported.
pub fn images(
    repository: &Tree,
    shown: &str,
    config: &Config<'_>,
    source: Option<&Source>,
) -> (Vec<ListedImage>, Report) {
    let (found, mut report) = reached(repository, shown, config, Unset::Rejected);
    let listed: BTreeSet<ListedImage> = found.into_iter().map(|found| found.listed).collect();
    if let Some(source) = source {
        let mut components = image_keys::Components::of(config);
        let folders = versions_below(repository);
        let labels = folders.iter().filter_map(|folder| folder.split('/').next());
        labels.for_each(|label| components.add(label));
        for image in &listed {
            let written = image.source.as_ref().unwrap_or(&image.image);
            components.add_image(&image.provider, written);
        }
        report.extend(image_keys::check(config, source, &components));
    }
    (listed.into_iter().collect(), report)
}

/// An image that a release runs, and whether overrides reach it where it is named.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reached {
    pub(super) listed: ListedImage,
    /// Whether clusterctl's overrides apply to it: they do in Deployments and DaemonSets.
    pub(super) is_overridden: bool,
}

/// What happens to a variable without a value or a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unset {
    /// clusterctl rejects the release.
    Rejected,
    /// Another site sets it. An image that depends on it is not known here.
    ElsewhereSet,
}

impl Unset {
    /// The samples for such variables. An image that differs between them depends on one.
    fn samples(self) -> &'static [&'static str] {
        match self {
            Unset::Rejected => &[],
            Unset::ElsewhereSet => &["1", "2"],
        }
    }
}

/// What [`images`] lists, by name.
pub(super) fn reached(
    repository: &Tree,
    shown: &str,
    config: &Config<'_>,
    unset: Unset,
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
            let bytes = files.get(&file).unwrap_or_default();
            let run = |sample| {
                let objects = objects_of(&name, bytes, config, sample)?;
                let images = clusterctl::run_images(config, label, &objects)
                    .map_err(|rejection| rejected(&name, &rejection))?;
                Ok(images
                    .into_iter()
                    .chain(solvers(label, &objects))
                    .collect::<BTreeSet<_>>())
            };
            let samples = unset.samples();
            let of_samples: Result<Vec<BTreeSet<RunImage>>, Box<Diagnostic>> =
                match samples.is_empty() {
                    true => run(None).map(|images| vec![images]),
                    false => samples.iter().map(|sample| run(Some(*sample))).collect(),
                };
            match of_samples {
                Ok(of_samples) => {
                    let known = in_all(&of_samples);
                    if of_samples.iter().any(|images| images.len() > known.len()) {
                        report.push(unknown(&name));
                    }
                    found.extend(known.into_iter().map(|image| listed(image, label, version)));
                }
                Err(finding) => report.push(*finding),
            }
        }
    }
    budget.tell(&mut report);
    (found, report)
}

/// The images that do not depend on samples.
fn in_all(of_samples: &[BTreeSet<RunImage>]) -> BTreeSet<RunImage> {
    let (first, others) = of_samples
        .split_first()
        .map_or((None, &[][..]), |(first, others)| (Some(first), others));
    let images = first.into_iter().flatten();
    images
        .filter(|image| others.iter().all(|other| other.contains(image)))
        .cloned()
        .collect()
}

fn listed(image: RunImage, label: &str, version: &str) -> Reached {
    let RunImage {
        written,
        run,
        is_overridden,
    } = image;
    // What pulls images takes credentials from elsewhere, and lists are shown and packed.
    let shown = |text: &str| without_credentials(text).into_owned();
    let source = (written != run).then(|| shown(&written));
    Reached {
        listed: ListedImage {
            source,
            image: shown(&run),
            provider: label.to_owned(),
            version: version.to_owned(),
        },
        is_overridden,
    }
}

fn rejected(name: &str, rejection: &Rejection) -> Box<Diagnostic> {
    let finding = Diagnostic::of(&REJECTED, "clusterctl rejects the images of the release")
        .at(Place::file(name));
    let finding =
        finding.help("correct the image, or `images` of the configuration, as the note says");
    Box::new(
        finding
            .note(format!(
                "clusterctl says: {rejection}",
                rejection = Quoted(rejection)
            ))
            .upstream(rejection.message()),
    )
}

fn unknown(name: &str) -> Diagnostic {
    let finding = Diagnostic::of(
        &UNKNOWN,
        "an image depends on a variable without a value, and is not listed",
    );
    finding
        .at(Place::file(name))
        .help("give the variable a default in the components, or copy the image by hand")
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
    config: &Config<'_>,
    sample: Option<&str>,
) -> Result<Vec<Object>, Box<Diagnostic>> {
    let budget = config.world().budget;
    let written = Source::new(name, String::from_utf8_lossy(bytes).into_owned());
    let substituted = envsubst::parse(bytes).and_then(|template| {
        let variables = template.variables();
        let is_required = |name: &str| variables.get(name).is_some_and(Option::is_none);
        let sampled = |name: &str| sample.filter(|_| is_required(name)).map(str::to_owned);
        template.expand(
            |name| config.variable(name).or_else(|| sampled(name)),
            budget,
        )
    });
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
