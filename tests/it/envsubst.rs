//! Substitution against the recorded behaviour of clusterctl: every row of its table of one-line
//! templates.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_envsubst::{self as envsubst, SubstError, SubstErrorKind};
use windlass_source::budget::Budget;

use crate::support::vectors;

#[test]
fn every_recorded_substitution_is_reproduced() {
    let table = vectors("clusterctl/envsubst.json");
    let rows: Vec<Value> = serde_json::from_slice(&std::fs::read(table).unwrap()).unwrap();
    assert!(rows.len() >= 146, "{} rows", rows.len());
    let wrong: Vec<String> = rows
        .iter()
        .filter_map(|row| difference(row).map(|said| format!("{}: {said}", row["input"])))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {} rows differ:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

/// What is not as recorded.
fn difference(row: &Value) -> Option<String> {
    let env: BTreeMap<String, String> = serde_json::from_value(row["env"].clone()).unwrap();
    let template = envsubst::parse(row["input"].as_str().unwrap());
    let variables = template.as_ref().ok().map(|template| {
        let entry = |(name, default): (String, Option<String>)| serde_json::json!({"name": name, "default": default});
        template.variables().into_iter().map(entry).collect::<Vec<_>>()
    });
    let recorded = row["variables"].as_array().cloned();
    if variables != recorded {
        return Some(format!("variables {variables:?}, recorded {recorded:?}"));
    }
    // clusterctl looks variables up in the environment by their upper-case name.
    let result = template.and_then(|template| {
        template.substitute(
            |name| env.get(&name.to_uppercase()).cloned(),
            &Budget::default(),
        )
    });
    let same = match &result {
        Ok(done) => row["value"].as_str() == done.text().ok(),
        Err(SubstError {
            kind: SubstErrorKind::NegativeLength(_),
            ..
        }) => row["panic"] == true,
        Err(error) => row["error"].as_str() == Some(error.to_string().as_str()),
    };
    (!same).then(|| format!("{result:?}, recorded {row}"))
}
