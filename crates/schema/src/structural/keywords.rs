//! A schema as it is written: its keywords, and whether their values have the right types.

use serde_json::{Map, Value};

use super::{MAX_DEPTH, Violation};
use windlass_source::diag::{Descent, FieldPath};

/// The keywords of one schema. `null` is as good as absent, as it is for Go's decoder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keywords<'a>(&'a Map<String, Value>);

impl<'a> Keywords<'a> {
    pub(super) fn of(schema: &'a Value) -> Option<Self> {
        schema.as_object().map(Keywords)
    }

    pub(super) fn get(self, keyword: &str) -> Option<&'a Value> {
        self.0.get(keyword).filter(|value| !value.is_null())
    }

    /// Whether the keyword has a value that is not Go's zero value. Of pointers, such as those to a
    /// default, only null is.
    pub(super) fn is_set(self, keyword: &str) -> bool {
        let pointer = matches!(
            keyword,
            "default" | "example" | "additionalProperties" | "additionalItems"
        );
        self.get(keyword).is_some_and(|value| {
            pointer || (*value != Value::Bool(false) && value.as_str() != Some(""))
        })
    }

    /// Whether the keyword has a map or list with something in it.
    pub(super) fn is_filled(self, keyword: &str) -> bool {
        self.get(keyword).is_some_and(|value| match value {
            Value::Object(entries) => !entries.is_empty(),
            Value::Array(items) => !items.is_empty(),
            _ => false,
        })
    }

    pub(super) fn text(self, keyword: &str) -> &'a str {
        self.get(keyword)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    pub(super) fn flag(self, keyword: &str) -> bool {
        self.get(keyword) == Some(&Value::Bool(true))
    }

    pub(super) fn list(self, keyword: &str) -> &'a [Value] {
        self.get(keyword)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    pub(super) fn strings(self, keyword: &str) -> Vec<&'a str> {
        self.list(keyword)
            .iter()
            .filter_map(Value::as_str)
            .collect()
    }

    /// The schema under a keyword, when there is one and no list or boolean.
    pub(super) fn schema(self, keyword: &str) -> Option<Keywords<'a>> {
        self.get(keyword).and_then(Keywords::of)
    }

    /// The schemas of a junctor, with their indexes.
    pub(super) fn branches(self, keyword: &str) -> impl Iterator<Item = (usize, Keywords<'a>)> {
        self.list(keyword)
            .iter()
            .enumerate()
            .filter_map(|(index, branch)| Some((index, Keywords::of(branch)?)))
    }

    /// The named properties, in the order of their names.
    pub(super) fn properties(self) -> impl Iterator<Item = (&'a str, Keywords<'a>)> {
        let properties = self.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .filter_map(|(name, schema)| Some((name.as_str(), Keywords::of(schema)?)))
    }

    pub(super) fn property(self, name: &str) -> Option<Keywords<'a>> {
        Keywords::of(self.get("properties")?.get(name)?)
    }

    pub(super) fn has_properties(self) -> bool {
        self.properties().next().is_some()
    }

    /// All keywords that have a value.
    pub(super) fn names(self) -> impl Iterator<Item = &'a str> {
        self.0
            .keys()
            .map(String::as_str)
            .filter(move |name| self.is_set(name))
    }

    pub(super) fn to_value(self) -> Value {
        Value::Object(self.0.clone())
    }
}

/// What the value of a keyword must be.
#[derive(Clone, Copy)]
enum Wanted {
    Text,
    Flag,
    Number,
    Integer,
    Strings,
    Any,
    List,
    Schema,
    SchemaOrFlag,
    SchemaOrList,
    Schemas,
    NamedSchemas,
    Map,
}

const KEYWORDS: [(&str, Wanted); 50] = [
    ("id", Wanted::Text),
    ("$schema", Wanted::Text),
    ("$ref", Wanted::Text),
    ("description", Wanted::Text),
    ("type", Wanted::Text),
    ("format", Wanted::Text),
    ("title", Wanted::Text),
    ("default", Wanted::Any),
    ("maximum", Wanted::Number),
    ("exclusiveMaximum", Wanted::Flag),
    ("minimum", Wanted::Number),
    ("exclusiveMinimum", Wanted::Flag),
    ("maxLength", Wanted::Integer),
    ("minLength", Wanted::Integer),
    ("pattern", Wanted::Text),
    ("maxItems", Wanted::Integer),
    ("minItems", Wanted::Integer),
    ("uniqueItems", Wanted::Flag),
    ("multipleOf", Wanted::Number),
    ("enum", Wanted::List),
    ("maxProperties", Wanted::Integer),
    ("minProperties", Wanted::Integer),
    ("required", Wanted::Strings),
    ("items", Wanted::SchemaOrList),
    ("allOf", Wanted::Schemas),
    ("oneOf", Wanted::Schemas),
    ("anyOf", Wanted::Schemas),
    ("not", Wanted::Schema),
    ("properties", Wanted::NamedSchemas),
    ("additionalProperties", Wanted::SchemaOrFlag),
    ("patternProperties", Wanted::NamedSchemas),
    ("dependencies", Wanted::Map),
    ("additionalItems", Wanted::SchemaOrFlag),
    ("definitions", Wanted::NamedSchemas),
    ("externalDocs", Wanted::Map),
    ("example", Wanted::Any),
    ("nullable", Wanted::Flag),
    ("x-kubernetes-preserve-unknown-fields", Wanted::Flag),
    ("x-kubernetes-embedded-resource", Wanted::Flag),
    ("x-kubernetes-int-or-string", Wanted::Flag),
    ("x-kubernetes-list-map-keys", Wanted::Strings),
    ("x-kubernetes-list-type", Wanted::Text),
    ("x-kubernetes-map-type", Wanted::Text),
    ("x-kubernetes-validations", Wanted::List),
    // Of a rule; listed here because a rule is checked like a schema.
    ("rule", Wanted::Text),
    ("message", Wanted::Text),
    ("messageExpression", Wanted::Text),
    ("reason", Wanted::Text),
    ("fieldPath", Wanted::Text),
    ("optionalOldSelf", Wanted::Flag),
];

/// Keywords whose values Go's decoder could not read, and schemas nested too deeply. The words are
/// ours: the API server answers with its decoder's error before it validates.
pub(super) fn malformed(schema: &Value, path: &FieldPath) -> Vec<Violation> {
    let mut violations = Vec::new();
    visit(schema, &Descent::of(path), 0, &mut violations);
    violations
}

fn visit(schema: &Value, path: &Descent<'_>, depth: usize, violations: &mut Vec<Violation>) {
    if depth > MAX_DEPTH {
        violations.push(Violation::forbidden(
            *path,
            &format!("must not be nested more than {MAX_DEPTH} levels"),
        ));
        return;
    }
    let Value::Object(entries) = schema else {
        violations.push(Violation::invalid(*path, schema, "must be an object"));
        return;
    };
    for (keyword, value) in entries.iter().filter(|(_, value)| !value.is_null()) {
        let Some((_, wanted)) = KEYWORDS.iter().find(|(known, _)| known == keyword) else {
            continue;
        };
        keyword_value(
            *wanted,
            value,
            &path.field(keyword.as_str()),
            depth + 1,
            violations,
        );
    }
}

fn keyword_value(
    wanted: Wanted,
    value: &Value,
    path: &Descent<'_>,
    depth: usize,
    violations: &mut Vec<Violation>,
) {
    let strings = |value: &Value| {
        value
            .as_array()
            .is_some_and(|items| items.iter().all(Value::is_string))
    };
    let expected = match (wanted, value) {
        (Wanted::Text, value) if !value.is_string() => "a string",
        (Wanted::Flag, value) if !value.is_boolean() => "a boolean",
        (Wanted::Number, value) if !value.is_number() => "a number",
        (Wanted::Integer, value) if !value.is_i64() => "an integer",
        (Wanted::Strings, value) if !strings(value) => "a list of strings",
        (Wanted::List | Wanted::Schemas, value) if !value.is_array() => "a list",
        (Wanted::Map | Wanted::NamedSchemas, value) if !value.is_object() => "an object",
        (Wanted::SchemaOrFlag, Value::Bool(_)) => return,
        (Wanted::Schema | Wanted::SchemaOrFlag, schema) => {
            return visit(schema, path, depth, violations);
        }
        (Wanted::Schemas | Wanted::SchemaOrList, Value::Array(schemas)) => {
            let each = schemas.iter().enumerate();
            return each
                .for_each(|(index, schema)| visit(schema, &path.index(index), depth, violations));
        }
        (Wanted::SchemaOrList, schema) => return visit(schema, path, depth, violations),
        (Wanted::NamedSchemas, Value::Object(schemas)) => {
            return schemas.iter().for_each(|(name, schema)| {
                visit(schema, &path.key(name.as_str()), depth, violations)
            });
        }
        _ => return,
    };
    violations.push(Violation::invalid(
        *path,
        value,
        &format!("must be {expected}"),
    ));
}
