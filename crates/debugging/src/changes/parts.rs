//! The parts of bootstrap data, as the node takes it apart: files, commands, users, and the other
//! sections. cloud-config (cloud-init, "Module reference") and Ignition 2 and 3 ("Configuration
//! specification").

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use windlass_bootstrap::render::write::ignition::data_url;
use windlass_go_yaml::goyaml;
use windlass_go_yaml::yaml;
use windlass_objects::fields;
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::gzip;

/// The maximum number of bytes to which the compressed parts of one machine's data may come
/// together, and itself.
const LARGEST: usize = 16 << 20;

/// What is left of [`LARGEST`], and of the run.
struct Unpacking<'b> {
    left: usize,
    budget: &'b Budget,
}

impl Unpacking<'_> {
    /// What gzip has packed; `None` where it is not gzip, or too much.
    fn gzip(&mut self, packed: &[u8]) -> Option<Vec<u8>> {
        let unpacked = gzip::decompress_within(packed, self.left, self.budget)?;
        self.left -= unpacked.len();
        Some(unpacked)
    }
}

/// The kind of a part of bootstrap data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A file of `write_files` (cloud-config) or `storage.files` (Ignition).
    File,
    /// All commands of `bootcmd` or `runcmd` of a cloud-config, one per line.
    Commands,
    /// A user of `users` (cloud-config) or `passwd.users` (Ignition), as YAML.
    User,
    /// Anything else.
    Section,
}

impl Kind {
    /// The value in reports, such as `commands`.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::Commands => "commands",
            Kind::User => "user",
            Kind::Section => "section",
        }
    }
}

/// A part of bootstrap data that is compared by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// The kind; kind and name together identify the part within the data.
    pub kind: Kind,
    /// The path of a file, the name of a user, the key of a section; unique among its kind.
    pub name: String,
    /// What it holds, decoded. May be secret.
    pub text: String,
    /// Owner, permissions and the like, with their names.
    pub attributes: Vec<(&'static str, String)>,
}

impl Part {
    fn new(kind: Kind, name: impl Into<String>, text: String) -> Self {
        Part {
            kind,
            name: name.into(),
            text,
            attributes: Vec::new(),
        }
    }
}

/// The parts of data, in the order of the data. What cannot be read as its format is one part.
pub fn parts(data: &[u8], budget: &Budget) -> Vec<Part> {
    let mut unpacking = Unpacking {
        left: LARGEST,
        budget,
    };
    let unpacked = if data.starts_with(&[0x1f, 0x8b]) {
        unpacking.gzip(data)
    } else {
        None
    };
    let data = unpacked.as_deref().unwrap_or(data);
    let Ok(text) = std::str::from_utf8(data) else {
        return vec![whole(readable(data))];
    };
    let mut parts = match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text)
            .ok()
            .map(|config: Value| ignition(&config, &mut unpacking)),
        false => cloud_config(text, &mut unpacking),
    }
    .unwrap_or_else(|| vec![whole(text.to_owned())]);
    number(&mut parts);
    parts
}

fn whole(text: String) -> Part {
    Part::new(Kind::Section, "user-data", text)
}

/// Gives each part whose name repeats a number.
fn number(parts: &mut [Part]) {
    let mut counts = std::collections::BTreeMap::new();
    for part in parts {
        let count = counts
            .entry((part.kind, part.name.clone()))
            .or_insert(0_usize);
        *count += 1;
        if *count > 1 {
            part.name = format!("{} ({count})", part.name);
        }
    }
}

/// A text, or the size and the hash of what is none.
fn readable(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let hash: String = Sha256::digest(bytes)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            format!("{} bytes that are not text, SHA-256 {hash}\n", bytes.len())
        }
    }
}

fn cloud_config(text: &str, unpacking: &mut Unpacking<'_>) -> Option<Vec<Part>> {
    let read = yaml::values(&Source::new("user-data", text), unpacking.budget);
    let document = read.documents.into_iter().next()?.value;
    let config = document.as_object()?;
    let head: String = text
        .lines()
        .take_while(|line| line.starts_with('#'))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut parts = vec![Part::new(Kind::Section, "header", head)];
    for (key, value) in config {
        match (key.as_str(), value) {
            ("write_files", Value::Array(files)) => {
                parts.extend(files.iter().map(|file| written_file(file, unpacking)))
            }
            ("bootcmd" | "runcmd", Value::Array(commands)) => {
                let lines = commands
                    .iter()
                    .map(|command| format!("{}\n", plain(command)));
                parts.push(Part::new(Kind::Commands, key, lines.collect()));
            }
            ("users", Value::Array(users)) => parts.extend(users.iter().map(user)),
            _ => parts.push(Part::new(Kind::Section, key, written(value))),
        }
    }
    Some(parts)
}

/// A value as a line or as YAML.
fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn written(value: &Value) -> String {
    goyaml::to_string(value).unwrap_or_else(|_| value.to_string())
}

fn user(user: &Value) -> Part {
    let name = user
        .as_str()
        .unwrap_or_else(|| fields::text(user, &["name"]));
    Part::new(Kind::User, name, written(user))
}

fn attribute(name: &'static str, value: Option<&Value>) -> Option<(&'static str, String)> {
    value
        .filter(|value| !value.is_null())
        .map(|value| (name, plain(value)))
}

fn written_file(file: &Value, unpacking: &mut Unpacking<'_>) -> Part {
    let content = plain(file.get("content").unwrap_or(&Value::from("")));
    let compact = || {
        content
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect::<Vec<u8>>()
    };
    let decoded = match fields::text(file, &["encoding"]) {
        "base64" | "b64" => STANDARD.decode(compact()).ok(),
        "gzip+base64" | "gz+base64" | "gzip+b64" | "gz+b64" => STANDARD
            .decode(compact())
            .ok()
            .map(|bytes| unpacking.gzip(&bytes).unwrap_or(bytes)),
        _ => None,
    };
    let mut part = Part::new(
        Kind::File,
        fields::text(file, &["path"]),
        decoded.map_or(content, |bytes| readable(&bytes)),
    );
    let names = ["owner", "permissions", "encoding", "append"];
    part.attributes = names
        .into_iter()
        .filter_map(|name| attribute(name, file.get(name)))
        .collect();
    part
}

fn ignition(config: &Value, unpacking: &mut Unpacking<'_>) -> Vec<Part> {
    let files = fields::items(config, &["storage", "files"]).iter();
    let mut parts: Vec<Part> = files.map(|file| ignition_file(file, unpacking)).collect();
    parts.extend(
        fields::items(config, &["systemd", "units"])
            .iter()
            .map(|unit| {
                let contents = fields::text(unit, &["contents"]).to_owned();
                let mut part = Part::new(
                    Kind::Section,
                    format!("unit {}", fields::text(unit, &["name"])),
                    contents,
                );
                part.attributes = ["enabled", "enable", "mask"]
                    .into_iter()
                    .filter_map(|name| attribute(name, unit.get(name)))
                    .collect();
                let dropins = unit.get("dropins").filter(|dropins| {
                    dropins
                        .as_array()
                        .is_some_and(|dropins| !dropins.is_empty())
                });
                dropins
                    .into_iter()
                    .for_each(|dropins| part.text.push_str(&written(dropins)));
                part
            }),
    );
    parts.extend(fields::items(config, &["passwd", "users"]).iter().map(user));
    const READ: [(&str, &str); 3] = [
        ("storage", "files"),
        ("systemd", "units"),
        ("passwd", "users"),
    ];
    for (key, value) in config.as_object().into_iter().flatten() {
        let of_value = value
            .as_object()
            .cloned()
            .unwrap_or_else(|| Map::from_iter([(String::new(), value.clone())]));
        let others = of_value
            .into_iter()
            .filter(|(inner, _)| !READ.contains(&(key, inner)));
        parts.extend(others.map(|(inner, value)| {
            let name = if inner.is_empty() {
                key.clone()
            } else {
                format!("{key}.{inner}")
            };
            Part::new(Kind::Section, name, written(&value))
        }));
    }
    parts
}

/// What a resource holds, or its URL.
fn resource(resource: &Value, unpacking: &mut Unpacking<'_>) -> String {
    let url = fields::text(resource, &["source"]);
    let read = data_url::read(url)
        .ok()
        .filter(|_| url.starts_with("data:"));
    let read = match fields::text(resource, &["compression"]) {
        "gzip" => read.map(|bytes| unpacking.gzip(&bytes).unwrap_or(bytes)),
        _ => read,
    };
    read.map_or_else(|| url.to_owned(), |bytes| readable(&bytes))
}

fn ignition_file(file: &Value, unpacking: &mut Unpacking<'_>) -> Part {
    let mut text = resource(file.get("contents").unwrap_or(&Value::Null), unpacking);
    fields::items(file, &["append"])
        .iter()
        .for_each(|more| text.push_str(&resource(more, unpacking)));
    let mut part = Part::new(Kind::File, fields::text(file, &["path"]), text);
    let mode = file
        .get("mode")
        .and_then(Value::as_u64)
        .map(|mode| format!("{mode:04o}"));
    part.attributes = mode.map(|mode| ("permissions", mode)).into_iter().collect();
    for (name, path) in [("owner", ["user", "name"]), ("group", ["group", "name"])] {
        part.attributes
            .extend(attribute(name, fields::field(file, &path)));
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &[u8]) -> Vec<(&'static str, String, String)> {
        parts(data, &Budget::default())
            .into_iter()
            .map(|part| (part.kind.as_str(), part.name, part.text))
            .collect()
    }

    #[test]
    fn data_is_taken_apart_as_the_node_takes_it() {
        let text = "## template: jinja\n#cloud-config\nwrite_files:\n- {path: /a, content: aGkK, encoding: base64}\n- {path: /a, content: x}\nruncmd: [a, [b, c]]\nusers: [{name: u}]\nntp: {enabled: true}\n";
        let own = |kind, name: &str, text: &str| (kind, name.to_owned(), text.to_owned());
        let mut found = read(text.as_bytes());
        found.sort();
        assert_eq!(
            found,
            [
                own("commands", "runcmd", "a\n[\"b\",\"c\"]\n"),
                own("file", "/a", "hi\n"),
                own("file", "/a (2)", "x"),
                own("section", "header", "## template: jinja\n#cloud-config\n"),
                own("section", "ntp", "enabled: true\n"),
                own("user", "u", "name: u\n"),
            ]
        );
        let packed = gzip::compress(text.as_bytes());
        assert_eq!(read(&packed).len(), found.len());
    }

    /// Ignition 2.3: the source of a file is a data URL (RFC 2397).
    #[test]
    fn files_and_units_of_ignition_are_read() {
        let text = r#"{"ignition":{"version":"2.3.0"},"storage":{"files":[{"path":"/a","mode":384,"contents":{"source":"data:,hi%0A"},"append":[{"source":"data:,more%0A"},{"source":"https://x"}]}]},"systemd":{"units":[{"name":"k","contents":"[Unit]\n","enabled":true}]}}"#;
        let found = parts(text.as_bytes(), &Budget::default());
        assert_eq!(
            (found[0].text.as_str(), found[0].attributes.as_slice()),
            (
                "hi\nmore\nhttps://x",
                &[("permissions", "0600".to_owned())][..]
            )
        );
        assert_eq!(
            (found[1].name.as_str(), found[1].attributes.as_slice()),
            ("unit k", &[("enabled", "true".to_owned())][..])
        );
        assert_eq!(found[2].name, "ignition.version");
    }

    #[test]
    fn what_is_unpacked_is_bounded_together() {
        let packed = STANDARD.encode(gzip::compress(&vec![b'a'; LARGEST / 2 + 1]));
        let file = |at: usize| format!("- {{path: /{at}, encoding: gz+b64, content: {packed}}}\n");
        let text = format!("#cloud-config\nwrite_files:\n{}{}", file(0), file(1));
        let found = parts(text.as_bytes(), &Budget::default());
        assert_eq!(found[1].text.len(), LARGEST / 2 + 1);
        assert!(
            found[2].text.contains("bytes that are not text, SHA-256 "),
            "{}",
            &found[2].text[..100.min(found[2].text.len())]
        );
    }

    #[test]
    fn what_is_no_data_is_one_part() {
        for text in ["{", "a: [", "", "just text"] {
            assert_eq!(
                read(text.as_bytes()),
                [("section", "user-data".to_owned(), text.to_owned())]
            );
        }
        assert!(
            read(&[0xff, 0xfe])[0]
                .2
                .starts_with("2 bytes that are not text")
        );
    }
}
