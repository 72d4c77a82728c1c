//! Objects made from a schema: the smallest valid one, and one that holds a certain value at a
//! certain place.

use serde_json::{Map, Value, json};

use super::examples;

/// One step from a schema to one inside it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Field(String),
    Item,
    Entry,
}

/// The key of maps whose keys are data.
pub(super) const KEY: &str = "key";

/// A schema inside a schema.
pub(super) struct Place<'a> {
    pub(super) steps: Vec<Step>,
    pub(super) schema: &'a Value,
}

impl Place<'_> {
    /// The smallest valid value here.
    pub(super) fn minimal(&self) -> Value {
        match self.steps.last() {
            Some(Step::Field(name)) => minimal_of(name, self.schema),
            _ => minimal(self.schema),
        }
    }

    /// Whether there is nothing below.
    pub(super) fn is_leaf(&self) -> bool {
        ["properties", "items", "additionalProperties"]
            .iter()
            .all(|keyword| !self.schema[keyword].is_object())
    }

    /// As the API server spells it, the first item of each list being the one that is meant.
    pub(super) fn path(&self) -> String {
        let spelt = self.steps.iter().map(|step| match step {
            Step::Field(name) => format!(".{name}"),
            Step::Item => "[0]".to_owned(),
            Step::Entry => format!(".{KEY}"),
        });
        spelt.collect::<String>().trim_start_matches('.').to_owned()
    }
}

/// All places at and below a field of the root schema, outer ones first.
pub(super) fn places<'a>(root: &'a Value, field: &str) -> Vec<Place<'a>> {
    let Some(schema) = root["properties"].get(field) else {
        return Vec::new();
    };
    let mut found = vec![Place {
        steps: vec![Step::Field(field.to_owned())],
        schema,
    }];
    let mut next = 0;
    while next < found.len() {
        let (steps, schema) = (found[next].steps.clone(), found[next].schema);
        let mut add = |step: Step, schema: &'a Value| {
            let steps = steps.iter().cloned().chain([step]).collect();
            found.push(Place { steps, schema });
        };
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            add(Step::Field(name.clone()), property);
        }
        if schema["items"].is_object() {
            add(Step::Item, &schema["items"]);
        }
        if schema["additionalProperties"].is_object() {
            add(Step::Entry, &schema["additionalProperties"]);
        }
        next += 1;
    }
    found
}

/// The smallest valid value of a schema with a value at a place inside it.
pub(super) fn embed(schema: &Value, steps: &[Step], value: &Value) -> Value {
    match steps.split_first() {
        None => value.clone(),
        Some((Step::Field(name), rest)) => {
            let inner = embed(&schema["properties"][name], rest, value);
            object(schema, [(name.clone(), inner)].into_iter().collect())
        }
        Some((Step::Entry, rest)) => {
            json!({ KEY: embed(&schema["additionalProperties"], rest, value) })
        }
        Some((Step::Item, rest)) => {
            let mut items = list(schema, least_items(schema));
            items[0] = embed(&schema["items"], rest, value);
            Value::Array(items)
        }
    }
}

/// The smallest valid value of a schema.
pub(super) fn minimal(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return json!(1);
    }
    match schema["type"].as_str() {
        Some("object") if schema["properties"].is_object() => object(schema, Map::new()),
        Some("object") => map(
            schema,
            usize::try_from(schema["minProperties"].as_u64().unwrap_or(0)).unwrap(),
        ),
        Some("array") => Value::Array(list(
            schema,
            usize::try_from(schema["minItems"].as_u64().unwrap_or(0)).unwrap(),
        )),
        Some("string") => Value::from(string(schema)),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(true),
        other => panic!("no value of type {other:?}: {schema}"),
    }
}

/// The smallest valid value of a property: some mean more than their schema says.
fn minimal_of(name: &str, schema: &Value) -> Value {
    match examples::of_field(name) {
        Some(text) if schema["type"] == "string" && schema["format"].is_null() => json!(text),
        _ => minimal(schema),
    }
}

/// A list with so many valid items that differ where they have to.
pub(super) fn list(schema: &Value, count: usize) -> Vec<Value> {
    let keys: Vec<&str> = schema["x-kubernetes-list-map-keys"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let set = schema["x-kubernetes-list-type"] == "set";
    let unique = keys
        .iter()
        .copied()
        .chain(rule_about_unique_names(schema).then_some("name"));
    let unique: Vec<&str> = unique.collect();
    (0..count)
        .map(|index| {
            let mut item = minimal(&schema["items"]);
            // One item is as good as it is; of several each says its number.
            if count > 1 && set {
                item = json!(format!(
                    "{}{index}",
                    item.as_str().expect("sets are of strings")
                ));
            }
            for key in unique.iter().filter(|_| count > 1) {
                item[*key] = json!(format!("{}{index}", item[*key].as_str().unwrap_or("n")));
            }
            item
        })
        .collect()
}

/// A map with so many valid entries.
pub(super) fn map(schema: &Value, count: usize) -> Value {
    let value = &schema["additionalProperties"];
    (0..count)
        .map(|index| {
            (
                format!("{KEY}{index}"),
                if value.is_object() {
                    minimal(value)
                } else {
                    json!("v")
                },
            )
        })
        .collect::<Map<_, _>>()
        .into()
}

fn least_items(schema: &Value) -> usize {
    usize::try_from(schema["minItems"].as_u64().unwrap_or(1))
        .unwrap()
        .max(1)
}

/// Completes an object: what is required, what rules about several fields want, what the least size
/// wants.
pub(super) fn object(schema: &Value, mut object: Map<String, Value>) -> Value {
    let property = |name: &str| minimal_of(name, &schema["properties"][name]);
    for name in schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        if !object.contains_key(name) {
            object.insert(name.to_owned(), property(name));
        }
    }
    for alternatives in rules(schema).filter_map(exactly_one) {
        if !alternatives.iter().any(|name| object.contains_key(name)) {
            object.insert(alternatives[0].clone(), property(&alternatives[0]));
        }
    }
    let least = usize::try_from(schema["minProperties"].as_u64().unwrap_or(0)).unwrap();
    let names = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name);
    for name in names {
        if object.len() >= least {
            break;
        }
        if !object.contains_key(name) {
            object.insert(name.clone(), property(name));
        }
    }
    for (field, companion, value) in examples::COMPANIONS {
        if object.contains_key(*field) && schema["properties"][companion].is_object() {
            object.entry(*companion).or_insert_with(|| json!(value));
        }
    }
    Value::Object(object)
}

fn string(schema: &Value) -> String {
    if let Some(pattern) = schema["pattern"].as_str() {
        return examples::matching(pattern).to_owned();
    }
    if let Some(pattern) = rules(schema)
        .find_map(|rule| examples::pattern_of_rule(rule["rule"].as_str().unwrap_or_default()))
    {
        return examples::matching(&pattern).to_owned();
    }
    match schema["format"].as_str() {
        Some("date-time") => "2026-01-02T03:04:05Z".to_owned(),
        Some("byte") => "YQ==".to_owned(),
        Some(other) => panic!("no string of the format {other}"),
        None => "a".repeat(
            usize::try_from(schema["minLength"].as_u64().unwrap_or(1))
                .unwrap()
                .max(1),
        ),
    }
}

/// The CEL rules of a schema.
pub(super) fn rules(schema: &Value) -> impl Iterator<Item = &Value> {
    schema["x-kubernetes-validations"]
        .as_array()
        .into_iter()
        .flatten()
}

/// The fields of which a rule wants exactly one:
/// `[has(self.a),has(self.b)].filter(x,x==true).size() == 1`.
pub(super) fn exactly_one(rule: &Value) -> Option<Vec<String>> {
    let fields = rule["rule"]
        .as_str()?
        .strip_prefix('[')?
        .strip_suffix("].filter(x,x==true).size() == 1")?;
    fields
        .split(',')
        .map(|field| {
            Some(
                field
                    .trim()
                    .strip_prefix("has(self.")?
                    .strip_suffix(')')?
                    .to_owned(),
            )
        })
        .collect()
}

/// Whether a rule wants the names of the items to be unique.
pub(super) fn rule_about_unique_names(schema: &Value) -> bool {
    rules(schema).any(|rule| rule["rule"] == "self.all(x, self.exists_one(y, x.name == y.name))")
}
