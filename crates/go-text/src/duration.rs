//! Lengths of time as Go's package `time` reads and writes them: `1h2m3.5s`, `300ms`, `-2m0s`.

use super::quote::quote;

const MICROSECOND: u64 = 1_000;
const MILLISECOND: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60 * SECOND;
const HOUR: u64 = 60 * MINUTE;

/// `time.ParseDuration`, in nanoseconds: a sign, then numbers with units `ns us µs ms s m h`, or
/// `0`.
///
/// # Errors
/// The message of Go.
pub fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quote(text));
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned == "0" {
        return Ok(0);
    }
    if unsigned.is_empty() {
        return Err(invalid());
    }
    let (mut rest, mut total) = (unsigned, 0u64);
    while !rest.is_empty() {
        let (part, after) = part(rest).map_err(|fault| match fault {
            PartFault::Invalid => invalid(),
            PartFault::NoUnit => format!("time: missing unit in duration {}", quote(text)),
            PartFault::UnknownUnit(unit) => format!(
                "time: unknown unit {} in duration {}",
                quote(unit),
                quote(text)
            ),
        })?;
        total = total
            .checked_add(part)
            .filter(|sum| *sum <= 1 << 63)
            .ok_or_else(invalid)?;
        rest = after;
    }
    let nanoseconds = if text.starts_with('-') {
        0i64.checked_sub_unsigned(total)
    } else {
        i64::try_from(total).ok()
    };
    nanoseconds.ok_or_else(invalid)
}

enum PartFault<'a> {
    Invalid,
    NoUnit,
    UnknownUnit(&'a str),
}

/// One number with its unit, in nanoseconds, and what follows it.
fn part(text: &str) -> Result<(u64, &str), PartFault<'_>> {
    let (whole, rest) = split_while(text, |c| c.is_ascii_digit());
    let (fraction, rest) = rest
        .strip_prefix('.')
        .map_or(("", rest), |rest| split_while(rest, |c| c.is_ascii_digit()));
    if whole.is_empty() && fraction.is_empty() {
        return Err(PartFault::Invalid);
    }
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| PartFault::Invalid)?
    };
    let (name, rest) = split_while(rest, |c| c != '.' && !c.is_ascii_digit());
    let unit = match name {
        "" => return Err(PartFault::NoUnit),
        "ns" => 1,
        "us" | "µs" | "μs" => MICROSECOND,
        "ms" => MILLISECOND,
        "s" => SECOND,
        "m" => MINUTE,
        "h" => HOUR,
        _ => return Err(PartFault::UnknownUnit(name)),
    };
    let fits = |length: &u64| *length <= 1 << 63;
    let length = whole
        .checked_mul(unit)
        .filter(fits)
        .and_then(|length| length.checked_add(fraction_of(unit, fraction)))
        .filter(fits);
    Ok((length.ok_or(PartFault::Invalid)?, rest))
}

/// `0.DIGITS` of a unit, truncated; with Go's float arithmetic, so that the last digit agrees.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "Go computes in the same way"
)]
fn fraction_of(unit: u64, digits: &str) -> u64 {
    let mut value: u64 = 0;
    let mut scale = 1.0_f64;
    for digit in digits.bytes().map(|b| u64::from(b - b'0')) {
        let Some(next) = value
            .checked_mul(10)
            .and_then(|v| v.checked_add(digit))
            .filter(|v| *v <= 1 << 63)
        else {
            break;
        };
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

fn split_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !keep(c)).unwrap_or(text.len()))
}

/// `Duration.String()`: `1h0m0s`, `1.5s`, `300ms`, `0s`.
pub fn text(nanoseconds: i64) -> String {
    let length = nanoseconds.unsigned_abs();
    let sign = if nanoseconds < 0 { "-" } else { "" };
    match length {
        0 => "0s".to_owned(),
        1..MICROSECOND => format!("{sign}{length}ns"),
        MICROSECOND..MILLISECOND => format!("{sign}{}µs", decimal(length, MICROSECOND)),
        MILLISECOND..SECOND => format!("{sign}{}ms", decimal(length, MILLISECOND)),
        _ => {
            let seconds = decimal(length % MINUTE, SECOND);
            match (length / HOUR, length / MINUTE % 60) {
                (0, 0) => format!("{sign}{seconds}s"),
                (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
                (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
            }
        }
    }
}

/// A number in units, with as many decimals as it needs.
fn decimal(value: u64, unit: u64) -> String {
    let width = unit.ilog10() as usize;
    let fraction = format!("{:0width$}", value % unit);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}", value / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Go's documentation of `time.ParseDuration` and `Duration.String`.
    #[test]
    fn durations_read_and_print_as_in_go() {
        let check = |written: &str, expected: &str| {
            assert_eq!(
                parse(written).map(text).as_deref(),
                Ok(expected),
                "{written}"
            )
        };
        check("0", "0s");
        check("+5s", "5s");
        check("20m", "20m0s");
        check("3600s", "1h0m0s");
        check("1h15m30.918s", "1h15m30.918s");
        check("1.5h", "1h30m0s");
        check(".5s", "500ms");
        check("1.s", "1s");
        check("100us", "100µs");
        check("100µs", "100µs");
        check("1500us", "1.5ms");
        check("7ns", "7ns");
        check("-2m3s", "-2m3s");
        check("9223372036854775807ns", "2562047h47m16.854775807s");
        check("-9223372036854775808ns", "-2562047h47m16.854775808s");
    }

    /// Observed of `time.ParseDuration`.
    #[test]
    fn what_go_rejects_is_rejected_in_its_words() {
        for written in [
            "",
            "-",
            "+",
            "s",
            ".",
            "-.",
            ".s",
            "+.s",
            "é",
            "9223372036854775808ns",
            "3000000h",
        ] {
            assert_eq!(
                parse(written),
                Err(format!("time: invalid duration {written:?}"))
            );
        }
        for (written, fault) in [
            ("3", "missing unit in duration \"3\""),
            ("1.", "missing unit in duration \"1.\""),
            ("1d", "unknown unit \"d\" in duration \"1d\""),
            ("1 s", "unknown unit \" s\" in duration \"1 s\""),
            ("1e3s", "unknown unit \"e\" in duration \"1e3s\""),
            ("1m 2s", "unknown unit \"m \" in duration \"1m 2s\""),
        ] {
            assert_eq!(parse(written), Err(format!("time: {fault}")));
        }
    }
}
