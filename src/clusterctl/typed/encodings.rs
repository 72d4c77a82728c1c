//! Types that encode themselves: times, durations, base64; and Go's conversions of numbers.

use std::str::FromStr;

use k8s_openapi::jiff::Timestamp;
use serde_json::{Number, Value};

use crate::text::go_value;

/// A number as `encoding/json` writes a float64.
pub(super) fn json_number(number: &Number) -> String {
    number.as_i64().map_or_else(|| go_value::json_float(number.as_f64().unwrap_or_default()), |integer| integer.to_string())
}

/// A value as JSON, without the quotes of a text: what a quantity is read from.
pub(super) fn scalar_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => json_number(number),
        other => other.to_string(),
    }
}

/// Go's conversion of a float64 to an integer on amd64: what does not fit 64 bits is their minimum, and 32 bits are the lower half.
#[allow(clippy::cast_possible_truncation, reason = "that is what Go does")]
pub(super) fn wrapped(float: f64, to_32_bits: bool) -> i64 {
    let wide = if float.abs() < 9_223_372_036_854_775_808.0 { float as i64 } else { i64::MIN };
    if to_32_bits { i64::from(wide as i32) } else { wide }
}

/// `metav1.Time`: RFC 3339 in, UTC without fractions out.
pub(super) fn time(value: &Value) -> Result<Value, String> {
    let Value::String(text) = value else {
        return Err(format!("json: cannot unmarshal {} into Go value of type string", go_value::json_kind(value)));
    };
    let time = has_form_of_a_time(text).then(|| Timestamp::from_str(text).ok()).flatten();
    match time {
        Some(time) => Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into()),
        None => {
            let quoted = go_value::quote(text);
            Err(format!("parsing time {quoted} as \"2006-01-02T15:04:05Z07:00\": cannot parse {quoted} as \"2006\""))
        }
    }
}

/// `2006-01-02T15:04:05Z`, with an optional fraction, and `Z` or an offset.
fn has_form_of_a_time(text: &str) -> bool {
    let form = b"0000-00-00T00:00:00";
    let bytes = text.as_bytes();
    let fits = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
    bytes.len() > form.len() && bytes.iter().zip(form).all(fits) && (text.ends_with('Z') || matches!(bytes[bytes.len() - 6], b'+' | b'-'))
}

/// `metav1.Duration`: only checked, since it occurs in no type that is written.
pub(super) fn duration(value: &Value) -> Result<Value, String> {
    match value {
        Value::String(text) if is_duration(text) => Ok(value.clone()),
        Value::String(text) => Err(format!("time: invalid duration {}", go_value::quote(text))),
        other => Err(format!("json: cannot unmarshal {} into Go value of type string", go_value::json_kind(other))),
    }
}

/// `time.ParseDuration`: `0`, or numbers each with a unit.
fn is_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (digits, after) = rest.split_at(number);
        if !digits.contains(|c: char| c.is_ascii_digit()) || digits.matches('.').count() > 1 {
            return false;
        }
        let unit = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        if !["ns", "us", "µs", "μs", "ms", "s", "m", "h"].contains(&&after[..unit]) {
            return false;
        }
        rest = &after[unit..];
    }
    true
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Standard base64 with padding; line ends are skipped and spare bits ignored, as Go does. The error is the offset of what is wrong.
pub(super) fn base64_decode(text: &str) -> Result<Vec<u8>, usize> {
    let mut symbols = text.bytes().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n')).peekable();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    while symbols.peek().is_some() {
        let mut group = [0u8; 4];
        let mut count = 0;
        while count < 4 {
            let (at, symbol) = symbols.next().ok_or(text.len())?;
            if symbol == b'=' {
                if count < 2 || (count == 2 && symbols.next().is_none_or(|(_, b)| b != b'=')) || symbols.peek().is_some() {
                    return Err(at);
                }
                break;
            }
            let value = ALPHABET.iter().position(|known| *known == symbol).ok_or(at)?;
            group[count] = u8::try_from(value).unwrap_or_default();
            count += 1;
        }
        let whole = [group[0] << 2 | group[1] >> 4, group[1] << 4 | group[2] >> 2, group[2] << 6 | group[3]];
        bytes.extend_from_slice(&whole[..count - 1]);
    }
    Ok(bytes)
}

/// Standard base64 with padding.
pub(super) fn base64_encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or_default());
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for symbol in 0..4 {
            let index = (bits >> (18 - 6 * symbol)) as usize & 63;
            text.push(if symbol <= chunk.len() { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_reads_and_writes_what_go_does() {
        for (text, bytes) in [("", &b""[..]), ("Cg==", b"\n"), ("YWI=", b"ab"), ("YWJj", b"abc"), ("YW\nJj\r\n", b"abc"), ("Ch==", b"\n")] {
            assert_eq!(base64_decode(text).as_deref(), Ok(bytes), "{text}");
        }
        for (text, at) in [("Cg=", 2), ("C", 1), ("=", 0), ("Cg==Cg==", 2), ("!", 0), ("YW==x", 2)] {
            assert_eq!(base64_decode(text), Err(at), "{text}");
        }
        assert_eq!(["", "a", "ab", "abc"].map(|text| base64_encode(text.as_bytes())), ["", "YQ==", "YWI=", "YWJj"]);
    }

    #[test]
    fn times_are_utc_without_fractions() {
        for (text, expected) in
            [("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"), ("2024-01-02T03:04:05.678+02:00", "2024-01-02T01:04:05Z")]
        {
            assert_eq!(time(&text.into()), Ok(expected.into()), "{text}");
        }
        for text in ["x", "2024-01-02", "2024-01-02 03:04:05Z", "2024-13-02T03:04:05Z", ""] {
            assert!(time(&text.into()).is_err(), "{text}");
        }
    }

    /// Observed on amd64.
    #[test]
    fn integers_wrap() {
        assert_eq!(wrapped(4_294_967_376.0, true), 80);
        assert_eq!(wrapped(1e300, true), 0);
        assert_eq!(wrapped(1e300, false), i64::MIN);
        assert_eq!(wrapped(-1.0, true), -1);
    }

    #[test]
    fn durations_are_numbers_with_units() {
        for text in ["0", "10m", "1h30m", "1.5s", "-2ms", ".5s"] {
            assert!(is_duration(text), "{text}");
        }
        for text in ["", "10", "m", "1x", "1..5s", "1 s"] {
            assert!(!is_duration(text), "{text}");
        }
    }
}
