//! What an unquoted word means to Go: the resolve table of go-yaml v2 (YAML 1.1 without base 60),
//! which sigs.k8s.io/yaml, kubectl, the API server and clusterctl read with. `on` is a boolean,
//! `0755` is 493, `1_000` is 1000, `1e400` is a string.
//!
//! Reader and emitter share this table: a string is written in quotes exactly when reading it back
//! would not give a string.

use serde_json::Number;

use windlass_go_text as go;
use windlass_go_text::number::{is_decimal, parse_float, parse_int, parse_uint};

/// The meaning of an unquoted word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Resolved {
    /// Empty, `~`, `null`.
    Null,
    /// `true`, `yes`, `on`, `y` and their opposites.
    Bool(bool),
    /// A whole number that fits 64 bits with a sign.
    Int(i64),
    /// A whole number above that, which fits 64 bits without one.
    Uint(u64),
    /// Any other number; also the infinities and NaN, which JSON cannot hold.
    Float(f64),
    /// A date or a time. Go keeps the text as a string, but quotes such strings when it writes
    /// them.
    Timestamp,
    /// Everything else.
    Str,
}

pub(crate) fn resolve(word: &str) -> Resolved {
    match word.bytes().next() {
        None => Resolved::Null,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => {
            named(word)
        }
        Some(b'.') => dotted(word),
        Some(b'0'..=b'9' | b'+' | b'-') => number(word),
        Some(_) => Resolved::Str,
    }
}

fn named(word: &str) -> Resolved {
    match word {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Resolved::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Resolved::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Resolved::Null,
        _ => Resolved::Str,
    }
}

/// A word that starts with a dot: here `_` may only stand between two digits.
fn dotted(word: &str) -> Resolved {
    match word {
        ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" => Resolved::Float(f64::INFINITY),
        _ if !word.contains('_') => float(word).map_or(Resolved::Str, Resolved::Float),
        _ => {
            let digits_around = word.split('_').collect::<Vec<_>>().windows(2).all(|parts| {
                parts[0].ends_with(|c: char| c.is_ascii_digit())
                    && parts[1].starts_with(|c: char| c.is_ascii_digit())
            });
            float(&word.replace('_', ""))
                .filter(|_| digits_around)
                .map_or(Resolved::Str, Resolved::Float)
        }
    }
}

/// A word that starts with a digit or a sign.
fn number(word: &str) -> Resolved {
    match word {
        "+.inf" | "+.Inf" | "+.INF" => return Resolved::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Resolved::Float(f64::NEG_INFINITY),
        _ => {}
    }
    if go::time::of_yaml(word).is_some() {
        return Resolved::Timestamp;
    }
    // Every number is made of these; most strings that start with a digit are distinguished here,
    // without a copy.
    if !word.bytes().all(|b| {
        b.is_ascii_hexdigit() || matches!(b, b'_' | b'+' | b'-' | b'.' | b'x' | b'X' | b'o' | b'O')
    }) {
        return Resolved::Str;
    }
    if word.contains('_') {
        plain_number(&word.replace('_', ""))
    } else {
        plain_number(word)
    }
}

fn plain_number(word: &str) -> Resolved {
    if let Some(int) = whole(word) {
        return int;
    }
    if let Some(float) = float(word) {
        return Resolved::Float(float);
    }
    // Go tries binary once more after the prefix, which lets a sign through (`0b-1`).
    if let Some(digits) = word.strip_prefix("0b") {
        parse_int(digits, 2).map_or(Resolved::Str, Resolved::Int)
    } else {
        Resolved::Str
    }
}

/// Go's `strconv.ParseInt(word, 0, 64)` and then `ParseUint`.
fn whole(word: &str) -> Option<Resolved> {
    parse_int(word, 0)
        .map(Resolved::Int)
        .or_else(|_| parse_uint(word, 0).map(Resolved::Uint))
        .ok()
}

/// A decimal number within the range of a double: beyond it Go leaves a string.
fn float(word: &str) -> Option<f64> {
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    is_decimal(unsigned)
        .then(|| parse_float(word).ok())
        .flatten()
}

/// The number that a double is once Go has written it to JSON and read it again: `1.0` is the
/// integer 1, 1e15 too; `None` for the infinities and NaN, which Go does not write.
pub(crate) fn json_number(float: f64) -> Option<Number> {
    if !float.is_finite() {
        return None;
    }
    if float.fract() == 0.0 && float.abs() < 1e21 {
        // The shortest digits that name this double, filled up with zeros, as Go writes them.
        let digits = format!("{float}");
        if let Ok(int) = digits.parse::<i64>() {
            return Some(int.into());
        }
        if let Ok(int) = digits.parse::<u64>() {
            return Some(int.into());
        }
    }
    Number::from_f64(float)
}

/// A double that is a mapping key, which sigs.k8s.io/yaml writes with the precision of 32 bits.
#[allow(
    clippy::cast_possible_truncation,
    reason = "Go narrows here too; beyond the range it writes an infinity"
)]
pub(crate) fn shortest_g32(double: f64) -> String {
    let narrow = double as f32;
    if narrow.is_nan() {
        return ".nan".to_owned();
    }
    if narrow.is_infinite() {
        return if narrow > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    // The shortest digits of 32 bits read as 64 bits have the same shortest digits.
    format!("{narrow}")
        .parse()
        .map_or_else(|_| ".nan".to_owned(), go::float)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &[&str], expected: Resolved) {
        for word in words {
            assert_eq!(resolve(word), expected, "{word:?}");
        }
    }

    #[test]
    fn booleans_and_nulls_have_the_spellings_of_yaml_1_1() {
        check(
            &[
                "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE",
            ],
            Resolved::Bool(true),
        );
        check(
            &[
                "n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE",
            ],
            Resolved::Bool(false),
        );
        check(&["", "~", "null", "Null", "NULL"], Resolved::Null);
        check(
            &["yES", "oN", "tRUE", "nULL", "~x", "yes ", "<<", "="],
            Resolved::Str,
        );
    }

    #[test]
    fn whole_numbers_follow_go_base_zero() {
        check(
            &[
                "15", "+15", "0xf", "0XF", "0o17", "0O17", "017", "0b1111", "0B1111", "1_5",
                "0x_f", "1__5_",
            ],
            Resolved::Int(15),
        );
        check(&["0", "-0", "+0", "00", "0_"], Resolved::Int(0));
        check(&["-15", "-0xf", "-017", "-0b1111"], Resolved::Int(-15));
        check(&["0755"], Resolved::Int(493));
        check(&["0b-1"], Resolved::Int(-1));
        check(
            &["9223372036854775807", "0x7fffffffffffffff"],
            Resolved::Int(i64::MAX),
        );
        check(&["-9223372036854775808"], Resolved::Int(i64::MIN));
        check(
            &["18446744073709551615", "0xffffffffffffffff"],
            Resolved::Uint(u64::MAX),
        );
        check(
            &[
                "-", "+", "--1", "-+1", "0x", "0b", "0b2", "0xg", "1:20", "12:30:45", "1a", "0x-1",
                "-0b-1", "_1",
            ],
            Resolved::Str,
        );
    }

    #[test]
    fn floats_follow_go_pattern_and_range() {
        check(
            &[
                "1.5", "+1.5", "1.50", "15e-1", "1_.5", "0001.5", "1.5e0", "1.5E+0",
            ],
            Resolved::Float(1.5),
        );
        check(
            &[".5", "0.5", "5e-1", ".5_0", ".0_5e0_1"],
            Resolved::Float(0.5),
        );
        check(&["1.", "1e0", "01.", "1.e0"], Resolved::Float(1.0));
        check(&["08", "8.", "8e0"], Resolved::Float(8.0));
        check(
            &["18446744073709551616", "+18446744073709551616"],
            Resolved::Float(18_446_744_073_709_551_616.0),
        );
        check(&[".inf", ".Inf", "+.INF"], Resolved::Float(f64::INFINITY));
        check(&["-.inf"], Resolved::Float(f64::NEG_INFINITY));
        check(
            &[
                "1e400", ".", "..", ".e5", "1e", "1e+", "1.2.3", "._5", ".5_", ".5__0", ".5_e1",
                "NaN", "inf", "-inf", "e5", "0x1p4", "..5", "+-1.5",
            ],
            Resolved::Str,
        );
        assert!(matches!(resolve(".nan"), Resolved::Float(f) if f.is_nan()));
    }

    #[test]
    fn doubles_become_the_numbers_that_go_json_holds() {
        for (float, expected) in [
            (1.0, "1"),
            (-0.0, "0"),
            (1e15, "1000000000000000"),
            (1e19, "10000000000000000000"),
            (1e20, "1e+20"),
            (-9_223_372_036_854_775_808.0, "-9.223372036854776e+18"),
            (0.1, "0.1"),
        ] {
            assert_eq!(
                json_number(float).map(|n| n.to_string()),
                Some(expected.to_owned()),
                "{float}"
            );
        }
        assert_eq!(json_number(f64::INFINITY), None);
        assert_eq!(json_number(f64::NAN), None);
    }

    #[test]
    fn keys_are_written_as_go_writes_them() {
        for (float, expected) in [
            (1.10, "1.1"),
            (1e6, "1e+06"),
            (1.5e300, ".inf"),
            (16_777_217.0, "1.6777216e+07"),
            (f64::NAN, ".nan"),
        ] {
            assert_eq!(shortest_g32(float), expected);
        }
    }
}
