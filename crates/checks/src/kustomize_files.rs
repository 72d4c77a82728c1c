//! Files that only kustomize reads: kustomizations, and the patches, transformers and generators
//! that they name. They are not objects that a user applies.

use std::collections::BTreeSet;

use serde_json::Value;

use windlass_provider::{KUSTOMIZATION_FILES, Kustomization};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::glob::plain;

/// The lists of a kustomization whose files configure kustomize.
const CONFIGURING: [&str; 4] = ["configurations", "generators", "transformers", "validators"];

/// Takes the files of kustomize out of some files. Returns their names, in order; where nothing
/// else is left, all files stay.
pub fn take(sources: &mut Vec<Source>, budget: &Budget) -> Vec<String> {
    let named = named(sources, budget);
    let is_of_kustomize = |source: &Source| {
        is_kustomization(source) || is_builtin(source) || named.contains(&plain(source.name()))
    };
    if sources.iter().all(is_of_kustomize) {
        return Vec::new();
    }
    let (taken, rest): (Vec<Source>, Vec<Source>) = std::mem::take(sources)
        .into_iter()
        .partition(|source| is_of_kustomize(source));
    *sources = rest;
    taken
        .iter()
        .map(|source| source.name().to_string())
        .collect()
}

fn is_kustomization(source: &Source) -> bool {
    KUSTOMIZATION_FILES.contains(&source.file_name())
}

/// Whether a file contains the configuration of a transformer or a generator of kustomize's own.
pub(super) fn is_builtin(source: &Source) -> bool {
    let is_it = |line: &str| {
        let value = line.strip_prefix("apiVersion:").map(str::trim);
        value.is_some_and(|value| value.trim_matches(['"', '\'']) == "builtin")
    };
    source.text().lines().any(is_it)
}

/// The files that kustomizations name as patches or as configuration, without dots in their paths.
fn named(sources: &[Source], budget: &Budget) -> BTreeSet<String> {
    let mut named = BTreeSet::new();
    for source in sources.iter().filter(|source| is_kustomization(source)) {
        let folder = source
            .name()
            .rsplit_once('/')
            .map_or("", |(folder, _)| folder);
        let read = Kustomization::read(source, budget);
        let lists = CONFIGURING
            .iter()
            .filter_map(|list| read.value()[*list].as_array());
        let configuring = lists.flatten().filter_map(Value::as_str).map(str::to_owned);
        let files = read.patch_files().into_iter().chain(configuring);
        named.extend(files.map(|file| plain(&format!("{folder}/{file}"))));
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_patches_transformers_and_generators() {
        let kustomization =
            "resources: [base.yaml]\npatches:\n- path: ../p.yaml\ntransformers: [t.yaml]\n";
        let mut sources = vec![
            Source::new("a/kustomization.yaml", kustomization),
            Source::new("a/base.yaml", "kind: Cluster\n"),
            Source::new("p.yaml", "kind: Cluster\n"),
            Source::new("a/t.yaml", "kind: Labels\n"),
            Source::new("a/g.yaml", "apiVersion: builtin\nkind: PatchTransformer\n"),
        ];
        let taken = take(&mut sources, &Budget::default());
        assert_eq!(
            taken,
            ["a/kustomization.yaml", "p.yaml", "a/t.yaml", "a/g.yaml"]
        );
        assert_eq!(sources.len(), 1);
        let mut alone = vec![Source::new("kustomization.yaml", kustomization)];
        assert_eq!(take(&mut alone, &Budget::default()), [""; 0]);
        assert_eq!(alone.len(), 1);
    }
}
