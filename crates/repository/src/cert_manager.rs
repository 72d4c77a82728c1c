//! cert-manager in a local repository: its manifest as `cert-manager/{version}/cert-manager.yaml`,
//! where the setting of that name leads.

use semver::Version;

use super::add::{Added, Destination, Placement};
use super::configuration::merge_cert_manager;
use windlass_capi::contract::parse_semantic;
use windlass_clusterctl::{CERT_MANAGER, MANIFEST_FILE};
use windlass_lint::definitions::{CRD_GROUP, CRD_KIND};
use windlass_objects::{self as objects, Object, fields};
use windlass_release::assets::{VERSION_UNKNOWN, components_files, text_of};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Remedy, Report, Setting, rules};
use windlass_source::tree::Tree;

rules! {
    /// a cert-manager.yaml does not contain the CRDs of cert-manager
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

/// The manifest among some files; `given` is the version that the user named, for a manifest that
/// does not say it.
pub fn manifest_of(
    files: &Tree,
    shown: &str,
    given: Option<&Version>,
    budget: &Budget,
) -> (Option<Manifest>, Report) {
    let mut report = Report::new();
    let Some(source) = text_of(files, shown, MANIFEST_FILE, &mut report) else {
        return (None, report);
    };
    let (objects, found) = objects::documents(&source, budget);
    report.extend(found);
    let defines = |object: &Object| {
        object.is(CRD_GROUP, CRD_KIND) && fields::text(object.value(), &["spec", "group"]) == GROUP
    };
    if !report.has_errors() && !objects.iter().any(defines) {
        let finding = Diagnostic::of(
            &MANIFEST_WRONG,
            format!("{} defines no kind of {GROUP}", source.name()),
        )
        .at(source.place());
        report.push(finding.help(
            "download cert-manager.yaml of a release of cert-manager, which brings the CRDs too",
        ));
    }
    let written = || {
        objects
            .iter()
            .find_map(|object| parse_semantic(object.label(VERSION_LABEL)?).ok())
    };
    let version = given.cloned().or_else(written);
    if version.is_none() && !report.has_errors() {
        let finding = Diagnostic::of(
            &VERSION_UNKNOWN,
            format!(
                "{} does not say which version of cert-manager it is",
                source.name()
            ),
        );
        report.push(
            finding
                .at(source.place())
                .help(Remedy::new("name it: ").set(Setting::Release, "v1.21.1")),
        );
    }
    let manifest = version.map(|version| Manifest {
        version: format!("v{version}"),
        bytes: source.text().as_bytes().to_vec(),
    });
    if report.has_errors() {
        (None, report)
    } else {
        (manifest, report)
    }
}

/// Lays a manifest out, and leads the configuration to it.
pub fn add_cert_manager(manifest: &Manifest, to: Destination<'_>, budget: &Budget) -> Added {
    let Manifest { version, bytes } = manifest;
    let folder = format!("{CERT_MANAGER}/{version}");
    let url = format!("{}/{folder}/{MANIFEST_FILE}", to.base.trim_end_matches('/'));
    let files = [(MANIFEST_FILE.to_owned(), bytes.clone())]
        .into_iter()
        .collect();
    let (configuration, report) = merge_cert_manager(to.configuration, &url, version, budget);
    Added {
        placements: vec![Placement {
            title: format!("{CERT_MANAGER} {version}"),
            folder,
            files,
        }],
        configuration,
        report,
    }
}

/// The versions of cert-manager in a repository, by their folders.
pub(super) fn versions(repository: &Tree) -> Vec<String> {
    let versions = repository.paths().filter_map(|path| {
        let (version, file) = path
            .strip_prefix(CERT_MANAGER)?
            .strip_prefix('/')?
            .split_once('/')?;
        (file == MANIFEST_FILE && parse_semantic(version).is_ok()).then(|| version.to_owned())
    });
    versions.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LABELLED: &str = "metadata: {name: n, labels: {app.kubernetes.io/version: v1.21.1}}";

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().copied().collect()
    }

    fn definition(group: &str, metadata: &str) -> String {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n{metadata}\nspec: {{group: {group}}}\n"
        )
    }

    #[test]
    fn a_manifest_stands_alone() {
        for (files, expected) in [
            (&["cert-manager.yaml"][..], true),
            (&["cert-manager.yaml", "notes.txt"], true),
            (&["cert-manager.yaml", "core-components.yaml"], false),
            (&["core-components.yaml"], false),
            (&["notes.txt"], false),
        ] {
            let files: Vec<(&str, &str)> = files.iter().map(|path| (*path, "")).collect();
            assert_eq!(is_manifest(&tree(&files)), expected, "{files:?}");
        }
    }

    #[test]
    fn a_manifest_defines_its_kinds_and_says_its_version() {
        let of = |text: &str, given: Option<&Version>| {
            let (manifest, report) = manifest_of(
                &tree(&[("cert-manager.yaml", text)]),
                "in",
                given,
                &Budget::default(),
            );
            let told: Vec<String> = report
                .findings()
                .iter()
                .map(|finding| format!("{}: {}", finding.rule.id, finding.message))
                .collect();
            (manifest.map(|manifest| manifest.version), told)
        };
        let (good, unnamed) = (
            definition("cert-manager.io", LABELLED),
            definition("cert-manager.io", "metadata: {name: n}"),
        );
        let foreign =
            "cert-manager-manifest-wrong: in/cert-manager.yaml defines no kind of cert-manager.io";
        let unknown = "release-version-unknown: in/cert-manager.yaml does not say which version of cert-manager it is";
        let (version, other) = ("v1.21.1".to_owned(), Version::new(1, 2, 3));
        assert_eq!(of(&good, None), (Some(version), vec![]));
        assert_eq!(of(&good, Some(&other)), (Some("v1.2.3".to_owned()), vec![]));
        assert_eq!(
            of(&unnamed, Some(&other)),
            (Some("v1.2.3".to_owned()), vec![])
        );
        assert_eq!(of(&unnamed, None), (None, vec![unknown.to_owned()]));
        assert_eq!(
            of(&definition("other.io", LABELLED), None),
            (None, vec![foreign.to_owned()])
        );
        assert_eq!(
            of(&format!("apiVersion: v1\nkind: ConfigMap\n{LABELLED}\nspec: {{group: cert-manager.io}}\n"), None).1,
            [foreign]
        );
        // What cannot be read is reported as such, and nothing else is guessed.
        let broken = of("a: [\n", None);
        assert!(
            broken.0.is_none() && broken.1.len() == 1 && broken.1[0].starts_with("yaml-syntax: "),
            "{broken:?}"
        );
    }

    #[test]
    fn versions_are_those_of_folders_with_a_manifest() {
        let paths = [
            "cert-manager/v1.9.0/cert-manager.yaml",
            "cert-manager/v1.9.0/notes.txt",
            "cert-manager/v1.10.0/notes.txt",
            "cert-manager/next/cert-manager.yaml",
            "cert-manager/cert-manager.yaml",
            "cert-managers/v1.2.3/cert-manager.yaml",
            "x/cert-manager/v1.2.3/cert-manager.yaml",
        ];
        assert_eq!(versions(&tree(&paths.map(|path| (path, "")))), ["v1.9.0"]);
    }
}
