//! One document: what it becomes, what that loses, and its text.

use std::ops::Range;

use serde_json::Value;

use super::findings::{
    COMMENT_DROPPED, DOCUMENT_SKIPPED, EMPTY_DROPPED, FIELD_ADDED, FIELD_LOST, FIELD_UNUSED, NOT_CONVERTED, ORDER_LOST, TEXT_DIFFERS,
};
use super::masked::Masked;
use super::{Family, MigratedDocument, Wanted, comments, kinds, patches, rewrite};
use crate::api::names::{GROUP, Version};
use crate::conversion::core::{Conversion, Fault, KINDS, Loss, Lost, Surroundings, convert_object};
use crate::diag::{Change, Diagnostic, FieldPath, Place, Remedy, Report, Setting};
use crate::text::budget::Budget;
use crate::text::edit::Edits;
use crate::text::source::Source;
use crate::text::yaml;

/// A document of a file, read with its variables masked.
pub(super) struct Document<'d> {
    pub(super) source: &'d Source,
    pub(super) masked: &'d Masked<'d>,
    pub(super) document: &'d yaml::Document,
    pub(super) lists: &'d rewrite::ListStyle,
    pub(super) templates: &'d patches::Templates,
}

/// What became of a document.
pub(super) enum Outcome {
    /// It is of no kind that is migrated.
    Foreign,
    /// It is as it is wanted.
    Same,
    /// It should change and cannot.
    Stays,
    /// The changes of its text, which may hold masked variables.
    Changed(MigratedDocument, Vec<Change>),
}

impl Document<'_> {
    /// Migrates it; says what is lost and what cannot be migrated.
    pub(super) fn migrate(&self, wanted: &Wanted, surroundings: &Surroundings<'_>, budget: &Budget, report: &mut Report) -> Outcome {
        let object = self.document.root.to_json();
        let title = |object: &Value| format!("{} {}", text(object, &["apiVersion"]), text(object, &["kind"]));
        if let Some(finding) = self.skipped(&object) {
            report.push(finding);
            return Outcome::Stays;
        }
        let Some(conversion) = self.converted(&object, wanted, surroundings) else { return Outcome::Foreign };
        if !conversion.faults.is_empty() {
            report.extend(conversion.faults.iter().map(|fault| self.not_converted(fault)));
            return Outcome::Stays;
        }
        report.extend(conversion.lost.iter().map(|lost| self.lost(lost, &object, wanted)));
        if conversion.value == object {
            return Outcome::Same;
        }
        match self.rewritten(&conversion, budget, report) {
            Some(changes) => {
                let said = MigratedDocument {
                    number: self.document.index,
                    object: self.title(),
                    before: title(&object),
                    after: title(&conversion.value),
                };
                Outcome::Changed(said, changes)
            }
            None => {
                report.push(self.text_differs());
                Outcome::Stays
            }
        }
    }

    /// What is said of a document that is not migrated although its kind, or that of an item of its list, is known.
    fn skipped(&self, object: &Value) -> Option<Diagnostic> {
        let (group, version, kind) = names(object);
        let is_known = |object: &Value| {
            let (group, _, kind) = names(object);
            KINDS.contains(&(group, kind))
        };
        let items = || object.get("items").and_then(Value::as_array).into_iter().flatten();
        if (group, kind) == ("", "List") && items().any(is_known) {
            let finding = Diagnostic::of(&DOCUMENT_SKIPPED, "a List is not taken apart").at(self.place(&FieldPath::of_fields("kind")));
            return Some(finding.help("write each item as a document of its own, with `---` between them"));
        }
        if !is_known(object) || Version::parse(version).is_some() {
            return None;
        }
        let finding = Diagnostic::of(&DOCUMENT_SKIPPED, format!("{} is neither v1beta1 nor v1beta2", self.masked.unmask(version)));
        let help = "convert it with a release of Cluster API that knows the version, such as v1.10 for v1alpha4, and migrate the result";
        Some(finding.at(self.place(&FieldPath::of_fields("apiVersion"))).help(help))
    }

    /// The document as it is wanted; `None` when it is of no kind that is migrated.
    fn converted(&self, object: &Value, wanted: &Wanted, surroundings: &Surroundings<'_>) -> Option<Conversion> {
        let (group, version, kind) = names(object);
        let own = Version::parse(version)?;
        let mut conversion = convert_object(object, wanted.version.unwrap_or(own), surroundings)?;
        if wanted.family == Some(Family::Kubeadm) && group == GROUP {
            conversion.drop_additions();
        }
        if let Some(to) = wanted.version.filter(|_| kind == "ClusterClass") {
            patches::convert(object, &mut conversion, to, self.templates);
        }
        kinds::rename(&mut conversion.value, wanted);
        Some(conversion)
    }

    /// The changes of the text, if it reads as the object then.
    fn rewritten(&self, conversion: &Conversion, budget: &Budget, report: &mut Report) -> Option<Vec<Change>> {
        let text = self.masked.text.as_str();
        let changes = rewrite::changes(text, &self.document.root, &conversion.value, &conversion.origins, self.lists);
        let range: Range<usize> = self.document.range.into();
        if changes.iter().any(|change| change.range.start < range.start || change.range.end > range.end) {
            return None;
        }
        let before = &text[range.clone()];
        let mut edits = Edits::of(before);
        changes
            .iter()
            .for_each(|change| edits.replace(change.range.start - range.start..change.range.end - range.start, change.with.clone()));
        let after = edits.apply().ok()?;
        let read = yaml::parse(&Source::new(self.source.name().clone(), after.as_str()), budget);
        let [document] = read.documents.as_slice() else { return None };
        if document.root.to_json() != conversion.value || read.report.has_errors() {
            return None;
        }
        for (at, comment) in comments::missing(before, &after, budget) {
            let place = self.source.place_at(range.start + at..range.start + at + comment.len()).in_document(self.document.index);
            let finding = Diagnostic::of(&COMMENT_DROPPED, "the comment stands where nothing is left to stand beside");
            report.push(finding.at(place).help("write it at another place if it is still true"));
        }
        Some(changes)
    }

    fn lost(&self, lost: &Lost, object: &Value, wanted: &Wanted) -> Diagnostic {
        let place = &lost.place;
        let target = match (wanted.version, wanted.family) {
            (_, Some(Family::Kubeadm)) if text(object, &["apiVersion"]).starts_with(GROUP) => "KubeadmConfig".to_owned(),
            (Some(version), _) => version.to_string(),
            _ => "the kind".to_owned(),
        };
        let finding = match lost.loss {
            Loss::Field => Diagnostic::of(&FIELD_LOST, format!("{place} is not in {target}"))
                .help(Remedy::new("remove it if it can go, or drop it with ").set(Setting::Allow, FIELD_LOST.id)),
            Loss::Unused => Diagnostic::of(&FIELD_UNUSED, format!("{place} is left out: {target} has no such field"))
                .help("nothing, if the machines do not depend on it: Cluster API takes it from the object around it, or not at all"),
            Loss::Order => Diagnostic::of(
                &ORDER_LOST,
                format!("{place} is a list of arguments, of which {target} keeps one of each name, in no order"),
            )
            .help("check that no argument stands twice"),
            Loss::Repeated => Diagnostic::of(
                &ORDER_LOST,
                format!("{place} adds an argument to a list in {target}: no template of the input says whether it stands there already"),
            )
            .help("name the file with the template too, or check that it has no argument of this name"),
            Loss::Added => Diagnostic::of(&FIELD_ADDED, format!("the document leaves {place} open, and what {target} has for it does not"))
                .help("check that it may be so, or leave the document as it is"),
            Loss::Empty => {
                Diagnostic::of(&EMPTY_DROPPED, format!("{place} is left out: its absence means the same in {target}")).help("nothing")
            }
            Loss::Status => Diagnostic::of(&EMPTY_DROPPED, "status is left out: controllers write it").help("nothing"),
        };
        finding.at(self.place(place))
    }

    fn not_converted(&self, fault: &Fault) -> Diagnostic {
        let message = self.masked.unmask(&format!("{}: {}", fault.place, fault.message));
        Diagnostic::of(&NOT_CONVERTED, message).at(self.place(&fault.place)).help(fault.help.clone())
    }

    fn text_differs(&self) -> Diagnostic {
        let text = self.masked.text.as_str();
        let range: Range<usize> = self.document.range.into();
        let finding = Diagnostic::of(&TEXT_DIFFERS, "the text of the document could not be written anew");
        let help = if text[range].contains(['&', '*']) {
            "write the values out where anchors and aliases (`&`, `*`) stand, and migrate again"
        } else {
            "write keys that stand twice once, and migrate again; if there are none, report it as a bug"
        };
        finding.at(self.place(&FieldPath::of_fields("apiVersion"))).help(help)
    }

    /// The place of a field, or of the nearest thing that exists, in the text as it is written.
    fn place(&self, path: &FieldPath) -> Place {
        let located = self.document.root.nearest(path);
        let place = self.source.place_at(located.key.unwrap_or(located.span));
        place.in_document(self.document.index).in_object(self.title()).at_path(path.clone())
    }

    /// `Kind/name`; of one without a name the kind.
    fn title(&self) -> String {
        let text = |path: &str| self.document.root.at(&FieldPath::of_fields(path)).and_then(yaml::Node::as_str).unwrap_or_default();
        let title = match text("metadata.name") {
            "" => text("kind").to_owned(),
            name => format!("{}/{name}", text("kind")),
        };
        self.masked.unmask(&title)
    }
}

/// Group, version and kind of an object.
fn names(object: &Value) -> (&str, &str, &str) {
    let api_version = text(object, &["apiVersion"]);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    (group, version, text(object, &["kind"]))
}

/// A text of an object, `""` when there is none.
fn text<'v>(object: &'v Value, path: &[&str]) -> &'v str {
    path.iter().try_fold(object, |value, step| value.get(step)).and_then(Value::as_str).unwrap_or_default()
}
