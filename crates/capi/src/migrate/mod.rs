//! Users' documents in another version of the API or of the other config's kind, with comments and
//! layout as they are.
//!
//! What a document becomes, `conversion::core` says; its text is written anew only where it must
//! change, and is read back before anybody gets it.

mod comments;
mod document;
pub(crate) mod findings;
mod kinds;
mod masked;
mod object;
mod patches;
mod rewrite;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub use findings::rejection;
pub use kinds::Family;

use self::masked::Masked;
use self::patches::Templates;
use self::rewrite::ListStyle;
use crate::api::names::Version;
use crate::conversion::core::{ConversionContext, KINDS};
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report};
use windlass_source::edit::Edits;

/// What documents are to become.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The version of the API; without one each keeps its own.
    pub version: Option<Version>,
    /// The kind of configs; without one each keeps its own.
    pub family: Option<Family>,
}

/// A document of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentId {
    /// The number of its file, from 0.
    pub file: usize,
    /// Its number in the file, from 1.
    pub document: usize,
}

/// What is known of documents before they are migrated.
#[derive(Debug, Clone, Default)]
pub struct Guidance {
    /// Documents that stay as they are, with the findings about their new form.
    pub held: BTreeMap<DocumentId, Vec<Diagnostic>>,
    /// Documents that may be v1beta1 in all but their `apiVersion`, which is v1beta2.
    pub misnamed: BTreeSet<DocumentId>,
}

/// The result of [`migrate`].
#[derive(Debug, Clone, Default)]
pub struct Migrated {
    /// In the order of the input.
    pub files: Vec<MigratedFile>,
    /// What is lost, what cannot be migrated, and what could not be read.
    pub report: Report,
    /// How many documents, items of Lists among them, are of a kind that is migrated.
    pub known: usize,
    /// Whether a document stays as it is because something in it cannot be migrated.
    pub is_unfinished: bool,
}

/// A file of the input, before and after the migration.
#[derive(Debug, Clone)]
pub struct MigratedFile {
    /// The file as it was read.
    pub before: Source,
    /// The file with its documents migrated; the same text when no document changes.
    pub after: Source,
    /// The lines that change, in bytes of the text before, and what stands there then.
    pub lines: Vec<(Range<usize>, String)>,
    /// The documents that change.
    pub documents: Vec<MigratedDocument>,
}

/// One document that changes, or an item of a List.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MigratedDocument {
    /// The number of the document in the file, from 1.
    pub number: usize,
    /// `Kind/name`, as it was.
    pub object: String,
    /// `apiVersion` and `kind`, as they were and as they are.
    pub before: String,
    /// `apiVersion` and `kind` after the migration.
    pub after: String,
}

/// A document of a file, read with its variables masked.
struct Document<'d> {
    source: &'d Source,
    masked: &'d Masked<'d>,
    document: &'d yaml::Document,
    lists: &'d ListStyle,
    templates: &'d Templates,
    held: Option<&'d [Diagnostic]>,
    is_misnamed: bool,
}

/// Migrates the documents of files as `wanted`. Comments, layout and variables stay as they are.
pub fn migrate(
    sources: &[Source],
    wanted: &Wanted,
    guidance: &Guidance,
    budget: &Budget,
) -> Migrated {
    let mut migrated = Migrated::default();
    let masked: Vec<Masked<'_>> = sources
        .iter()
        .map(|source| Masked::of(source.text()))
        .collect();
    let read: Vec<(Source, yaml::Parsed)> = sources
        .iter()
        .zip(&masked)
        .map(|(source, masked)| {
            let text = Source::new(source.name().clone(), masked.text.as_str());
            let parsed = yaml::parse(&text, budget);
            (text, parsed)
        })
        .collect();
    let objects: Vec<&yaml::Node> = read
        .iter()
        .flat_map(|(_, parsed)| &parsed.documents)
        .flat_map(|document| object::objects(&document.root))
        .map(|object| object.node)
        .collect();
    let versions = versions(&objects);
    let version_of = |group: &str, kind: &str| {
        let wanted = wanted.version.filter(|_| KINDS.contains(&(group, kind)));
        wanted
            .map(|version| version.to_string())
            .or_else(|| versions.get(&(group.to_owned(), kind.to_owned())).cloned())
    };
    let context = ConversionContext {
        version_of: &version_of,
        keeps_incomplete: false,
    };
    let mut templates = Templates::default();
    if let Some(to) = wanted.version {
        objects
            .iter()
            .for_each(|object| templates.add(object, to, &context));
    }
    let files = sources.iter().zip(&masked).zip(&read);
    for (number, ((source, masked), (text, parsed))) in files.enumerate() {
        let mut file = Vec::new();
        migrated.report.extend(
            parsed
                .report
                .findings()
                .iter()
                .map(|finding| unmasked(finding, source, masked)),
        );
        let mut lists = ListStyle::default();
        parsed
            .documents
            .iter()
            .for_each(|document| lists.add(text.text(), &document.root));
        for document in &parsed.documents {
            let id = DocumentId {
                file: number,
                document: document.index,
            };
            let document = Document {
                source,
                masked,
                document,
                lists: &lists,
                templates: &templates,
                held: guidance.held.get(&id).map(Vec::as_slice),
                is_misnamed: guidance.misnamed.contains(&id),
            };
            let document = document.migrate(wanted, &context, budget, &mut migrated.report);
            migrated.known += document.known;
            migrated.is_unfinished |= document.is_unfinished;
            file.push(document);
        }
        migrated.files.push(together(source, masked, file));
    }
    migrated
}

/// What reading found, in the text as it is written.
fn unmasked(finding: &Diagnostic, source: &Source, masked: &Masked<'_>) -> Diagnostic {
    let mut finding = finding.clone();
    finding.message = finding.message.mapped(|part| masked.unmask(part));
    finding.upstream = finding
        .upstream
        .map(|words| words.mapped(|part| masked.unmask(part)));
    let places = finding
        .related
        .iter_mut()
        .map(|related| &mut related.place)
        .chain([&mut finding.place]);
    for span in places.filter_map(|place| place.span.as_mut()) {
        *span = source.span(span.start.offset..span.end.offset);
    }
    finding
}

/// A file with all that changes in its documents.
fn together(
    source: &Source,
    masked: &Masked<'_>,
    documents: Vec<document::Migrated>,
) -> MigratedFile {
    let mut edits = Edits::of(source.text());
    let mut said = Vec::new();
    for document in documents {
        said.extend(document.said);
        document
            .changes
            .into_iter()
            .for_each(|change| edits.replace(change.range, masked.unmask(&change.with)));
    }
    let lines = edits.clone().changed_lines();
    let after = edits
        .apply()
        .expect("internal error: each document was written by itself");
    MigratedFile {
        before: source.clone(),
        after: Source::new(source.name().clone(), after),
        lines,
        documents: said,
    }
}

/// The version in which the input has each group and kind: of several the last counts.
fn versions(objects: &[&yaml::Node]) -> BTreeMap<(String, String), String> {
    let mut versions = BTreeMap::new();
    for object in objects {
        let text = |field: &str| {
            object
                .as_mapping()
                .and_then(|mapping| mapping.get(field))
                .and_then(|entry| entry.value.as_str())
        };
        if let (Some((group, version)), Some(kind)) = (
            text("apiVersion").and_then(|text| text.split_once('/')),
            text("kind"),
        ) {
            versions.insert((group.to_owned(), kind.to_owned()), version.to_owned());
        }
    }
    versions
}
