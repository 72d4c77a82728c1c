//! The files that a `provider.yaml` names, as the caller read them: this crate reads no files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Kustomization, Provider};
use windlass_capi::contract::Roles;
use windlass_source::Source;
use windlass_source::budget::Budget;

/// What a pattern begins with whose files its list leaves out.
pub const EXCLUDE: char = '!';
/// The word for standard input, where finished components may come from.
pub const STDIN: &str = "-";

/// What a pattern of `provider.yaml` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// Files that match a pattern.
    Files,
    /// Files that match a pattern, which begins with [`EXCLUDE`]: a list leaves them out. They are
    /// not read.
    Excluded,
    /// Finished components: a file, or [`STDIN`].
    Components,
    /// The templates and ClusterClasses of a folder.
    TemplateFolder,
}

/// Why a file that `provider.yaml` names is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strayed {
    /// It does not lie below the folder of `provider.yaml`.
    Outside,
    /// It is hidden, or is in a hidden folder: `.git/config` holds a token on a CI machine.
    Hidden,
}

/// What a pattern stood for when the shell looked.
#[derive(Debug, Clone, Default)]
pub struct Matched {
    /// The files, in byte order of their paths.
    pub files: Vec<Source>,
    /// The alternatives of the pattern (`{a,b}`), or the pattern itself, that no file matches.
    pub unmatched: Vec<String>,
    /// Why the pattern is none, if it is none.
    pub fault: Option<String>,
    /// Files that it names and that are not read, as the pattern spells them.
    pub strayed: Vec<(String, Strayed)>,
}

/// The files behind each pattern of a `provider.yaml`.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    matched: BTreeMap<String, Matched>,
    kustomizations: Vec<Kustomization>,
    roles: Roles,
    keeps_originals: bool,
    budget: Arc<Budget>,
}

impl Inputs {
    /// No files.
    pub fn new() -> Self {
        Inputs::default()
    }

    /// No files, of a run that may spend so much.
    pub fn within(budget: Arc<Budget>) -> Self {
        Inputs {
            budget,
            ..Inputs::default()
        }
    }

    /// Says what the kinds of the project are, where their names do not tell it.
    pub fn set_roles(&mut self, roles: Roles) {
        self.roles = roles;
    }

    /// The roles of kinds that the project declares.
    pub fn roles(&self) -> &Roles {
        &self.roles
    }

    /// Has the build keep the objects as they were read, so that its changes can be listed.
    pub fn keep_originals(&mut self) {
        self.keeps_originals = true;
    }

    /// Whether the build keeps the objects as they were read.
    pub fn keeps_originals(&self) -> bool {
        self.keeps_originals
    }

    /// What the run may spend on the files.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Says what stands behind a pattern.
    pub fn insert(&mut self, pattern: impl Into<String>, matched: Matched) {
        self.matched.insert(pattern.into(), matched);
    }

    /// What stands behind a pattern; `None` when nobody looked.
    pub(crate) fn matched(&self, pattern: &str) -> Option<&Matched> {
        self.matched.get(pattern)
    }

    /// The files behind a pattern; none when it matches nothing.
    pub fn files(&self, pattern: &str) -> &[Source] {
        self.matched
            .get(pattern)
            .map_or(&[], |matched| &matched.files)
    }

    /// The files of a list of patterns, each once, with the index of the first pattern that takes
    /// it; without those that the list excludes.
    pub fn of_list<'a>(&'a self, patterns: &[String]) -> Vec<(usize, &'a Source)> {
        let excluded = patterns
            .iter()
            .filter(|pattern| pattern.starts_with(EXCLUDE))
            .flat_map(|pattern| self.files(pattern));
        let mut known: BTreeSet<&str> = excluded.map(|source| source.name().as_ref()).collect();
        let taken = patterns
            .iter()
            .enumerate()
            .filter(|(_, pattern)| !pattern.starts_with(EXCLUDE));
        let files = taken
            .flat_map(|(at, pattern)| self.files(pattern).iter().map(move |source| (at, source)));
        files
            .filter(|(_, source)| known.insert(source.name()))
            .collect()
    }

    /// Adds a kustomization that is beside the files.
    pub fn add_kustomization(&mut self, kustomization: Kustomization) {
        self.kustomizations.push(kustomization);
    }

    /// The kustomizations beside the files.
    pub fn kustomizations(&self) -> &[Kustomization] {
        &self.kustomizations
    }

    /// All files, by pattern, and the kustomizations beside them.
    pub fn sources(&self) -> impl Iterator<Item = &Source> {
        let matched = self
            .matched
            .iter()
            .filter(|(pattern, _)| !pattern.starts_with(EXCLUDE))
            .flat_map(|(_, matched)| &matched.files);
        matched.chain(self.kustomizations.iter().flat_map(Kustomization::sources))
    }
}

impl Provider {
    /// Every pattern of the file, relative to it, and what it stands for. The shell turns them into
    /// [`Inputs`].
    pub fn wanted(&self) -> Vec<(&str, Wanted)> {
        let mut wanted = vec![(self.metadata_file(), Wanted::Files)];
        let rbac = self.rbac.as_ref().map_or(&[][..], |rbac| &rbac.roles);
        let webhooks = self
            .manager
            .as_ref()
            .map_or(&[][..], |manager| &manager.webhooks);
        let lists = [self.crd_files(), rbac, webhooks, &self.objects];
        let files = |pattern: &str| {
            if pattern.starts_with(EXCLUDE) {
                Wanted::Excluded
            } else {
                Wanted::Files
            }
        };
        wanted.extend(
            lists
                .into_iter()
                .flatten()
                .map(|pattern| (pattern.as_str(), files(pattern))),
        );
        wanted.extend(
            self.patches
                .iter()
                .filter_map(|patch| Some((patch.path.as_deref()?, Wanted::Files))),
        );
        wanted.extend(
            self.components
                .iter()
                .map(|pattern| (pattern.as_str(), Wanted::Components)),
        );
        wanted.extend(
            self.templates
                .iter()
                .map(|folder| (folder.as_str(), Wanted::TemplateFolder)),
        );
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of files that a list leaves out only the names are known, and no finding may show their
    /// empty texts.
    #[test]
    fn files_that_are_left_out_are_no_sources() {
        let mut inputs = Inputs::within(Arc::default());
        let matched = |text: &str| Matched {
            files: vec![Source::new("a.yaml", text)],
            ..Matched::default()
        };
        inputs.insert("*.yaml", matched("a: 1\n"));
        inputs.insert("!a.yaml", matched(""));
        assert_eq!(
            inputs.sources().map(Source::text).collect::<Vec<_>>(),
            ["a: 1\n"]
        );
        assert!(
            inputs
                .of_list(&["*.yaml".to_owned(), "!a.yaml".to_owned()])
                .is_empty()
        );
    }
}
