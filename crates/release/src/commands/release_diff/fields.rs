//! What changes between two values, field by field. Items of lists are matched by what Kubernetes
//! tells them apart by, as far as it is known; others by their content.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::Change;
use windlass_go_text::json;
use windlass_objects::strategic_merge;
use windlass_source::diag::FieldPath;

/// By what items of a list are distinguished, by the field of the list, where `patchMergeKey` of
/// Kubernetes' types has nothing or is ambiguous: Services, the metadata of a release, users'
/// files, subjects of bindings, classes of machines (their `listMapKeys`, or what makes them one).
const KEYS: &[(&str, &[&str])] = &[
    ("ports", &["port"]),
    ("releaseSeries", &["major", "minor"]),
    ("files", &["path"]),
    ("subjects", &["kind", "namespace", "name"]),
    ("conditions", &["type"]),
    ("machineDeployments", &["class"]),
    ("machinePools", &["class"]),
];
/// What tells items of any other list apart, if each has its own.
const ANY: &[&str] = &["name"];

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Field(String),
    /// An item that is known by the values of these fields.
    Item(Vec<(String, Value)>),
    Index(usize),
}

/// A change, with values out of the two objects.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) path: Vec<Step>,
    pub(super) change: Change,
    pub(super) old: Option<Value>,
    pub(super) new: Option<Value>,
}

pub(super) fn compare(old: &Value, new: &Value) -> Vec<Found> {
    let mut walk = Walk {
        path: Vec::new(),
        found: Vec::new(),
    };
    walk.value(old, new);
    walk.found
}

struct Walk {
    path: Vec<Step>,
    found: Vec<Found>,
}

impl Walk {
    fn value(&mut self, old: &Value, new: &Value) {
        match (old, new) {
            _ if old == new => {}
            (Value::Object(old), Value::Object(new)) => self.map(old, new),
            (Value::Array(old), Value::Array(new)) => self.list(old, new),
            _ => self.push(Change::Changed, Some(old), Some(new)),
        }
    }

    fn push(&mut self, change: Change, old: Option<&Value>, new: Option<&Value>) {
        self.found.push(Found {
            path: self.path.clone(),
            change,
            old: old.cloned(),
            new: new.cloned(),
        });
    }

    fn at(&mut self, step: Step, walk: impl FnOnce(&mut Self)) {
        self.path.push(step);
        walk(self);
        self.path.pop();
    }

    /// What both, or one of them, have.
    fn both(&mut self, step: Step, old: Option<&Value>, new: Option<&Value>) {
        self.at(step, |walk| match (old, new) {
            (Some(old), Some(new)) => walk.value(old, new),
            (None, new) => walk.push(Change::Added, None, new),
            (old, None) => walk.push(Change::Removed, old, None),
        });
    }

    fn map(&mut self, old: &Map<String, Value>, new: &Map<String, Value>) {
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        for key in keys {
            self.both(Step::Field(key.clone()), old.get(key), new.get(key));
        }
    }

    fn list(&mut self, old: &[Value], new: &[Value]) {
        let field = self.path.iter().rev().find_map(|step| match step {
            Step::Field(name) => Some(name.clone()),
            _ => None,
        });
        match keyed(field.as_deref().unwrap_or_default(), old, new) {
            Some((fields, before, after)) => self.keyed(fields, &before, &after),
            None => self.by_content(old, new),
        }
    }

    /// Items that are distinguished by fields: those of the old list in its order, then those that
    /// are new.
    fn keyed(&mut self, fields: &[&str], before: &Keyed<'_>, after: &Keyed<'_>) {
        let step = |item: &Value| {
            Step::Item(
                fields
                    .iter()
                    .map(|field| ((*field).to_owned(), item[*field].clone()))
                    .collect(),
            )
        };
        for (key, item) in &before.items {
            self.both(step(item), Some(item), after.get(key));
        }
        for (_, item) in after
            .items
            .iter()
            .filter(|(key, _)| before.get(key).is_none())
        {
            self.both(step(item), None, Some(item));
        }
        let order = |one: &Keyed<'_>, other: &Keyed<'_>| -> Vec<String> {
            one.items
                .iter()
                .filter(|(key, _)| other.get(key).is_some())
                .map(|(key, _)| key.clone())
                .collect()
        };
        let (old, new) = (order(before, after), order(after, before));
        if old != new {
            let names = |keyed: &Keyed<'_>| {
                Value::Array(
                    keyed
                        .items
                        .iter()
                        .map(|(_, item)| name_of(fields, item))
                        .collect(),
                )
            };
            self.push(Change::Reordered, Some(&names(before)), Some(&names(after)));
        }
    }

    /// Items without a key: what both lists have stays, and of the rest one becomes the other as
    /// long as there are as many.
    fn by_content(&mut self, old: &[Value], new: &[Value]) {
        let (removed, added) = (without(old, new), without(new, old));
        if removed.is_empty() && added.is_empty() {
            self.push(
                Change::Reordered,
                Some(&Value::Array(old.to_vec())),
                Some(&Value::Array(new.to_vec())),
            );
            return;
        }
        let has_fields = |item: &Value| item.is_object() || item.is_array();
        let is_same = |((from, before), (to, after)): (&(usize, &Value), &(usize, &Value))| {
            from == to || has_fields(before) && has_fields(after)
        };
        if removed.len() == added.len() && removed.iter().zip(&added).all(is_same) {
            for ((_, before), (at, after)) in removed.into_iter().zip(added) {
                self.at(Step::Index(at), |walk| walk.value(before, after));
            }
            return;
        }
        removed
            .into_iter()
            .for_each(|(at, item)| self.both(Step::Index(at), Some(item), None));
        added
            .into_iter()
            .for_each(|(at, item)| self.both(Step::Index(at), None, Some(item)));
    }
}

/// The items of a list, each with the text of its key.
struct Keyed<'v> {
    items: Vec<(String, &'v Value)>,
    index: BTreeMap<String, usize>,
}

impl<'v> Keyed<'v> {
    /// `None` when an item lacks one of the fields, or two are the same.
    fn new(fields: &[&str], items: &'v [Value]) -> Option<Self> {
        let mut keyed = Keyed {
            items: Vec::with_capacity(items.len()),
            index: BTreeMap::new(),
        };
        for item in items {
            let item_fields = item.as_object()?;
            // Only the last may be missing where there are several: the namespace of a subject.
            let has = |field: &&str| {
                item_fields
                    .get(*field)
                    .is_some_and(|value| !value.is_object() && !value.is_array())
            };
            if !(has(&fields[0]) && has(&fields[fields.len() - 1])) {
                return None;
            }
            let key = fields.iter().fold(String::new(), |key, field| {
                key + &json(&item[*field]) + "\n"
            });
            if keyed.index.insert(key.clone(), keyed.items.len()).is_some() {
                return None;
            }
            keyed.items.push((key, item));
        }
        Some(keyed)
    }

    fn get(&self, key: &str) -> Option<&'v Value> {
        self.index.get(key).map(|at| self.items[*at].1)
    }
}

/// The fields by which items of both lists are distinguished, and the items.
fn keyed<'v>(
    field: &str,
    old: &'v [Value],
    new: &'v [Value],
) -> Option<(&'static [&'static str], Keyed<'v>, Keyed<'v>)> {
    let merge_key = strategic_merge::merge_key(field).into_iter();
    let own = KEYS
        .iter()
        .filter(|(name, _)| *name == field)
        .map(|(_, fields)| *fields);
    merge_key
        .chain(own)
        .chain([ANY])
        .find_map(|fields| Some((fields, Keyed::new(fields, old)?, Keyed::new(fields, new)?)))
}

/// The key of an item as one value.
fn name_of(fields: &[&str], item: &Value) -> Value {
    match fields {
        [field] => item[*field].clone(),
        fields => Value::Array(fields.iter().map(|field| item[*field].clone()).collect()),
    }
}

/// The items of one list that the other has not, or has less often, with their places.
fn without<'v>(items: &'v [Value], other: &[Value]) -> Vec<(usize, &'v Value)> {
    let mut left: BTreeMap<String, usize> = BTreeMap::new();
    other
        .iter()
        .for_each(|item| *left.entry(json(item)).or_default() += 1);
    let is_there = |item: &Value| {
        left.get_mut(&json(item))
            .filter(|count| **count > 0)
            .map(|count| *count -= 1)
            .is_some()
    };
    let mut is_there = is_there;
    items
        .iter()
        .enumerate()
        .filter(|(_, item)| !is_there(item))
        .collect()
}

/// The path as people read it: `spec.containers[name=manager].args[0]`, keys that are not names of
/// fields in brackets.
pub(super) fn shown(path: &[Step]) -> String {
    let path = path
        .iter()
        .fold(FieldPath::root(), |path, step| match step {
            Step::Field(name)
                if name
                    .chars()
                    .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$')) =>
            {
                path.field(name)
            }
            Step::Field(name) => path.key(name),
            Step::Index(at) => path.index(*at),
            Step::Item(fields) => {
                let known = fields.iter().filter(|(_, value)| !value.is_null());
                let known: Vec<String> = known
                    .map(|(field, value)| format!("{field}={}", text(value)))
                    .collect();
                path.key(known.join(","))
            }
        });
    path.to_string()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| json(value), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The changes, a line each: path, change, old, new.
    #[track_caller]
    fn check(old: Value, new: Value, expected: &[&str]) {
        let found = compare(&old, &new);
        let side = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), super::json);
        let lines: Vec<String> = found
            .iter()
            .map(|found| {
                format!(
                    "{} {} {} {}",
                    shown(&found.path),
                    found.change.word(),
                    side(&found.old),
                    side(&found.new)
                )
            })
            .collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn fields_are_compared_by_name() {
        check(
            json!({"a": 1, "b": {"c": "x"}, "d": null}),
            json!({"b": {"c": "y", "e": [1]}, "a": 1}),
            &[
                "b.c changed \"x\" \"y\"",
                "b.e added - [1]",
                "d removed null -",
            ],
        );
        check(
            json!({"m": {"a.b/c": 1}}),
            json!({"m": {"a.b/c": 2}}),
            &["m[a.b/c] changed 1 2"],
        );
        check(json!({"a": "1"}), json!({"a": 1}), &["a changed \"1\" 1"]);
        check(
            json!({"a": [1]}),
            json!({"a": {"b": 1}}),
            &["a changed [1] {\"b\":1}"],
        );
    }

    #[test]
    fn an_item_that_goes_or_comes_is_no_other_order() {
        check(
            json!({"a": ["x", "y"]}),
            json!({"a": ["y"]}),
            &["a[0] removed \"x\" -"],
        );
        check(
            json!({"a": ["y"]}),
            json!({"a": ["x", "y"]}),
            &["a[0] added - \"x\""],
        );
        check(
            json!({"a": ["x", "y"]}),
            json!({"a": ["y", "x"]}),
            &["a reordered [\"x\",\"y\"] [\"y\",\"x\"]"],
        );
    }

    #[test]
    fn items_with_a_key_are_matched_by_it() {
        let containers = |first: &str, second: &str| json!({"containers": [{"name": "a", "image": first}, {"name": "b", "image": second}]});
        check(
            containers("x", "y"),
            containers("x", "z"),
            &["containers[name=b].image changed \"y\" \"z\""],
        );
        check(
            json!({"containers": [{"name": "a"}, {"name": "b"}]}),
            json!({"containers": [{"name": "c"}, {"name": "b"}]}),
            &[
                "containers[name=a] removed {\"name\":\"a\"} -",
                "containers[name=c] added - {\"name\":\"c\"}",
            ],
        );
        check(
            json!({"env": [{"name": "a"}, {"name": "b"}]}),
            json!({"env": [{"name": "b"}, {"name": "a", "value": "1"}]}),
            &[
                "env[name=a].value added - \"1\"",
                "env reordered [\"a\",\"b\"] [\"b\",\"a\"]",
            ],
        );
        // Containers' ports are distinguished by `containerPort`, a Service's by `port`.
        check(
            json!({"ports": [{"port": 1, "targetPort": 2}]}),
            json!({"ports": [{"port": 1, "targetPort": 3}]}),
            &["ports[port=1].targetPort changed 2 3"],
        );
        check(
            json!({"ports": [{"containerPort": 1, "name": "a"}]}),
            json!({"ports": [{"containerPort": 1, "name": "b"}]}),
            &["ports[containerPort=1].name changed \"a\" \"b\""],
        );
        let series = |contract: &str| json!({"releaseSeries": [{"major": 0, "minor": 1, "contract": contract}, {"major": 0, "minor": 2}]});
        check(
            series("a"),
            series("b"),
            &["releaseSeries[major=0,minor=1].contract changed \"a\" \"b\""],
        );
        let subject = |extra: &str| json!({"subjects": [{"kind": "User", "name": "n"}, {"kind": "Group", "name": "n", "apiGroup": extra}]});
        check(
            subject("x"),
            subject("y"),
            &["subjects[kind=Group,name=n].apiGroup changed \"x\" \"y\""],
        );
    }

    #[test]
    fn items_that_share_a_key_are_matched_by_content() {
        let ports = |port: u16| json!({"ports": [{"containerPort": 1, "protocol": "TCP"}, {"containerPort": port, "protocol": "UDP"}]});
        check(ports(1), ports(2), &["ports[1].containerPort changed 1 2"]);
        check(
            json!({"containers": [{"name": "a"}, {"name": "a", "x": 1}]}),
            json!({"containers": [{"name": "a"}]}),
            &["containers[1] removed {\"name\":\"a\",\"x\":1} -"],
        );
    }

    #[test]
    fn items_without_a_key_stay_where_both_have_them() {
        check(
            json!({"args": ["a", "b", "b"]}),
            json!({"args": ["b", "c", "a"]}),
            &["args[2] removed \"b\" -", "args[1] added - \"c\""],
        );
        check(
            json!({"args": ["a", "b"]}),
            json!({"args": ["a", "c"]}),
            &["args[1] changed \"b\" \"c\""],
        );
        check(
            json!({"args": ["a", "b"]}),
            json!({"args": ["b", "a"]}),
            &["args reordered [\"a\",\"b\"] [\"b\",\"a\"]"],
        );
        let rule = |verbs: &[&str]| json!({"resources": ["x"], "verbs": verbs});
        check(
            json!({"rules": [rule(&["get"]), rule(&["list"])]}),
            json!({"rules": [rule(&["get"]), rule(&["list", "watch"])]}),
            &["rules[1].verbs[1] added - \"watch\""],
        );
        check(
            json!({"rules": [rule(&["get"])]}),
            json!({"rules": [rule(&["get"]), rule(&["list"])]}),
            &["rules[1] added - {\"resources\":[\"x\"],\"verbs\":[\"list\"]}"],
        );
    }
}
