//! Numbers as Go's package `strconv` reads and writes them.

use std::fmt;

/// Why a text is not a number, in Go's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberFault {
    /// The text is not a number (`strconv.ErrSyntax`).
    Syntax,
    /// The number does not fit the type (`strconv.ErrRange`).
    Range,
}

impl fmt::Display for NumberFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            NumberFault::Syntax => "invalid syntax",
            NumberFault::Range => "value out of range",
        })
    }
}

/// `strconv.ParseInt(text, base, 64)`. Base 0 takes the prefixes `0x`, `0o`, `0b`, `0`, and `_`
/// between digits.
///
/// # Errors
/// See [`NumberFault`].
pub fn parse_int(text: &str, base: u32) -> Result<i64, NumberFault> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let magnitude = parse_uint(digits, base)?;
    let int = if negative {
        0i64.checked_sub_unsigned(magnitude)
    } else {
        i64::try_from(magnitude).ok()
    };
    int.ok_or(NumberFault::Range)
}

/// `strconv.ParseUint(text, base, 64)`: no sign is taken.
///
/// # Errors
/// See [`NumberFault`].
pub fn parse_uint(text: &str, base: u32) -> Result<u64, NumberFault> {
    let (radix, digits) = match (base, text.as_bytes()) {
        (0, [b'0', b'x' | b'X', _, ..]) => (16, &text[2..]),
        (0, [b'0', b'o' | b'O', _, ..]) => (8, &text[2..]),
        (0, [b'0', b'b' | b'B', _, ..]) => (2, &text[2..]),
        (0, [b'0', _, ..]) => (8, &text[1..]),
        (0, _) => (10, text),
        (base, _) => (base, text),
    };
    let mut value = Some(0u64);
    let mut any = false;
    for c in digits.chars() {
        if c == '_' && base == 0 {
            continue;
        }
        let digit = c.to_digit(radix).ok_or(NumberFault::Syntax)?;
        value = value.and_then(|value| {
            value
                .checked_mul(u64::from(radix))?
                .checked_add(u64::from(digit))
        });
        any = true;
    }
    // The digits of `0_` are the `0` that was taken for a prefix.
    let any =
        any || (base == 0 && text.starts_with('0') && radix == 8 && digits.len() + 1 == text.len());
    if !any || (base == 0 && digits.contains('_') && !underscores_are_right(text)) {
        return Err(NumberFault::Syntax);
    }
    value.ok_or(NumberFault::Range)
}

/// `strconv.Atoi`
///
/// # Errors
/// See [`NumberFault`].
pub fn atoi(text: &str) -> Result<i64, NumberFault> {
    parse_int(text, 10)
}

/// Whether each `_` stands between digits, or between a prefix and a digit.
fn underscores_are_right(text: &str) -> bool {
    let text = text.strip_prefix(['-', '+']).unwrap_or(text);
    let bytes = text.as_bytes();
    // What stood last: `^` the start, `0` a digit, `_`, `!` anything else.
    let (mut last, mut at, mut hex) = (b'^', 0, false);
    if let [b'0', prefix, ..] = bytes
        && matches!(prefix.to_ascii_lowercase(), b'b' | b'o' | b'x')
    {
        (last, at, hex) = (b'0', 2, prefix.eq_ignore_ascii_case(&b'x'));
    }
    for byte in &bytes[at..] {
        let is_digit = byte.is_ascii_digit() || hex && byte.is_ascii_hexdigit();
        match (byte, last) {
            _ if is_digit => last = b'0',
            (b'_', b'0') => last = b'_',
            (b'_', _) | (_, b'_') => return false,
            _ => last = b'!',
        }
    }
    last != b'_'
}

/// `strconv.ParseFloat(text, 64)`: decimal, hexadecimal with an exponent, `inf`, `nan`, and `_`
/// between digits.
///
/// # Errors
/// See [`NumberFault`].
pub fn parse_float(text: &str) -> Result<f64, NumberFault> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let signed = |value: f64| if negative { -value } else { value };
    match unsigned.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => return Ok(signed(f64::INFINITY)),
        "nan" => return Ok(f64::NAN),
        _ => {}
    }
    if text.contains('_') && !underscores_are_right(text) {
        return Err(NumberFault::Syntax);
    }
    let unsigned = &unsigned.replace('_', "");
    if let [b'0', b'x' | b'X', ..] = unsigned.as_bytes() {
        return hexadecimal(&unsigned[2..].to_ascii_lowercase()).map(signed);
    }
    if !is_decimal(unsigned) {
        return Err(NumberFault::Syntax);
    }
    let value: f64 = unsigned.parse().map_err(|_| NumberFault::Syntax)?;
    if value.is_infinite() {
        Err(NumberFault::Range)
    } else {
        Ok(signed(value))
    }
}

/// `(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
pub fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.map(|exponent| exponent.strip_prefix(['-', '+']).unwrap_or(exponent));
    digits(whole)
        && digits(fraction)
        && !(whole.is_empty() && fraction.is_empty())
        && exponent.is_none_or(|exponent| !exponent.is_empty() && digits(exponent))
}

/// Parses a hexadecimal float after its `0x`, such as `1.8p3`. The binary exponent is required.
fn hexadecimal(text: &str) -> Result<f64, NumberFault> {
    let (mantissa, exponent) = text.split_once('p').ok_or(NumberFault::Syntax)?;
    let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NumberFault::Syntax);
    }
    let mut exponent: i64 = exponent.parse().unwrap_or(if exponent.starts_with('-') {
        -100_000
    } else {
        100_000
    });
    exponent = exponent.clamp(-100_000, 100_000);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.len() + fraction.len() == 0
        || !whole
            .chars()
            .chain(fraction.chars())
            .all(|c| c.is_ascii_hexdigit())
    {
        return Err(NumberFault::Syntax);
    }
    // 64 bits of the digits, of which the last says whether anything follows: enough to round once.
    let mut bits: u64 = 0;
    for (at, c) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = u64::from(c.to_digit(16).unwrap_or_default());
        let before_point = at < whole.len();
        if bits >> 60 == 0 {
            bits = bits << 4 | digit;
            exponent -= if before_point { 0 } else { 4 };
        } else {
            bits |= u64::from(digit != 0);
            exponent += if before_point { 4 } else { 0 };
        }
    }
    let value = scaled(bits, exponent);
    if value.is_infinite() {
        Err(NumberFault::Range)
    } else {
        Ok(value)
    }
}

/// `bits * 2^exponent`, rounded to the nearest double, ties to even.
fn scaled(bits: u64, exponent: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let width = 64 - i64::from(bits.leading_zeros());
    // The exponent of the leading bit, and how many bits a double of that size holds.
    let leading = exponent + width - 1;
    let held = if leading < -1022 {
        53 - (-1022 - leading)
    } else {
        53
    };
    let drop = width - held.clamp(0, 64);
    let (mut mantissa, mut exponent) = (bits, exponent);
    if drop > 0 {
        let kept = if drop >= 64 { 0 } else { bits >> drop };
        let rest = if drop >= 64 {
            bits
        } else {
            bits & ((1 << drop) - 1)
        };
        let half = 1u64 << (drop.min(64) - 1);
        mantissa = kept + u64::from(rest > half || rest == half && kept & 1 == 1);
        exponent += drop;
    }
    if held < 0 || leading > 1100 {
        return if held < 0 { 0.0 } else { f64::INFINITY };
    }
    // Both factors of two are exact.
    let half = exponent / 2;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "the exponent is small here"
    )]
    let power = |exponent: i64| 2f64.powi(exponent as i32);
    #[allow(clippy::cast_precision_loss, reason = "53 bits are left")]
    let mantissa = mantissa as f64;
    mantissa * power(half) * power(exponent - half)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observed of `strconv.ParseInt(…, 0, 64)` and `ParseUint`.
    #[test]
    fn whole_numbers_are_read_as_strconv_does() {
        use NumberFault::{Range, Syntax};
        for (text, int) in [
            ("0", Ok(0)),
            ("-0", Ok(0)),
            ("0x1F", Ok(31)),
            ("-0b11", Ok(-3)),
            ("0o17", Ok(15)),
            ("017", Ok(15)),
            ("1_000", Ok(1000)),
            ("0x_f", Ok(15)),
            ("0_7", Ok(7)),
            ("-9223372036854775808", Ok(i64::MIN)),
            ("9223372036854775808", Err(Range)),
            ("-9223372036854775809", Err(Range)),
            ("99999999999999999999", Err(Range)),
            ("", Err(Syntax)),
            ("-", Err(Syntax)),
            ("--1", Err(Syntax)),
            ("0x", Err(Syntax)),
            ("08", Err(Syntax)),
            ("1__0", Err(Syntax)),
            ("_1", Err(Syntax)),
            ("1_", Err(Syntax)),
            ("0_", Err(Syntax)),
            ("0x1p4", Err(Syntax)),
        ] {
            assert_eq!(parse_int(text, 0), int, "{text}");
        }
        assert_eq!(parse_uint("18446744073709551615", 0), Ok(u64::MAX));
        assert_eq!(
            (parse_uint("-1", 0), parse_uint("+1", 0)),
            (Err(Syntax), Err(Syntax))
        );
        assert_eq!(
            (atoi("010"), atoi("1_0"), atoi("+7")),
            (Ok(10), Err(Syntax), Ok(7))
        );
    }

    /// Observed of `strconv.ParseFloat`.
    #[test]
    fn floats_are_read_as_strconv_does() {
        use NumberFault::{Range, Syntax};
        for (text, float) in [
            ("1.5", Ok(1.5)),
            (".5", Ok(0.5)),
            ("1.", Ok(1.0)),
            ("+1e3", Ok(1000.0)),
            ("0x1p4", Ok(16.0)),
            ("-0x1.8p1", Ok(-3.0)),
            ("0x.8p0", Ok(0.5)),
            ("0x_1p-2", Ok(0.25)),
            ("0x1p-1074", Ok(5e-324)),
            ("0x1p-1075", Ok(0.0)),
            ("0x1.8p-1075", Ok(5e-324)),
            ("0x1.fffffffffffff8p0", Ok(2.0)),
            ("0x1.00000000000008p0", Ok(1.0)),
            ("0x1.000000000000080000001p0", Ok(1.000_000_000_000_000_2)),
            ("0x1.fffffffffffffp1023", Ok(f64::MAX)),
            ("1e400", Err(Range)),
            ("0x1p1024", Err(Range)),
            ("0x1", Err(Syntax)),
            ("1_0.5", Ok(10.5)),
            ("1__0.5", Err(Syntax)),
            ("1e", Err(Syntax)),
            (".", Err(Syntax)),
            ("", Err(Syntax)),
            ("0x1p", Err(Syntax)),
        ] {
            assert_eq!(parse_float(text), float, "{text}");
        }
        assert_eq!(parse_float("-iNf"), Ok(f64::NEG_INFINITY));
        assert!(parse_float("nan").is_ok_and(f64::is_nan));
    }
}
