//! A checker for Ignition 3 configs, written from the text of the specification (Ignition configuration specification v3.4.0): keys and
//! their types, what is required, and what a value may be.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::render::ignition::{data_url, unit_file};
use crate::text::go_url::Url;

/// What is wrong with a config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where in the config.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// Whether it is a key that the specification does not know, which Ignition ignores with a warning.
    pub is_unknown_key: bool,
}

/// What a key holds.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Flag,
    Texts,
    Object(&'static Shape),
    Objects(&'static Shape),
}

/// The keys of an object; `*` before a key says that it is required. Items of lists are told apart by the key `id`.
struct Shape {
    keys: &'static [(&'static str, Kind)],
    id: &'static str,
    rule: fn(&Map<String, Value>, &mut Found<'_>),
}

use Kind::{Flag, Number, Object, Objects, Text, Texts};

const fn plain(keys: &'static [(&'static str, Kind)]) -> Shape {
    Shape { keys, id: "", rule: |_, _| {} }
}

static CONFIG: Shape = plain(&[
    ("*ignition", Object(&IGNITION)),
    ("storage", Object(&STORAGE)),
    ("systemd", Object(&SYSTEMD)),
    ("passwd", Object(&PASSWD)),
    ("kernelArguments", Object(&KERNEL_ARGUMENTS)),
]);
static IGNITION: Shape = Shape {
    keys: &[
        ("*version", Text),
        ("config", Object(&OTHER_CONFIGS)),
        ("timeouts", Object(&TIMEOUTS)),
        ("security", Object(&SECURITY)),
        ("proxy", Object(&PROXY)),
    ],
    id: "",
    rule: version,
};
static OTHER_CONFIGS: Shape = plain(&[("merge", Objects(&RESOURCE)), ("replace", Object(&RESOURCE))]);
static TIMEOUTS: Shape = plain(&[("httpResponseHeaders", Number), ("httpTotal", Number)]);
static SECURITY: Shape = plain(&[("tls", Object(&TLS))]);
static TLS: Shape = plain(&[("certificateAuthorities", Objects(&RESOURCE))]);
static PROXY: Shape = plain(&[("httpProxy", Text), ("httpsProxy", Text), ("noProxy", Texts)]);
static RESOURCE: Shape = Shape {
    keys: &[("source", Text), ("compression", Text), ("httpHeaders", Objects(&HEADER)), ("verification", Object(&VERIFICATION))],
    id: "",
    rule: resource,
};
static HEADER: Shape = Shape { keys: &[("*name", Text), ("value", Text)], id: "name", rule: |_, _| {} };
static VERIFICATION: Shape = Shape { keys: &[("hash", Text)], id: "", rule: hash };
static STORAGE: Shape = Shape {
    keys: &[
        ("disks", Objects(&DISK)),
        ("raid", Objects(&RAID)),
        ("filesystems", Objects(&FILESYSTEM)),
        ("files", Objects(&FILE)),
        ("directories", Objects(&DIRECTORY)),
        ("links", Objects(&LINK)),
        ("luks", Objects(&LUKS)),
    ],
    id: "",
    rule: paths,
};
static DISK: Shape =
    Shape { keys: &[("*device", Text), ("wipeTable", Flag), ("partitions", Objects(&PARTITION))], id: "device", rule: disk };
static PARTITION: Shape = Shape {
    keys: &[
        ("label", Text),
        ("number", Number),
        ("sizeMiB", Number),
        ("startMiB", Number),
        ("typeGuid", Text),
        ("guid", Text),
        ("wipePartitionEntry", Flag),
        ("shouldExist", Flag),
        ("resize", Flag),
    ],
    id: "",
    rule: partition,
};
static RAID: Shape = Shape {
    keys: &[("*name", Text), ("*level", Text), ("*devices", Texts), ("spares", Number), ("options", Texts)],
    id: "name",
    rule: raid,
};
static FILESYSTEM: Shape = Shape {
    keys: &[
        ("*device", Text),
        ("format", Text),
        ("path", Text),
        ("wipeFilesystem", Flag),
        ("label", Text),
        ("uuid", Text),
        ("options", Texts),
        ("mountOptions", Texts),
    ],
    id: "device",
    rule: filesystem,
};
static OWNER: Shape = Shape { keys: &[("id", Number), ("name", Text)], id: "", rule: owner };
static FILE: Shape = Shape {
    keys: &[
        ("*path", Text),
        ("overwrite", Flag),
        ("contents", Object(&RESOURCE)),
        ("append", Objects(&RESOURCE)),
        ("mode", Number),
        ("user", Object(&OWNER)),
        ("group", Object(&OWNER)),
    ],
    id: "",
    rule: file,
};
static DIRECTORY: Shape = Shape {
    keys: &[("*path", Text), ("overwrite", Flag), ("mode", Number), ("user", Object(&OWNER)), ("group", Object(&OWNER))],
    id: "",
    rule: mode,
};
static LINK: Shape = Shape {
    keys: &[("*path", Text), ("overwrite", Flag), ("user", Object(&OWNER)), ("group", Object(&OWNER)), ("*target", Text), ("hard", Flag)],
    id: "",
    rule: |_, _| {},
};
static LUKS: Shape = Shape {
    keys: &[
        ("*name", Text),
        ("device", Text),
        ("keyFile", Object(&RESOURCE)),
        ("label", Text),
        ("uuid", Text),
        ("options", Texts),
        ("discard", Flag),
        ("openOptions", Texts),
        ("wipeVolume", Flag),
        ("clevis", Object(&CLEVIS)),
    ],
    id: "name",
    rule: |_, _| {},
};
static CLEVIS: Shape = plain(&[("tang", Objects(&TANG)), ("tpm2", Flag), ("threshold", Number), ("custom", Object(&CLEVIS_CUSTOM))]);
static TANG: Shape = plain(&[("*url", Text), ("*thumbprint", Text), ("advertisement", Text)]);
static CLEVIS_CUSTOM: Shape = plain(&[("*pin", Text), ("*config", Text), ("needsNetwork", Flag)]);
static SYSTEMD: Shape = plain(&[("units", Objects(&UNIT))]);
static UNIT: Shape = Shape {
    keys: &[("*name", Text), ("enabled", Flag), ("mask", Flag), ("contents", Text), ("dropins", Objects(&DROPIN))],
    id: "name",
    rule: unit,
};
static DROPIN: Shape = Shape { keys: &[("*name", Text), ("contents", Text)], id: "name", rule: dropin };
static PASSWD: Shape = plain(&[("users", Objects(&USER)), ("groups", Objects(&GROUP))]);
static USER: Shape = Shape {
    keys: &[
        ("*name", Text),
        ("passwordHash", Text),
        ("sshAuthorizedKeys", Texts),
        ("uid", Number),
        ("gecos", Text),
        ("homeDir", Text),
        ("noCreateHome", Flag),
        ("primaryGroup", Text),
        ("groups", Texts),
        ("noUserGroup", Flag),
        ("noLogInit", Flag),
        ("shell", Text),
        ("shouldExist", Flag),
        ("system", Flag),
    ],
    id: "name",
    rule: |_, _| {},
};
static GROUP: Shape = Shape {
    keys: &[("*name", Text), ("gid", Number), ("passwordHash", Text), ("shouldExist", Flag), ("system", Flag)],
    id: "name",
    rule: |_, _| {},
};
static KERNEL_ARGUMENTS: Shape = plain(&[("shouldExist", Texts), ("shouldNotExist", Texts)]);

/// Everything that is wrong with a config.
pub fn check(config: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    object(&CONFIG, config, "", &mut faults);
    faults
}

/// Faults of one object.
struct Found<'a> {
    path: &'a str,
    faults: &'a mut Vec<Fault>,
}

impl Found<'_> {
    fn add(&mut self, key: &str, message: impl Into<String>) {
        let path = if key.is_empty() { self.path.to_owned() } else { joined(self.path, key) };
        self.faults.push(Fault { path, message: message.into(), is_unknown_key: false });
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn object(shape: &Shape, value: &Value, path: &str, faults: &mut Vec<Fault>) {
    let Value::Object(entries) = value else {
        Found { path, faults }.add("", "must be an object");
        return;
    };
    let before = faults.len();
    for (key, value) in entries {
        let known = shape.keys.iter().find(|(name, _)| name.trim_start_matches('*') == key);
        let path = joined(path, key);
        match known {
            None => {
                let message = "is no key that the specification knows".to_owned();
                faults.push(Fault { path, message, is_unknown_key: true });
            }
            Some(_) if value.is_null() => {}
            Some((_, kind)) => of_kind(*kind, value, &path, faults),
        }
    }
    for required in shape.keys.iter().filter_map(|(key, _)| key.strip_prefix('*')) {
        if entries.get(required).is_none_or(|value| value.is_null() || value.as_str() == Some("")) {
            Found { path, faults }.add(required, "is required");
        }
    }
    if faults[before..].iter().all(|fault| fault.is_unknown_key) {
        (shape.rule)(entries, &mut Found { path, faults });
    }
}

fn of_kind(kind: Kind, value: &Value, path: &str, faults: &mut Vec<Fault>) {
    let (fits, what) = match kind {
        Text => (value.is_string(), "a string"),
        Number => (value.as_i64().is_some_and(|number| number >= 0), "a number"),
        Flag => (value.is_boolean(), "a boolean"),
        Texts => (value.as_array().is_some_and(|items| items.iter().all(Value::is_string)), "a list of strings"),
        Object(shape) => return object(shape, value, path, faults),
        Objects(shape) => match value.as_array() {
            Some(items) => return objects(shape, items, path, faults),
            None => (false, "a list"),
        },
    };
    if !fits {
        Found { path, faults }.add("", format!("must be {what}"));
    }
}

fn objects(shape: &Shape, items: &[Value], path: &str, faults: &mut Vec<Fault>) {
    let mut ids = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("{path}[{index}]");
        object(shape, item, &path, faults);
        let id = item.get(shape.id).and_then(Value::as_str).unwrap_or_default();
        if !id.is_empty() && !ids.insert(id) {
            Found { path: &path, faults }.add(shape.id, format!("`{id}` stands twice"));
        }
    }
}

fn text<'a>(entries: &'a Map<String, Value>, key: &str) -> &'a str {
    entries.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(entries: &Map<String, Value>, key: &str) -> Option<i64> {
    entries.get(key).and_then(Value::as_i64)
}

fn flag(entries: &Map<String, Value>, key: &str) -> bool {
    entries.get(key).and_then(Value::as_bool).unwrap_or_default()
}

fn is_absolute(path: &str) -> bool {
    path.starts_with('/')
}

fn version(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if !matches!(text(entries, "version"), "3.0.0" | "3.1.0" | "3.2.0" | "3.3.0" | "3.4.0") {
        found.add("version", "must be 3.0.0 to 3.4.0");
    }
}

fn resource(entries: &Map<String, Value>, found: &mut Found<'_>) {
    let source = text(entries, "source");
    let scheme = Url::parse(source).map(|url| url.scheme);
    match scheme.as_deref() {
        Ok("") if source.is_empty() => {}
        Ok("http" | "https" | "tftp" | "s3" | "arn" | "gs") => {}
        Ok("data") => {
            if let Err(fault) = data_url::read(source) {
                found.add("source", format!("is no data URL: {fault}"));
            }
        }
        _ => found.add("source", "must be a URL with the scheme http, https, tftp, s3, arn, gs or data"),
    }
    if !matches!(text(entries, "compression"), "" | "gzip") {
        found.add("compression", "must be gzip");
    }
    let has_headers = entries.get("httpHeaders").and_then(Value::as_array).is_some_and(|headers| !headers.is_empty());
    if has_headers && !matches!(scheme.as_deref(), Ok("http" | "https")) {
        found.add("httpHeaders", "is for the schemes http and https only");
    }
}

fn hash(entries: &Map<String, Value>, found: &mut Found<'_>) {
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
fn paths(entries: &Map<String, Value>, found: &mut Found<'_>) {
    let mut known = BTreeSet::new();
    for list in ["files", "directories", "links"] {
        for (index, item) in entries.get(list).and_then(Value::as_array).into_iter().flatten().enumerate() {
            let path = item.get("path").and_then(Value::as_str).unwrap_or_default();
            if !is_absolute(path) {
                found.add(&format!("{list}[{index}].path"), "must start with `/`");
            } else if !known.insert(path) {
                found.add(&format!("{list}[{index}].path"), format!("`{path}` stands twice"));
            }
        }
    }
}

fn owner(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if entries.contains_key("id") && !text(entries, "name").is_empty() {
        found.add("", "may have an id or a name, not both");
    }
}

fn mode(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if number(entries, "mode").is_some_and(|mode| mode > 0o7777) {
        found.add("mode", "must be at most 4095");
    }
}

fn file(entries: &Map<String, Value>, found: &mut Found<'_>) {
    mode(entries, found);
    let has_source = entries.get("contents").is_some_and(|contents| contents.get("source").is_some_and(Value::is_string));
    if flag(entries, "overwrite") && !has_source {
        found.add("overwrite", "must not be true without `contents.source`");
    }
}

fn disk(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if !is_absolute(text(entries, "device")) {
        found.add("device", "must be an absolute path");
    }
    let (mut numbers, mut labels) = (BTreeSet::new(), BTreeSet::new());
    for (index, partition) in entries.get("partitions").and_then(Value::as_array).into_iter().flatten().enumerate() {
        let number = partition.get("number").and_then(Value::as_i64).filter(|number| *number != 0);
        let label = partition.get("label").and_then(Value::as_str).filter(|label| !label.is_empty());
        if number.is_some_and(|number| !numbers.insert(number)) || label.is_some_and(|label| !labels.insert(label)) {
            found.add(&format!("partitions[{index}]"), "has a number or a label that stands twice");
        }
    }
}

fn partition(entries: &Map<String, Value>, found: &mut Found<'_>) {
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
            && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if !guid.is_empty() && !is_guid {
            found.add(key, "must be a GUID such as 01234567-89AB-CDEF-EDCB-A98765432101");
        }
    }
    let describes = ["label", "sizeMiB", "startMiB", "typeGuid", "guid"].iter().any(|key| entries.contains_key(*key));
    if entries.get("shouldExist") == Some(&Value::Bool(false)) && describes {
        found.add("shouldExist", "must not be false beside a description of the partition");
    }
}

fn raid(entries: &Map<String, Value>, found: &mut Found<'_>) {
    let devices = entries.get("devices").and_then(Value::as_array).into_iter().flatten();
    if devices.filter_map(Value::as_str).any(|device| !is_absolute(device)) {
        found.add("devices", "must be absolute paths");
    }
    match text(entries, "level") {
        "linear" | "raid0" | "0" | "stripe" if number(entries, "spares").unwrap_or_default() != 0 => {
            found.add("spares", "are for levels above 0 only");
        }
        "linear" | "raid0" | "0" | "stripe" | "raid1" | "1" | "mirror" | "raid4" | "4" | "raid5" | "5" | "raid6" | "6" | "raid10"
        | "10" => {}
        _ => found.add("level", "is no level of RAID"),
    }
}

fn filesystem(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if !is_absolute(text(entries, "device")) {
        found.add("device", "must be an absolute path");
    }
    let path = text(entries, "path");
    if !path.is_empty() && !is_absolute(path) {
        found.add("path", "must be an absolute path");
    }
    let longest = match text(entries, "format") {
        "ext4" => 16,
        "btrfs" => 256,
        "xfs" => 12,
        "swap" => 15,
        "vfat" => 11,
        "none" => 0,
        "" => {
            if ["path", "label", "uuid", "options", "wipeFilesystem"].iter().any(|key| entries.contains_key(*key)) {
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

fn unit(entries: &Map<String, Value>, found: &mut Found<'_>) {
    const EXTENSIONS: [&str; 12] =
        ["service", "socket", "device", "mount", "automount", "swap", "target", "path", "timer", "snapshot", "slice", "scope"];
    let name = text(entries, "name");
    if !name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension)) {
        found.add("name", "must end with the suffix of a unit, such as `.service`");
    }
    unit_contents(entries, found);
}

fn dropin(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if !text(entries, "name").ends_with(".conf") {
        found.add("name", "must end with `.conf`");
    }
    unit_contents(entries, found);
}

fn unit_contents(entries: &Map<String, Value>, found: &mut Found<'_>) {
    if let Err(fault) = unit_file::sections(text(entries, "contents")) {
        found.add("contents", format!("is no unit file: {fault}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults(config: &Value) -> Vec<String> {
        check(config).into_iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect()
    }

    #[test]
    fn what_the_specification_allows_passes() {
        let config = json!({
            "ignition": {"version": "3.4.0", "config": {"merge": [{"source": "https://x/y", "verification": {"hash": format!("sha256-{}", "0".repeat(64))}}]}},
            "storage": {
                "disks": [{"device": "/dev/sdb", "wipeTable": true, "partitions": [{"number": 1}, {"label": "data"}]}],
                "filesystems": [{"device": "/dev/sdb1", "format": "ext4", "label": "a", "path": "/a"}],
                "files": [{"path": "/b", "contents": {"source": "data:,x"}, "overwrite": true, "mode": 420, "user": {"name": "u"}}],
                "directories": [{"path": "/c"}],
                "links": [{"path": "/d", "target": "/b"}],
            },
            "systemd": {"units": [{"name": "a.service", "enabled": true, "contents": "[Service]\nType=oneshot\n", "dropins": [{"name": "x.conf"}]}]},
            "passwd": {"users": [{"name": "core", "sshAuthorizedKeys": ["k"]}]},
        });
        assert_eq!(faults(&config), Vec::<String>::new());
    }

    #[test]
    fn what_it_forbids_is_found() {
        let check = |part: Value, expected: &str| {
            let mut config = json!({"ignition": {"version": "3.4.0"}});
            config.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
            assert_eq!(faults(&config), [expected], "{part}");
        };
        check(json!({"ignition": {}}), "ignition.version: is required");
        check(json!({"ignition": {"version": "3.5.0"}}), "ignition.version: must be 3.0.0 to 3.4.0");
        check(json!({"networkd": {}}), "networkd: is no key that the specification knows");
        check(json!({"storage": {"files": [{"path": "a"}]}}), "storage.files[0].path: must start with `/`");
        check(
            json!({"storage": {"files": [{"path": "/a"}], "links": [{"path": "/a", "target": "b"}]}}),
            "storage.links[0].path: `/a` stands twice",
        );
        check(
            json!({"storage": {"files": [{"path": "/a", "overwrite": true}]}}),
            "storage.files[0].overwrite: must not be true without `contents.source`",
        );
        check(json!({"storage": {"files": [{"path": "/a", "mode": 5000}]}}), "storage.files[0].mode: must be at most 4095");
        check(
            json!({"storage": {"files": [{"path": "/a", "contents": {"source": "oem:///x"}}]}}),
            "storage.files[0].contents.source: must be a URL with the scheme http, https, tftp, s3, arn, gs or data",
        );
        check(
            json!({"storage": {"files": [{"path": "/a", "user": {"id": 1, "name": "x"}}]}}),
            "storage.files[0].user: may have an id or a name, not both",
        );
        check(
            json!({"storage": {"disks": [{"device": "/d", "partitions": [{}]}]}}),
            "storage.disks[0].partitions[0]: must have a number from 1 or a label",
        );
        check(
            json!({"storage": {"filesystems": [{"device": "/d", "format": "zfs"}]}}),
            "storage.filesystems[0].format: must be ext4, btrfs, xfs, vfat, swap or none",
        );
        check(
            json!({"systemd": {"units": [{"name": "a"}]}}),
            "systemd.units[0].name: must end with the suffix of a unit, such as `.service`",
        );
        check(
            json!({"systemd": {"units": [{"name": "a.service"}, {"name": "a.service"}]}}),
            "systemd.units[1].name: `a.service` stands twice",
        );
        check(json!({"passwd": {"users": [{"name": "a", "uid": "1"}]}}), "passwd.users[0].uid: must be a number");
    }
}
