//! What a version of a CRD took before and does not take any more.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::definitions::{CRD_GROUP, CRD_KIND};
use windlass_objects::Object;
use windlass_objects::fields::items;
use windlass_source::diag::{Diagnostic, FieldPath, Segment, rules};

rules! {
    /// a version of a CRD rejects values that the previous release accepted
    NARROWED = warning("upgrade-schema-narrowed");
}

/// How many changes of a version a finding names.
const MOST_NAMED: usize = 8;

/// Checks the versions of a CRD that both releases serve.
pub(super) fn check(old: &Object, new: &Object) -> Vec<Diagnostic> {
    if !new.is(CRD_GROUP, CRD_KIND) {
        return Vec::new();
    }
    let before: BTreeMap<&str, &Value> = served(old)
        .map(|(_, name, schema)| (name, schema))
        .collect();
    let of_version = |(at, name, schema): (usize, &str, &Value)| {
        let path = FieldPath::of_fields("spec.versions")
            .index(at)
            .field("schema")
            .field("openAPIV3Schema");
        let mut walk = Walk {
            found: Vec::new(),
            path: FieldPath::of_fields("spec"),
        };
        walk.compare(before.get(name).filter(|old| !old.is_null())?, schema);
        let (first, _) = walk.found.first()?;
        let said: Vec<String> = walk
            .found
            .iter()
            .take(MOST_NAMED)
            .map(|(path, what)| format!("{} {what}", shown(path)))
            .collect();
        let more = walk.found.len().saturating_sub(MOST_NAMED);
        let more = if more > 0 {
            format!(", and {more} more")
        } else {
            String::new()
        };
        let message = format!(
            "{name} of {} accepts less than before: {}{more}",
            new.title(),
            said.join(", ")
        );
        Some(
            Diagnostic::of(&NARROWED, message)
                .at(new.place(&path.join(&schema_path(first))))
                .help("make it optional or give it a default, or take the change to a new version")
                .note("objects that exist are rejected at their next update, or lose the field"),
        )
    };
    served(new).filter_map(of_version).collect()
}

/// The versions that a CRD serves: their places in its list, their names, and the schemas of
/// `spec`.
fn served(crd: &Object) -> impl Iterator<Item = (usize, &str, &Value)> {
    let versions = crd
        .items(&["spec", "versions"])
        .iter()
        .enumerate()
        .filter(|(_, version)| version["served"] == true);
    versions.filter_map(|(at, version)| {
        Some((
            at,
            version["name"].as_str()?,
            &version["schema"]["openAPIV3Schema"]["properties"]["spec"],
        ))
    })
}

/// The path in a schema of a field of its objects.
fn schema_path(field: &FieldPath) -> FieldPath {
    field
        .segments()
        .iter()
        .fold(FieldPath::root(), |path, segment| match segment {
            Segment::Field(name) if name == ITEMS => path.field("items"),
            Segment::Field(name) if name == VALUES => path.field("additionalProperties"),
            Segment::Field(name) | Segment::Key(name) => {
                path.field("properties").field(name.as_str())
            }
            Segment::Index(_) => path,
        })
}

/// `spec.disks[].size`.
fn shown(path: &FieldPath) -> String {
    path.to_string().replace(".[]", "[]")
}

/// Says that fields are kept that a schema does not name.
const OPEN: &str = "x-kubernetes-preserve-unknown-fields";

/// What stands for each item of a list, and each value of a map, in a path.
const ITEMS: &str = "[]";
const VALUES: &str = "*";

/// Where the CEL rules of a schema stand.
const CEL: &str = "x-kubernetes-validations";

const INT_OR_STRING: &str = "integer or string";
const ANYTHING: &str = "anything";

fn type_of(schema: &Value) -> &str {
    match schema["type"].as_str() {
        _ if schema["x-kubernetes-int-or-string"] == true => INT_OR_STRING,
        Some(name) => name,
        None => ANYTHING,
    }
}

/// Whether each value of one type is one of another. Without a type a schema of old says by `anyOf`
/// what it takes.
fn takes_more(old: &str, new: &str) -> bool {
    match new {
        ANYTHING => true,
        "number" => old == "integer",
        INT_OR_STRING => matches!(old, ANYTHING | "integer" | "string"),
        _ => false,
    }
}

/// The properties of the object itself that a CEL rule names.
fn properties_of(rule: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let named = rule
        .match_indices("self.")
        .map(|(at, own)| &rule[at + own.len()..]);
    named
        .map(move |rest| rest.strip_prefix('?').unwrap_or(rest))
        .map(move |rest| &rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())])
}

/// Formats of texts that the API server checks (apiextensions-apiserver,
/// pkg/apiserver/validation/formats.go); it ignores all others.
fn is_checked(format: &str) -> bool {
    const CHECKED: [&str; 24] = [
        "bsonobjectid",
        "byte",
        "cidr",
        "creditcard",
        "date",
        "date-time",
        "datetime",
        "duration",
        "email",
        "hexcolor",
        "hostname",
        "ipv4",
        "ipv6",
        "isbn",
        "isbn10",
        "isbn13",
        "mac",
        "rgbcolor",
        "ssn",
        "uri",
        "uuid",
        "uuid3",
        "uuid4",
        "uuid5",
    ];
    CHECKED.contains(&format)
}

/// The items of a list in JSON, to look them up.
fn written(schema: &Value, key: &str) -> BTreeSet<String> {
    items(schema, &[key]).iter().map(Value::to_string).collect()
}

/// What a schema says of the fields that it does not name, where it keeps them: nothing (`null`),
/// or a schema.
fn of_values(schema: &Value) -> Option<&Value> {
    match &schema["additionalProperties"] {
        Value::Bool(true) => Some(&Value::Null),
        values => Some(values).filter(|values| values.is_object()),
    }
}

struct Walk {
    /// Fields, and what became of them.
    found: Vec<(FieldPath, String)>,
    path: FieldPath,
}

impl Walk {
    fn tell(&mut self, what: impl Into<String>) {
        self.found.push((self.path.clone(), what.into()));
    }

    /// The depth is that of the reader's limits.
    fn compare(&mut self, old: &Value, new: &Value) {
        let (type_of_old, type_of_new) = (type_of(old), type_of(new));
        if type_of_old != type_of_new && !takes_more(type_of_old, type_of_new) {
            self.tell(format!("is {type_of_new} and was {type_of_old}"));
            return;
        }
        self.openness(old, new);
        self.values(old, new);
        self.alternatives(old, new);
        self.rules(old, new);
        self.required(old, new);
        self.properties(old, new);
        if old["items"].is_object() && new["items"].is_object() {
            self.below(ITEMS, &old["items"], &new["items"]);
        }
        if let (Some(was), Some(is)) = (of_values(old), of_values(new)) {
            self.below(VALUES, was, is);
        }
    }

    /// Whether fields that the schema does not name are kept.
    fn openness(&mut self, old: &Value, new: &Value) {
        if new[OPEN] == true {
            return;
        }
        if old[OPEN] == true {
            self.tell("keeps only the fields that it names");
        } else if of_values(old).is_some() && of_values(new).is_none() {
            self.tell("is not a map any more");
        }
    }

    fn below(&mut self, segment: &str, old: &Value, new: &Value) {
        self.path.push(Segment::Field(segment.to_owned()));
        self.compare(old, new);
        self.path.pop();
    }

    /// Bounds of a value: enumerations, patterns, lengths.
    fn values(&mut self, old: &Value, new: &Value) {
        let allowed = written(new, "enum");
        let was_allowed = items(old, &["enum"]);
        let lost: Vec<String> = was_allowed
            .iter()
            .map(Value::to_string)
            .filter(|value| !allowed.contains(value))
            .collect();
        match (was_allowed.is_empty(), allowed.is_empty()) {
            (true, false) => self.tell("takes only certain values"),
            (false, false) if !lost.is_empty() => {
                self.tell(format!("does not take {} any more", lost.join(", ")))
            }
            _ => {}
        }
        if !new["pattern"].is_null() && new["pattern"] != old["pattern"] {
            self.tell("has a different pattern");
        }
        for key in ["maximum", "maxItems", "maxLength", "maxProperties"] {
            if new[key]
                .as_f64()
                .is_some_and(|bound| old[key].as_f64().is_none_or(|was| bound < was))
            {
                self.tell(format!("has a lower {key}"));
            }
        }
        for key in ["minimum", "minItems", "minLength", "minProperties"] {
            if new[key].as_f64().is_some_and(|bound| {
                bound
                    > old[key]
                        .as_f64()
                        .unwrap_or(if key == "minimum" { f64::MIN } else { 0.0 })
            }) {
                self.tell(format!("has a higher {key}"));
            }
        }
        // That a bound itself is left out of another range is told of the bound, where it takes
        // less.
        for (key, bound) in [
            ("exclusiveMaximum", "maximum"),
            ("exclusiveMinimum", "minimum"),
        ] {
            if new[key] == true && old[key] != true && new[bound] == old[bound] {
                self.tell(format!("does not take its {bound} any more"));
            }
        }
        if old["nullable"] == true && new["nullable"] != true {
            self.tell("may not be null any more");
        }
        // The API server does not look at the formats of numbers.
        if new["type"] == "string"
            && new["format"] != old["format"]
            && new["format"].as_str().is_some_and(is_checked)
        {
            self.tell(format!(
                "has the format {}",
                new["format"].as_str().unwrap_or_default()
            ));
        }
    }

    /// What a value has to be beside its type.
    fn alternatives(&mut self, old: &Value, new: &Value) {
        for key in ["anyOf", "oneOf"] {
            let (was, is) = (written(old, key), written(new, key));
            let is_implied = type_of(new) == INT_OR_STRING
                && items(new, &[key])
                    .iter()
                    .all(|schema| schema["type"].is_string());
            let takes_less = !is.is_empty() && (was.is_empty() || !was.is_subset(&is));
            if takes_less && !is_implied {
                self.tell(format!("has a different {key}"));
            }
        }
        let was = written(old, "allOf");
        // Generators write one and the same bound in `allOf` or beside it.
        let was_beside = |schema: &Value| {
            schema
                .as_object()
                .is_some_and(|bounds| bounds.iter().all(|(key, bound)| old[key] == *bound))
        };
        if items(new, &["allOf"])
            .iter()
            .any(|schema| !was.contains(&schema.to_string()) && !was_beside(schema))
        {
            self.tell("has a different allOf");
        }
        if !new["not"].is_null() && new["not"] != old["not"] {
            self.tell("has a different not");
        }
    }

    /// CEL rules. One about a property that is new may be true of each object without it.
    fn rules(&mut self, old: &Value, new: &Value) {
        let rules = |schema: &'_ Value| -> BTreeSet<String> {
            let rules = items(schema, &[CEL])
                .iter()
                .filter_map(|rule| rule["rule"].as_str());
            rules
                .map(|rule| rule.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect()
        };
        let was = rules(old);
        let is_new_property = |name: &str| {
            new["properties"].get(name).is_some() && old["properties"].get(name).is_none()
        };
        let added = rules(new)
            .into_iter()
            .filter(|rule| !was.contains(rule) && !properties_of(rule).any(is_new_property))
            .count();
        match added {
            0 => {}
            1 => self.tell("has a new rule"),
            _ => self.tell(format!("has {added} new rules")),
        }
    }

    fn required(&mut self, old: &Value, new: &Value) {
        let was: BTreeSet<&str> = items(old, &["required"])
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let added = items(new, &["required"])
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| !was.contains(name));
        for name in added.filter(|name| new["properties"][*name].get("default").is_none()) {
            self.found
                .push((self.path.field(name), "is required".to_owned()));
        }
    }

    fn properties(&mut self, old: &Value, new: &Value) {
        for (name, old_property) in old["properties"].as_object().into_iter().flatten() {
            match new["properties"].get(name).or_else(|| of_values(new)) {
                Some(property) => self.below(name, old_property, property),
                None if new[OPEN] == true => {}
                None => self
                    .found
                    .push((self.path.field(name.as_str()), "is gone".to_owned())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(old: Value, new: Value) -> Vec<String> {
        let mut walk = Walk {
            found: Vec::new(),
            path: FieldPath::of_fields("spec"),
        };
        walk.compare(&old, &new);
        walk.found
            .iter()
            .map(|(path, what)| format!("{} {what}", shown(path)))
            .collect()
    }

    #[test]
    fn only_what_takes_less_is_told() {
        let string = || json!({"type": "string"});
        let int_or_string = || json!({"x-kubernetes-int-or-string": true, "anyOf": [{"type": "integer"}, {"type": "string"}]});
        let ruled = |rules: &[&str]| {
            let rules: Vec<Value> = rules
                .iter()
                .map(|rule| json!({"rule": rule, "message": "m"}))
                .collect();
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "x-kubernetes-validations": rules})
        };
        let object = |properties: Value| json!({"type": "object", "properties": properties});
        for (old, new, expected) in [
            (string(), string(), vec![]),
            (
                string(),
                json!({"type": "integer"}),
                vec!["spec is integer and was string"],
            ),
            (
                json!({"type": "integer"}),
                json!({"type": "number"}),
                vec![],
            ),
            (
                json!({"type": "number"}),
                json!({"type": "integer"}),
                vec!["spec is integer and was number"],
            ),
            (
                string(),
                json!({"type": "string", "enum": ["a"]}),
                vec!["spec takes only certain values"],
            ),
            (
                json!({"type": "string", "enum": ["a", "b"]}),
                json!({"type": "string", "enum": ["b", "c"]}),
                vec!["spec does not take \"a\" any more"],
            ),
            (json!({"type": "string", "enum": ["a"]}), string(), vec![]),
            (
                string(),
                json!({"type": "string", "pattern": "^a$"}),
                vec!["spec has a different pattern"],
            ),
            (
                json!({"type": "string", "pattern": "^a$"}),
                string(),
                vec![],
            ),
            (
                string(),
                json!({"type": "string", "maxLength": 3}),
                vec!["spec has a lower maxLength"],
            ),
            (
                json!({"type": "string", "maxLength": 3}),
                json!({"type": "string", "maxLength": 4}),
                vec![],
            ),
            (
                string(),
                json!({"type": "string", "minLength": 1}),
                vec!["spec has a higher minLength"],
            ),
            (
                json!({"type": "string", "minLength": 2}),
                json!({"type": "string", "minLength": 1}),
                vec![],
            ),
            (
                json!({"type": "integer"}),
                json!({"type": "integer", "minimum": 0}),
                vec!["spec has a higher minimum"],
            ),
            (
                json!({"type": "string", "nullable": true}),
                string(),
                vec!["spec may not be null any more"],
            ),
            (
                int_or_string(),
                string(),
                vec!["spec is string and was integer or string"],
            ),
            (
                int_or_string(),
                json!({"type": "integer"}),
                vec!["spec is integer and was integer or string"],
            ),
            (string(), int_or_string(), vec![]),
            (json!({"type": "integer"}), int_or_string(), vec![]),
            (
                json!({"type": "boolean"}),
                int_or_string(),
                vec!["spec is integer or string and was boolean"],
            ),
            (
                json!({"x-kubernetes-int-or-string": true}),
                int_or_string(),
                vec![],
            ),
            (
                string(),
                json!({"type": "string", "format": "ipv4"}),
                vec!["spec has the format ipv4"],
            ),
            (
                string(),
                json!({"type": "string", "format": "unheard-of"}),
                vec![],
            ),
            (
                json!({"type": "integer"}),
                json!({"type": "integer", "format": "int32"}),
                vec![],
            ),
            (
                json!({"type": "string", "format": "ipv4"}),
                string(),
                vec![],
            ),
            (
                json!({"type": "integer", "minimum": 1}),
                json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
                vec!["spec does not take its minimum any more"],
            ),
            (
                json!({"type": "integer", "maximum": 1, "exclusiveMaximum": true}),
                json!({"type": "integer", "maximum": 1}),
                vec![],
            ),
            (
                json!({"type": "integer", "minimum": 1}),
                json!({"type": "integer", "minimum": 0, "exclusiveMinimum": true}),
                vec![],
            ),
            (
                string(),
                json!({"type": "string", "anyOf": [{"maxLength": 1}]}),
                vec!["spec has a different anyOf"],
            ),
            (
                json!({"type": "string", "anyOf": [{"maxLength": 1}]}),
                json!({"type": "string", "anyOf": [{"maxLength": 1}, {"minLength": 3}]}),
                vec![],
            ),
            (
                string(),
                json!({"type": "string", "oneOf": [{"maxLength": 1}]}),
                vec!["spec has a different oneOf"],
            ),
            (
                string(),
                json!({"type": "string", "allOf": [{"maxLength": 1}]}),
                vec!["spec has a different allOf"],
            ),
            (
                json!({"type": "string", "maxLength": 1}),
                json!({"type": "string", "maxLength": 1, "allOf": [{"maxLength": 1}]}),
                vec![],
            ),
            (
                string(),
                json!({"type": "string", "not": {"enum": ["a"]}}),
                vec!["spec has a different not"],
            ),
            (
                json!({"type": "string", "not": {"enum": ["a"]}}),
                string(),
                vec![],
            ),
            (
                ruled(&[]),
                ruled(&["has(self.a)"]),
                vec!["spec has a new rule"],
            ),
            (
                ruled(&["has(self.a)"]),
                ruled(&["has(self.a)", "self.a > 1", "self.a > 2"]),
                vec!["spec has 2 new rules"],
            ),
            (
                ruled(&["has(self.a)", "self.a > 1"]),
                ruled(&["self.a  >\n1"]),
                vec![],
            ),
            (
                json!({"type": "object"}),
                ruled(&["!has(self.a) || self.a > 1"]),
                vec![],
            ),
            (
                object(json!({"a": {"type": "string"}})),
                object(json!({})),
                vec!["spec.a is gone"],
            ),
            (
                object(json!({})),
                object(json!({"a": {"type": "string"}})),
                vec![],
            ),
            (
                object(json!({"a": {"type": "string"}})),
                json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
                vec![],
            ),
            // What is kept without a name is checked by what is named all the same.
            (
                object(json!({"a": {"type": "string"}, "b": {"type": "string"}})),
                json!({
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true,
                    "required": ["b"], "properties": {"a": {"type": "integer"}}
                }),
                vec!["spec.b is required", "spec.a is integer and was string"],
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
                vec![],
            ),
            (
                object(json!({"a": {"type": "integer"}, "b": {"type": "string"}})),
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                vec!["spec.a is string and was integer"],
            ),
            (
                object(json!({"a": {"type": "integer"}})),
                json!({"type": "object", "additionalProperties": true}),
                vec![],
            ),
            (
                json!({"type": "object", "additionalProperties": true}),
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                vec!["spec.* is string and was anything"],
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                json!({"type": "object", "additionalProperties": true}),
                vec![],
            ),
            (
                json!({"type": "object", "additionalProperties": true}),
                object(json!({})),
                vec!["spec is not a map any more"],
            ),
            (
                json!({"type": "object", "additionalProperties": false}),
                object(json!({})),
                vec![],
            ),
            (string(), json!({"type": "string", "allOf": [{}]}), vec![]),
            (
                object(json!({"a": {"type": "string"}})),
                json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}),
                vec!["spec.a is required"],
            ),
            (
                object(json!({"a": {"type": "string"}})),
                json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string", "default": "x"}}}),
                vec![],
            ),
            (
                json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
                object(json!({})),
                vec!["spec keeps only the fields that it names"],
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                object(json!({"a": {"type": "string"}})),
                vec!["spec is not a map any more"],
            ),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                json!({"type": "object", "additionalProperties": {"type": "integer"}}),
                vec!["spec.* is integer and was string"],
            ),
            (
                json!({"type": "array", "items": {"type": "string"}}),
                json!({"type": "array", "items": {"type": "string", "maxLength": 1}}),
                vec!["spec[] has a lower maxLength"],
            ),
        ] {
            assert_eq!(told(old.clone(), new.clone()), expected, "{old} {new}");
        }
    }
}
