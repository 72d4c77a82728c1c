//! An object, and where it came from.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::composed::Sources;
use super::fields;
use windlass_go_yaml::yaml::{self, Node};
use windlass_source::Source;
use windlass_source::diag::{FieldPath, Place, Segment, Span};

/// A Kubernetes object.
#[derive(Clone, PartialEq)]
pub struct Object {
    /// Shared by its copies until one of them is changed.
    value: Arc<Value>,
    origin: Option<Origin>,
    /// Of an object that was put together: where its parts are from. Its origin is that of its
    /// root.
    parts: Option<Arc<Sources<Stand>>>,
    /// Texts that the document does not have, and that stay texts whatever a variable in them
    /// becomes.
    texts: Vec<FieldPath>,
}

/// Where an object stands, without its value.
#[derive(Clone, PartialEq)]
pub struct Anchor {
    title: Arc<str>,
    origin: Option<Origin>,
}

impl Anchor {
    /// The place of a field of the object, as [`Object::place`] has it.
    pub fn place(&self, path: &FieldPath) -> Place {
        place_by(
            self.origin.as_ref(),
            self.title.to_string(),
            path,
            yaml::Origin::place,
        )
    }
}

impl fmt::Debug for Anchor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Anchor({})", self.title)
    }
}

/// Where a part of an object stands that was put together from several others.
#[derive(Debug, Clone, PartialEq)]
pub struct Stand {
    /// The object that the part comes from.
    pub anchor: Anchor,
    /// The field of that object; the root for the object as a whole.
    pub path: FieldPath,
    /// The field that says where the value goes, where that is another one than the key of the
    /// value.
    pub key: Option<FieldPath>,
}

/// The document that holds an object, and where in it.
#[derive(Clone)]
struct Origin {
    document: yaml::Origin,
    /// The root, or an item of a list.
    within: FieldPath,
}

/// Objects are equal when their values are.
impl PartialEq for Origin {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The value may be a Secret.
impl fmt::Debug for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Object({})", self.title())
    }
}

impl Object {
    /// An object without places: one that we made, or one from the API.
    pub fn made(value: Value) -> Self {
        Object::shared(Arc::new(value))
    }

    /// The same of a value that others have as well.
    pub fn shared(value: Arc<Value>) -> Self {
        Object {
            value,
            origin: None,
            parts: None,
            texts: Vec::new(),
        }
    }

    /// An object that was put together from parts of others.
    pub fn composed(value: Value, parts: Sources<Stand>) -> Self {
        let origin = parts.nearest(&FieldPath::root()).0.anchor.origin.clone();
        Object {
            value: Arc::new(value),
            origin,
            parts: Some(Arc::new(parts)),
            texts: Vec::new(),
        }
    }

    /// The same object with another value; what it holds is where it stood.
    pub fn revised(&self, value: Value) -> Self {
        Object {
            value: Arc::new(value),
            ..self.clone()
        }
    }

    /// The same object as a patch has it: texts with variables that it puts there stay texts.
    pub fn patched(&self, value: Value) -> Self {
        let mut texts = self.texts.clone();
        added_variables(
            Some(self.value()),
            &value,
            &mut FieldPath::root(),
            &mut texts,
        );
        Object {
            value: Arc::new(value),
            texts,
            ..self.clone()
        }
    }

    pub(super) fn of_document(document: yaml::DocumentValue) -> Self {
        Object {
            value: Arc::new(document.value),
            origin: Some(Origin {
                document: document.origin,
                within: FieldPath::root(),
            }),
            parts: None,
            texts: Vec::new(),
        }
    }

    /// The value. Reading a field that is not there gives null; changes go through the checked
    /// edits.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the value; it is copied only when copies of the object share it.
    pub fn into_value(self) -> Value {
        Arc::unwrap_or_clone(self.value)
    }

    pub(super) fn value_mut(&mut self) -> &mut Value {
        Arc::make_mut(&mut self.value)
    }

    /// The value at a path of mappings; `None` when it is absent.
    pub fn field(&self, path: &[&str]) -> Option<&Value> {
        fields::field(&self.value, path)
    }

    /// The value at a path of mappings and lists; `None` when it is absent.
    pub fn at(&self, path: &FieldPath) -> Option<&Value> {
        fields::at(&self.value, path.segments())
    }

    /// The text at a path; empty when there is none.
    pub fn text(&self, path: &[&str]) -> &str {
        fields::text(&self.value, path)
    }

    /// The items of the list at a path; none when there is no list.
    pub fn items(&self, path: &[&str]) -> &[Value] {
        fields::items(&self.value, path)
    }

    /// `apiVersion`, or nothing.
    pub fn api_version(&self) -> &str {
        self.text(&["apiVersion"])
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        fields::group_version(&self.value).0
    }

    /// The version of the API group.
    pub fn version(&self) -> &str {
        fields::group_version(&self.value).1
    }

    /// `kind`, or nothing.
    pub fn kind(&self) -> &str {
        fields::kind(&self.value)
    }

    /// `metadata.name`, or nothing.
    pub fn name(&self) -> &str {
        fields::name(&self.value)
    }

    /// `metadata.namespace`, or nothing.
    pub fn namespace(&self) -> &str {
        fields::namespace(&self.value)
    }

    /// `metadata.namespace`, or `default`, as kubectl has it.
    pub fn namespace_or_default(&self) -> &str {
        match self.namespace() {
            "" => "default",
            namespace => namespace,
        }
    }

    /// `Kind/name`; of one without a name the kind.
    pub fn title(&self) -> String {
        if self.name().is_empty() {
            return self.kind().to_owned();
        }
        format!("{}/{}", self.kind(), self.name())
    }

    /// Whether it is of a kind, whatever the version.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.kind() == kind && self.group() == group
    }

    /// A label, when it is a text.
    pub fn label(&self, key: &str) -> Option<&str> {
        self.field(&["metadata", "labels", key])?.as_str()
    }

    /// The place of a field, or of the nearest thing that exists; only `Kind/name` and path for an
    /// object without places.
    pub fn place(&self, path: &FieldPath) -> Place {
        let (origin, stands_at, _) = self.origin_of(path);
        place_by(origin, self.title(), &stands_at, yaml::Origin::place).at_path(path.clone())
    }

    /// The place of the key of a field; where there is no key, that of the value.
    pub fn key_place(&self, path: &FieldPath) -> Place {
        let place = match self.origin_of(path) {
            (origin, _, Some(key)) => place_by(origin, self.title(), key, yaml::Origin::place),
            (origin, stands_at, None) => {
                place_by(origin, self.title(), &stands_at, yaml::Origin::key_place)
            }
        };
        place.at_path(path.clone())
    }

    /// The document that holds a field, where in the object of that document it stands, and what
    /// stands for its key if that is elsewhere.
    fn origin_of<'o>(
        &'o self,
        path: &'o FieldPath,
    ) -> (
        Option<&'o Origin>,
        Cow<'o, FieldPath>,
        Option<&'o FieldPath>,
    ) {
        let Some(parts) = &self.parts else {
            return (self.origin.as_ref(), Cow::Borrowed(path), None);
        };
        let (part, below) = parts.nearest(path);
        let key = part.key.as_ref().filter(|_| below.is_root());
        (
            part.anchor.origin.as_ref(),
            Cow::Owned(part.path.join(&below)),
            key,
        )
    }

    /// The place of a line (from 1) of the text at a path, where the file has the text in lines as
    /// they are; else the place of the text.
    pub fn line_place(&self, path: &FieldPath, line: u32) -> Place {
        let place = self.place(path);
        self.line_span(path, &place, line)
            .map(|span| place.clone().at_span(span))
            .unwrap_or(place)
    }

    fn line_span(&self, path: &FieldPath, place: &Place, line: u32) -> Option<Span> {
        let source = self.origin_of(path).0?.document.source();
        let (text, span) = (self.at(path)?.as_str()?, place.span?);
        // Empty lines at the start are not marked.
        let before = text
            .lines()
            .take_while(|line| line.trim().is_empty())
            .count();
        let wanted = text
            .lines()
            .nth(usize::try_from(line).ok()?.checked_sub(1)?)?
            .trim();
        let number = (span.start.line + line).checked_sub(1 + u32::try_from(before).ok()?)?;
        let range = source
            .line_range(number)
            .filter(|_| (span.start.line..=span.end.line).contains(&number))?;
        let written = source.slice(range.clone());
        let start = range.start
            + written
                .find(wanted)
                .filter(|_| !wanted.is_empty() && written.trim() == wanted)?;
        Some(source.span(start..start + wanted.len()))
    }

    /// The title and the location of the object, for findings after the value is dropped.
    pub fn anchor(&self) -> Anchor {
        Anchor {
            title: self.title().into(),
            origin: self.origin.clone(),
        }
    }

    /// The source from which the object was read.
    pub fn source(&self) -> Option<&Source> {
        self.origin.as_ref().map(|origin| origin.document.source())
    }

    /// The number of its document in the source, from 1.
    pub fn document(&self) -> Option<usize> {
        self.origin
            .as_ref()
            .map(|origin| origin.document.document())
    }

    /// The paths of texts with a variable that the file quotes; `None` for an object without
    /// places.
    pub fn quoted_variables(&self) -> Option<BTreeSet<FieldPath>> {
        let origin = self.origin.as_ref()?;
        let mut found = BTreeSet::new();
        if origin.document.text().contains("${")
            && let Some(node) = origin.document.root().at(&origin.within)
        {
            collect_quoted(
                origin.document.source().text(),
                node,
                &mut FieldPath::root(),
                &mut found,
            );
        }
        found.extend(self.texts.iter().cloned());
        Some(found)
    }

    /// The objects of a list such as `kubectl get -o yaml` prints; any other object as it is.
    pub fn into_items(mut self) -> Vec<Object> {
        let items = match self.value_mut().get_mut("items") {
            Some(Value::Array(items)) => std::mem::take(items),
            _ => return vec![self],
        };
        if !self.kind().ends_with("List") {
            if let Some(place) = self.value_mut().get_mut("items") {
                *place = Value::Array(items);
            }
            return vec![self];
        }
        let item = |(index, value)| {
            let within = |origin: &Origin| Origin {
                within: origin.within.field("items").index(index),
                ..origin.clone()
            };
            Object {
                value: Arc::new(value),
                origin: self.origin.as_ref().map(within),
                parts: None,
                texts: Vec::new(),
            }
        };
        items.into_iter().enumerate().map(item).collect()
    }
}

fn place_by(
    origin: Option<&Origin>,
    title: String,
    path: &FieldPath,
    find: fn(&yaml::Origin, &FieldPath) -> Place,
) -> Place {
    let place = origin.map(|origin| find(&origin.document, &origin.within.join(path)));
    place
        .unwrap_or_default()
        .in_object(title)
        .at_path(path.clone())
}

/// Collects the paths of strings with `${` that are new or changed. The recursion is bounded by the
/// nesting limit of the reader.
fn added_variables(
    before: Option<&Value>,
    after: &Value,
    path: &mut FieldPath,
    found: &mut Vec<FieldPath>,
) {
    match after {
        Value::String(text) if text.contains("${") && before != Some(after) => {
            found.push(path.clone())
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                path.push(Segment::Index(i));
                added_variables(before.and_then(|before| before.get(i)), item, path, found);
                path.pop();
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                path.push(Segment::Field(key.clone()));
                added_variables(before.and_then(|before| before.get(key)), item, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The depth is that of the reader's limits.
fn collect_quoted(text: &str, node: &Node, path: &mut FieldPath, found: &mut BTreeSet<FieldPath>) {
    match &node.value {
        yaml::Value::String(value)
            if value.contains("${") && text[node.span.start()..].starts_with(['"', '\'']) =>
        {
            found.insert(path.clone());
        }
        yaml::Value::Sequence(items) => {
            for (i, item) in items.iter().enumerate() {
                path.push(Segment::Index(i));
                collect_quoted(text, item, path, found);
                path.pop();
            }
        }
        yaml::Value::Mapping(mapping) => {
            for entry in mapping.iter() {
                path.push(Segment::Field(entry.key.clone()));
                collect_quoted(text, &entry.value, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}
