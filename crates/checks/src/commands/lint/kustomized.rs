//! A kustomize tree as it is written: which files are parts of what it makes, and which are
//! patches, that no rule about objects speaks of.

use std::collections::BTreeSet;

use super::folder_of;
use windlass_capi::contract::ContractVersion;
use windlass_lint::definitions::outdated::labels_outdated;
use windlass_lint::kustomization;
use windlass_provider::Kustomization;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;
use windlass_source::glob::plain;

/// The kustomizations among the input files, and the files that they use as patches.
pub(super) struct Kustomized {
    /// The folders with a kustomization, without dots in their paths.
    folders: BTreeSet<String>,
    /// The files that are named as patches.
    patches: BTreeSet<String>,
    pub(super) report: Report,
}

impl Kustomized {
    /// Reads the kustomizations, and checks them by the contract that is wanted.
    pub(super) fn of<'a>(
        kustomizations: impl Iterator<Item = &'a Source>,
        wanted: Option<ContractVersion>,
        budget: &Budget,
    ) -> Self {
        let mut all = Kustomized {
            folders: BTreeSet::new(),
            patches: BTreeSet::new(),
            report: Report::new(),
        };
        for source in kustomizations {
            let folder = folder_of(source.name());
            let read = Kustomization::read(source, budget);
            all.patches.extend(
                read.patch_files()
                    .iter()
                    .map(|file| plain(&format!("{folder}/{file}"))),
            );
            all.report.extend(kustomization::check(read.resources()));
            let labels = read.labels();
            let labels = labels
                .iter()
                .map(|(key, place)| (key.as_str(), place.clone()));
            all.report
                .extend(wanted.and_then(|wanted| labels_outdated(labels, wanted)));
            all.folders.insert(plain(folder));
        }
        all
    }

    /// Whether a file is beside a kustomization.
    pub(super) fn takes(&self, name: &str) -> bool {
        self.folders.contains(&plain(folder_of(name)))
    }

    /// Whether a kustomization names a file as a patch.
    pub(super) fn is_patch(&self, name: &str) -> bool {
        self.patches.contains(&plain(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_patches_are_told_by_their_paths() {
        let text =
            "patches:\n- path: p.yaml\npatchesStrategicMerge:\n- q.yaml\nresources:\n- r.yaml\n";
        let source = Source::new("config/kustomization.yaml", text);
        let all = Kustomized::of(std::iter::once(&source), None, &Budget::default());
        assert!(
            all.is_patch("config/p.yaml")
                && all.is_patch("config/q.yaml")
                && !all.is_patch("config/r.yaml")
        );
        assert!(all.is_patch("./config/x/../p.yaml"));
        assert!(
            all.takes("config/r.yaml")
                && all.takes("./config/r.yaml")
                && !all.takes("config/crd/r.yaml")
        );
    }
}
