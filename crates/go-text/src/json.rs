//! JSON as Go's package `encoding/json` writes it, and its words for what it cannot read.

use serde_json::{Number, Value};

use super::float::{float, json_float};

/// What `encoding/json` calls the type of a value, in its errors.
pub fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A JSON value as `json.Marshal` writes it: compact, keys sorted, `<`, `>`, `&` escaped.
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    push_json(&mut out, value);
    out
}

/// Appends a JSON value to the text as [`json`] writes it.
pub fn push_json(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number, json_float)),
        Value::String(text) => push_json_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                push_json(out, item);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            out.push('{');
            for (i, (key, entry)) in entries.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                push_json_string(out, key);
                out.push(':');
                push_json(out, entry);
            }
            out.push('}');
        }
    }
}

/// Appends a string as `json.Marshal` writes it, with its quotes.
pub fn push_json_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)))
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a string as JSON without Go's escaping of `<`, `>` and `&`.
pub fn push_plain_json_string(out: &mut String, text: &str) {
    out.push_str(&Value::from(text).to_string());
}

/// A JSON number as `%v` writes the int64 or float64 that Go's decoder makes of it.
pub fn number(number: &Number) -> String {
    number_text(number, float)
}

fn number_text(number: &Number, of_float: fn(f64) -> String) -> String {
    match number.as_i64() {
        Some(int) => int.to_string(),
        None => of_float(number.as_f64().unwrap_or(f64::NAN)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_escapes_html() {
        assert_eq!(
            json(&json!({"b": "<a&b>\u{2028}", "a": [1, 2.0, null, true]})),
            r#"{"a":[1,2,null,true],"b":"\u003ca\u0026b\u003e\u2028"}"#
        );
    }
}
