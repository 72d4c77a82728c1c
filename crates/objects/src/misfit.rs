//! Fields of the wrong type: what is in the way of an edit or of a reference.

use std::fmt;

use serde_json::Value;

use super::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Segment, rules};

rules! {
    /// a field of an object has a different type than Kubernetes defines
    pub FIELD_TYPE = error("object-field-type-wrong");
}

/// The type of a value in an object, as findings print it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Null, or the absence of a value.
    Absent,
    /// `true` or `false`.
    Boolean,
    /// A whole or floating-point number.
    Number,
    /// A string.
    Text,
    /// An array of JSON.
    List,
    /// An object of JSON, with named fields.
    Mapping,
}

impl Shape {
    pub(crate) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Shape::Absent,
            Value::Bool(_) => Shape::Boolean,
            Value::Number(_) => Shape::Number,
            Value::String(_) => Shape::Text,
            Value::Array(_) => Shape::List,
            Value::Object(_) => Shape::Mapping,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Shape::Absent => "not there",
            Shape::Boolean => "a boolean",
            Shape::Number => "a number",
            Shape::Text => "a text",
            Shape::List => "a list",
            Shape::Mapping => "a mapping",
        })
    }
}

/// A field that has a different type than the one that belongs there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    pub(crate) path: FieldPath,
    pub(crate) wanted: Shape,
    pub(crate) found: Shape,
    /// The line to write, or what to do.
    pub(crate) help: String,
}

impl Misfit {
    /// A value in the place of another. `within` is what would follow in it, as a path: `name`.
    pub(super) fn new(path: &FieldPath, wanted: Shape, found: &Value, within: &str) -> Self {
        Misfit {
            path: path.clone(),
            wanted,
            found: Shape::of(found),
            help: help(path, wanted, found, within),
        }
    }
}

impl Object {
    /// The finding about an edit that was not possible.
    pub fn rejected(&self, edit: Result<(), Misfit>) -> Option<Diagnostic> {
        edit.err().map(|misfit| self.misfit(&misfit))
    }

    /// The finding about a field of this object.
    pub fn misfit(&self, misfit: &Misfit) -> Diagnostic {
        let Misfit {
            path,
            wanted,
            found,
            help,
        } = misfit;
        let finding = Diagnostic::of(
            &FIELD_TYPE,
            format!(
                "{path} of {} is {found}, where {wanted} belongs",
                self.title()
            ),
        );
        finding.at(self.place(path)).help(help.as_str())
    }
}

/// What else the mappings hold in which a name stands.
const BESIDE: [(&str, &str); 2] = [
    (
        "roleRef",
        "apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, ",
    ),
    ("subjects", "kind: ServiceAccount, "),
];

/// Lists whose items are distinguished by their name.
const NAMED: [&str; 6] = [
    "containers",
    "initContainers",
    "ephemeralContainers",
    "env",
    "volumes",
    "webhooks",
];

fn help(path: &FieldPath, wanted: Shape, found: &Value, within: &str) -> String {
    let field = path
        .segments()
        .iter()
        .rev()
        .find_map(|segment| match segment {
            Segment::Field(name) | Segment::Key(name) => Some(name.as_str()),
            Segment::Index(_) => None,
        });
    let field = field.unwrap_or_default();
    let key = if matches!(path.segments().last(), Some(Segment::Index(_))) {
        "- ".to_owned()
    } else {
        format!("{field}: ")
    };
    let is_item = key == "- ";
    let first = within.split(['.', '[']).next().unwrap_or_default();
    match (wanted, found) {
        (Shape::Mapping, Value::String(name)) if is_item && NAMED.contains(&field) => {
            format!("write `- {{name: {name}, …}}`")
        }
        (Shape::Mapping, Value::String(name)) if first == within || first == "name" => {
            let beside = BESIDE
                .iter()
                .find(|(known, _)| *known == field)
                .map_or("", |(_, beside)| beside);
            format!(
                "write `{key}{{{beside}{first}: {name}}}`",
                name = Quoted(name)
            )
        }
        (Shape::Mapping, _) => format!("write a mapping, such as `{key}{{{first}: …}}`"),
        (Shape::List, _) => {
            format!("write a list: `{field}:`, and each item in a line that begins with `- `")
        }
        (Shape::Text, Value::Number(_) | Value::Bool(_)) => {
            format!("write `{key}\"{found}\"`", found = Quoted(found))
        }
        _ => format!("write {wanted} there"),
    }
}
