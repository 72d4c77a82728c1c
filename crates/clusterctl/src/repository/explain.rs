//! What clusterctl would do with a provider's repository, and why: for people who wonder about it.

use std::collections::BTreeSet;

use super::local::LocalRepository;
use super::versions::{Reason, Releases};
use super::{HTTPS, METADATA_FILE, overrides_of, url_of};
use crate::files::{EntryKind, FileFault};
use crate::provider::Provider;
use crate::{Config, Rejection};
use windlass_capi::contract::{cluster_class_name, parse_semantic, template_flavor};
use windlass_go_text::path::join;

/// A provider's local repository as clusterctl sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The provider whose repository is explained.
    pub provider: Provider,
    /// Its folder; `None` when the URL does not lead to one.
    pub folder: Option<String>,
    /// The versions among which clusterctl chooses, as their folders are called.
    pub found: Vec<String>,
    /// What else is in the folder, and why clusterctl passes it over.
    pub skipped: Vec<(String, Skipped)>,
    /// The version that is taken when none is named, and why; or what clusterctl says instead.
    pub picked: Result<(String, Reason), Rejection>,
    /// The files of that version: metadata, components, then templates and ClusterClasses.
    pub files: Vec<LayeredFile>,
}

/// Why an entry of a provider's folder is not a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skipped {
    /// Its name is not a semantic version.
    NoVersion,
    /// It is a link; clusterctl looks at the type of the entry itself.
    Link,
    /// It is a file; versions are folders.
    File,
}

/// A file of a version, from the layer from which clusterctl takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayeredFile {
    /// The file name, without folder: `metadata.yaml`.
    pub name: String,
    /// The path that clusterctl reads: in the overrides folder, or else in that of the version.
    pub path: String,
    /// Whether the file is in the overrides folder, and so replaces that of the repository.
    pub is_override: bool,
    /// Its bytes, or why they cannot be read.
    pub content: Result<Vec<u8>, FileFault>,
}

/// Explains a provider's repository. Nothing on the network is looked at: such a provider has a
/// rejection and no files.
pub fn explain(config: &Config<'_>, provider: Provider) -> Explanation {
    let mut explained = Explanation {
        provider,
        folder: None,
        found: Vec::new(),
        skipped: Vec::new(),
        picked: Err(Rejection::new("")),
        files: Vec::new(),
    };
    let located = url_of(&explained.provider).and_then(|url| match url.scheme == HTTPS {
        true => Err(Rejection::new("it is on the network")),
        false => LocalRepository::locate(config.world(), &explained.provider, &url),
    });
    let repository = match located {
        Ok(repository) => repository,
        Err(rejection) => {
            return Explanation {
                picked: Err(rejection),
                ..explained
            };
        }
    };
    explained.folder = Some(repository.folder().to_owned());
    for entry in config
        .world()
        .files
        .entries(repository.folder())
        .unwrap_or_default()
    {
        match (entry.kind, parse_semantic(&entry.name)) {
            (EntryKind::Folder, Ok(_)) => explained.found.push(entry.name),
            (EntryKind::Folder, Err(_)) => explained.skipped.push((entry.name, Skipped::NoVersion)),
            (EntryKind::Link, _) => explained.skipped.push((entry.name, Skipped::Link)),
            (EntryKind::File, _) => explained.skipped.push((entry.name, Skipped::File)),
        }
    }
    explained
        .found
        .sort_by(|a, b| match (parse_semantic(a), parse_semantic(b)) {
            (Ok(first), Ok(second)) => first.cmp_precedence(&second).then_with(|| a.cmp(b)),
            _ => a.cmp(b),
        });
    explained.picked = repository
        .choose()
        .map(|choice| (choice.version, choice.reason));
    if let Ok((version, _)) = &explained.picked {
        explained.files = files(config, &explained.provider, &repository, version);
    }
    explained
}

fn files(
    config: &Config<'_>,
    provider: &Provider,
    repository: &LocalRepository<'_>,
    version: &str,
) -> Vec<LayeredFile> {
    let files = config.world().files;
    let release = join(&[repository.folder(), version]);
    let overrides = overrides_of(config, provider, version).ok();
    let templates: BTreeSet<String> = std::iter::once(&release)
        .chain(&overrides)
        .flat_map(|folder| files.entries(folder).unwrap_or_default())
        .filter(|entry| {
            template_flavor(&entry.name).is_some() || cluster_class_name(&entry.name).is_some()
        })
        .map(|entry| entry.name)
        .collect();
    let wanted = [
        METADATA_FILE.to_owned(),
        repository.components_file().to_owned(),
    ];
    let layered = |name: String| {
        let over = overrides
            .as_ref()
            .map(|folder| join(&[folder, &name]))
            .filter(|path| files.exists(path));
        let is_override = over.is_some();
        let path = over.unwrap_or_else(|| join(&[&release, &name]));
        LayeredFile {
            content: files.read(&path),
            name,
            path,
            is_override,
        }
    };
    wanted.into_iter().chain(templates).map(layered).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use windlass_capi::contract::ProviderType;
    use windlass_source::budget::Budget;
    use windlass_source::tree::Tree;

    const AHEAD: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n\
                         - {major: 0, minor: 1, contract: v1beta2}\n- {major: 0, minor: 2, contract: v1beta2}\n";

    fn explained(files: &[(&str, &str)], url: &str) -> Explanation {
        let tree: Tree = files.iter().copied().collect();
        let environment = |name: &str| (name == "HOME").then(|| "/home/u".to_owned());
        let budget = Budget::default();
        let world = World {
            files: &tree,
            environment: &environment,
            network: None,
            budget: &budget,
        };
        let config = Config::load(world, "").unwrap();
        let provider = Provider {
            name: "foo".to_owned(),
            provider_type: ProviderType::BootstrapProvider,
            url: url.into(),
        };
        explain(&config, provider)
    }

    /// clusterctl.md 3.3: a series without a release makes `latest` jump to its pre-release.
    #[test]
    fn a_series_ahead_of_its_release_is_the_reason() {
        let files = [
            ("r/bootstrap-foo/v0.1.0/metadata.yaml", AHEAD),
            ("r/bootstrap-foo/v0.2.0-rc.1/metadata.yaml", AHEAD),
            ("r/bootstrap-foo/next/metadata.yaml", ""),
            ("r/bootstrap-foo/notes.txt", ""),
            (
                "home/u/.config/cluster-api/overrides/bootstrap-foo/v0.2.0-rc.1/c.yaml",
                "x",
            ),
        ];
        let found = explained(&files, "/r/bootstrap-foo/latest/c.yaml");
        let reason = Reason::SeriesOfContract {
            newest: "v0.1.0".to_owned(),
            series: (0, 2),
        };
        assert_eq!(found.picked, Ok(("v0.2.0-rc.1".to_owned(), reason)));
        assert_eq!(found.found, ["v0.1.0", "v0.2.0-rc.1"]);
        assert_eq!(
            found.skipped,
            [
                ("next".to_owned(), Skipped::NoVersion),
                ("notes.txt".to_owned(), Skipped::File)
            ]
        );
        let layers: Vec<(&str, bool)> = found
            .files
            .iter()
            .map(|file| (file.name.as_str(), file.is_override))
            .collect();
        assert_eq!(layers, [("metadata.yaml", false), ("c.yaml", true)]);
    }

    #[test]
    fn a_pinned_version_is_not_looked_for() {
        let found = explained(
            &[("r/bootstrap-foo/v0.1.0/metadata.yaml", AHEAD)],
            "/r/bootstrap-foo/v0.3.0/c.yaml",
        );
        assert_eq!(found.picked, Ok(("v0.3.0".to_owned(), Reason::Pinned)));
        assert!(
            found
                .files
                .iter()
                .all(|file| file.content == Err(FileFault::Missing))
        );
    }

    /// Book, clusterctl configuration, "Overrides Layer": overrides replace files and add no
    /// versions.
    #[test]
    fn overrides_add_no_versions() {
        let files = [
            ("r/bootstrap-foo/v0.1.0/metadata.yaml", AHEAD),
            ("r/bootstrap-foo/v0.2.0/metadata.yaml", AHEAD),
            (
                "home/u/.config/cluster-api/overrides/bootstrap-foo/v0.3.0/metadata.yaml",
                AHEAD,
            ),
        ];
        let found = explained(&files, "/r/bootstrap-foo/latest/c.yaml");
        assert_eq!(found.found, ["v0.1.0", "v0.2.0"]);
        assert_eq!(found.picked, Ok(("v0.2.0".to_owned(), Reason::Newest)));
    }
}
