//! One object of a document: what it becomes, and what that loses.

use std::ops::Range;

use serde_json::Value;

use super::findings::{
    DOCUMENT_SKIPPED, EMPTY_ADDED, EMPTY_DROPPED, FIELD_ADDED, FIELD_LOST, FIELD_UNUSED,
    NOT_CONVERTED, ORDER_LOST, VERSION_MISNAMED,
};
use super::{Document, Family, MigratedDocument, Wanted, kinds, patches};
use crate::api::names::{GROUP, Version};
use crate::conversion::core::{
    Conversion, ConversionContext, Fault, KINDS, Loss, Lost, convert_object,
};
use windlass_go_yaml::yaml::Node;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Remedy, Report, Setting};

/// The whole of a document, or an item of a List.
pub(super) struct Object<'d> {
    pub(super) node: &'d Node,
    /// Its number in the List.
    pub(super) item: Option<usize>,
}

pub(super) enum Outcome {
    /// It is of no kind that is migrated.
    Foreign,
    Same,
    /// It should change and cannot.
    Stays,
    Changed(Box<Conversion>, MigratedDocument),
}

/// The objects of a document: the items of a List, such as `kubectl get -o yaml` prints, or what
/// stands there.
pub(super) fn objects(root: &Node) -> Vec<Object<'_>> {
    let text = |field: &str| {
        root.as_mapping()
            .and_then(|mapping| mapping.get(field))
            .and_then(|entry| entry.value.as_str())
    };
    let items = root
        .as_mapping()
        .and_then(|mapping| mapping.get("items"))
        .and_then(|entry| entry.value.as_sequence());
    match items.filter(|_| (text("apiVersion"), text("kind")) == (Some("v1"), Some("List"))) {
        Some(items) => items
            .iter()
            .enumerate()
            .map(|(number, node)| Object {
                node,
                item: Some(number),
            })
            .collect(),
        None => vec![Object {
            node: root,
            item: None,
        }],
    }
}

impl Object<'_> {
    /// Migrates it; says what is lost and what cannot be migrated.
    pub(super) fn migrate(
        &self,
        document: &Document<'_>,
        wanted: &Wanted,
        context: &ConversionContext<'_>,
        report: &mut Report,
    ) -> Outcome {
        let object = self.node.to_json();
        if let Some(finding) = self.skipped(document, &object) {
            report.push(finding);
            return Outcome::Stays;
        }
        let Some(conversion) = converted(&object, wanted, context, document) else {
            return Outcome::Foreign;
        };
        if is_misnamed(document, &object, wanted) && conversion.value != object {
            report.push(self.misnamed(document));
        }
        if !conversion.faults.is_empty() {
            report.extend(
                conversion
                    .faults
                    .iter()
                    .map(|fault| self.not_converted(document, fault)),
            );
            return Outcome::Stays;
        }
        report.extend(
            conversion
                .lost
                .iter()
                .map(|lost| self.lost(document, lost, &object, wanted)),
        );
        if conversion.value == object {
            return Outcome::Same;
        }
        if let Some(rejections) = document.held {
            report.extend(self.rejected(document, &conversion, rejections));
            return Outcome::Stays;
        }
        if let Some(finding) = self.unknown_block(document) {
            report.push(finding);
            return Outcome::Stays;
        }
        let title = |object: &Value| {
            format!(
                "{} {}",
                text(object, &["apiVersion"]),
                text(object, &["kind"])
            )
        };
        let said = MigratedDocument {
            number: document.document.index,
            object: self.title(document),
            before: title(&object),
            after: title(&conversion.value),
        };
        Outcome::Changed(Box::new(conversion), said)
    }

    /// What is said of an object that is not migrated although its kind, or that of an item within
    /// it, is known.
    fn skipped(&self, document: &Document<'_>, object: &Value) -> Option<Diagnostic> {
        let (group, version, kind) = names(object);
        let is_known = |object: &Value| {
            let (group, _, kind) = names(object);
            KINDS.contains(&(group, kind))
        };
        let items = || {
            object
                .get("items")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
        };
        let is_list = kind
            .strip_suffix("List")
            .is_some_and(|kind| KINDS.contains(&(group, kind)))
            || (group, kind) == ("", "List") && items().any(is_known);
        if is_list {
            let finding = Diagnostic::of(
                &DOCUMENT_SKIPPED,
                format!("a {kind} is not taken apart here"),
            );
            let help = "write each item as a document of its own, with `---` between them, or as an item of a `v1` List";
            return Some(
                finding
                    .at(self.place(document, &FieldPath::of_fields("kind")))
                    .help(help),
            );
        }
        if !is_known(object) || Version::parse(version).is_some() {
            return None;
        }
        let message = format!(
            "{} is neither v1beta1 nor v1beta2",
            document.masked.unmask(version)
        );
        let help = "convert it with a release of Cluster API that knows the version, such as v1.10 for v1alpha4, and migrate the result";
        let finding = Diagnostic::of(&DOCUMENT_SKIPPED, message);
        Some(
            finding
                .at(self.place(document, &FieldPath::of_fields("apiVersion")))
                .help(help),
        )
    }

    fn lost(
        &self,
        document: &Document<'_>,
        lost: &Lost,
        object: &Value,
        wanted: &Wanted,
    ) -> Diagnostic {
        let place = &lost.place;
        let target = match (wanted.version, wanted.family) {
            (_, Some(Family::Kubeadm)) if text(object, &["apiVersion"]).starts_with(GROUP) => {
                "KubeadmConfig".to_owned()
            }
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
            .help("check that no argument appears twice"),
            Loss::Repeated => Diagnostic::of(
                &ORDER_LOST,
                format!("{place} adds an argument to a list in {target}: no template of the input says whether it is there already"),
            )
            .help("name the file with the template too, or check that it has no argument of this name"),
            Loss::Added => Diagnostic::of(&FIELD_ADDED, format!("the document leaves {place} open, and what {target} has for it does not"))
                .help("check that it may be so, or leave the document as it is"),
            Loss::Wanted => {
                Diagnostic::of(&EMPTY_ADDED, format!("{place} is added: {target} wants it, and it says nothing")).help("nothing")
            }
            Loss::Default => {
                Diagnostic::of(&EMPTY_ADDED, format!("{place} is added with its default: {target} requires it")).help("nothing")
            }
            Loss::Empty => {
                Diagnostic::of(&EMPTY_DROPPED, format!("{place} is left out: its absence means the same in {target}")).help("nothing")
            }
            Loss::Status => Diagnostic::of(&EMPTY_DROPPED, "status is left out: controllers write it").help("nothing"),
        };
        finding.at(self.place(document, place))
    }

    /// The findings about its new form, at the places where it has what they are about.
    fn rejected(
        &self,
        document: &Document<'_>,
        conversion: &Conversion,
        rejections: &[Diagnostic],
    ) -> Vec<Diagnostic> {
        let title = self.title(document);
        let is_own = |finding: &&Diagnostic| {
            self.item.is_none() || finding.place.object.as_deref() == Some(title.as_str())
        };
        let at_old = |finding: &Diagnostic| {
            let old = conversion.origins.of(&finding.place.path);
            finding.clone().at(self.place(document, &old))
        };
        rejections.iter().filter(is_own).map(at_old).collect()
    }

    fn misnamed(&self, document: &Document<'_>) -> Diagnostic {
        Diagnostic::of(
            &VERSION_MISNAMED,
            "apiVersion is v1beta2, and the fields are those of v1beta1",
        )
        .at(self.place(document, &FieldPath::of_fields("apiVersion")))
        .help("nothing")
    }

    fn not_converted(&self, document: &Document<'_>, fault: &Fault) -> Diagnostic {
        let message = document
            .masked
            .unmask(&format!("{}: {}", fault.place, fault.message));
        Diagnostic::of(&NOT_CONVERTED, message)
            .at(self.place(document, &fault.place))
            .help(fault.help.clone())
    }

    /// Reports a variable that stands for a block of the document: the version of the block is
    /// unknown.
    fn unknown_block(&self, document: &Document<'_>) -> Option<Diagnostic> {
        let range: Range<usize> = document.document.range.into();
        let block = document.masked.block_in(range.start)?;
        let place = document.source.place_at(block.clone());
        let place = place
            .in_document(document.document.index)
            .in_object(self.title(document));
        let variable = &document.source.text()[block];
        let message = format!("{variable} is a part of the document that is not known");
        let help = "write the part in place of the variable, or change the document by hand";
        let finding = Diagnostic::of(&NOT_CONVERTED, message);
        Some(finding.at(place).help(help))
    }

    /// The place of a field, or of the nearest thing that exists, in the text as it is written.
    pub(super) fn place(&self, document: &Document<'_>, path: &FieldPath) -> Place {
        let located = self.node.nearest(path);
        let place = document
            .source
            .place_at(located.key.unwrap_or(located.span));
        place
            .in_document(document.document.index)
            .in_object(self.title(document))
            .at_path(path.clone())
    }

    /// `Kind/name`; of one without a name the kind.
    fn title(&self, document: &Document<'_>) -> String {
        let text = |path: &str| {
            self.node
                .at(&FieldPath::of_fields(path))
                .and_then(Node::as_str)
                .unwrap_or_default()
        };
        let title = match text("metadata.name") {
            "" => text("kind").to_owned(),
            name => format!("{}/{name}", text("kind")),
        };
        document.masked.unmask(&title)
    }
}

/// Whether an object is to be read as v1beta1, although it is named v1beta2.
fn is_misnamed(document: &Document<'_>, object: &Value, wanted: &Wanted) -> bool {
    let (_, version, _) = names(object);
    let own = Version::parse(version);
    document.is_misnamed && own == Some(Version::V1Beta2) && wanted.version == own
}

/// An object as it is wanted; `None` when it is of no kind that is migrated.
fn converted(
    object: &Value,
    wanted: &Wanted,
    context: &ConversionContext<'_>,
    document: &Document<'_>,
) -> Option<Conversion> {
    let (group, version, kind) = names(object);
    let own = Version::parse(version)?;
    let renamed = is_misnamed(document, object, wanted).then(|| {
        let mut renamed = object.clone();
        renamed["apiVersion"] = format!("{group}/{}", Version::V1Beta1).into();
        renamed
    });
    let to = wanted.version.unwrap_or(own);
    let mut conversion = convert_object(renamed.as_ref().unwrap_or(object), to, context)?;
    if wanted.family == Some(Family::Kubeadm) && group == GROUP {
        conversion.drop_additions();
    }
    if let Some(to) = wanted.version.filter(|_| kind == "ClusterClass") {
        patches::convert(object, &mut conversion, to, document.templates);
    }
    kinds::rename(&mut conversion.value, wanted);
    Some(conversion)
}

/// Group, version and kind of an object.
fn names(object: &Value) -> (&str, &str, &str) {
    let api_version = text(object, &["apiVersion"]);
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    (group, version, text(object, &["kind"]))
}

/// A text of an object, `""` when there is none.
fn text<'v>(object: &'v Value, path: &[&str]) -> &'v str {
    path.iter()
        .try_fold(object, |value, step| value.get(step))
        .and_then(Value::as_str)
        .unwrap_or_default()
}
