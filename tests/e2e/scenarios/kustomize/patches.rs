//! Random patches of some objects.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use windlass_provider::{self as provider, Inputs, Matched};
use windlass_release::commands::release_build::{self, Order, version};
use windlass_release::emit::release::Release;
use windlass_source::Source;
use windlass_source::budget::Budget;

use crate::harness::components;
use crate::harness::random::Random;
use crate::harness::runner::Context;

const OBJECTS: &str = include_str!("objects.yaml");
const PROVIDER: &str = "apiVersion: windlass.dev/v1alpha1\nkind: Provider\nname: foo\ntype: InfrastructureProvider\nnamespace: system\nnamePrefix: ''\nobjects: [objects.yaml]\n";
const METADATA: &str = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 0, minor: 1, contract: v1beta2}\n";
/// How many patches are compared.
const CASES: usize = 700;

/// A patch as an entry of `patches`.
struct Case {
    patch: String,
    target: Option<Value>,
}

type Objects = BTreeMap<String, Value>;

/// Each patch by itself: the same objects, or a rejection by both.
pub(crate) fn random_patches_are_equal(context: &Context) {
    let mut random = Random::announced();
    let objects = components::documents("objects.yaml", OBJECTS.to_owned());
    let folder = context.folder();
    std::fs::write(folder.join("objects.yaml"), OBJECTS).expect("the folder can be written");
    let (mut faults, mut applied, mut rejected, mut known) = (Vec::new(), 0, 0, BTreeMap::new());
    for number in 0..CASES {
        let case = Case::random(&mut random, &objects);
        let kustomization = json!({"resources": ["objects.yaml"], "patches": [case.entry()]});
        std::fs::write(folder.join("kustomization.yaml"), kustomization.to_string())
            .expect("the folder can be written");
        let theirs = super::build(folder, ".");
        let theirs = match theirs.code {
            Some(0) => Ok(objects_of(&theirs.stdout)),
            _ => Err(theirs.stderr.lines().last().unwrap_or_default().to_owned()),
        };
        let ours = case.ours();
        match difference(&theirs, &ours) {
            None if theirs.is_ok() => applied += 1,
            None => rejected += 1,
            Some(difference) => match case.reason(&theirs, &ours) {
                Some(reason) => *known.entry(reason).or_insert(0) += 1,
                None => faults.push(format!(
                    "patch {number}:\n{}\ntarget {:?}\n{difference}",
                    case.patch, case.target
                )),
            },
        }
    }
    println!(
        "  {applied} applied alike, {rejected} rejected by both, listed differences: {known:?}"
    );
    assert!(
        faults.is_empty(),
        "{} of {CASES} differ:\n{}",
        faults.len(),
        faults.join("\n----\n")
    );
    assert!(
        applied > CASES / 3 && rejected > CASES / 20,
        "{applied} {rejected}"
    );
}

fn objects_of(text: &str) -> Objects {
    components::documents("kustomize", text.to_owned())
        .into_iter()
        .map(titled)
        .collect()
}

fn titled(object: Value) -> (String, Value) {
    let text = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let title = format!("{}/{}", text("/kind"), text("/metadata/name"));
    (title, object)
}

/// The object with labels, annotations and data as kustomize writes them: scalars become strings,
/// other values empty strings, and empty maps are left out. Windlass keeps them, and reports what
/// the API server would reject: a number such as 1.10 would be another string.
fn normalized(object: &Value) -> Value {
    let mut object = object.clone();
    let is_config_map = object["kind"] == "ConfigMap";
    let maps = [
        ("/metadata", "labels", true),
        ("/metadata", "annotations", true),
        ("", "data", is_config_map),
    ];
    for (holder, field, is_text) in maps {
        let holder = object.pointer_mut(holder).and_then(Value::as_object_mut);
        let Some(holder) = holder.filter(|_| is_text) else {
            continue;
        };
        let entries = holder.get_mut(field).and_then(Value::as_object_mut);
        let is_left = field == "data" || entries.as_ref().is_some_and(|map| !map.is_empty());
        for value in entries.into_iter().flatten().map(|(_, value)| value) {
            let is_scalar = !(value.is_object() || value.is_array() || value.is_string());
            if is_scalar && !value.is_null() {
                *value = value.to_string().into();
            } else if field != "data" && !value.is_string() {
                *value = "".into();
            }
        }
        if !is_left {
            holder.remove(field);
        }
    }
    object
}

fn difference(theirs: &Result<Objects, String>, ours: &Result<Objects, String>) -> Option<String> {
    match (theirs, ours) {
        (Err(_), Err(_)) => None,
        (Err(why), Ok(_)) => Some(format!("kustomize alone rejects it: {why}")),
        (Ok(_), Err(why)) => Some(format!("windlass alone rejects it: {why}")),
        (Ok(theirs), Ok(ours)) => {
            let differing = theirs.iter().filter(|(title, object)| {
                ours.get(*title).map(normalized) != Some(normalized(object))
            });
            let lines: Vec<String> = differing
                .map(|(title, object)| {
                    let ours = ours
                        .get(title)
                        .map_or("nothing".to_owned(), Value::to_string);
                    format!("kustomize: {object}\nwindlass:  {ours}")
                })
                .chain(
                    ours.keys()
                        .filter(|title| !theirs.contains_key(*title))
                        .map(|title| format!("only windlass has {title}")),
                )
                .collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        }
    }
}

impl Case {
    fn entry(&self) -> Value {
        let mut entry = json!({"patch": self.patch});
        if let Some(target) = &self.target {
            entry["target"] = target.clone();
        }
        entry
    }

    /// What our release has of the objects.
    fn ours(&self) -> Result<Objects, String> {
        let text = format!("{PROVIDER}patches: {}\n", Value::from(vec![self.entry()]));
        let (providers, report) =
            provider::parse(&Source::new("provider.yaml", text), &Budget::default());
        let mut inputs = Inputs::new();
        for (name, text) in [("objects.yaml", OBJECTS), ("metadata.yaml", METADATA)] {
            let matched = Matched {
                files: vec![Source::new(name, text)],
                ..Matched::default()
            };
            inputs.insert(name, matched);
        }
        let version = version("v0.1.0").expect("a version");
        let release = release_build::run(&providers, report, &inputs, Order::of(&version));
        let rejected = release.report.findings().iter().find(|finding| {
            ["provider-patch-rejected", "provider-patch-unmatched"].contains(&finding.rule.id)
                || finding.rule.id.starts_with("yaml-")
                || finding.rule.id.starts_with("provider-value")
        });
        match rejected {
            Some(finding) => Err(finding.message.to_string()),
            None => Ok(released(&release)),
        }
    }

    /// Why the two may differ; `docs/book/src/provider-yaml.md` lists the same.
    fn reason(
        &self,
        theirs: &Result<Objects, String>,
        ours: &Result<Objects, String>,
    ) -> Option<&'static str> {
        let of = |result: &Result<Objects, String>| result.as_ref().err().cloned();
        let (why, their_reason) = (of(ours).unwrap_or_default(), of(theirs).unwrap_or_default());
        if theirs.is_ok() && why.contains("it would change ") {
            return Some("identity");
        }
        if theirs.is_ok() && why.contains("for programs") {
            return Some("directives of programs");
        }
        let says = |text: &str| self.patch.contains(text);
        // It follows references by name after the patch, and fails where a field has no names.
        if their_reason.contains("updating name reference") {
            return Some("references of the wrong shape");
        }
        // RFC 6902: `add` has a value, and the source of `copy` must exist.
        if why.contains("`add` needs a `value`") {
            return Some("add without a value");
        }
        if why.contains("there is nothing at") && says("op: copy") {
            return Some("copy of what is not there");
        }
        // It keeps notes of its own in annotations while it runs.
        if says("from: \"/metadata\"") {
            return Some("copies of all metadata");
        }
        // It leaves the object as it is; elsewhere `replace` replaces.
        if self.patch.lines().any(|line| line == "$patch: \"replace\"") {
            return Some("replace of a whole object");
        }
        None
    }
}

/// The objects of the components that kustomize makes too, without what every release gets.
fn released(release: &Release) -> Objects {
    let text = release
        .files
        .get("infrastructure-components.yaml")
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .unwrap_or_default();
    let made = ["Namespace/system"];
    objects_of(&text)
        .into_iter()
        .filter(|(title, _)| !made.contains(&title.as_str()))
        .map(|(_, mut object)| {
            remove(
                &mut object,
                &["metadata", "labels"],
                "cluster.x-k8s.io/provider",
            );
            if let Some(name) = object["metadata"]["name"].as_str()
                && let Some(bare) = name.strip_prefix("system-")
            {
                object["metadata"]["name"] = bare.into();
            }
            object
        })
        .map(titled)
        .collect()
}

/// Removes a key, and the map that only had it.
fn remove(object: &mut Value, path: &[&str], key: &str) {
    let Some((last, above)) = path.split_last() else {
        return;
    };
    let mut at = &mut *object;
    for field in above {
        at = &mut at[*field];
    }
    if let Some(map) = at.get_mut(*last).and_then(Value::as_object_mut) {
        map.remove(key);
        if map.is_empty()
            && let Some(above) = at.as_object_mut()
        {
            above.remove(*last);
        }
    }
}

const SCALARS: &[&str] = &[
    "1", "\"1\"", "true", "\"true\"", "text", "on", "y", "no", "Off", "null", "~", "1.5", "\"\"",
    "8443", "9443", "TCP", "UDP", "a", "manager", "side", "v", "w", "/a", "P", "Q", "x",
];

impl Case {
    fn random(random: &mut Random, objects: &[Value]) -> Case {
        let object = random.of(objects);
        if random.percent(55) {
            merge(random, &object)
        } else {
            operations(random, &object)
        }
    }
}

fn target(random: &mut Random, object: &Value) -> Value {
    let kind = object["kind"].clone();
    match random.below(4) {
        0 => json!({"kind": kind}),
        1 => json!({"kind": kind, "name": object["metadata"]["name"]}),
        2 => json!({"name": ".*"}),
        _ => {
            let group = object["apiVersion"]
                .as_str()
                .and_then(|version| version.split_once('/'));
            json!({"group": group.map_or("", |(group, _)| group), "kind": kind})
        }
    }
}

/// A merge patch: a part of the object, changed.
fn merge(random: &mut Random, object: &Value) -> Case {
    let mut lines = Vec::new();
    let has_kind = !random.percent(4);
    let has_name = !random.percent(4);
    if has_kind {
        lines.push(format!(
            "apiVersion: {}",
            object["apiVersion"].as_str().unwrap_or_default()
        ));
        lines.push(format!(
            "kind: {}",
            object["kind"].as_str().unwrap_or_default()
        ));
    }
    let mut patch = Map::new();
    for _ in 0..=random.below(2) {
        let fields: Vec<&String> = object
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, _)| key)
            .filter(|key| !["apiVersion", "kind"].contains(&key.as_str()))
            .collect();
        let field = random.of(&fields).clone();
        let value = changed(random, &object[&field], 0);
        patch.insert(field, value);
    }
    if random.percent(4) {
        patch.insert(
            "$patch".to_owned(),
            random.of(&["delete", "replace", "merge", "odd"]).into(),
        );
    }
    if has_name {
        let mut metadata = match patch.get("metadata") {
            Some(Value::Object(metadata)) => metadata.clone(),
            _ => Map::new(),
        };
        metadata.insert("name".to_owned(), object["metadata"]["name"].clone());
        if let Some(namespace) = object["metadata"].get("namespace") {
            metadata.insert("namespace".to_owned(), namespace.clone());
        }
        patch.insert("metadata".to_owned(), Value::Object(metadata));
    }
    lines.extend(
        patch
            .iter()
            .map(|(key, value)| format!("{key}: {}", flow(value))),
    );
    let target = random.percent(35).then(|| target(random, object));
    Case {
        patch: lines.join("\n"),
        target,
    }
}

/// A marker for a scalar that is written as it is.
fn scalar(random: &mut Random) -> Value {
    json!({"$raw": random.of(SCALARS)})
}

/// A part of a value with changes.
fn changed(random: &mut Random, value: &Value, depth: usize) -> Value {
    if random.percent(12) || depth > 6 {
        return anything(random, 0);
    }
    match value {
        Value::Object(map) if !map.is_empty() => {
            let keys: Vec<&String> = map.keys().collect();
            let mut patch = Map::new();
            for _ in 0..=random.below(2) {
                let key = random.of(&keys).clone();
                let below = changed(random, &map[&key], depth + 1);
                patch.insert(key, below);
            }
            if random.percent(15) {
                let key = random.of(&["new", "n", "on", "annotations", "labels"]);
                let below = anything(random, 1);
                patch.insert(key.to_owned(), below);
            }
            if random.percent(6) {
                let word = random.of(&["delete", "replace", "merge", "odd"]);
                patch.insert("$patch".to_owned(), word.into());
            }
            Value::Object(patch)
        }
        Value::Array(items) if !items.is_empty() => {
            let mut patch = Vec::new();
            for _ in 0..=random.below(2) {
                let item = random.of(items);
                patch.push(item_of(random, &item, depth));
            }
            if random.percent(8) {
                patch.push(json!({"$patch": random.of(&["delete", "replace", "merge", "odd"])}));
            }
            Value::Array(patch)
        }
        _ => scalar(random),
    }
}

/// An item of a list: of the object with some fields, or a new one.
fn item_of(random: &mut Random, item: &Value, depth: usize) -> Value {
    let Value::Object(fields) = item else {
        return if random.percent(50) {
            item.clone()
        } else {
            scalar(random)
        };
    };
    let mut patch = Map::new();
    for (key, value) in fields {
        let tells = [
            "name",
            "port",
            "containerPort",
            "protocol",
            "mountPath",
            "ip",
            "key",
        ];
        if tells.contains(&key.as_str()) && !random.percent(12) {
            let value = if random.percent(20) {
                scalar(random)
            } else {
                value.clone()
            };
            patch.insert(key.clone(), value);
        } else if random.percent(40) {
            let below = changed(random, value, depth + 1);
            patch.insert(key.clone(), below);
        }
    }
    if random.percent(10) {
        patch.insert("protocol".to_owned(), random.of(&["TCP", "UDP"]).into());
    }
    if random.percent(12) {
        let word = random.of(&["delete", "replace", "merge"]);
        patch.insert("$patch".to_owned(), word.into());
    }
    Value::Object(patch)
}

fn anything(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth > 2 { 1 } else { 5 }) {
        0..=2 => scalar(random),
        3 => {
            let keys = ["a", "b", "name", "n"];
            (0..random.below(3))
                .map(|_| (random.of(&keys).to_owned(), anything(random, depth + 1)))
                .collect()
        }
        _ => (0..random.below(3))
            .map(|_| anything(random, depth + 1))
            .collect(),
    }
}

/// A value as YAML in one line; scalars as they were chosen.
fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) if map.len() == 1 && map.contains_key("$raw") => {
            map["$raw"].as_str().unwrap_or_default().to_owned()
        }
        Value::Object(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|(key, value)| format!("{key}: {}", flow(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(flow).collect::<Vec<_>>().join(", ")
            )
        }
        other => other.to_string(),
    }
}

/// A JSON patch; sometimes one operation without its dash.
fn operations(random: &mut Random, object: &Value) -> Case {
    let count = 1 + random.below(3);
    let mut lines: Vec<String> = Vec::new();
    for _ in 0..count {
        let op = random.of(&[
            "add", "add", "replace", "remove", "test", "copy", "move", "swap",
        ]);
        let mut operation = format!("op: {op}, path: {:?}", pointer(random, object));
        if ["copy", "move"].contains(&op) {
            operation += &format!(", from: {:?}", pointer(random, object));
        } else if op != "remove" && !random.percent(3) {
            let value = if op == "test" && random.percent(50) {
                let at = pointer(random, object);
                let value = object.pointer(&at).cloned().unwrap_or_default();
                operation = format!("op: test, path: {at:?}");
                value
            } else {
                anything(random, 0)
            };
            operation += &format!(", value: {}", flow(&value));
        }
        lines.push(operation);
    }
    let patch = if random.percent(6) {
        format!("{{{}}}", lines[0])
    } else {
        let lines: Vec<String> = lines.iter().map(|line| format!("- {{{line}}}")).collect();
        lines.join("\n")
    };
    let target = (!random.percent(5))
        .then(|| json!({"kind": object["kind"], "name": object["metadata"]["name"]}));
    Case { patch, target }
}

/// A path in an object, or beside it.
fn pointer(random: &mut Random, object: &Value) -> String {
    let (mut at, mut path) = (object, String::new());
    let skips = |key: &str, depth: usize| depth == 0 && ["apiVersion", "kind"].contains(&key);
    for depth in 0..8 {
        let stops = depth > 0 && random.percent(25);
        match at {
            Value::Object(map) if !map.is_empty() && !stops => {
                let keys: Vec<&String> = map.keys().filter(|key| !skips(key, depth)).collect();
                let key = random.of(&keys);
                path += &format!("/{}", key.replace('~', "~0").replace('/', "~1"));
                at = &map[key];
            }
            Value::Array(items) if !items.is_empty() && !stops => {
                let index = random.below(items.len());
                path += &format!("/{index}");
                at = &items[index];
            }
            _ => break,
        }
    }
    match random.below(10) {
        0 => path + "/-",
        1 => path + "/new",
        2 => "/metadata/annotations/x".to_owned(),
        3 => "/metadata/labels/x".to_owned(),
        4 => path + "/9",
        _ => path,
    }
}
