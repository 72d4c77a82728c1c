//! Numbers as Go holds them (int64 or float64), and the checks that depend on it.

use serde_json::Value;

use super::Trail;
use crate::node::{Bound, Node, Type};
use crate::{Fault, Violation, ViolationKind};
use windlass_go_text as go;

/// A number as Go's JSON decoder gives it: an int64 when it is written as one and fits, else a
/// float64.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
}

impl Number {
    pub(super) fn of(number: &serde_json::Number) -> Self {
        number.as_i64().map_or_else(
            || Number::Float(number.as_f64().unwrap_or(f64::NAN)),
            Number::Int,
        )
    }

    /// Whether this is a float that is taken for an integer.
    pub(super) fn is_whole_float(self) -> bool {
        matches!(self, Number::Float(float) if is_whole(float))
    }

    fn as_f64(self) -> f64 {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "Go converts with the same loss")]
            Number::Int(int) => int as f64,
            Number::Float(float) => float,
        }
    }

    fn text(self) -> String {
        match self {
            Number::Int(int) => int.to_string(),
            Number::Float(float) => go::float(float),
        }
    }
}

/// Whether a float counts as an integer: within 53 bits, and off by less than one part in 10^9.
fn is_whole(float: f64) -> bool {
    const LIMIT: f64 = 9_007_199_254_740_991.0;
    if !float.is_finite() || float.abs() > LIMIT {
        return false;
    }
    let whole = float.trunc();
    float == whole || (float >= 1.0 && (float - whole) / (float + whole) < 1e-9)
}

/// Range of the type, `multipleOf`, `maximum`, `minimum`.
pub(super) fn check(node: &Node, number: Number, trail: &Trail<'_>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let range = Range::of(node);
    violations.extend(range.error(number, "Checked", trail));
    if let Some(factor) = node.multiple_of {
        let error = range.error(Number::Float(factor), "MultipleOf", trail);
        let found = multiple_of(number, factor, error.is_some(), trail);
        violations.extend(error.into_iter().chain(found));
    }
    if let Some(bound) = node.minimum {
        let error = range.error(Number::Float(bound.limit), "Minimum boundary", trail);
        let found = beyond(number, bound, error.is_some(), Side::Minimum, trail);
        violations.extend(error.into_iter().chain(found));
    }
    if let Some(bound) = node.maximum {
        let error = range.error(Number::Float(bound.limit), "Maximum boundary", trail);
        let found = beyond(number, bound, error.is_some(), Side::Maximum, trail);
        violations.extend(error.into_iter().chain(found));
    }
    violations
}

/// The type and format of numbers that a schema demands, when it demands exactly one type.
struct Range<'a> {
    integer: bool,
    format: &'a str,
}

impl<'a> Range<'a> {
    fn of(node: &'a Node) -> Self {
        let format = node.format.as_ref().map_or("", |format| &format.name);
        match node.types[..] {
            [Type::Integer] => Range {
                integer: true,
                format,
            },
            [Type::Number] => Range {
                integer: false,
                format,
            },
            _ => Range {
                integer: false,
                format: "",
            },
        }
    }

    fn holds(&self, number: Number) -> bool {
        match (self.integer, self.format, number) {
            (true, "int32", Number::Int(int)) => i32::try_from(int).is_ok(),
            (true, "int32", Number::Float(float)) => {
                float.fract() == 0.0 && (-2_147_483_648.0..=2_147_483_647.0).contains(&float)
            }
            (true, _, Number::Float(float)) => {
                float.fract() == 0.0
                    && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float)
            }
            (false, "float", number) => number.as_f64().abs() <= f64::from(f32::MAX),
            _ => true,
        }
    }

    /// A number, or a number of the schema, that its own type cannot hold. Reported without a
    /// field.
    fn error(&self, number: Number, what: &'static str, trail: &Trail<'_>) -> Option<Violation> {
        if self.holds(number) {
            return None;
        }
        let expected = if self.integer { "integer" } else { "number" };
        Some(trail.nameless(Fault::Range {
            at: trail.text(),
            what,
            expected,
            format: self.format.to_owned(),
        }))
    }
}

/// Whether a bound of a schema fits the type and the format that the schema demands.
pub fn fits_format(kind: &str, format: &str, bound: f64) -> bool {
    let range = Range {
        integer: kind == "integer",
        format,
    };
    !["integer", "number"].contains(&kind) || range.holds(Number::Float(bound))
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Minimum,
    Maximum,
}

/// A number below its minimum or above its maximum. Integers are compared as integers unless the
/// limit is none (`as_float`).
fn beyond(
    number: Number,
    bound: Bound,
    as_float: bool,
    side: Side,
    trail: &Trail<'_>,
) -> Option<Violation> {
    let (number, limit) = match number {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "Go truncates the limit the same way"
        )]
        Number::Int(int) if !as_float => (Number::Int(int), Number::Int(bound.limit as i64)),
        _ => (Number::Float(number.as_f64()), Number::Float(bound.limit)),
    };
    let order = match (number, limit) {
        (Number::Int(number), Number::Int(limit)) => Some(number.cmp(&limit)),
        _ => number.as_f64().partial_cmp(&limit.as_f64()),
    }?;
    let order = if side == Side::Minimum {
        order
    } else {
        order.reverse()
    };
    if order.is_gt() || (order.is_eq() && !bound.exclusive) {
        return None;
    }
    let than = match (side, bound.exclusive) {
        (Side::Minimum, false) => "greater than or equal to",
        (Side::Minimum, true) => "greater than",
        (Side::Maximum, false) => "less than or equal to",
        (Side::Maximum, true) => "less than",
    };
    let rule = trail.rule(format!("should be {than} {}", limit.text()));
    Some(trail.violation(ViolationKind::Invalid, Some(&number.text()), rule))
}

fn multiple_of(
    number: Number,
    factor: f64,
    as_float: bool,
    trail: &Trail<'_>,
) -> Option<Violation> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "Go truncates the factor the same way"
    )]
    let (number, factor) = match number {
        Number::Int(int) if !as_float => (Number::Int(int), Number::Int(factor as i64)),
        _ => (Number::Float(number.as_f64()), Number::Float(factor)),
    };
    if factor.as_f64() <= 0.0 {
        let detail = format!(
            "factor MultipleOf declared for {} must be positive: {}",
            trail.text(),
            factor.text()
        );
        return Some(trail.violation(ViolationKind::Invalid, Some(&factor.text()), &detail));
    }
    let divides = match (number, factor) {
        (Number::Int(number), Number::Int(factor)) => number % factor == 0,
        _ => {
            let (number, factor) = (number.as_f64(), factor.as_f64());
            is_whole(if factor < 1.0 {
                1.0 / factor * number
            } else {
                number / factor
            })
        }
    };
    let rule = || trail.rule(format!("should be a multiple of {}", factor.text()));
    (!divides).then(|| trail.violation(ViolationKind::Invalid, Some(&number.text()), rule()))
}

/// Whether a value equals an allowed one after Go's conversion to its type: integers and floats
/// mix, and quirk: an integer is also taken for the one-character string of that code point. A
/// `null` in an enumeration never matches.
pub(super) fn converts_to(value: &Value, allowed: &Value) -> bool {
    match (value, allowed) {
        (Value::Null, _) | (_, Value::Null) => false,
        (Value::Number(value), Value::Number(allowed)) => {
            match (Number::of(value), Number::of(allowed)) {
                #[expect(clippy::cast_possible_truncation, reason = "Go truncates the same way")]
                (Number::Float(value), Number::Int(allowed)) => value as i64 == allowed,
                (value, Number::Float(allowed)) => value.as_f64() == allowed,
                (value, allowed) => value == allowed,
            }
        }
        (Value::Number(value), Value::String(allowed)) => {
            let code = value
                .as_i64()
                .and_then(|code| u32::try_from(code).ok())
                .and_then(char::from_u32);
            code.is_some_and(|c| allowed.chars().eq([c]))
        }
        _ => value == allowed,
    }
}
