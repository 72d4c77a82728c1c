//! Files and directories.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Judge, is_defined, is_windows, items, text};
use windlass_schema::{Violation, ViolationKind};

impl Judge {
    /// One source for each file, completely named; no path twice.
    pub(super) fn files(&self, spec: &Value, out: &mut Vec<Violation>) {
        let mut known = BTreeSet::new();
        for (index, file) in items(spec, "files").iter().enumerate() {
            let at = self.path.field("files").index(index);
            let invalid = |path, detail: &str| {
                Violation::new(
                    ViolationKind::Invalid,
                    path,
                    Some(&self.wording.piece(file)),
                    detail,
                )
            };
            let source = file
                .get("contentFrom")
                .filter(|source| is_defined(Some(source)));
            if !text(file, "content").is_empty() && source.is_some() {
                out.push(invalid(
                    at.clone(),
                    "only one of content or contentFrom may be specified for a single file",
                ));
            }
            if let Some(source) = source {
                let from_map = self.is_windlass() && source.get("configMap").is_some();
                let (field, what) = if from_map {
                    ("configMap", "config map")
                } else {
                    ("secret", "secret")
                };
                let place = at.field("contentFrom").field(field);
                out.extend(missing_reference(&source[field], &place, what));
            }
            if !known.insert(text(file, "path")) {
                out.push(invalid(
                    at.field("path"),
                    "path property must be unique among all files",
                ));
            }
        }
    }

    /// Directories are absolute, and none of them is a file or comes twice.
    pub(super) fn directories(&self, spec: &Value, out: &mut Vec<Violation>) {
        let mut known: BTreeSet<&str> = items(spec, "files")
            .iter()
            .map(|file| text(file, "path"))
            .collect();
        for (index, directory) in items(spec, "directories").iter().enumerate() {
            let path = text(directory, "path");
            let mut reject = |detail: &str| {
                let at = self.path.field("directories").index(index).field("path");
                out.push(Violation::invalid(at, &Value::from(path), detail));
            };
            if !known.insert(path) {
                reject("path must be unique among all files and directories");
            }
            if !is_windows(spec) && !path.starts_with('/') {
                reject("must start with \"/\"");
            }
        }
    }
}

/// A reference to a Secret or ConfigMap without name or key. Upstream says "file source" of
/// passwords too.
pub(super) fn missing_reference(
    reference: &Value,
    at: &windlass_source::diag::FieldPath,
    what: &str,
) -> Vec<Violation> {
    let missing = |field: &&str| text(reference, field).is_empty();
    let detail = |field: &str| format!("{what} file source must specify non-empty {what} {field}");
    ["name", "key"]
        .into_iter()
        .filter(missing)
        .map(|field| Violation::required(at.field(field), &detail(field)))
        .collect()
}
