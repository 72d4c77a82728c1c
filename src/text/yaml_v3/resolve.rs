//! What a plain scalar is: yaml.v3 keeps to YAML 1.2, but reads octal numbers with a leading zero.

use crate::text::yaml::is_timestamp;

const LONG_PREFIX: &str = "tag:yaml.org,2002:";

/// The value of a scalar.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolved {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number above those of 64 bits with a sign.
    Uint(u64),
    /// Another number.
    Float(f64),
    /// A point in time.
    Timestamp,
    /// A text.
    Text,
}

/// The short form of a tag: `!!str`.
pub fn short_tag(tag: &str) -> String {
    tag.strip_prefix(LONG_PREFIX).map_or_else(|| tag.to_owned(), |name| format!("!!{name}"))
}

/// The tag and the value of a scalar, given its tag, `""` when it has none.
///
/// # Errors
///
/// The text does not fit the tag; in the library's words.
pub fn resolve(tag: &str, text: &str) -> Result<(String, Resolved), String> {
    let tag = short_tag(tag);
    match tag.as_str() {
        "" | "!!bool" | "!!int" | "!!float" | "!!null" | "!!timestamp" => {}
        _ => return Ok((tag, Resolved::Text)),
    }
    let (found, value) = plain(&tag, text);
    match (tag.as_str(), value) {
        ("", value) => Ok((found.to_owned(), value)),
        #[allow(clippy::cast_precision_loss, reason = "Go converts in the same way")]
        ("!!float", Resolved::Int(int)) => Ok((tag, Resolved::Float(int as f64))),
        (expected, value) if expected == found => Ok((tag, value)),
        (expected, _) => Err(format!("cannot decode {found} `{text}` as a {expected}")),
    }
}

fn plain(tag: &str, text: &str) -> (&'static str, Resolved) {
    match text {
        "true" | "True" | "TRUE" => return ("!!bool", Resolved::Bool(true)),
        "false" | "False" | "FALSE" => return ("!!bool", Resolved::Bool(false)),
        "" | "~" | "null" | "Null" | "NULL" => return ("!!null", Resolved::Null),
        ".nan" | ".NaN" | ".NAN" => return ("!!float", Resolved::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return ("!!float", Resolved::Float(f64::INFINITY)),
        "-.inf" | "-.Inf" | "-.INF" => return ("!!float", Resolved::Float(f64::NEG_INFINITY)),
        "<<" => return ("!!merge", Resolved::Text),
        _ => {}
    }
    let number = match text.as_bytes()[0] {
        b'.' => is_float(text).then(|| text.parse().ok()).flatten().map(Resolved::Float),
        b'0'..=b'9' | b'+' | b'-' => {
            if matches!(tag, "" | "!!timestamp") && is_timestamp(text) {
                return ("!!timestamp", Resolved::Timestamp);
            }
            number(&text.replace('_', ""))
        }
        _ => None,
    };
    match number {
        Some(Resolved::Float(float)) => ("!!float", Resolved::Float(float)),
        Some(int) => ("!!int", int),
        None => ("!!str", Resolved::Text),
    }
}

fn number(text: &str) -> Option<Resolved> {
    if let Some(int) = whole(text) {
        return Some(int);
    }
    (is_float(text)).then(|| text.parse().ok()).flatten().map(Resolved::Float)
}

/// A whole number with Go's prefixes; a leading zero alone means octal.
fn whole(text: &str) -> Option<Resolved> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'+' => ("", &text[1..]),
        b'-' => ("-", &text[1..]),
        _ => ("", text),
    };
    let (radix, digits) = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        _ if digits.len() > 1 && digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return None;
    }
    let int = i64::from_str_radix(&format!("{sign}{digits}"), radix).map(Resolved::Int).ok();
    int.or_else(|| u64::from_str_radix(digits, radix).ok().filter(|_| !text.starts_with(['+', '-'])).map(Resolved::Uint))
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_float(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.map(|exponent| exponent.strip_prefix(['-', '+']).unwrap_or(exponent));
    digits(before)
        && digits(after)
        && !(before.is_empty() && after.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_what_the_library_takes_them_for() {
        let check = |text: &str, tag: &str, value: Resolved| assert_eq!(resolve("", text), Ok((tag.to_owned(), value)), "{text}");
        check("0644", "!!int", Resolved::Int(0o644));
        check("0o644", "!!int", Resolved::Int(0o644));
        check("644", "!!int", Resolved::Int(644));
        check("0x1F", "!!int", Resolved::Int(31));
        check("1_000", "!!int", Resolved::Int(1000));
        check("08", "!!float", Resolved::Float(8.0));
        check("-0b11", "!!int", Resolved::Int(-3));
        check("18446744073709551615", "!!int", Resolved::Uint(u64::MAX));
        check("1.", "!!float", Resolved::Float(1.0));
        check(".5e1", "!!float", Resolved::Float(5.0));
        check("yes", "!!str", Resolved::Text);
        check("+", "!!str", Resolved::Text);
        check("2020-01-02", "!!timestamp", Resolved::Timestamp);
        assert_eq!(resolve("!!int", "x"), Err("cannot decode !!str `x` as a !!int".to_owned()));
        assert_eq!(resolve("!!binary", "x"), Ok(("!!binary".to_owned(), Resolved::Text)));
    }
}
