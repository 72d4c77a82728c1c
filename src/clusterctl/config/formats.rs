//! The formats of the configuration file: YAML (as go-yaml v3 reads it, which is not how Kubernetes does), JSON, TOML and dotenv.

use std::collections::BTreeMap;

use super::setting::Setting;
use super::yaml;
use crate::clusterctl::Refusal;
use crate::text::go;

/// Endings in the order in which viper looks for them. Some are looked for and cannot be read.
pub(super) const EXTENSIONS: [&str; 12] =
    ["json", "toml", "yaml", "yml", "properties", "props", "prop", "hcl", "tfvars", "dotenv", "env", "ini"];

/// Reads a configuration file by its ending.
///
/// # Errors
/// In viper's words.
pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<Setting, Refusal> {
    let file = name.rsplit('/').next().unwrap_or_default();
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    if !EXTENSIONS.contains(&extension) {
        return Err(Refusal::new(format!("Unsupported Config Type {}", go::quote(extension))));
    }
    let text = String::from_utf8_lossy(bytes);
    let parsed = match extension {
        "yaml" | "yml" => yaml::parse(name, &text),
        "json" => serde_json::from_str(&text).map_err(|error| error.to_string()).and_then(of_json_document),
        "toml" => text.parse::<toml::Table>().map(|table| of_toml(table.into())).map_err(|error| error.message().to_owned()),
        "dotenv" | "env" => dotenv(&text),
        _ => Err("decoder not found for this format".to_owned()),
    };
    parsed.map_err(|message| Refusal::new(message).within("While parsing config"))
}

fn of_json_document(value: serde_json::Value) -> Result<Setting, String> {
    match value {
        serde_json::Value::Object(_) => Ok(of_json(value)),
        other => {
            let kind = match other {
                serde_json::Value::Array(_) => "array",
                serde_json::Value::String(_) => "string",
                serde_json::Value::Bool(_) => "bool",
                _ => "number",
            };
            Err(format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"))
        }
    }
}

fn of_json(value: serde_json::Value) -> Setting {
    match value {
        serde_json::Value::Null => Setting::Null,
        serde_json::Value::Bool(bool) => Setting::Bool(bool),
        serde_json::Value::Number(number) => Setting::Scalar(plain_float(number.as_f64().unwrap_or_default())),
        serde_json::Value::String(text) => Setting::Text(text),
        serde_json::Value::Array(items) => Setting::List(items.into_iter().map(of_json).collect()),
        serde_json::Value::Object(entries) => entries.into_iter().map(|(key, value)| (key, of_json(value))).collect(),
    }
}

fn of_toml(value: toml::Value) -> Setting {
    match value {
        toml::Value::String(text) => Setting::Text(text),
        toml::Value::Integer(integer) => Setting::Integer(integer.to_string()),
        toml::Value::Float(float) => Setting::Scalar(plain_float(float)),
        toml::Value::Boolean(bool) => Setting::Bool(bool),
        toml::Value::Datetime(time) => Setting::Scalar(time.to_string()),
        toml::Value::Array(items) => Setting::List(items.into_iter().map(of_toml).collect()),
        toml::Value::Table(entries) => entries.into_iter().map(|(key, value)| (key, of_toml(value))).collect(),
    }
}

/// Collects entries under keys in lower case.
impl FromIterator<(String, Setting)> for Setting {
    fn from_iter<T: IntoIterator<Item = (String, Setting)>>(entries: T) -> Self {
        Setting::Map(entries.into_iter().map(|(key, value)| (key.to_lowercase(), value)).collect::<BTreeMap<_, _>>())
    }
}

/// A float as `strconv.FormatFloat(f, 'f', -1, 64)` prints it: never with an exponent.
pub(super) fn plain_float(float: f64) -> String {
    if float.is_nan() {
        "NaN".to_owned()
    } else if float.is_infinite() {
        if float > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() }
    } else {
        format!("{float}")
    }
}

/// `NAME=value` lines.
fn dotenv(text: &str) -> Result<Setting, String> {
    let mut entries = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once(['=', ':']) else {
            return Err(format!("line `{line}` doesn't match format"));
        };
        entries.push((name.trim().to_owned(), Setting::Text(dotenv_value(value.trim()))));
    }
    Ok(entries.into_iter().collect())
}

fn dotenv_value(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some((inner, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return if quote == '"' { inner.replace("\\n", "\n") } else { inner.to_owned() };
        }
    }
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str, text: &str, key: &str) -> Option<String> {
        parse(name, text.as_bytes()).unwrap().get(key).and_then(Setting::to_variable)
    }

    #[test]
    fn four_formats_are_read() {
        for (file, text) in
            [("c.json", "{\"A\": {\"B\": 3}}"), ("c.toml", "[A]\nB = 3\n"), ("c.yaml", "A: {B: 3}\n"), ("c.yml", "A:\n  B: 3\n")]
        {
            assert_eq!(variable(file, text, "a.b").as_deref(), Some("3"), "{file}");
        }
        let text = "# note\nexport A=x # y\nB=\"a b\"\nC='$x'\n";
        assert_eq!(
            ["a", "B", "c"].map(|key| variable("c.env", text, key)),
            ["x", "a b", "$x"].map(|value| Some(value.to_owned()))
        );
    }

    #[test]
    fn other_formats_are_refused() {
        let refused = |name: &str, text: &str| parse(name, text.as_bytes()).unwrap_err().message().to_owned();
        assert_eq!(refused("c.ini", ""), "While parsing config: decoder not found for this format");
        assert_eq!(refused("c", ""), "Unsupported Config Type \"\"");
        assert!(refused("c.json", "[1]").ends_with("json: cannot unmarshal array into Go value of type map[string]interface {}"));
    }
}
