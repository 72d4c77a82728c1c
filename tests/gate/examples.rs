//! The examples on the pages of rules, and the releases that they make: each is laid over the sound
//! release in `base`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::tree::Tree;

/// The file whose objects are changed, not replaced.
pub(crate) const COMPONENTS: &str = "infrastructure-components.yaml";

/// The files of an example, by path; those below `previous/` are of the release before.
pub(crate) type Example = BTreeMap<String, String>;

/// The blocks of a page below a heading: ```` ```yaml FILE ````, or another language.
pub(crate) fn example(page: &str, heading: &str) -> Example {
    let mut files = Example::new();
    let mut within = false;
    let mut block: Option<(String, String)> = None;
    for line in page.lines() {
        match &mut block {
            Some((name, text)) if line == "```" => {
                files.insert(std::mem::take(name), std::mem::take(text));
                block = None;
            }
            Some((_, text)) => *text += &format!("{line}\n"),
            None if line.starts_with("## ") => within = line == format!("## {heading}"),
            None if within => {
                block = line
                    .strip_prefix("```")
                    .and_then(|fence| fence.split_once(' '))
                    .map(|(_, name)| (name.to_owned(), String::new()))
            }
            None => {}
        }
    }
    assert!(block.is_none(), "a block does not end:\n{page}");
    files
}

/// The files of a page under *Bad* and under *Good*. *Good* has the previous release of *Bad*,
/// unless it has its own.
pub(crate) fn examples_of(page: &str) -> (Example, Example) {
    let (bad, mut good) = (example(page, "Bad"), example(page, "Good"));
    for (path, content) in bad.iter().filter(|(path, _)| path.starts_with("previous/")) {
        good.entry(path.clone()).or_insert_with(|| content.clone());
    }
    (bad, good)
}

/// The documents of a YAML text without faults, as JSON.
pub(crate) fn documents(text: &str) -> Vec<Value> {
    let parsed = yaml::parse(&Source::new("example", text), &Budget::default());
    assert!(parsed.report.is_empty(), "{:?}", parsed.report);
    parsed
        .documents
        .iter()
        .map(|document| document.root.to_json())
        .filter(|value| !value.is_null())
        .collect()
}

/// RFC 7386.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(serde_json::Map::new());
    }
    for (key, value) in fields {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut target[key], value);
        }
    }
}

fn key(object: &Value) -> (String, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let group = text(&object["apiVersion"])
        .rsplit_once('/')
        .map_or(String::new(), |(group, _)| group.to_owned());
    (
        group,
        text(&object["kind"]),
        text(&object["metadata"]["name"]),
    )
}

/// The base with the objects of an example. One with `$patch: delete` is removed.
pub(crate) fn overlaid(base: &str, example: &str) -> String {
    let mut objects = documents(base);
    for patch in documents(example) {
        let at = objects.iter().position(|object| key(object) == key(&patch));
        match at {
            Some(at) if patch["$patch"] == "delete" => {
                objects.remove(at);
            }
            Some(at) => merge(&mut objects[at], &patch),
            None => objects.push(patch),
        }
    }
    objects
        .iter()
        .map(|object| serde_yaml::to_string(object).unwrap())
        .collect::<Vec<_>>()
        .join("---\n")
}

/// A release: the base with the files of an example. An empty file is removed.
pub(crate) fn release(root: &Path, files: &Example, below: &str) -> Tree {
    let base = root.join("tests/gate/base");
    let text = |name: &str| std::fs::read_to_string(base.join(name)).unwrap();
    let mut laid: BTreeMap<&str, String> = [COMPONENTS, "metadata.yaml", "cluster-template.yaml"]
        .map(|name| (name, text(name)))
        .into();
    let before = files
        .iter()
        .filter_map(|(path, content)| Some((path.strip_prefix("previous/")?, content)));
    let of_release = files
        .iter()
        .map(|(path, content)| (path.as_str(), content))
        .filter(|(path, _)| !path.contains('/') && below.is_empty());
    for (name, content) in before.chain(of_release) {
        let content = if name == COMPONENTS && !content.is_empty() {
            overlaid(&laid[COMPONENTS], content)
        } else {
            content.clone()
        };
        laid.insert(name, content);
    }
    laid.into_iter()
        .filter(|(_, content)| !content.is_empty())
        .map(|(name, content)| (name.to_owned(), content.into_bytes()))
        .collect()
}
