//! `migrate FILE…`: documents in another version or of another kind, and what that loses.

mod judged;

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

pub use windlass_capi::migrate::{DocumentId, Family, Wanted};

use self::judged::Findings;
use windlass_capi::api::names::Version;
use windlass_capi::migrate::{self, Guidance, MigratedFile};
use windlass_report::text::Changed;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report, rules};

rules! {
    /// the input contains no document of a kind that is migrated
    NOTHING_KNOWN = error("migrate-nothing-known");
}

/// The maximum number of rounds in which documents that would be rejected are left as they are;
/// others may refer to them.
const ROUNDS: usize = 5;

/// Texts after their migration.
#[derive(Debug, Clone, Default)]
pub struct Migration {
    /// All texts, in the order in which they were given.
    pub sources: Vec<Source>,
    /// Those that change.
    pub changed: Vec<Changed>,
    /// What is said of each.
    pub files: Vec<FileChange>,
    /// What is lost, what cannot be migrated, what could not be read.
    pub report: Report,
    /// Whether something stays as it is because it cannot be migrated or read.
    pub is_unfinished: bool,
}

/// A file, and which of its documents change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The file, as it was named.
    file: String,
    /// The documents that change, in their order; none when the file stays as it is.
    documents: Vec<DocumentChange>,
}

/// A document that changes, or an item of a List.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentChange {
    /// The number of the document in the file, from 1.
    document: usize,
    /// `Kind/name`, as it was.
    object: String,
    /// `apiVersion` and `kind`, as they were.
    from: String,
    /// `apiVersion` and `kind`, as they are then.
    to: String,
}

impl Migration {
    /// How many documents change.
    pub fn documents(&self) -> usize {
        self.files.iter().map(|file| file.documents.len()).sum()
    }

    /// The documents that change although they have findings that make a run fail.
    pub fn failing(&self, report: &Report) -> BTreeSet<DocumentId> {
        let id = |finding: &Diagnostic| {
            let name = finding.place.file.as_deref()?;
            let file = self.files.iter().position(|file| file.file == name)?;
            let document = finding.place.document?;
            let changes = |change: &DocumentChange| change.document == document;
            let is_changed = self.files[file].documents.iter().any(changes);
            is_changed.then_some(DocumentId { file, document })
        };
        let failing = report.findings().iter().filter(|finding| finding.fails());
        failing.filter_map(id).collect()
    }
}

/// Migrates texts. A document that `validate` would reject in its new form, and those of `held`,
/// stay as they are and are reported.
pub fn run(
    sources: &[Source],
    wanted: &Wanted,
    held: &BTreeSet<DocumentId>,
    budget: &Arc<Budget>,
) -> Migration {
    let before = Findings::of(sources, budget);
    let mut guidance = Guidance {
        held: held
            .iter()
            .map(|document| (*document, Vec::new()))
            .collect(),
        misnamed: if wanted.version == Some(Version::V1Beta2) {
            before.of_other_versions()
        } else {
            BTreeSet::new()
        },
    };
    let target = wanted
        .version
        .map_or_else(|| "the kind".to_owned(), |version| version.to_string());
    let mut rounds = 0;
    let migrated = loop {
        let migrated = migrate::migrate(sources, wanted, &guidance, budget);
        let changed = changed_documents(&migrated);
        let texts: Vec<Source> = migrated
            .files
            .iter()
            .map(|file| file.after.clone())
            .collect();
        let after = Findings::of(&texts, budget);
        rounds += 1;
        let is_settled = if rounds > ROUNDS {
            changed.is_empty() || hold_all(&mut guidance, &changed)
        } else {
            take_back(&mut guidance, &changed, &before, &after)
                && hold_rejected(&mut guidance, &changed, &before, &after, &target, &texts)
        };
        if is_settled {
            break migrated;
        }
    };
    settled(migrated, sources)
}

/// Takes documents that have no errors less as v1beta1 for what their `apiVersion` is; returns
/// whether none of them changed.
fn take_back(
    guidance: &mut Guidance,
    changed: &BTreeSet<DocumentId>,
    before: &Findings,
    after: &Findings,
) -> bool {
    let count = guidance.misnamed.len();
    guidance.misnamed.retain(|document| {
        !changed.contains(document) || after.errors(document) < before.errors(document)
    });
    guidance.misnamed.len() == count
}

/// Holds documents that would be rejected in their new form; returns whether there are none.
fn hold_rejected(
    guidance: &mut Guidance,
    changed: &BTreeSet<DocumentId>,
    before: &Findings,
    after: &Findings,
    target: &str,
    texts: &[Source],
) -> bool {
    let mut is_settled = true;
    for document in changed {
        let is_template = judged::is_template(&texts[document.file]);
        let rejections = after.rejections(document, before, is_template);
        if !rejections.is_empty() {
            let of_result = |finding: &Diagnostic| migrate::rejection(finding, target);
            let rejections = rejections.into_iter().map(of_result).collect();
            guidance.held.insert(*document, rejections);
            is_settled = false;
        }
    }
    is_settled
}

fn hold_all(guidance: &mut Guidance, changed: &BTreeSet<DocumentId>) -> bool {
    for document in changed {
        guidance.held.entry(*document).or_default();
    }
    false
}

/// The documents that change.
fn changed_documents(migrated: &migrate::Migrated) -> BTreeSet<DocumentId> {
    let of_file = |(file, changed): (usize, &MigratedFile)| {
        let ids = changed.documents.iter().map(move |document| DocumentId {
            file,
            document: document.number,
        });
        ids.collect::<Vec<_>>()
    };
    migrated
        .files
        .iter()
        .enumerate()
        .flat_map(of_file)
        .collect()
}

fn settled(migrated: migrate::Migrated, sources: &[Source]) -> Migration {
    let mut migration = Migration {
        is_unfinished: migrated.is_unfinished
            || migrated.report.findings().iter().any(is_unreadable),
        report: migrated.report,
        ..Migration::default()
    };
    if migrated.known == 0 && !migration.is_unfinished {
        migration.is_unfinished = true;
        let finding = Diagnostic::of(&NOTHING_KNOWN, "no document is of a kind that is migrated");
        let place = sources.first().map(Source::place).unwrap_or_default();
        let help = "name files with a KubeadmConfig, KubeadmControlPlane, WindlassConfig, Cluster, ClusterClass, Machine, MachineDeployment, \
                    MachineSet, MachinePool, MachineHealthCheck, or a template of these";
        migration.report.push(finding.at(place).help(help));
    }
    for MigratedFile {
        before,
        after,
        lines,
        documents,
    } in migrated.files
    {
        let documents = documents.into_iter().map(|document| DocumentChange {
            document: document.number,
            object: document.object,
            from: document.before,
            to: document.after,
        });
        migration.files.push(FileChange {
            file: before.name().to_string(),
            documents: documents.collect(),
        });
        migration.sources.push(after.clone());
        if before != after {
            migration.changed.push(Changed::new(before, after, lines));
        }
    }
    migration
}

/// Whether a document could not be read, so that what it should become is not known.
fn is_unreadable(finding: &Diagnostic) -> bool {
    finding.fails() && !finding.rule.id.starts_with("migrate-")
}
