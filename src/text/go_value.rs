//! Values as Go's standard library prints them: `%q`, `%v` and `encoding/json`.
//!
//! The API server and Cluster API's webhooks put the user's value into their messages; to give the same words, the same printing is
//! needed. Source: the documentation of Go's packages `strconv`, `fmt` and `encoding/json`.

use std::fmt::Write as _;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Number, Value};

/// What Go calls printable beyond ASCII: letters, marks, numbers, punctuation, symbols.
static PRINTABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\p{L}\p{M}\p{N}\p{P}\p{S}]$").expect("internal error: the class of printable characters is valid"));

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

/// A string in double quotes, as `%q` and `strconv.Quote` write it.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        push_quoted(&mut out, c);
    }
    out.push('"');
    out
}

fn push_quoted(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{7}' => out.push_str("\\a"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{b}' => out.push_str("\\v"),
        ' '..='~' => out.push(c),
        '\0'..='\x1f' | '\x7f' => push_escape(out, "\\x", 2, c),
        _ if is_printable(c) => out.push(c),
        '\u{80}'..='\u{ffff}' => push_escape(out, "\\u", 4, c),
        _ => push_escape(out, "\\U", 8, c),
    }
}

fn is_printable(c: char) -> bool {
    PRINTABLE.is_match(c.encode_utf8(&mut [0; 4]))
}

fn push_escape(out: &mut String, prefix: &str, width: usize, c: char) {
    write!(out, "{prefix}{:0width$x}", u32::from(c)).expect("internal error: writing to a String cannot fail");
}

/// A float64 as `%v` writes it: the shortest digits; an exponent below -4 or from 6 on switches to `1e+06`.
pub fn float(value: f64) -> String {
    format_float(value, -4, 6)
}

/// A float64 as `encoding/json` writes it.
pub fn json_float(value: f64) -> String {
    let text = format_float(value, -6, 21);
    // The JSON encoder shortens two-digit negative exponents: `1e-09` becomes `1e-9`.
    match text.find("e-0") {
        Some(at) => format!("{}e-{}", &text[..at], &text[at + 3..]),
        None => text,
    }
}

/// The shortest digits that read back as `value`, plain while `smallest <= exponent < largest`, else in Go's exponent form.
fn format_float(value: f64, smallest: i32, largest: i32) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value == 0.0 || (smallest..largest).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// A JSON value as `json.Marshal` writes it: compact, keys sorted, `<`, `>`, `&` escaped.
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    push_json(&mut out, value);
    out
}

/// Appends what [`json`] gives.
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
            '\0'..='\x1f' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => push_escape(out, "\\u", 4, c),
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
    fn strings_are_quoted_as_strconv_does() {
        let check = |text: &str, expected: &str| assert_eq!(quote(text), expected);
        check("a\"b\\", r#""a\"b\\""#);
        check("\u{0}\u{1b}\u{7f}\t\n", r#""\x00\x1b\x7f\t\n""#);
        check("é日\u{a0}\u{200b}\u{feff}", r#""é日\u00a0\u200b\ufeff""#);
        check("e\u{301}😀\u{e0001}", "\"e\u{301}😀\\U000e0001\"");
    }

    #[test]
    fn floats_switch_to_exponents_as_go_does() {
        let check = |value: f64, fmt: &str, json: &str| assert_eq!((float(value).as_str(), json_float(value).as_str()), (fmt, json));
        check(1.5, "1.5", "1.5");
        check(1e6, "1e+06", "1000000");
        check(123_456_789.0, "1.23456789e+08", "123456789");
        check(1e21, "1e+21", "1e+21");
        check(0.00001, "1e-05", "0.00001");
        check(1e-7, "1e-07", "1e-7");
        check(-0.25, "-0.25", "-0.25");
    }

    #[test]
    fn json_escapes_html() {
        assert_eq!(
            json(&json!({"b": "<a&b>\u{2028}", "a": [1, 2.0, null, true]})),
            r#"{"a":[1,2,null,true],"b":"\u003ca\u0026b\u003e\u2028"}"#
        );
    }
}
