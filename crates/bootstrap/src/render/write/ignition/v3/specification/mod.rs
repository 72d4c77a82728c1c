//! A checker for Ignition 3 configs, written from the text of the specification (Ignition
//! configuration specification v3.4.0): keys and their types, what is required, and what a value
//! may be.

mod rules;
mod shapes;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What is wrong with a config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where in the config.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// Whether it is a key that the specification does not know, which Ignition ignores with a
    /// warning.
    pub is_unknown_key: bool,
}

/// What a key holds.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Number,
    Flag,
    Texts,
    /// Unique strings.
    Names,
    Object(&'static Shape),
    Objects(&'static Shape),
}

/// The keys of an object; `*` before a key says that it is required. Items of lists are
/// distinguished by the key `id`.
struct Shape {
    keys: &'static [(&'static str, Kind)],
    id: &'static str,
    rule: fn(&Map<String, Value>, &mut Found<'_>),
}

/// Everything that is wrong with a config.
pub fn check(config: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    object(&shapes::CONFIG, config, "", &mut faults);
    faults
}

/// Faults of one object.
struct Found<'a> {
    path: &'a str,
    faults: &'a mut Vec<Fault>,
}

impl Found<'_> {
    fn add(&mut self, key: &str, message: impl Into<String>) {
        let path = if key.is_empty() {
            self.path.to_owned()
        } else {
            joined(self.path, key)
        };
        self.faults.push(Fault {
            path,
            message: message.into(),
            is_unknown_key: false,
        });
    }
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn object(shape: &Shape, value: &Value, path: &str, faults: &mut Vec<Fault>) {
    let Value::Object(entries) = value else {
        Found { path, faults }.add("", "must be an object");
        return;
    };
    let before = faults.len();
    for (key, value) in entries {
        let known = shape
            .keys
            .iter()
            .find(|(name, _)| name.trim_start_matches('*') == key);
        let path = joined(path, key);
        match known {
            None => {
                let message = "is not a key that the specification knows".to_owned();
                faults.push(Fault {
                    path,
                    message,
                    is_unknown_key: true,
                });
            }
            Some(_) if value.is_null() => {}
            Some((_, kind)) => of_kind(*kind, value, &path, faults),
        }
    }
    for required in shape
        .keys
        .iter()
        .filter_map(|(key, _)| key.strip_prefix('*'))
    {
        if entries
            .get(required)
            .is_none_or(|value| value.is_null() || value.as_str() == Some(""))
        {
            Found { path, faults }.add(required, "is required");
        }
    }
    if faults[before..].iter().all(|fault| fault.is_unknown_key) {
        (shape.rule)(entries, &mut Found { path, faults });
    }
}

fn of_kind(kind: Kind, value: &Value, path: &str, faults: &mut Vec<Fault>) {
    let (fits, what) = match kind {
        Kind::Text => (value.is_string(), "a string"),
        Kind::Number => (value.as_i64().is_some_and(|number| number >= 0), "a number"),
        Kind::Flag => (value.is_boolean(), "a boolean"),
        Kind::Texts => (
            value
                .as_array()
                .is_some_and(|items| items.iter().all(Value::is_string)),
            "a list of strings",
        ),
        Kind::Names => (are_names(value), "a list of strings, each once"),
        Kind::Object(shape) => return object(shape, value, path, faults),
        Kind::Objects(shape) => match value.as_array() {
            Some(items) => return objects(shape, items, path, faults),
            None => (false, "a list"),
        },
    };
    if !fits {
        Found { path, faults }.add("", format!("must be {what}"));
    }
}

fn are_names(value: &Value) -> bool {
    let mut known = BTreeSet::new();
    value.as_array().is_some_and(|items| {
        items
            .iter()
            .all(|item| item.as_str().is_some_and(|text| known.insert(text)))
    })
}

fn objects(shape: &Shape, items: &[Value], path: &str, faults: &mut Vec<Fault>) {
    let mut ids = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        let path = format!("{path}[{index}]");
        object(shape, item, &path, faults);
        let id = item
            .get(shape.id)
            .and_then(Value::as_str)
            .unwrap_or_default();
        if !id.is_empty() && !ids.insert(id) {
            Found {
                path: &path,
                faults,
            }
            .add(shape.id, format!("`{id}` appears twice"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn faults(config: &Value) -> Vec<String> {
        check(config)
            .into_iter()
            .map(|fault| format!("{}: {}", fault.path, fault.message))
            .collect()
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
            config
                .as_object_mut()
                .unwrap()
                .extend(part.as_object().unwrap().clone());
            assert_eq!(faults(&config), [expected], "{part}");
        };
        check(json!({"ignition": {}}), "ignition.version: is required");
        check(
            json!({"ignition": {"version": "3.5.0"}}),
            "ignition.version: must be 3.0.0 to 3.4.0",
        );
        check(
            json!({"networkd": {}}),
            "networkd: is not a key that the specification knows",
        );
        check(
            json!({"storage": {"files": [{"path": "a"}]}}),
            "storage.files[0].path: must be an absolute path without `//`, `.`, `..` or `/` at its end",
        );
        check(
            json!({"storage": {"files": [{"path": "/a"}], "links": [{"path": "/a", "target": "b"}]}}),
            "storage.links[0].path: `/a` appears twice",
        );
        check(
            json!({"storage": {"files": [{"path": "/a", "overwrite": true}]}}),
            "storage.files[0].overwrite: must not be true without `contents.source`",
        );
        check(
            json!({"storage": {"files": [{"path": "/a", "mode": 5000}]}}),
            "storage.files[0].mode: must be at most 4095",
        );
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
            "systemd.units[1].name: `a.service` appears twice",
        );
        check(
            json!({"passwd": {"users": [{"name": "a", "uid": "1"}]}}),
            "passwd.users[0].uid: must be a number",
        );
        check(
            json!({"passwd": {"users": [{"name": "a", "sshAuthorizedKeys": ["k", "k"]}]}}),
            "passwd.users[0].sshAuthorizedKeys: must be a list of strings, each once",
        );
        check(
            json!({"storage": {"directories": [{"path": "/a//b/"}]}}),
            "storage.directories[0].path: must be an absolute path without `//`, `.`, `..` or `/` at its end",
        );
    }
}
