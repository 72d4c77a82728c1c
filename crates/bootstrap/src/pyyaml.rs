//! What PyYAML, with which cloud-init reads, makes of a text that stands without quotes (PyYAML
//! 6.0, `resolver.py` and `constructor.py`).

use std::sync::LazyLock;

use regex::Regex;

/// What a plain scalar is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scalar {
    /// A string.
    Text,
    /// A number, a boolean, null or a time, as Python prints it; for floats and times the digits
    /// may differ.
    Value(String),
    /// A key that only mappings may have: the document is rejected.
    Rejected,
}

macro_rules! patterns {
    ($($(#[$meta:meta])* $name:ident = $text:literal;)+) => {
        $($(#[$meta])* static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new(concat!("^(?:", $text, ")$")).expect("internal error: the expression of a scalar is valid"));)+
    };
}

patterns! {
    FLOAT = r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*";
    NO_NUMBER = r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)";
    INTEGER = r"[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+";
    DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}";
    TIME = r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?";
}

/// What a plain scalar on one line is read as.
pub fn scalar(text: &str) -> Scalar {
    let value = |text: &str| Scalar::Value(text.to_owned());
    match text {
        "" | "~" | "null" | "Null" | "NULL" => value("None"),
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => value("True"),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => value("False"),
        "=" | "<<" => Scalar::Rejected,
        _ if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => Scalar::Text,
        _ if INTEGER.is_match(text) => Scalar::Value(integer(text)),
        _ if FLOAT.is_match(text) => Scalar::Value(float(text)),
        _ if NO_NUMBER.is_match(text) => value(&text.trim_start_matches(['+', '.']).to_lowercase()),
        _ if DATE.is_match(text) => value(text),
        _ if TIME.is_match(text) => value("a time"),
        _ => Scalar::Text,
    }
}

fn integer(text: &str) -> String {
    let text = text.replace('_', "");
    let (sign, digits) = text
        .strip_prefix('-')
        .map_or(("", text.trim_start_matches('+')), |digits| ("-", digits));
    let number = match digits.split_at_checked(2) {
        Some(("0b", bits)) => u128::from_str_radix(bits, 2).ok(),
        Some(("0x", digits)) => u128::from_str_radix(digits, 16).ok(),
        _ if digits.contains(':') => sexagesimal(digits),
        _ if digits.starts_with('0') && digits.len() > 1 => u128::from_str_radix(digits, 8).ok(),
        _ => {
            return if digits == "0" {
                "0".to_owned()
            } else {
                format!("{sign}{digits}")
            };
        }
    };
    match number {
        Some(0) => "0".to_owned(),
        Some(number) => format!("{sign}{number}"),
        None => "a number".to_owned(),
    }
}

/// Digits to the base of 60.
fn sexagesimal(digits: &str) -> Option<u128> {
    digits.split(':').try_fold(0u128, |sum, part| {
        sum.checked_mul(60)?.checked_add(part.parse().ok()?)
    })
}

fn float(text: &str) -> String {
    let text = text.replace('_', "");
    if text.contains(':') {
        return "a number".to_owned();
    }
    text.parse::<f64>()
        .map_or_else(|_| "a number".to_owned(), |number| format!("{number:?}"))
}

// What is expected is what PyYAML 6.0 gave for these texts.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_texts_are_read_as_pyyaml_reads_them() {
        for text in [
            "y", "1e3", "08", "0o14", "5.e1", "1:60", "12e03", "_1", "0x", "1e5", "a", "1.2.3",
            "v1.2", "+", "-", "10.0.0.1", "0:0",
        ] {
            assert_eq!(scalar(text), Scalar::Text, "{text}");
        }
        for (text, read) in [
            ("0644", "420"),
            ("1_000", "1000"),
            ("0x1F", "31"),
            ("+1", "1"),
            ("1_", "1"),
            ("1000", "1000"),
            ("1.50", "1.5"),
            ("1.0", "1.0"),
            ("yes", "True"),
            ("2001-12-14", "2001-12-14"),
            ("1.0e+3", "1000.0"),
            ("~", "None"),
            ("65534:10", "3932050"),
            ("-0", "0"),
            ("-7", "-7"),
            ("00", "0"),
            ("0b11", "3"),
            (".5", "0.5"),
            ("190:20:30.15", "a number"),
            ("2001-12-14 21:59:43.10 -5", "a time"),
            (".inf", "inf"),
        ] {
            assert_eq!(scalar(text), Scalar::Value(read.to_owned()), "{text}");
        }
        assert_eq!(
            (scalar("="), scalar("<<")),
            (Scalar::Rejected, Scalar::Rejected)
        );
    }
}
