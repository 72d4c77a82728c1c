//! What a plain scalar is: yaml.v3 keeps to YAML 1.2, but reads octal numbers with a leading zero.

use windlass_go_text::number::{is_decimal, parse_float, parse_int, parse_uint};
use windlass_go_text::time;

const LONG_PREFIX: &str = "tag:yaml.org,2002:";

/// The value that yaml.v3 decodes a scalar to.
#[derive(Debug, Clone, PartialEq)]
pub enum Resolved {
    /// `null`, `~` or an empty scalar.
    Null,
    /// `true` or `false`, in lower case, upper case or with a capital.
    Bool(bool),
    /// A whole number that fits 64 bits with a sign.
    Int(i64),
    /// A whole number above those of 64 bits with a sign.
    Uint(u64),
    /// A floating-point number, `.inf` or `.nan`.
    Float(f64),
    /// A date or a time in a layout that yaml.v3 reads; the value itself is not kept.
    Timestamp,
    /// A string, or a scalar whose tag is not resolved, such as `!!binary`.
    Text,
}

/// The short form of a tag: `!!str`.
pub(crate) fn short_tag(tag: &str) -> String {
    tag.strip_prefix(LONG_PREFIX)
        .map_or_else(|| tag.to_owned(), |name| format!("!!{name}"))
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
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return ("!!float", Resolved::Float(f64::INFINITY));
        }
        "-.inf" | "-.Inf" | "-.INF" => return ("!!float", Resolved::Float(f64::NEG_INFINITY)),
        "<<" => return ("!!merge", Resolved::Text),
        _ => {}
    }
    let number = match text.as_bytes()[0] {
        b'.' => decimal(text),
        b'0'..=b'9' | b'+' | b'-' => {
            if matches!(tag, "" | "!!timestamp") && time::of_yaml(text).is_some() {
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

/// A number without its `_`: whole, with Go's prefixes and a leading zero for octal, or a float
/// that fits.
fn number(text: &str) -> Option<Resolved> {
    let whole = parse_int(text, 0)
        .map(Resolved::Int)
        .or_else(|_| parse_uint(text, 0).map(Resolved::Uint));
    // The library tries binary and octal once more behind the prefix, which lets a sign through:
    // `0b-1`.
    let again = || {
        let (prefix, digits) = text.split_at_checked(2)?;
        match prefix {
            "0b" => parse_int(digits, 2).ok().map(Resolved::Int),
            "0o" => parse_int(digits, 8).ok().map(Resolved::Int),
            _ => None,
        }
    };
    whole.ok().or_else(|| decimal(text)).or_else(again)
}

fn decimal(text: &str) -> Option<Resolved> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    is_decimal(unsigned)
        .then(|| parse_float(text).ok())
        .flatten()
        .map(Resolved::Float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_are_what_the_library_takes_them_for() {
        let check = |text: &str, tag: &str, value: Resolved| {
            assert_eq!(resolve("", text), Ok((tag.to_owned(), value)), "{text}")
        };
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
        assert_eq!(
            resolve("!!int", "x"),
            Err("cannot decode !!str `x` as a !!int".to_owned())
        );
        assert_eq!(
            resolve("!!binary", "x"),
            Ok(("!!binary".to_owned(), Resolved::Text))
        );
    }
}
