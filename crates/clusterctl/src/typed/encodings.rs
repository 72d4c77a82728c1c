//! Types that encode themselves: times, durations; and Go's conversions of numbers.

use serde_json::{Number, Value};

use windlass_go_text as go;

/// A number as `encoding/json` writes a float64.
pub(super) fn json_number(number: &Number) -> String {
    go::json(&Value::Number(number.clone()))
}

/// A value as JSON, without the quotes of a text: what a quantity is read from.
pub(super) fn scalar_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => json_number(number),
        other => other.to_string(),
    }
}

/// Go's conversion of a float64 to an integer on amd64: what does not fit 64 bits is their minimum,
/// and 32 bits are the lower half.
#[allow(clippy::cast_possible_truncation, reason = "that is what Go does")]
pub(super) fn wrapped(float: f64, to_32_bits: bool) -> i64 {
    let wide = if float.abs() < 9_223_372_036_854_775_808.0 {
        float as i64
    } else {
        i64::MIN
    };
    if to_32_bits {
        i64::from(wide as i32)
    } else {
        wide
    }
}

/// `metav1.Time`: RFC 3339 in, UTC without fractions out.
pub(super) fn time(value: &Value) -> Result<Value, String> {
    let Value::String(text) = value else {
        return Err(format!(
            "json: cannot unmarshal {} into Go value of type string",
            go::json_kind(value)
        ));
    };
    let time = go::time::rfc3339(text)?;
    let utc = time.utc().ok_or_else(|| {
        format!(
            "time {} is beyond the year 9999, which is not read here",
            go::quote(text)
        )
    })?;
    Ok(utc.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into())
}

/// `metav1.Duration`: only checked, since it occurs in no type that is written.
pub(super) fn duration(value: &Value) -> Result<Value, String> {
    match value {
        Value::String(text) => go::duration::parse(text).map(|_| value.clone()),
        other => Err(format!(
            "json: cannot unmarshal {} into Go value of type string",
            go::json_kind(other)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_without_fractions() {
        for (text, expected) in [
            ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
            ("2024-01-02T03:04:05.678+02:00", "2024-01-02T01:04:05Z"),
        ] {
            assert_eq!(time(&text.into()), Ok(expected.into()), "{text}");
        }
        assert_eq!(
            time(&"2024-13-02T03:04:05Z".into()),
            Err("parsing time \"2024-13-02T03:04:05Z\": month out of range".to_owned())
        );
    }

    /// Observed on amd64.
    #[test]
    fn integers_wrap() {
        assert_eq!(wrapped(4_294_967_376.0, true), 80);
        assert_eq!(wrapped(1e300, true), 0);
        assert_eq!(wrapped(1e300, false), i64::MIN);
        assert_eq!(wrapped(-1.0, true), -1);
    }
}
