//! One document: the text of it that says what its objects become.

use std::ops::Range;

use super::findings::{COMMENT_DROPPED, TEXT_DIFFERS};
use super::object::{Object, Outcome, objects};
use super::{Document, MigratedDocument, Wanted, comments, rewrite};
use crate::conversion::core::{Conversion, ConversionContext};
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Change, Diagnostic, FieldPath, Report};
use windlass_source::edit::Edits;

#[derive(Default)]
pub(super) struct Migrated {
    /// How many of its objects are of a kind that is migrated.
    pub known: usize,
    /// Whether one should change and cannot.
    pub is_unfinished: bool,
    /// The objects that change.
    pub(super) said: Vec<MigratedDocument>,
    /// The changes of its text, which may hold masked variables.
    pub(super) changes: Vec<Change>,
}

impl Document<'_> {
    /// Migrates its objects; says what is lost and what cannot be migrated.
    pub(super) fn migrate(
        &self,
        wanted: &Wanted,
        context: &ConversionContext<'_>,
        budget: &Budget,
        report: &mut Report,
    ) -> Migrated {
        let mut migrated = Migrated::default();
        let mut changed = Vec::new();
        for object in objects(&self.document.root) {
            match object.migrate(self, wanted, context, report) {
                Outcome::Foreign => continue,
                Outcome::Same => {}
                Outcome::Stays => migrated.is_unfinished = true,
                Outcome::Changed(conversion, said) => {
                    changed.push((object, conversion));
                    migrated.said.push(said);
                }
            }
            migrated.known += 1;
        }
        if changed.is_empty() {
            return migrated;
        }
        match self.rewritten(&changed, budget, report) {
            Some(changes) => migrated.changes = changes,
            None => {
                report.extend(changed.first().map(|(object, _)| self.text_differs(object)));
                migrated.said.clear();
                migrated.is_unfinished = true;
            }
        }
        migrated
    }

    /// The changes of the text, if it reads as the objects then.
    fn rewritten(
        &self,
        changed: &[(Object<'_>, Box<Conversion>)],
        budget: &Budget,
        report: &mut Report,
    ) -> Option<Vec<Change>> {
        let text = self.masked.text.as_str();
        let changes = changed.iter().flat_map(|(object, conversion)| {
            rewrite::changes(
                text,
                object.node,
                &conversion.value,
                &conversion.origins,
                self.lists,
            )
        });
        let changes: Vec<Change> = changes.collect();
        let range: Range<usize> = self.document.range.into();
        if changes
            .iter()
            .any(|change| change.range.start < range.start || change.range.end > range.end)
        {
            return None;
        }
        let before = &text[range.clone()];
        let mut edits = Edits::of(before);
        changes.iter().for_each(|change| {
            edits.replace(
                change.range.start - range.start..change.range.end - range.start,
                change.with.clone(),
            )
        });
        let after = edits.apply().ok()?;
        let read = yaml::parse(
            &Source::new(self.source.name().clone(), after.as_str()),
            budget,
        );
        let [document] = read.documents.as_slice() else {
            return None;
        };
        if document.root.to_json() != self.expected(changed) || read.report.has_errors() {
            return None;
        }
        for (at, comment) in comments::missing(before, &after, budget) {
            let place = self
                .source
                .place_at(range.start + at..range.start + at + comment.len())
                .in_document(self.document.index);
            let finding =
                Diagnostic::of(&COMMENT_DROPPED, "the comment has no line left beside it");
            report.push(
                finding
                    .at(place)
                    .help("write it at another place if it is still true"),
            );
        }
        Some(changes)
    }

    /// What the document says with its objects as they become.
    fn expected(&self, changed: &[(Object<'_>, Box<Conversion>)]) -> serde_json::Value {
        let mut whole = self.document.root.to_json();
        for (object, conversion) in changed {
            let place = match object.item {
                Some(number) => whole
                    .get_mut("items")
                    .and_then(|items| items.get_mut(number)),
                None => Some(&mut whole),
            };
            place
                .into_iter()
                .for_each(|place| place.clone_from(&conversion.value));
        }
        whole
    }

    fn text_differs(&self, object: &Object<'_>) -> Diagnostic {
        let text = self.masked.text.as_str();
        let range: Range<usize> = self.document.range.into();
        let finding = Diagnostic::of(
            &TEXT_DIFFERS,
            "the text of the document could not be written anew",
        );
        let help = if text[range.clone()].contains(['&', '*']) {
            "replace anchors and aliases (`&`, `*`) by their values, and migrate again"
        } else if text[range].replace("\r\n", "\n").contains('\r') {
            "end each line with a line feed, where a carriage return is alone, and migrate again"
        } else {
            "write keys that stand twice once, and migrate again; if there are none, report it as a bug"
        };
        finding
            .at(object.place(self, &FieldPath::of_fields("apiVersion")))
            .help(help)
    }
}
