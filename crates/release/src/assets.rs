//! The files of a release as somebody built or downloaded them: which providers they are of, and
//! which version.

use std::collections::BTreeSet;

use semver::Version;
use serde_json::Value;

use crate::emit::checksums::{CHECKSUMS_FILE, ChecksumFault, compare};
use crate::emit::sbom::SBOM_FILE;
use windlass_capi::contract::{
    CORE_PROVIDER, Image, MANAGER_CONTAINER, METADATA_FILE, ProviderType, book, labels,
    parse_semantic,
};
use windlass_checks::object_check;
use windlass_go_text as go;
use windlass_lint::components::claims::{self, Claims};
use windlass_lint::components_name::{meant_components, misnamed_components};
use windlass_lint::definitions;
use windlass_lint::metadata::{self, MetadataFile};
use windlass_lint::templates::{self, Known, Wanted};
use windlass_lint::{self as lint, Audience, Components, Extent, Release, provider_of};
use windlass_objects::{Object, pods};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Place, Remedy, Report, Setting, rules};
use windlass_source::names;
use windlass_source::tree::Tree;

rules! {
    /// the release has no components file
    pub COMPONENTS_MISSING = error("release-components-missing"), url(book::COMPONENTS_YAML), catalogue("A01");
    /// the release has no metadata.yaml
    pub METADATA_MISSING = error("release-asset-metadata-missing"), url(book::METADATA_YAML), catalogue("A01");
    /// no object in a components file has the provider label
    LABEL_MISSING = error("release-provider-label-missing"), url(book::LABELS);
    /// the version of a release cannot be derived from its files
    pub VERSION_UNKNOWN = error("release-version-unknown");
    /// the name of a release file contains a control character
    NAME_CONTROL = error("release-asset-name-control");
    /// the names of two release files differ only in case or Unicode form
    NAME_COLLIDING = error("release-asset-name-colliding");
    /// a release file does not match its checksum in SHA256SUMS
    CHECKSUM_WRONG = error("release-checksum-wrong");
    /// a release file is not UTF-8
    NOT_TEXT = error("release-asset-not-text");
}

/// A provider of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assets {
    /// Its label, which is the folder of the repository: `bootstrap-windlass`.
    pub label: String,
    /// Its name in clusterctl's flags.
    pub name: String,
    /// What it provides.
    pub provider_type: ProviderType,
    /// Its components file.
    pub components: String,
    /// The version of the release.
    pub version: Version,
    /// The contract of its series.
    pub contract: String,
}

impl Assets {
    /// The folder below the repository: `bootstrap-windlass/v0.1.0`.
    pub fn folder(&self) -> String {
        format!("{}/v{}", self.label, self.version)
    }
}

/// A provider of a release, with its components as they were read.
struct Found {
    label: String,
    provider_type: ProviderType,
    file: String,
    version: Version,
    /// The contract of its series; `None` where metadata.yaml does not list it, or no object has
    /// the label. Then nobody can install it.
    contract: Option<String>,
    components: Components,
}

impl Found {
    /// What a repository needs of it.
    fn assets(&self) -> Option<Assets> {
        let Found {
            label,
            provider_type,
            file,
            version,
            contract,
            ..
        } = self;
        let name = label
            .strip_prefix(&format!("{}-", provider_type.word()))
            .unwrap_or(label)
            .to_owned();
        Some(Assets {
            label: label.clone(),
            name,
            provider_type: *provider_type,
            components: file.clone(),
            version: version.clone(),
            contract: contract.clone()?,
        })
    }
}

/// A release that was checked.
#[derive(Debug, Clone, Default)]
pub struct CheckedRelease {
    /// Its providers.
    pub providers: Vec<Assets>,
    /// Everything that is wrong with it.
    pub report: Report,
    /// Whether it is not a release, or clusterctl itself rejects it. All else that the report tells
    /// becomes a fault only in a cluster.
    pub is_rejected: bool,
    /// The labels of the providers whose components were checked: more than can be installed, or
    /// none.
    pub judged: Vec<String>,
}

/// What the user says of a release that its files may not say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stated<'a> {
    /// Its version.
    pub version: Option<&'a Version>,
    /// The name of a provider whose objects have no label: clusterctl takes it from its
    /// configuration and labels the objects itself.
    pub name: Option<&'a str>,
}

impl<'a> From<Option<&'a Version>> for Stated<'a> {
    fn from(version: Option<&'a Version>) -> Self {
        Stated {
            version,
            name: None,
        }
    }
}

/// Finds out what a set of files is: one entry for each components file. `shown` is how the user
/// called the folder.
pub fn release_of<'a>(
    files: &Tree,
    shown: &str,
    stated: impl Into<Stated<'a>>,
    budget: &Budget,
) -> (Vec<Assets>, Report) {
    let (found, _, mut report) = read(files, shown, stated.into(), Audience::User, budget);
    found
        .iter()
        .for_each(|found| report.extend(found.components.unreadable().clone()));
    (found.iter().filter_map(Found::assets).collect(), report)
}

/// Finds out what a set of files is, as [`release_of`] does, and checks it as `repository doctor`
/// does, for those who install it.
pub fn judged_release_of<'a>(
    files: &Tree,
    shown: &str,
    stated: impl Into<Stated<'a>>,
    budget: &Budget,
) -> CheckedRelease {
    judged(files, shown, stated, Audience::User, budget)
}

/// Finds out what a set of files is, as [`release_of`] does, and checks it.
pub fn judged<'a>(
    files: &Tree,
    shown: &str,
    stated: impl Into<Stated<'a>>,
    audience: Audience<'_>,
    budget: &Budget,
) -> CheckedRelease {
    let (mut found, metadata, mut report) = read(files, shown, stated.into(), audience, budget);
    let names = files
        .paths()
        .filter(|path| lint::templates::is_template(path));
    let templates: Vec<Source> = names
        .filter_map(|file| text_of(files, shown, file, &mut report))
        .collect();
    let is_rejected = report.has_errors();
    if matches!(audience, Audience::Author(_)) {
        report.extend(misnamed(files, shown));
        let claims: Vec<Claims> = found
            .iter()
            .map(|found| Claims::of(&found.components))
            .collect();
        report.extend(claims::check(&claims));
    } else {
        // Users who install a release cannot change it: that it cannot be installed is all there is to
        // say.
        found.retain(|found| found.contract.is_some());
    }
    let mut judged = CheckedRelease {
        is_rejected,
        report,
        providers: Vec::new(),
        judged: Vec::new(),
    };
    let (mut known, mut definitions) = (Known::default(), Vec::new());
    for found in found {
        judged.providers.extend(found.assets());
        let Found {
            label,
            provider_type,
            file,
            version,
            components,
            ..
        } = found;
        known.add(components.objects(), &Wanted::of(&templates));
        let is_defaulted = |crd: &&Object| {
            let kind = crd.text(&["spec", "names", "kind"]);
            known.is_mutated(crd.text(&["spec", "group"]), kind)
        };
        let of_release = definitions::of(components.objects());
        definitions.extend(of_release.filter(|crd| !is_defaulted(crd)).cloned());
        let release = Release {
            provider: &provider_of(&label, provider_type, &file),
            version: &version,
            is_version_guessed: false,
            components,
            metadata: metadata.as_ref(),
            namespace: None,
            audience,
        };
        let verdict = release.check_by_itself(budget);
        judged.is_rejected |= verdict.is_rejected;
        judged.report.extend(verdict.report);
        judged.judged.push(label);
    }
    if !judged.judged.is_empty() {
        let asked = templates::Asked {
            extent: Extent::Whole,
            audience,
            known: &[&known],
        };
        judged.report.extend(object_check::check_templates(
            &templates,
            &asked,
            &definitions,
            budget,
        ));
    }
    judged
}

/// Reads the providers and the metadata of a release. The report lists what cannot be read.
fn read(
    files: &Tree,
    shown: &str,
    stated: Stated<'_>,
    audience: Audience<'_>,
    budget: &Budget,
) -> (Vec<Found>, Option<MetadataFile>, Report) {
    let given = stated.version;
    let mut report: Report = files
        .paths()
        .filter_map(|path| control_character(path, shown))
        .collect();
    report.extend(colliding_names(files, shown));
    let wrong = wrong_sums(files, shown);
    if !wrong.is_empty() && matches!(audience, Audience::User) {
        // Files that were changed are not worth a further look.
        report.extend(wrong);
        return (Vec::new(), None, report);
    }
    report.extend(wrong);
    let components = components_files(files);
    if components.is_empty() {
        report.push(components_missing(shown));
        report.extend(given.and_then(|version| unlisted(files, shown, version, budget)));
        return (Vec::new(), None, report);
    }
    let metadata = read_metadata(files, shown, budget, &mut report);
    let mut found = Vec::new();
    for (provider_type, file) in components {
        let Some(components) = text_of(files, shown, &file, &mut report)
            .map(|source| Components::read(source, budget))
        else {
            continue;
        };
        let label = match components.label_of(provider_type) {
            Some(label) => label,
            // Its author is told by the rule about labels, at their places: clusterctl writes its
            // own.
            None if matches!(audience, Audience::Author(_)) => {
                components.placeholder_label(provider_type)
            }
            None if components.unreadable().has_errors() => {
                // What cannot be read has no label either, and is reported as such.
                report.extend(components.unreadable().clone());
                continue;
            }
            None => match unlabelled(shown, stated.name, provider_type) {
                Some(label) => label,
                None => {
                    report.push(label_missing(shown, &file, provider_type));
                    continue;
                }
            },
        };
        let Some(version) = given
            .cloned()
            .or_else(|| version_of(files, components.objects()))
            .or_else(|| version_in_name(shown))
        else {
            let finding = Diagnostic::of(
                &VERSION_UNKNOWN,
                format!("{shown} does not say which version of {label} it is"),
            );
            let example = metadata
                .as_ref()
                .map_or_else(|| "0.1.0".to_owned(), example_version);
            report.push(
                finding.help(Remedy::new("name it: ").set(Setting::Release, format!("v{example}"))),
            );
            continue;
        };
        let contract = metadata
            .as_ref()
            .and_then(|metadata| contract_of(metadata, &version, &mut report));
        found.push(Found {
            label,
            provider_type,
            file,
            version,
            contract,
            components,
        });
    }
    (found, metadata, report)
}

/// The contract of the series of a version; that it is not listed is in the report.
fn contract_of(metadata: &MetadataFile, version: &Version, report: &mut Report) -> Option<String> {
    match metadata::series_of(metadata, version) {
        // That no series is listed at all has a finding of its own.
        Err(_) if metadata.metadata.release_series.is_empty() => None,
        Err(finding) => {
            report.push(*finding);
            None
        }
        Ok(series) => Some(series.contract.clone()),
    }
}

/// What nobody finds under its name: components, and templates.
fn misnamed(files: &Tree, shown: &str) -> Report {
    let mut report = Report::new();
    for path in files.paths().filter(|path| !templates::is_template(path)) {
        let name = format!("{}/{path}", shown.trim_end_matches('/'));
        let meant = meant_components(path, |meant| files.get(meant).is_some());
        report.extend(
            meant.map(|meant| misnamed_components(Place::file(name.as_str()), path, &meant)),
        );
        report.extend(templates::unknown_name(&Source::new(name, ""), path));
    }
    report
}

/// The finding that a folder is not a release.
pub(crate) fn components_missing(shown: &str) -> Diagnostic {
    let finding = Diagnostic::of(
        &COMPONENTS_MISSING,
        format!("{shown} holds no components file"),
    );
    finding.help("give the folder of a release, or its files: bootstrap-components.yaml (or that of another type) and metadata.yaml")
}

/// What a metadata.yaml without components does not list, so that one run tells both.
fn unlisted(files: &Tree, shown: &str, version: &Version, budget: &Budget) -> Option<Diagnostic> {
    files.get(METADATA_FILE)?;
    let metadata = read_metadata(files, shown, budget, &mut Report::new())?;
    metadata::series_of(&metadata, version)
        .err()
        .map(|missing| *missing)
}

/// Files that are not those of the release's own checksums. Only a part of a release may be there,
/// and further files beside it.
pub fn wrong_sums(files: &Tree, shown: &str) -> Vec<Diagnostic> {
    let Some(listed) = files.get(CHECKSUMS_FILE) else {
        return Vec::new();
    };
    let faults = compare(&String::from_utf8_lossy(listed), files).into_iter();
    let finding = |(path, _): (String, _)| {
        let file = format!("{}/{path}", shown.trim_end_matches('/'));
        Diagnostic::of(&CHECKSUM_WRONG, format!("{file} is not the file whose checksum {CHECKSUMS_FILE} has"))
            .at(Place::file(file.as_str()))
            .help(format!(
                "download the release again; if the change is meant, write the file's sum into {CHECKSUMS_FILE}: `sha256sum {path}`"
            ))
    };
    faults
        .filter(|(_, fault)| *fault == ChecksumFault::Differs)
        .map(finding)
        .collect()
}

/// A name that would end lines in logs, and give commands to terminals and CI systems.
fn control_character(path: &str, shown: &str) -> Option<Diagnostic> {
    path.chars().any(char::is_control).then(|| {
        let finding = Diagnostic::of(
            &NAME_CONTROL,
            format!("the file name {} has a control character", go::quote(path)),
        );
        finding
            .at(Place::file(format!(
                "{}/{path}",
                shown.trim_end_matches('/')
            )))
            .help("rename the file, or leave it out")
    })
}

/// Two files that are one on macOS or Windows, where one would replace the other.
fn colliding_names(files: &Tree, shown: &str) -> Option<Diagnostic> {
    let (first, second) = names::collision([], files.paths())?;
    let finding = Diagnostic::of(
        &NAME_COLLIDING,
        format!(
            "{} and {} are one file on macOS or Windows: they differ only in case or Unicode form",
            go::quote(first),
            go::quote(second)
        ),
    );
    let place = Place::file(format!("{}/{second}", shown.trim_end_matches('/')));
    Some(finding.at(place).help("rename one of the two"))
}

/// The components files among the files of a release, by their standard names.
pub fn components_files(files: &Tree) -> Vec<(ProviderType, String)> {
    let of_type = |provider_type: ProviderType| {
        let standard = provider_type.components_file();
        let development = standard.replace(".yaml", "-development.yaml");
        [standard, development]
            .into_iter()
            .find(|file| files.get(file).is_some())
            .map(|file| (provider_type, file))
    };
    ProviderType::ALL.into_iter().filter_map(of_type).collect()
}

/// The text of a file of a release; what is not text is a finding.
pub fn text_of(files: &Tree, shown: &str, file: &str, report: &mut Report) -> Option<Source> {
    let name = format!("{}/{file}", shown.trim_end_matches('/'));
    match std::str::from_utf8(files.get(file)?) {
        Ok(text) => Some(Source::new(name, text)),
        Err(_) => {
            report.push(not_text(&name));
            None
        }
    }
}

/// The finding that a file of a release is not UTF-8 text.
pub fn not_text(shown: &str) -> Diagnostic {
    let finding = Diagnostic::of(&NOT_TEXT, format!("{shown} is not UTF-8 text"));
    finding.help("download the file again, without conversion")
}

/// The folders of releases in a folder that is not a release itself: `bootstrap-windlass/v0.1.0`, in
/// the order of their names.
pub fn versions_below(files: &Tree) -> BTreeSet<String> {
    let folder = |path: &str| {
        let (folder, _) = path.rsplit_once('/')?;
        let (_, version) = folder.split_once('/')?;
        parse_semantic(version).is_ok().then(|| folder.to_owned())
    };
    if components_files(files).is_empty() {
        files.paths().filter_map(folder).collect()
    } else {
        BTreeSet::new()
    }
}

/// The metadata of a release; why there is none that can be used is in the report.
pub(crate) fn read_metadata(
    files: &Tree,
    shown: &str,
    budget: &Budget,
    report: &mut Report,
) -> Option<MetadataFile> {
    if files.get(METADATA_FILE).is_none() {
        let finding = Diagnostic::of(
            &METADATA_MISSING,
            format!("{shown} holds no {METADATA_FILE}, without which clusterctl takes no release"),
        );
        report.push(finding.help(format!("add the {METADATA_FILE} of the same release")));
        return None;
    }
    let (file, found) = metadata::parse(&text_of(files, shown, METADATA_FILE, report)?, budget);
    report.extend(found);
    file
}

/// The label of a provider whose objects have none: by its name, or by the folder of a repository
/// that the release is in. clusterctl's own repositories are `LABEL/VERSION/FILE`
/// (`repository_local.go`).
fn unlabelled(shown: &str, name: Option<&str>, provider_type: ProviderType) -> Option<String> {
    let of_folder = || {
        let mut folders = shown.trim_end_matches('/').rsplit('/').take(2);
        folders
            .find(|folder| is_label(folder, provider_type))
            .map(str::to_owned)
    };
    name.map(|name| provider_type.label(name))
        .or_else(of_folder)
}

/// Whether a folder has the name of the label of a provider of this type.
fn is_label(folder: &str, provider_type: ProviderType) -> bool {
    match provider_type {
        ProviderType::CoreProvider => folder == CORE_PROVIDER,
        other => folder
            .strip_prefix(&other.label(""))
            .is_some_and(|name| !name.is_empty()),
    }
}

fn label_missing(shown: &str, file: &str, provider_type: ProviderType) -> Diagnostic {
    let message = format!(
        "no object of {shown}/{file} has the label {} of a {}, so its name is not known",
        labels::PROVIDER,
        provider_type.as_str()
    );
    let help = Remedy::new("name the provider: ")
        .set(Setting::ProviderName, "NAME")
        .then(format!(
            ", or put the files into a folder {}/VERSION",
            provider_type.label("NAME")
        ));
    Diagnostic::of(&LABEL_MISSING, message)
        .at(Place::file(format!("{shown}/{file}")))
        .help(help)
}

/// The version that a release names: in its bill of materials, else in the tag of the manager's
/// image.
fn version_of(files: &Tree, objects: &[Object]) -> Option<Version> {
    let sbom = files
        .get(SBOM_FILE)
        .and_then(|bytes| serde_json::from_slice::<Value>(bytes).ok());
    let stated = sbom
        .as_ref()
        .and_then(|sbom| sbom["packages"][0]["versionInfo"].as_str());
    let managers = objects
        .iter()
        .flat_map(|object| pods::containers(object.value()))
        .filter(|(_, container)| container["name"] == MANAGER_CONTAINER);
    let tagged = || {
        managers
            .filter_map(|(_, container)| Image::parse(container["image"].as_str()?).ok()?.tag)
            .next()
    };
    parse_semantic(&stated.map(str::to_owned).or_else(tagged)?).ok()
}

/// A version that the metadata would take, for a message.
fn example_version(metadata: &MetadataFile) -> String {
    let newest = metadata
        .metadata
        .release_series
        .iter()
        .max_by_key(|series| (series.major, series.minor));
    newest.map_or_else(
        || "0.1.0".to_owned(),
        |series| format!("{}.{}.0", series.major, series.minor),
    )
}
/// The version at the end of the name of a folder: `cluster-api-v1.14.0`.
fn version_in_name(folder: &str) -> Option<Version> {
    let name = folder.trim_end_matches('/').rsplit('/').next()?;
    let starts = name
        .match_indices('v')
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || name[..*at].ends_with(['-', '_', '@']));
    starts
        .filter_map(|at| parse_semantic(&name[at + 1..]).ok())
        .next()
}
