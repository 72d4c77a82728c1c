//! What is allowed and has no effect, or not the expected one.

use std::fmt;

use serde_json::Value;

use super::{ignition_version, is_windows, items, text};
use windlass_source::diag::{FieldPath, Segment};

/// Expressions of cloud-init's templates.
const EXPRESSIONS: [&str; 2] = ["{{ ds.", "{{ v1."];

/// An admission warning. Values are not quoted: they may be secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The field.
    pub path: FieldPath,
    /// What is to be expected of it.
    pub detail: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path, self.detail)
    }
}

/// The admission warnings for a spec of WindlassConfig at `path`.
pub fn warnings(spec: &Value, path: &FieldPath) -> Vec<Warning> {
    let mut warnings = not_templated(spec, path);
    if is_windows(spec) {
        warnings.extend(ignored_on_windows(spec, path));
    }
    if text(spec, "format") == "ignition" && ignition_version(spec) == "2.3" {
        warnings.extend(odd_in_ignition_2(spec, path));
    }
    warnings
}

/// Expressions of templates in texts that reach the node as they are.
fn not_templated(spec: &Value, path: &FieldPath) -> Vec<Warning> {
    let whole = if text(spec, "format") == "ignition" {
        Some("with spec.format \"ignition\"")
    } else if spec
        .pointer("/cloudConfig/templating")
        .and_then(Value::as_str)
        == Some("none")
    {
        Some("with spec.cloudConfig.templating \"none\"")
    } else {
        None
    };
    let mut warnings = Vec::new();
    let mut found = |at: &FieldPath, expression: &str, why: &str| {
        warnings.push(Warning {
            path: at.clone(),
            detail: format!("`{expression}` is not replaced {why}"),
        });
    };
    if let Some(why) = whole {
        each_expression(spec, &mut path.clone(), &mut |at, expression| {
            found(at, expression, why)
        });
        return warnings;
    }
    for (index, file) in items(spec, "files").iter().enumerate() {
        if !text(file, "transferEncoding").is_empty() {
            let mut at = path.field("files").index(index).field("content");
            let content = file.get("content").unwrap_or(&Value::Null);
            each_expression(content, &mut at, &mut |at, expression| {
                found(at, expression, "in a file with transferEncoding")
            });
        }
    }
    warnings
}

/// Calls `found` for each text that holds an expression, with the first one.
fn each_expression(value: &Value, at: &mut FieldPath, found: &mut dyn FnMut(&FieldPath, &str)) {
    match value {
        Value::String(text) => {
            if let Some(expression) = EXPRESSIONS
                .into_iter()
                .find(|expression| text.contains(expression))
            {
                found(at, expression);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at.push(Segment::Index(index));
                each_expression(item, at, found);
                at.pop();
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                at.push(Segment::Field(name.clone()));
                each_expression(field, at, found);
                at.pop();
            }
        }
        _ => {}
    }
}

fn ignored_on_windows(spec: &Value, path: &FieldPath) -> Vec<Warning> {
    let mut ignored = Vec::new();
    if spec.pointer("/fileDefaults/owner").is_some() {
        ignored.push(path.field("fileDefaults").field("owner"));
    }
    for (list, fields) in [
        ("files", &["owner"][..]),
        ("users", &["homeDir", "lockPassword", "shell", "sudo"][..]),
    ] {
        for (index, item) in items(spec, list).iter().enumerate() {
            let set = fields.iter().filter(|field| item.get(**field).is_some());
            ignored.extend(set.map(|field| path.field(list).index(index).field(*field)));
        }
    }
    ignored
        .into_iter()
        .map(|path| Warning {
            path,
            detail: "cloudbase-init ignores this field".to_owned(),
        })
        .collect()
}

fn odd_in_ignition_2(spec: &Value, path: &FieldPath) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (index, file) in items(spec, "files").iter().enumerate() {
        let at = path.field("files").index(index);
        if file.get("append") == Some(&Value::Bool(true)) {
            warnings.push(Warning {
                path: at.field("append"),
                detail: "Ignition 2.3 replaces the file".to_owned(),
            });
        }
        let permissions = text(file, "permissions");
        if !permissions.is_empty() && !permissions.starts_with('0') {
            let detail = format!(
                "Ignition 2.3 reads `{permissions}` as a decimal number; write `0{permissions}`"
            );
            warnings.push(Warning {
                path: at.field("permissions"),
                detail,
            });
        }
    }
    warnings
}
