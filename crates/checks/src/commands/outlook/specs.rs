//! The specs of machines' configs: of the configs themselves, and what patches of a ClusterClass put
//! into them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::documents::Document;
use windlass_bootstrap::render::input::target::ConfigKind;
use windlass_capi::contract::CORE_GROUP;
use windlass_objects::{self as objects, fields};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{FieldPath, Place, Segment};

/// A spec, or the part of one that a patch writes.
pub(super) struct Spec<'a> {
    pub(super) value: Cow<'a, Value>,
    /// The path of the spec in its object; the root for a patch.
    pub(super) path: FieldPath,
    patch: Option<Patch>,
}

/// Where a patch has its value.
struct Patch {
    /// The field with the path of the patch.
    pointer: FieldPath,
    /// The field with the value, and how many steps of a path in the spec lead to it.
    value: FieldPath,
    steps: usize,
    /// Whether the value is a text that becomes one.
    is_template: bool,
}

impl Spec<'_> {
    /// Where a field of the spec is; its key with `is_key`.
    pub(super) fn place(&self, document: &Document, path: &FieldPath, is_key: bool) -> Place {
        let object = &document.object;
        let Some(patch) = &self.patch else {
            return match is_key {
                true => object.key_place(path),
                false => object.place(path),
            };
        };
        let below: FieldPath = path.segments().iter().skip(patch.steps).cloned().collect();
        if path.segments().len() <= patch.steps {
            object.place(&patch.pointer)
        } else if patch.is_template {
            object.place(&patch.value)
        } else if is_key {
            object.key_place(&patch.value.join(&below))
        } else {
            object.place(&patch.value.join(&below))
        }
    }
}

/// The specs of a document.
pub(super) fn of(document: &Document) -> Vec<Spec<'_>> {
    let object = &document.object;
    if object.is(CORE_GROUP, "ClusterClass") {
        return patched(document);
    }
    let steps = ConfigKind::of(object).map_or(&[][..], ConfigKind::spec_path);
    let spec = object.field(steps).filter(|_| !steps.is_empty());
    let path = steps
        .iter()
        .fold(FieldPath::root(), |path, step| path.field(*step));
    spec.into_iter()
        .map(|spec| Spec {
            value: Cow::Borrowed(spec),
            path: path.clone(),
            patch: None,
        })
        .collect()
}

/// What the JSON patches of a ClusterClass write into specs.
fn patched(document: &Document) -> Vec<Spec<'_>> {
    let mut specs = Vec::new();
    let object = &document.object;
    for (at, patch) in object.items(&["spec", "patches"]).iter().enumerate() {
        let of_patch = FieldPath::of_fields("spec.patches").index(at);
        for (at, definition) in fields::items(patch, &["definitions"]).iter().enumerate() {
            let of_definition = of_patch.field("definitions").index(at);
            for (at, operation) in fields::items(definition, &["jsonPatches"])
                .iter()
                .enumerate()
            {
                let path = of_definition.field("jsonPatches").index(at);
                specs.extend(written(operation, &path));
            }
        }
    }
    specs
}

/// The part of a spec that an operation writes.
fn written(operation: &Value, path: &FieldPath) -> Option<Spec<'static>> {
    if fields::text(operation, &["op"]) == "remove" {
        return None;
    }
    let pointer = fields::text(operation, &["path"]);
    let steps = steps_in_spec(pointer)?;
    let template = fields::text(operation, &["valueFrom", "template"]);
    let (value, at, is_template) = match operation.get("value") {
        Some(value) => (value.clone(), path.field("value"), false),
        None => (
            parsed(template).unwrap_or_default(),
            path.field("valueFrom").field("template"),
            true,
        ),
    };
    let nested = steps.iter().rev().fold(value, |value, step| {
        if step == "-" || step.parse::<usize>().is_ok() {
            return Value::Array(vec![value]);
        }
        Value::Object(Map::from_iter([(step.clone(), value)]))
    });
    Some(Spec {
        value: Cow::Owned(nested),
        path: FieldPath::root(),
        patch: Some(Patch {
            pointer: path.field("path"),
            value: at,
            steps: steps.len(),
            is_template,
        }),
    })
}

/// The steps of a JSON pointer below the spec of a config; `None` when it leads elsewhere.
fn steps_in_spec(pointer: &str) -> Option<Vec<String>> {
    let rest = pointer.strip_prefix("/spec/template/spec")?;
    let rest = rest.strip_prefix("/kubeadmConfigSpec").unwrap_or(rest);
    let rest = rest.strip_prefix('/')?;
    Some(
        rest.split('/')
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .collect(),
    )
}

/// The value that the text of a template becomes, where its variables do not decide how it is read.
fn parsed(template: &str) -> Option<Value> {
    if template.is_empty() || template.contains("{{") {
        return None;
    }
    let source = Source::new("template", template);
    let (documents, report) = objects::documents(&source, &Budget::default());
    let first = documents.into_iter().next()?;
    (!report.has_errors()).then(|| first.into_value())
}

/// The name of a field at the end of a path.
pub(super) fn last(path: &FieldPath) -> &str {
    match path.segments().last() {
        Some(Segment::Field(name) | Segment::Key(name)) => name,
        _ => "",
    }
}
