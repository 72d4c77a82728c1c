//! `repository add`: a release laid out as clusterctl looks for it, the configuration, and the
//! command to go on with.

use super::configuration::{Entry, merge};
use windlass_release::assets::Assets;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;
use windlass_source::tree::Tree;

/// Where a release goes.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// What urls in the configuration begin with: the absolute path of the repository, or a
    /// variable that stands for it.
    pub base: &'a str,
    /// The configuration as it is, if there is one.
    pub configuration: Option<&'a Source>,
}

/// A folder of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// What is in it, for people: `bootstrap-windlass v0.1.0`.
    pub title: String,
    /// The folder below the repository: `bootstrap-windlass/v0.1.0`.
    pub folder: String,
    /// Its files.
    pub files: Tree,
}

/// What is to be written.
#[derive(Debug, Clone, Default)]
pub struct Added {
    /// The folders.
    pub placements: Vec<Placement>,
    /// The new text of the configuration; `None` when it cannot be extended.
    pub configuration: Option<String>,
    /// Findings about the configuration.
    pub report: Report,
}

/// Lays out a release. Each provider gets all files but the components files of the others.
pub fn add(files: &Tree, providers: &[Assets], to: Destination<'_>, budget: &Budget) -> Added {
    let placements: Vec<Placement> = providers
        .iter()
        .map(|assets| placement(files, providers, assets))
        .collect();
    let entries: Vec<Entry> = providers
        .iter()
        .map(|assets| Entry::of(assets, to.base))
        .collect();
    let (configuration, report) = merge(to.configuration, &entries, budget);
    Added {
        placements,
        configuration,
        report,
    }
}

fn placement(files: &Tree, providers: &[Assets], assets: &Assets) -> Placement {
    let foreign = |path: &str| {
        providers
            .iter()
            .any(|other| other.components == path && other.label != assets.label)
    };
    let own = files
        .iter()
        .filter(|(path, _)| !foreign(path))
        .map(|(path, bytes)| (path.clone(), bytes.clone()));
    Placement {
        title: format!("{} v{}", assets.label, assets.version),
        folder: assets.folder(),
        files: own.collect(),
    }
}
