//! `migrate FILE…`: documents in another version or of another kind, and what that loses.

use schemars::JsonSchema;
use serde::Serialize;

use crate::diag::{Diagnostic, Report, rules};
use crate::migrate::{self, MigratedFile};
pub use crate::migrate::{Family, Wanted};
use crate::report::text::Changed;
use crate::text::budget::Budget;
use crate::text::source::Source;

rules! {
    /// no document of the input is of a kind that is migrated
    NOTHING_KNOWN = error("migrate-nothing-known");
}

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
}

/// Migrates texts.
pub fn run(sources: &[Source], wanted: &Wanted, budget: &Budget) -> Migration {
    let migrated = migrate::migrate(sources, wanted, budget);
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
