//! The formats of the configuration file: YAML (as yaml.v3 reads it, which is not how Kubernetes
//! does), JSON, TOML and dotenv.

use super::setting::Setting;
use super::{dotenv, yaml};
use crate::Rejection;
use windlass_go_text as go;

/// Endings in the order in which viper looks for them. Some are looked for and cannot be read.
pub(super) const EXTENSIONS: [&str; 12] = [
    "json",
    "toml",
    "yaml",
    "yml",
    "properties",
    "props",
    "prop",
    "hcl",
    "tfvars",
    "dotenv",
    "env",
    "ini",
];

/// Reads a configuration file by its ending.
///
/// # Errors
/// In viper's words.
pub(super) fn parse(
    name: &str,
    bytes: &[u8],
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Setting, Rejection> {
    let file = name.rsplit('/').next().unwrap_or_default();
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    if !EXTENSIONS.contains(&extension) {
        return Err(Rejection::new(format!(
            "Unsupported Config Type {}",
            go::quote(extension)
        )));
    }
    let text = String::from_utf8_lossy(bytes);
    let parsed = match extension {
        "yaml" | "yml" => yaml::parse(bytes),
        "json" => serde_json::from_str(&text)
            .map_err(|error| error.to_string())
            .and_then(of_json_document),
        "toml" => text
            .parse::<toml::Table>()
            .map(|table| of_toml(table.into()))
            .map_err(|error| error.message().to_owned()),
        "dotenv" | "env" => {
            let masked = |message: String| match dotenv::masked(&message) {
                Some(masked) => {
                    Rejection::new(masked).note("the value is left out here; clusterctl prints it")
                }
                None => Rejection::new(message),
            };
            return dotenv::parse(&text, environment)
                .map_err(|message| masked(message).within("While parsing config"));
        }
        _ => Err("decoder not found for this format".to_owned()),
    };
    parsed.map_err(|message| Rejection::new(message).within("While parsing config"))
}

fn of_json_document(value: serde_json::Value) -> Result<Setting, String> {
    match value {
        serde_json::Value::Object(_) => Ok(of_json(value)),
        other => {
            let kind = go::json_kind(&other);
            Err(format!(
                "json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"
            ))
        }
    }
}

fn of_json(value: serde_json::Value) -> Setting {
    match value {
        serde_json::Value::Null => Setting::Null,
        serde_json::Value::Bool(bool) => Setting::Bool(bool),
        serde_json::Value::Number(number) => {
            Setting::Scalar(go::float::plain_float(number.as_f64().unwrap_or_default()))
        }
        serde_json::Value::String(text) => Setting::Text(text),
        serde_json::Value::Array(items) => Setting::List(items.into_iter().map(of_json).collect()),
        serde_json::Value::Object(entries) => entries
            .into_iter()
            .map(|(key, value)| (key, of_json(value)))
            .collect(),
    }
}

fn of_toml(value: toml::Value) -> Setting {
    match value {
        toml::Value::String(text) => Setting::Text(text),
        toml::Value::Integer(integer) => Setting::Integer(integer.to_string()),
        toml::Value::Float(float) => Setting::Scalar(go::float::plain_float(float)),
        toml::Value::Boolean(bool) => Setting::Bool(bool),
        toml::Value::Datetime(time) => Setting::Scalar(time.to_string()),
        toml::Value::Array(items) => Setting::List(items.into_iter().map(of_toml).collect()),
        toml::Value::Table(entries) => entries
            .into_iter()
            .map(|(key, value)| (key, of_toml(value)))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, text: &str, key: &str) -> Option<String> {
        parse(name, text.as_bytes(), &|_| None)
            .unwrap()
            .get(key)
            .and_then(Setting::to_variable)
    }

    #[test]
    fn the_formats_are_read() {
        for (file, text) in [
            ("c.json", "{\"A\": {\"B\": 3}}"),
            ("c.toml", "[A]\nB = 3\n"),
            ("c.yaml", "A: {B: 3}\n"),
            ("c.yml", "A:\n  B: 3\n"),
            ("c.env", "A.B=3\n"),
        ] {
            assert_eq!(variable(file, text, "a.b").as_deref(), Some("3"), "{file}");
        }
    }

    #[test]
    fn other_formats_are_rejected() {
        let rejected = |name: &str, text: &str| {
            parse(name, text.as_bytes(), &|_| None)
                .unwrap_err()
                .message()
                .to_owned()
        };
        assert_eq!(
            rejected("c.ini", ""),
            "While parsing config: decoder not found for this format"
        );
        assert_eq!(rejected("c", ""), "Unsupported Config Type \"\"");
        assert!(rejected("c.json", "[1]").ends_with(
            "json: cannot unmarshal array into Go value of type map[string]interface {}"
        ));
    }
}
