//! Documents of our own formats (provider.yaml, metadata.yaml): the schema of a Rust type, and
//! findings in our own words instead of the API server's.

use std::borrow::Cow;
use std::collections::BTreeSet;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{Fault, Home, Schema, UnknownField, Violation, ViolationKind};
use windlass_go_text as go;
use windlass_go_yaml::goyaml;
use windlass_go_yaml::yaml::Node;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Quoted, Remedy, Report, Rule, Segment};

/// The rules under which the faults of one kind of document are reported.
#[derive(Debug, Clone, Copy)]
pub struct Wording {
    /// A field that the format does not have.
    pub unknown: &'static Rule,
    /// A field that must be there.
    pub missing: &'static Rule,
    /// A value that the format does not take.
    pub rejected: &'static Rule,
}

/// The schema of a type as a structural schema in JSON: inlined, without `null`.
pub fn structural_json<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::openapi3().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    made_structural(&mut schema);
    schema
}

/// The compiled schema of a type of ours.
pub fn schema_of<T: JsonSchema>() -> Schema {
    compiled(&structural_json::<T>())
}

/// Compiles a schema that we made ourselves.
pub fn compiled(schema: &Value) -> Schema {
    Schema::from_json(schema).expect("internal error: the schema of our own type does not compile")
}

/// Rewrites what schemars says and structural schemas do not: `null` as a value, formats of Rust's
/// integers, titles, open maps.
fn made_structural(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            map.remove("nullable");
            map.remove("title");
            map.remove("$schema");
            match map.get("additionalProperties") {
                // Unknown fields are found by pruning, which knows the name that was meant.
                Some(Value::Bool(false)) => drop(map.remove("additionalProperties")),
                Some(Value::Bool(true)) => {
                    map.remove("additionalProperties");
                    map.insert(
                        "x-kubernetes-preserve-unknown-fields".to_owned(),
                        Value::Bool(true),
                    );
                }
                _ => {}
            }
            if map
                .get("format")
                .and_then(Value::as_str)
                .is_some_and(|format| format.starts_with("uint"))
            {
                map.remove("format");
            }
            map.values_mut().for_each(made_structural);
        }
        Value::Array(items) => items.iter_mut().for_each(made_structural),
        _ => {}
    }
}

/// What of a field a finding points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Its key, where it has one.
    Key,
    /// Its value, or the item itself where the field is an item of a list.
    Value,
}

/// Checks a document by its schema: unknown fields with the name that was meant, missing fields,
/// values of the wrong type or outside their bounds. What follows from another finding is left out:
/// a field is not missing when it is there under a misspelt name.
///
/// `root` is the document as it was read, `index` its number in the source.
pub fn check(
    document: &Value,
    schema: &Schema,
    wording: &Wording,
    root: &Node,
    source: &Source,
    index: usize,
) -> Report {
    check_at(document, schema, wording, &|path, part| {
        let located = root.nearest(path);
        let span = if part == Part::Key {
            located.key.unwrap_or(located.span)
        } else {
            located.span
        };
        source
            .place_at(span)
            .in_document(index)
            .at_path(path.clone())
    })
}

/// As [`check`], for a document that is not what was read, but made of it: `at` says where a field
/// was written, and under which path.
pub fn check_at(
    document: &Value,
    schema: &Schema,
    wording: &Wording,
    at: &dyn Fn(&FieldPath, Part) -> Place,
) -> Report {
    let unknown = schema.unknown_fields(document);
    let meant: BTreeSet<FieldPath> = unknown.iter().filter_map(meant).collect();
    let violations = schema.validate(document).into_iter();
    let violations: Vec<_> = violations
        .filter(|violation| {
            violation.kind != ViolationKind::Required || !meant.contains(&violation.path)
        })
        // A bound that does not fit its own format is reported about the schema.
        .filter(|violation| !violation.is_about_schema())
        .collect();
    // In a mapping that should be something else no field has the right name.
    let mistyped = |fault: &Fault| matches!(fault, Fault::Type { .. });
    let misplaced: BTreeSet<&FieldPath> = violations
        .iter()
        .filter(|violation| mistyped(&violation.fault))
        .map(|violation| &violation.path)
        .collect();
    let is_misplaced = |field: &UnknownField| {
        std::iter::successors(field.path.parent(), FieldPath::parent)
            .any(|above| misplaced.contains(&above))
    };
    let unknown = unknown.iter().filter(|field| !is_misplaced(field));
    let unknown = unknown.map(|field| unknown_finding(field, wording, at));
    let violations = violations.iter().map(|violation| {
        let place = at(&violation.path, Part::Value);
        let finding = violation_finding(document, violation, wording, place);
        match mistyped(&violation.fault)
            .then(|| schema.in_new_form(document, &violation.path, at))
            .flatten()
        {
            Some(form) => finding.help(form),
            None => finding,
        }
    });
    // The type and the format of a number are checked apart; here they are one fault. A message
    // names its field.
    let mut told = BTreeSet::new();
    unknown
        .chain(violations)
        .filter(|finding| told.insert(finding.message.clone()))
        .collect()
}

impl Schema {
    /// How a value is written where the schema has something else: a mapping as a list of names and
    /// values, or the other way round, and a text in which a colon stands.
    fn in_new_form(
        &self,
        document: &Value,
        path: &FieldPath,
        at: &dyn Fn(&FieldPath, Part) -> Place,
    ) -> Option<Remedy> {
        let value = value_at(document, path)?;
        if let Some(items) = value.as_array() {
            return as_mapping(items);
        }
        let mapping = value.as_object()?;
        if self.has_items_with(path, &["name", "value"]) {
            return as_list(mapping, path, at);
        }
        let (key, value) = mapping
            .iter()
            .next()
            .filter(|_| mapping.len() == 1 && self.is_text(path))?;
        let start = |path: &FieldPath, part| at(path, part).span.map(|span| span.start);
        if start(&path.field(key.as_str()), Part::Key) != start(path, Part::Value) {
            // In braces a mapping was meant.
            return None;
        }
        let text = match value {
            Value::Null => Some(format!("{key}:")),
            value => scalar(value).map(|value| format!("{key}: {value}")),
        };
        let quoted = text.map_or_else(|| "'…'".to_owned(), |text| in_quotes(&text));
        Some(Remedy::new("put it in quotes, because `: ` makes a mapping of it: ").quoted(quoted))
    }
}

/// A list of names and values as the mapping that it was before.
fn as_mapping(items: &[Value]) -> Option<Remedy> {
    let entry = |item: &Value| {
        Some(format!(
            "{}: {}",
            item["name"].as_str()?,
            Quoted(go::quote(&scalar(&item["value"])?))
        ))
    };
    let entries: Option<Vec<String>> = items.iter().map(entry).collect();
    entries
        .filter(|entries| !entries.is_empty())
        .map(|entries| format!("write a mapping: `{{{}}}`", entries.join(", ")).into())
}

/// A mapping as the list of names and values that it became: in lines of its own, or in brackets
/// where it is in brackets.
fn as_list(
    mapping: &Map<String, Value>,
    path: &FieldPath,
    at: &dyn Fn(&FieldPath, Part) -> Place,
) -> Option<Remedy> {
    let entries: Option<Vec<(&str, String)>> = mapping
        .iter()
        .map(|(name, value)| Some((name.as_str(), scalar(value)?)))
        .collect();
    let entries = entries?;
    let line = |path: &FieldPath| at(path, Part::Key).span.map(|span| span.start.line);
    if line(path) == path.parent().as_ref().and_then(line) {
        let item = |(name, value): &(&str, String)| {
            format!(
                "{{name: {}, value: {}}}",
                go::quote(name),
                Quoted(go::quote(value))
            )
        };
        return Some(
            format!(
                "write a list: `[{}]`",
                entries.iter().map(item).collect::<Vec<_>>().join(", ")
            )
            .into(),
        );
    }
    let items: Value = entries
        .iter()
        .map(|(name, value)| json!({"name": name, "value": value}))
        .collect();
    let lines = goyaml::to_string(&items).ok()?;
    Some(
        format!(
            "write a list:\n{}:\n{}",
            last_name(path),
            Quoted(lines.trim_end())
        )
        .into(),
    )
}

/// A text in quotes, of which those are taken that leave it as it is.
fn in_quotes(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    go::quote(text)
}

/// A scalar as it was most likely written.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// The path that an unknown field was meant to have.
fn meant(field: &UnknownField) -> Option<FieldPath> {
    let suggestion = field.suggestion.as_ref()?;
    Some(
        field
            .path
            .parent()
            .unwrap_or_default()
            .field(suggestion.as_str()),
    )
}

/// The last field of a path, with the positions behind it: `[0]` alone says little.
fn last_name(path: &FieldPath) -> String {
    let segments = path.segments();
    let positions = segments.iter().rev();
    let positions = positions.take_while(|segment| matches!(segment, Segment::Index(_)));
    let from = segments.len() - positions.count();
    let name = segments[..from].last().map(|segment| match segment {
        Segment::Field(name) | Segment::Key(name) => name.clone(),
        Segment::Index(_) => String::new(),
    });
    let positions = segments[from..].iter().map(|segment| match segment {
        Segment::Index(index) => format!("[{index}]"),
        Segment::Field(_) | Segment::Key(_) => String::new(),
    });
    name.into_iter().chain(positions).collect()
}

/// The finding about a field that its schema does not have.
pub fn unknown_finding(
    field: &UnknownField,
    wording: &Wording,
    at: &dyn Fn(&FieldPath, Part) -> Place,
) -> Diagnostic {
    let key = at(&field.path, Part::Key);
    let finding = Diagnostic::of(
        wording.unknown,
        format!("unknown field `{}`", Quoted(&key.path)),
    )
    .at(key);
    let finding = match invisible(&last_name(&field.path)) {
        Some(note) => finding.note(note),
        None => finding,
    };
    match &field.suggestion {
        Some(name) => finding
            .label(format!("did you mean `{name}`?"))
            .help(format!("rename it to `{name}`")),
        None => {
            let name = last_name(&field.path);
            let help = match &field.home {
                Some(Home { path, is_list }) => {
                    let items = if *is_list { "[]" } else { "" };
                    format!(
                        "move `{name}` into `{}{items}`, which has such a field, or remove it",
                        at(path, Part::Value).path
                    )
                }
                None => format!("remove `{name}`"),
            };
            finding.help(help)
        }
    }
}

/// A note about a space in a name that is not the ordinary one: YAML takes it for a letter.
fn invisible(name: &str) -> Option<String> {
    let space = name
        .chars()
        .find(|c| *c != ' ' && c.is_whitespace() || ('\u{200b}'..='\u{200d}').contains(c))?;
    let called = match space {
        '\u{a0}' => " (a no-break space)",
        _ => "",
    };
    Some(format!(
        "the name contains U+{:04X}{called}, which YAML takes for a letter",
        u32::from(space)
    ))
}

fn violation_finding(
    document: &Value,
    violation: &Violation,
    wording: &Wording,
    place: Place,
) -> Diagnostic {
    let path = place.path.clone();
    if violation.kind == ViolationKind::Required {
        let finding = Diagnostic::of(wording.missing, format!("{path} is missing")).at(place);
        return finding.help(format!("add `{}:`", last_name(&path)));
    }
    let value = value_at(document, &violation.path);
    let finding = |message: String, help: String| {
        Diagnostic::of(wording.rejected, message)
            .at(place)
            .help(help)
    };
    let mistyped = |expected: &str, format: &str| {
        let wanted = type_in_words(expected, format);
        (
            format!("{path} is {}, not {wanted}", described(value)),
            type_help(expected, &wanted, value),
        )
    };
    let (message, help) = match &violation.fault {
        Fault::Type { expected, .. } => mistyped(expected, expected),
        Fault::Range {
            expected, format, ..
        } => mistyped(expected, format),
        Fault::Enumeration { supported } => {
            let known: Vec<_> = supported.iter().map(|value| format!("`{value}`")).collect();
            (
                format!("{path} is {}", described(value)),
                format!("write one of {}", known.join(", ")),
            )
        }
        Fault::TooFewItems { least, .. } => {
            let items = if *least == 1 { "item" } else { "items" };
            (
                format!("{path} should have at least {least} {items}"),
                format!("add what is missing, or remove `{}`", last_name(&path)),
            )
        }
        _ if violation.kind == ViolationKind::Duplicate => {
            let what = match value {
                Some(Value::Object(_)) => "has the same key as an earlier item of the list",
                _ => "is in the list already",
            };
            (
                format!("{path} {what}"),
                format!("remove one of the two, or change `{}`", last_name(&path)),
            )
        }
        Fault::Rule { rule, .. } => (
            format!("{path} {rule}"),
            format!("correct the value of `{}`", last_name(&path)),
        ),
        fault => (
            format!("{path} {fault}", fault = Quoted(fault)),
            format!("correct the value of `{}`", last_name(&path)),
        ),
    };
    finding(message, help)
}

fn value_at<'a>(document: &'a Value, path: &FieldPath) -> Option<&'a Value> {
    path.segments()
        .iter()
        .try_fold(document, |value, segment| match segment {
            Segment::Field(name) | Segment::Key(name) => value.get(name),
            Segment::Index(index) => value.get(index),
        })
}

fn described(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "empty".to_owned(),
        Some(Value::Bool(bool)) => format!("the boolean {bool}"),
        Some(Value::Number(number)) => format!("the number {number}"),
        Some(Value::String(text)) => format!("`{text}`", text = Quoted(text)),
        Some(Value::Array(_)) => "a list".to_owned(),
        Some(Value::Object(_)) => "a mapping".to_owned(),
    }
}

/// What a value was to be: a type, or a format of texts and numbers.
fn type_in_words(expected: &str, format: &str) -> Cow<'static, str> {
    let words = match expected {
        _ if format == "int32" => "a whole number of 32 bits",
        _ if format == "int64" => "a whole number of 64 bits",
        "string" => "a text",
        "integer" => "a whole number",
        "number" | "float" | "double" => "a number",
        "boolean" => "true or false",
        "array" => "a list",
        "object" => "a mapping",
        "date-time" => "a time such as 2026-01-31T12:00:00Z",
        "duration" => "a duration such as 1h30m",
        "integer,string" => "a whole number or a text",
        format => return Cow::Owned(format!("of the form `{format}`")),
    };
    Cow::Borrowed(words)
}

fn type_help(expected: &str, wanted: &str, value: Option<&Value>) -> String {
    match (expected, value) {
        ("string" | "integer,string", Some(Value::Bool(_) | Value::Number(_))) => {
            "put the value in quotes".to_owned()
        }
        ("array", Some(Value::String(text))) => match text.contains('\n') {
            true => "write a list, with `- ` before each line".to_owned(),
            false => format!("write a list: `[{}]`", Quoted(text)),
        },
        _ => format!(
            "write {}",
            wanted
                .strip_prefix("of the form ")
                .map_or_else(|| wanted.to_owned(), |form| format!("a {form}"))
        ),
    }
}
