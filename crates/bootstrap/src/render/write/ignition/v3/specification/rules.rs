//! What the values of an object may be, beyond their types.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::Found;
use crate::render::write::ignition::{data_url, unit_file};
use windlass_go_text::url::Url;

fn text<'a>(entries: &'a Map<String, Value>, key: &str) -> &'a str {
    entries.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(entries: &Map<String, Value>, key: &str) -> Option<i64> {
    entries.get(key).and_then(Value::as_i64)
}

fn flag(entries: &Map<String, Value>, key: &str) -> bool {
    entries
        .get(key)
        .and_then(Value::as_bool)
        .unwrap_or_default()
}

const CLEAN: &str = "must be an absolute path without `//`, `.`, `..` or `/` at its end";

fn is_clean(path: &str) -> bool {
    path == "/"
        || path
            .strip_prefix('/')
            .is_some_and(|path| path.split('/').all(|part| !matches!(part, "" | "." | "..")))
}

pub(super) fn version(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if !matches!(
        text(entries, "version"),
        "3.0.0" | "3.1.0" | "3.2.0" | "3.3.0" | "3.4.0"
    ) {
        found.add("version", "must be 3.0.0 to 3.4.0");
    }
}

pub(super) fn resource(entries: &Map<String, Value>, found: &mut Found<'_>) {
    let source = text(entries, "source");
    let scheme = Url::parse(source).map(|url| url.scheme);
    match scheme.as_deref() {
        Ok("") if source.is_empty() => {}
        Ok("http" | "https" | "tftp" | "s3" | "arn" | "gs") => {}
        Ok("data") => {
            if let Err(fault) = data_url::read(source) {
                found.add("source", format!("is not a data URL: {fault}"));
            }
        }
        _ => found.add(
            "source",
            "must be a URL with the scheme http, https, tftp, s3, arn, gs or data",
        ),
    }
    if !matches!(text(entries, "compression"), "" | "gzip") {
        found.add("compression", "must be gzip");
    }
    let has_headers = entries
        .get("httpHeaders")
        .and_then(Value::as_array)
        .is_some_and(|headers| !headers.is_empty());
    if has_headers && !matches!(scheme.as_deref(), Ok("http" | "https")) {
        found.add("httpHeaders", "is for the schemes http and https only");
    }
}

pub(super) fn hash(entries: &Map<String, Value>, found: &mut Found<'_>) {
    let fits = match text(entries, "hash").split_once('-') {
        Some(("sha512", sum)) => sum.len() == 128,
        Some(("sha256", sum)) => sum.len() == 64,
        _ => text(entries, "hash").is_empty(),
    };
    if !fits {
        found.add("hash", "must be `sha512-` or `sha256-` and the sum in hex");
    }
}

/// The paths of files, directories and links are unique.
pub(super) fn paths(entries: &Map<String, Value>, found: &mut Found<'_>) {
    let mut known = BTreeSet::new();
    for list in ["files", "directories", "links"] {
        for (index, item) in entries
            .get(list)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate()
        {
            let path = item.get("path").and_then(Value::as_str).unwrap_or_default();
            if !is_clean(path) {
                found.add(&format!("{list}[{index}].path"), CLEAN);
            } else if !known.insert(path) {
                found.add(
                    &format!("{list}[{index}].path"),
                    format!("`{path}` appears twice"),
                );
            }
        }
    }
}

pub(super) fn owner(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if entries.contains_key("id") && !text(entries, "name").is_empty() {
        found.add("", "may have an id or a name, not both");
    }
}

pub(super) fn mode(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if number(entries, "mode").is_some_and(|mode| mode > 0o7777) {
        found.add("mode", "must be at most 4095");
    }
}

pub(super) fn file(entries: &Map<String, Value>, found: &mut Found<'_>) {
    mode(entries, found);
    let has_source = entries
        .get("contents")
        .is_some_and(|contents| contents.get("source").is_some_and(Value::is_string));
    if flag(entries, "overwrite") && !has_source {
        found.add("overwrite", "must not be true without `contents.source`");
    }
}

pub(super) fn disk(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if !is_clean(text(entries, "device")) {
        found.add("device", CLEAN);
    }
    let (mut numbers, mut labels) = (BTreeSet::new(), BTreeSet::new());
    for (index, partition) in entries
        .get("partitions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .enumerate()
    {
        let number = partition
            .get("number")
            .and_then(Value::as_i64)
            .filter(|number| *number != 0);
        let label = partition
            .get("label")
            .and_then(Value::as_str)
            .filter(|label| !label.is_empty());
        if number.is_some_and(|number| !numbers.insert(number))
            || label.is_some_and(|label| !labels.insert(label))
        {
            found.add(
                &format!("partitions[{index}]"),
                "has a number or a label that appears twice",
            );
        }
    }
}

pub(super) fn partition(entries: &Map<String, Value>, found: &mut Found<'_>) {
    let label = text(entries, "label");
    if number(entries, "number").unwrap_or_default() == 0 && label.is_empty() {
        found.add("", "must have a number from 1 or a label");
    }
    if label.len() > 36 || label.contains(':') {
        found.add("label", "must have at most 36 characters and no `:`");
    }
    for key in ["guid", "typeGuid"] {
        let guid = text(entries, key);
        let parts: Vec<&str> = guid.split('-').collect();
        let is_guid = parts.iter().map(|part| part.len()).eq([8, 4, 4, 4, 12])
            && parts
                .iter()
                .all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if !guid.is_empty() && !is_guid {
            found.add(
                key,
                "must be a GUID such as 01234567-89AB-CDEF-EDCB-A98765432101",
            );
        }
    }
    let describes = ["label", "sizeMiB", "startMiB", "typeGuid", "guid"]
        .iter()
        .any(|key| entries.contains_key(*key));
    if entries.get("shouldExist") == Some(&Value::Bool(false)) && describes {
        found.add(
            "shouldExist",
            "must not be false beside a description of the partition",
        );
    }
}

pub(super) fn raid(entries: &Map<String, Value>, found: &mut Found<'_>) {
    let devices = entries
        .get("devices")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    if devices
        .filter_map(Value::as_str)
        .any(|device| !is_clean(device))
    {
        found.add("devices", "must be absolute paths");
    }
    match text(entries, "level") {
        "linear" | "raid0" | "0" | "stripe"
            if number(entries, "spares").unwrap_or_default() != 0 =>
        {
            found.add("spares", "are for levels above 0 only");
        }
        "linear" | "raid0" | "0" | "stripe" | "raid1" | "1" | "mirror" | "raid4" | "4"
        | "raid5" | "5" | "raid6" | "6" | "raid10" | "10" => {}
        _ => found.add("level", "is not a level of RAID"),
    }
}

pub(super) fn filesystem(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if !is_clean(text(entries, "device")) {
        found.add("device", CLEAN);
    }
    let path = text(entries, "path");
    if !path.is_empty() && !is_clean(path) {
        found.add("path", CLEAN);
    }
    let longest = match text(entries, "format") {
        "ext4" => 16,
        "btrfs" => 256,
        "xfs" => 12,
        "swap" => 15,
        "vfat" => 11,
        "none" => 0,
        "" => {
            if ["path", "label", "uuid", "options", "wipeFilesystem"]
                .iter()
                .any(|key| entries.contains_key(*key))
            {
                found.add("format", "is required beside other settings");
            }
            return;
        }
        _ => return found.add("format", "must be ext4, btrfs, xfs, vfat, swap or none"),
    };
    if text(entries, "label").len() > longest {
        found.add("label", format!("must have at most {longest} characters"));
    }
}

pub(super) fn unit(entries: &Map<String, Value>, found: &mut Found<'_>) {
    let name = text(entries, "name");
    if !name
        .rsplit_once('.')
        .is_some_and(|(_, extension)| unit_file::EXTENSIONS.contains(&extension))
    {
        found.add(
            "name",
            "must end with the suffix of a unit, such as `.service`",
        );
    }
    unit_contents(entries, found);
}

pub(super) fn dropin(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if !text(entries, "name").ends_with(".conf") {
        found.add("name", "must end with `.conf`");
    }
    unit_contents(entries, found);
}

fn unit_contents(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if let Err(fault) = unit_file::sections(text(entries, "contents")) {
        found.add("contents", format!("is not a unit file: {fault}"));
    }
}
