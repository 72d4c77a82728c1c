//! `repository list`: what a local repository holds, as clusterctl sees it.

use schemars::JsonSchema;
use semver::Version;
use serde::Serialize;

use super::cert_manager;
use windlass_capi::contract::{METADATA_FILE, ProviderType, parse_semantic};
use windlass_clusterctl::CERT_MANAGER;
use windlass_lint::metadata;
use windlass_report::text;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Place, Remedy, Setting, rules};
use windlass_source::tree::Tree;

rules! {
    /// a folder contains no release for a local repository
    EMPTY = error("repository-release-missing");
}

/// That a folder holds nothing to list. `shown` is the folder.
pub fn nothing(shown: &str) -> Diagnostic {
    let finding =
        Diagnostic::of(&EMPTY, format!("{shown} holds no release")).at(Place::file(shown));
    let help = Remedy::new(
        "its folders are called LABEL/VERSION, such as bootstrap-windlass/v0.1.0; lay a release in: ",
    );
    finding.help(help.request("repository add DIR", Setting::To, shown))
}

/// A version of a provider in a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// The label, which is the folder.
    pub provider: String,
    /// What the label says that it provides.
    #[serde(rename = "type")]
    pub provider_type: ProviderType,
    /// The version, as the folder is called.
    pub version: String,
    /// The contract of its release series; null when metadata.yaml does not tell.
    pub contract: Option<String>,
    /// How many files there are.
    pub files: usize,
}

/// The versions in a repository, by label, then from old to new. Folders whose name is not a semantic
/// version are none.
pub fn list(repository: &Tree, budget: &Budget) -> Vec<Listed> {
    let mut found: Vec<(String, Version, Listed)> = Vec::new();
    for (label, folder) in folders(repository)
        .into_iter()
        .filter(|(label, _)| label != CERT_MANAGER)
    {
        let Ok(version) = parse_semantic(&folder) else {
            continue;
        };
        let files = repository.subtree(&format!("{label}/{folder}"));
        let listed = Listed {
            provider: label.clone(),
            provider_type: type_of(&label),
            version: folder,
            contract: contract_of(&files, &version, budget),
            files: files.len(),
        };
        found.push((label, version, listed));
    }
    found.sort_by(|a, b| {
        a.0.cmp(&b.0)
            .then_with(|| a.1.cmp_precedence(&b.1))
            .then_with(|| a.2.version.cmp(&b.2.version))
    });
    found.into_iter().map(|(_, _, listed)| listed).collect()
}

/// The pairs of folders, two levels deep.
fn folders(repository: &Tree) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = repository
        .paths()
        .filter_map(|path| {
            let mut parts = path.split('/');
            let (label, version) = (parts.next()?, parts.next()?);
            parts.next().map(|_| (label.to_owned(), version.to_owned()))
        })
        .collect();
    pairs.dedup();
    pairs
}

/// The type that a label stands for: the core provider's has no prefix.
pub(super) fn type_of(label: &str) -> ProviderType {
    ProviderType::of_label(label).unwrap_or(ProviderType::CoreProvider)
}

fn contract_of(files: &Tree, version: &Version, budget: &Budget) -> Option<String> {
    let text = std::str::from_utf8(files.get(METADATA_FILE)?).ok()?;
    let (file, _) = metadata::parse(&Source::new(METADATA_FILE, text), budget);
    file?
        .metadata
        .series_of(version)
        .map(|series| series.contract.clone())
}

/// The versions of cert-manager in a repository, which is not a provider.
pub fn cert_managers(repository: &Tree) -> Vec<String> {
    cert_manager::versions(repository)
}

/// The list as a table with a header, and cert-manager below the providers.
pub fn table(listed: &[Listed], cert_managers: &[String]) -> String {
    let header = ["PROVIDER", "TYPE", "VERSION", "CONTRACT", "FILES"].map(str::to_owned);
    let rows = listed.iter().map(|row| {
        let contract = row.contract.clone().unwrap_or_else(|| "-".to_owned());
        [
            row.provider.clone(),
            row.provider_type.as_str().to_owned(),
            row.version.clone(),
            contract,
            row.files.to_string(),
        ]
    });
    let cert_managers = cert_managers
        .iter()
        .map(|version| [CERT_MANAGER, "-", version, "-", "1"].map(str::to_owned));
    let rows: Vec<[String; 5]> = std::iter::once(header)
        .chain(rows)
        .chain(cert_managers)
        .collect();
    text::table(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_listed_from_old_to_new() {
        let metadata = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 10, contract: v1beta2}\n";
        let tree: Tree = [
            ("bootstrap-x/v0.10.0/metadata.yaml", metadata),
            ("bootstrap-x/v0.10.0/bootstrap-components.yaml", ""),
            ("bootstrap-x/v0.9.0/a", ""),
            ("bootstrap-x/next/a", ""),
            ("cert-manager/v1.2.3/cert-manager.yaml", ""),
            ("clusterctl.yaml", ""),
        ]
        .into_iter()
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
        .collect();
        let expected = "PROVIDER       TYPE                VERSION   CONTRACT   FILES\n\
                        bootstrap-x    BootstrapProvider   v0.9.0    -          1\n\
                        bootstrap-x    BootstrapProvider   v0.10.0   v1beta2    2\n\
                        cert-manager   -                   v1.2.3    -          1\n";
        assert_eq!(
            table(&list(&tree, &Budget::default()), &cert_managers(&tree)),
            expected
        );
    }

    /// Of versions that are equal to semver the names decide; a file in the place of a folder is
    /// none.
    #[test]
    fn labels_say_types_and_versions_have_one_order() {
        let paths = [
            "control-plane-x/v1.0.0+b/a",
            "control-plane-x/v1.0.0+a/a",
            "control-plane-x/v1.0.0-rc.1/a",
            "core/v1.0.0",
            "cluster-api/v1.0.0/a",
            "cluster-api/v1.0.0/b/c",
        ];
        let tree: Tree = paths
            .into_iter()
            .map(|path| (path.to_owned(), Vec::new()))
            .collect();
        let rows: Vec<(String, &str, String, usize)> = list(&tree, &Budget::default())
            .into_iter()
            .map(|listed| {
                (
                    listed.provider,
                    listed.provider_type.as_str(),
                    listed.version,
                    listed.files,
                )
            })
            .collect();
        let row = |label: &str, kind: &'static str, version: &str, files: usize| {
            (label.to_owned(), kind, version.to_owned(), files)
        };
        let expected = [
            row("cluster-api", "CoreProvider", "v1.0.0", 2),
            row("control-plane-x", "ControlPlaneProvider", "v1.0.0-rc.1", 1),
            row("control-plane-x", "ControlPlaneProvider", "v1.0.0+a", 1),
            row("control-plane-x", "ControlPlaneProvider", "v1.0.0+b", 1),
        ];
        assert_eq!(rows, expected);
    }
}
