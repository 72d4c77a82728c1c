//! What is said of small inputs: each finding with its place, its words and its advice.

use serde_json::Value;

use crate::support::windlass;

mod components;
mod contract_fields;
mod definitions;
mod images;
mod metadata;
mod scripts;
mod templates;
mod unresolved;

/// What `lint` finds in some files by the rules whose names begin so, in its order.
fn found(files: &[(&str, &str)], arguments: &[&str], rule: &str) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let output = windlass(folder.path())
        .args(["lint", "-o", "json"])
        .args(arguments)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["rule"].as_str().unwrap().starts_with(rule))
        .cloned()
        .collect()
}

/// Where something stands: `LINE:COLUMN-ENDCOLUMN`, or with the line of its end where that is
/// another one.
fn place(at: &Value) -> String {
    let end = if at["line"] == at["endLine"] {
        at["endColumn"].to_string()
    } else {
        format!("{}:{}", at["endLine"], at["endColumn"])
    };
    format!("{}:{}-{end}", at["line"], at["column"])
}

/// The places of a finding: its own, and those beside it with what is said of them.
fn places(finding: &Value) -> String {
    let related = finding["related"].as_array().unwrap().iter();
    let related = related.map(|at| {
        [
            place(at),
            at["label"].as_str().unwrap_or_default().to_owned(),
        ]
        .join(" ")
        .trim_end()
        .to_owned()
    });
    std::iter::once(place(finding))
        .chain(related)
        .collect::<Vec<_>>()
        .join(" & ")
}

fn text<'v>(finding: &'v Value, field: &str) -> &'v str {
    finding[field].as_str().unwrap_or_default()
}

/// The notes of a finding, one behind the other.
fn notes(finding: &Value) -> String {
    let notes: Vec<&str> = finding["notes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    notes.join("; ")
}

/// Places, message and help of what is found.
fn told(files: &[(&str, &str)], rule: &str) -> Vec<String> {
    let line = |finding: &Value| {
        format!(
            "{}: {}: {}",
            places(finding),
            text(finding, "message"),
            text(finding, "help")
        )
    };
    found(files, &[], rule).iter().map(line).collect()
}
