//! `release diff`: the objects that change between two published files of components.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde::Deserialize;
use serde_json::Value;

use crate::support::{run, shared};

/// The group, kind, namespace and name of every object, as serde_yaml reads them.
fn names(text: &str) -> BTreeSet<(String, String, Option<String>, String)> {
    let documents = serde_yaml::Deserializer::from_str(text)
        .map(|document| Value::deserialize(document).unwrap());
    let name = |object: Value| {
        let api_version = object["apiVersion"].as_str().unwrap();
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        (
            group.to_owned(),
            text(&object["kind"]).unwrap(),
            text(&object["metadata"]["namespace"]),
            text(&object["metadata"]["name"]).unwrap(),
        )
    };
    documents
        .filter(|object| !object.is_null())
        .map(name)
        .collect()
}

#[test]
fn reports_added_and_removed_objects_of_published_components() {
    let Some(corpus) = shared("corpus/published") else {
        return;
    };
    let cluster_api = corpus.join("kubernetes-sigs+cluster-api@v1.12.0");
    let sides = ["bootstrap-components.yaml", "core-components.yaml"]
        .map(|file| cluster_api.join(file))
        .map(|file| {
            assert!(file.is_file(), "{}", file.display());
            file
        });
    let texts = sides
        .each_ref()
        .map(|file| fs::read_to_string(file).unwrap());
    let [old, new] = texts.each_ref().map(|text| names(text));
    let [from, to] = sides.each_ref().map(|file| file.display());
    let json = run(&corpus, &format!("release diff {from} {to} -o json"))
        .ok()
        .json();
    let mut changes: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
    for object in json["difference"]["objects"].as_array().unwrap() {
        let text = |key: &str| object[key].as_str().map(str::to_owned);
        let name = (
            text("group").unwrap(),
            text("kind").unwrap(),
            text("namespace"),
            text("name").unwrap(),
        );
        changes
            .entry(text("change").unwrap())
            .or_default()
            .insert(name);
    }
    assert_eq!(
        changes.get("added").cloned().unwrap_or_default(),
        new.difference(&old).cloned().collect()
    );
    assert_eq!(
        changes.get("removed").cloned().unwrap_or_default(),
        old.difference(&new).cloned().collect()
    );
}
