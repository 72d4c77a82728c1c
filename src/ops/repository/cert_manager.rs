//! cert-manager in a local repository: its manifest as `cert-manager/{version}/cert-manager.yaml`, where the setting of that name leads.

use semver::Version;

use super::add::{Added, Destination, Placement};
use super::assets::{VERSION_UNKNOWN, components_files, text_of};
use super::configuration::merge_cert_manager;
use crate::clusterctl::{CERT_MANAGER, MANIFEST_FILE};
use crate::contract::parse_semantic;
use crate::diag::{Diagnostic, Remedy, Report, Setting, rules};
use crate::lint::definitions::{CRD_GROUP, CRD_KIND};
use crate::objects::{self, Object, fields};
use crate::text::budget::Budget;
use crate::text::tree::Tree;

rules! {
    /// a cert-manager.yaml does not define cert-manager's kinds
    MANIFEST_WRONG = error("cert-manager-manifest-wrong");
}

/// The label by which all objects of a release of cert-manager name its version.
const VERSION_LABEL: &str = "app.kubernetes.io/version";
/// The group of the kinds that providers use of it.
const GROUP: &str = "cert-manager.io";

/// A release of cert-manager.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The version, as its folder is called: `v1.21.1`.
    pub version: String,
    /// The manifest.
    pub bytes: Vec<u8>,
}

/// Whether files are cert-manager's manifest, and not the release of a provider.
pub fn is_manifest(files: &Tree) -> bool {
    files.get(MANIFEST_FILE).is_some() && components_files(files).is_empty()
}

/// The manifest among some files; `given` is the version that the user named, for a manifest that does not say it.
pub fn manifest_of(files: &Tree, shown: &str, given: Option<&Version>, budget: &Budget) -> (Option<Manifest>, Report) {
    let mut report = Report::new();
    let Some(source) = text_of(files, shown, MANIFEST_FILE, &mut report) else { return (None, report) };
    let (objects, found) = objects::documents(&source, budget);
    report.extend(found);
    let defines = |object: &Object| object.is(CRD_GROUP, CRD_KIND) && fields::text(object.value(), &["spec", "group"]) == GROUP;
    if !report.has_errors() && !objects.iter().any(defines) {
        let finding = Diagnostic::of(&MANIFEST_WRONG, format!("{} defines no kind of {GROUP}", source.name())).at(source.place());
        report.push(finding.help("download cert-manager.yaml of a release of cert-manager, which brings the CRDs too"));
    }
    let written = || objects.iter().find_map(|object| parse_semantic(object.label(VERSION_LABEL)?).ok());
    let version = given.cloned().or_else(written);
    if version.is_none() && !report.has_errors() {
        let finding = Diagnostic::of(&VERSION_UNKNOWN, format!("{} does not say which version of cert-manager it is", source.name()));
        report.push(finding.at(source.place()).help(Remedy::new("name it: ").set(Setting::Release, "v1.21.1")));
    }
    let manifest = version.map(|version| Manifest { version: format!("v{version}"), bytes: source.text().as_bytes().to_vec() });
    if report.has_errors() { (None, report) } else { (manifest, report) }
}

/// Lays a manifest out, and leads the configuration to it.
pub fn add_cert_manager(manifest: &Manifest, to: Destination<'_>, budget: &Budget) -> Added {
    let Manifest { version, bytes } = manifest;
    let folder = format!("{CERT_MANAGER}/{version}");
    let url = format!("{}/{folder}/{MANIFEST_FILE}", to.base.trim_end_matches('/'));
    let files = [(MANIFEST_FILE.to_owned(), bytes.clone())].into_iter().collect();
    let (configuration, report) = merge_cert_manager(to.configuration, &url, version, budget);
    Added { placements: vec![Placement { title: format!("{CERT_MANAGER} {version}"), folder, files }], configuration, report }
}

/// The versions of cert-manager in a repository, by their folders.
pub(super) fn versions(repository: &Tree) -> Vec<String> {
    let versions = repository.paths().filter_map(|path| {
        let (version, file) = path.strip_prefix(CERT_MANAGER)?.strip_prefix('/')?.split_once('/')?;
        (file == MANIFEST_FILE && parse_semantic(version).is_ok()).then(|| version.to_owned())
    });
    versions.collect()
}
