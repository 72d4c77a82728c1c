//! Kubernetes objects on their way into components: the value, and where it came from.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::diag::{Diagnostic, FieldPath, Place, Report, Segment, rules};
use crate::text::source::Source;
use crate::text::yaml::{self, Limits, Node};

rules! {
    /// a document lacks `apiVersion`, `kind` or `metadata.name`.
    OBJECT_INCOMPLETE = error("object-incomplete");
    /// a document is a List instead of an object.
    OBJECT_LIST = error("object-list-unexpanded");
}

/// Which strings with variables need quotes, so that what replaces the variable stays text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Quoting {
    /// All of them: the object was made from typed values, in which a variable can only stand in text.
    EveryVariable,
    /// Those that the file quotes. `replicas: ${N:=1}` stays bare and becomes a number.
    At(BTreeSet<FieldPath>),
}

/// An object of a release.
#[derive(Debug, Clone)]
pub struct Object {
    /// The object as JSON.
    pub value: Value,
    /// Which strings with variables need quotes.
    pub quoting: Quoting,
    origin: Option<Origin>,
}

#[derive(Debug, Clone)]
struct Origin {
    source: Source,
    document: usize,
    root: Arc<Node>,
}

impl Object {
    /// An object that we made.
    pub fn made(value: Value) -> Self {
        Object { value, quoting: Quoting::EveryVariable, origin: None }
    }

    /// `apiVersion`, or nothing.
    pub fn api_version(&self) -> &str {
        self.value["apiVersion"].as_str().unwrap_or_default()
    }

    /// `kind`, or nothing.
    pub fn kind(&self) -> &str {
        self.value["kind"].as_str().unwrap_or_default()
    }

    /// `metadata.name`, or nothing.
    pub fn name(&self) -> &str {
        self.value["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// `metadata.namespace`, or nothing.
    pub fn namespace(&self) -> &str {
        self.value["metadata"]["namespace"].as_str().unwrap_or_default()
    }

    /// The API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version().rsplit_once('/').map_or("", |(group, _)| group)
    }

    /// `Kind/name`.
    pub fn title(&self) -> String {
        format!("{}/{}", self.kind(), self.name())
    }

    /// Whether it is of a kind, whatever the version.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.kind() == kind && self.group() == group
    }

    /// The place of a field, in the file from which the object was read; only `Kind/name` and path for an object that we made.
    pub fn place(&self, path: &FieldPath) -> Place {
        let place = Place::default().in_object(self.title()).at_path(path.clone());
        match &self.origin {
            None => place,
            Some(origin) => Place { file: Some(origin.source.name().clone()), ..place }
                .in_document(origin.document)
                .at_span(origin.source.span(origin.root.nearest(path).span)),
        }
    }

    /// The place of the key of a field; where there is no key, that of the value.
    pub fn key_place(&self, path: &FieldPath) -> Place {
        let mut place = self.place(path);
        if let Some(key) = self.origin.as_ref().and_then(|origin| Some(origin.source.span(origin.root.nearest(path).key?))) {
            place.span = Some(key);
        }
        place
    }

    /// The file from which the object was read.
    pub fn file(&self) -> Option<&Arc<str>> {
        self.origin.as_ref().map(|origin| origin.source.name())
    }
}

/// Reads all objects of a file. Documents without content are passed over; what is no object is a finding.
pub fn read(source: &Source, limits: &Limits) -> (Vec<Object>, Report) {
    let parsed = yaml::parse(source, limits);
    let mut report = parsed.report;
    let mut objects = Vec::new();
    for document in parsed.documents {
        if document.root.is_null() {
            continue;
        }
        let origin = Origin { source: source.clone(), document: document.index, root: Arc::new(document.root) };
        let quoting = Quoting::At(quoted_variables(source.text(), &origin.root));
        let object = Object { value: origin.root.to_json(), quoting, origin: Some(origin) };
        match fault(&object) {
            Some(finding) => report.push(finding),
            None => objects.push(object),
        }
    }
    (objects, report)
}

fn fault(object: &Object) -> Option<Diagnostic> {
    if object.kind() == "List" && object.api_version() == "v1" {
        let finding = Diagnostic::of(&OBJECT_LIST, "a List stands where objects are expected");
        return Some(
            finding
                .at(object.place(&FieldPath::root().field("kind")))
                .help("write each item as a document of its own, with `---` between them"),
        );
    }
    let missing = [(object.api_version(), "apiVersion"), (object.kind(), "kind"), (object.name(), "metadata.name")]
        .into_iter()
        .find(|(value, _)| value.is_empty())?;
    let path: FieldPath = missing.1.split('.').map(|field| Segment::Field(field.to_owned())).collect();
    let finding = Diagnostic::of(&OBJECT_INCOMPLETE, format!("the document has no {}, so it is no Kubernetes object", missing.1));
    Some(finding.at(object.place(&path)).help(format!("add `{}`, or remove the document", missing.1)))
}

/// The paths of strings with a variable that the text quotes.
fn quoted_variables(text: &str, root: &Node) -> BTreeSet<FieldPath> {
    let mut found = BTreeSet::new();
    if text.contains("${") {
        collect_quoted(text, root, &mut FieldPath::root(), &mut found);
    }
    found
}

/// The depth is that of the reader's limits.
fn collect_quoted(text: &str, node: &Node, path: &mut FieldPath, found: &mut BTreeSet<FieldPath>) {
    match &node.value {
        yaml::Value::String(value) if value.contains("${") && text[node.span.start()..].starts_with(['"', '\'']) => {
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
