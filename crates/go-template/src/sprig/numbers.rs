//! Numbers: sprig's `numeric.go` and what it takes from `cast`.

use super::arguments::{Arguments, float, int64, named_list, text};
use super::values::shown;
use crate::functions::{CallFault, Called, rejected};
use crate::held::Held;
use windlass_go_text::duration;
use windlass_go_text::number::{atoi as parse_atoi, parse_float, parse_int};
use windlass_go_text::value::Value;

/// How many numbers a list may have.
const MOST: i64 = 1 << 19;

/// `cast.ToInt64`, whose faults are 0.
#[allow(clippy::cast_possible_truncation, reason = "as Go converts")]
pub(super) fn to_int(value: &Value) -> i64 {
    match value {
        Value::Int(int) => *int,
        Value::Byte(byte) => i64::from(*byte),
        // Beyond 64 bits the processor decides; on x86-64 it is the smallest number.
        Value::Float(float) if float.is_nan() || float.abs() >= 9_223_372_036_854_775_808.0 => {
            i64::MIN
        }
        Value::Float(float) => *float as i64,
        Value::Bool(bool) => i64::from(*bool),
        Value::Text(text) => {
            parse_int(without_zero_fraction(&String::from_utf8_lossy(text)), 0).unwrap_or_default()
        }
        _ => 0,
    }
}

/// `1.00` without its fraction.
fn without_zero_fraction(text: &str) -> &str {
    match text.trim_end_matches('0').strip_suffix('.') {
        Some(whole) if text.contains('.') => whole,
        _ => text,
    }
}

/// `cast.ToFloat64`, whose faults are 0.
#[allow(clippy::cast_precision_loss, reason = "as Go converts")]
pub(super) fn to_float(value: &Value) -> f64 {
    match value {
        Value::Int(int) => *int as f64,
        Value::Byte(byte) => f64::from(*byte),
        Value::Float(float) => *float,
        Value::Bool(bool) => f64::from(u8::from(*bool)),
        Value::Text(text) => parse_float(&String::from_utf8_lossy(text)).unwrap_or_default(),
        _ => 0.0,
    }
}

pub(super) fn atoi(arguments: &Arguments<'_>) -> Called<Held> {
    Ok(Held::plain(Value::Int(
        parse_atoi(&arguments.text(0)).unwrap_or_default(),
    )))
}

/// `toDecimal`
pub(super) fn octal(arguments: &Arguments<'_>) -> Called<Held> {
    let digits = shown(arguments.value(0))?;
    int64(parse_int(&String::from_utf8_lossy(&digits), 8).unwrap_or_default())
}

pub(super) fn divided(arguments: &Arguments<'_>, divide: fn(i64, i64) -> i64) -> Called<Held> {
    match to_int(arguments.value(1)) {
        0 => rejected("runtime error: integer divide by zero"),
        divisor => int64(divide(to_int(arguments.value(0)), divisor)),
    }
}

/// The numbers from a first one to before a last one.
fn steps(start: i64, stop: i64, step: i64) -> Called<Vec<i64>> {
    if step == 0 || (stop < start) != (step < 0) || start == stop {
        return Ok(Vec::new());
    }
    let span = i128::from(stop) - i128::from(start);
    if span.abs() / i128::from(step).abs() >= i128::from(MOST) {
        return Err(CallFault::TooLarge);
    }
    let numbers = std::iter::successors(Some(start), |at| at.checked_add(step));
    Ok(numbers
        .take_while(|at| if step > 0 { *at < stop } else { *at > stop })
        .collect())
}

pub(super) fn until(start: i64, stop: i64, step: i64) -> Called<Held> {
    named_list(
        steps(start, stop, step)?.into_iter().map(Value::Int),
        "[]int",
    )
}

pub(super) fn seq(arguments: &Arguments<'_>) -> Called<Held> {
    let at = |index| arguments.int(index);
    let direction = |start: i64, end: i64| if end < start { -1 } else { 1 };
    let (start, end, step) = match arguments.0.len() {
        1 => (1, at(0), direction(1, at(0))),
        2 => (at(0), at(1), direction(at(0), at(1))),
        3 if at(2) < at(0) && at(1) > 0 => return text(""),
        3 => (at(0), at(2), at(1)),
        _ => return text(""),
    };
    let numbers = steps(start, end.saturating_add(direction(start, end)), step)?;
    text(
        numbers
            .iter()
            .map(i64::to_string)
            .collect::<Vec<_>>()
            .join(" "),
    )
}

pub(super) fn round(arguments: &Arguments<'_>) -> Called<Held> {
    let on = arguments.from(2).next().map_or(0.5, to_float);
    let places = i32::try_from(arguments.int(1)).unwrap_or(if arguments.int(1) < 0 {
        i32::MIN
    } else {
        i32::MAX
    });
    let power = 10f64.powi(places);
    let digit = power * to_float(arguments.value(0));
    float(
        if digit.fract() >= on {
            digit.ceil()
        } else {
            digit.floor()
        } / power,
    )
}

pub(super) fn duration(arguments: &Arguments<'_>) -> Called<Held> {
    let seconds = match (arguments.value(0), arguments.0[0].named) {
        (Value::Text(text), _) => parse_atoi(&String::from_utf8_lossy(text)).unwrap_or_default(),
        (Value::Int(int), Some("int64")) => *int,
        _ => 0,
    };
    text(duration::text(seconds.wrapping_mul(1_000_000_000)))
}

pub(super) fn duration_round(arguments: &Arguments<'_>) -> Called<Held> {
    const HOUR: u64 = 3_600_000_000_000;
    const UNITS: [(u64, &str); 6] = [
        (HOUR * 24 * 365, "y"),
        (HOUR * 24 * 30, "mo"),
        (HOUR * 24, "d"),
        (HOUR, "h"),
        (HOUR / 60, "m"),
        (HOUR / 3600, "s"),
    ];
    let nanoseconds = match (arguments.value(0), arguments.0[0].named) {
        (Value::Text(text), _) => {
            duration::parse(&String::from_utf8_lossy(text)).unwrap_or_default()
        }
        (Value::Int(int), Some("int64")) => *int,
        _ => 0,
    };
    let length = nanoseconds.unsigned_abs();
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let unit = UNITS.iter().find(|(unit, _)| length > *unit);
    text(unit.map_or("0s".to_owned(), |(unit, name)| {
        format!("{sign}{}{name}", length / unit)
    }))
}
