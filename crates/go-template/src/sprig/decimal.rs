//! Arithmetic of decimal numbers, as sprig's `addf` and its kin do it: exact, so that 0.1 and 0.2
//! are 0.3.

use super::arguments::float;
use super::numbers::to_float;
use crate::functions::{CallFault, Called, rejected};
use crate::held::Held;
use windlass_go_text::value::Value;

/// The digits that a quotient has behind the point.
const PRECISION: u32 = 16;

/// `digits * 10^-scale`
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal {
    digits: i128,
    scale: u32,
}

/// What is computed of all values, from left to right.
pub(super) fn compute<'v>(
    values: impl Iterator<Item = &'v Value>,
    operation: fn(Decimal, Decimal) -> Called<Decimal>,
) -> Called<Held> {
    let mut result: Option<Decimal> = None;
    for value in values {
        let next = Decimal::of(to_float(value))?;
        result = Some(match result {
            Some(before) => operation(before, next)?,
            None => next,
        });
    }
    float(result.map_or(0.0, Decimal::value))
}

fn too_long<T>() -> Called<T> {
    Err(CallFault::Unsupported(
        "is computed here with up to 38 digits only",
    ))
}

fn power(exponent: u32) -> Option<i128> {
    10i128.checked_pow(exponent)
}

impl Decimal {
    /// The shortest digits that read back as the number.
    fn of(float: f64) -> Called<Self> {
        if !float.is_finite() {
            return rejected(format!("Cannot create a Decimal from {float}"));
        }
        let text = format!("{float}");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let scale = u32::try_from(fraction.len()).unwrap_or(u32::MAX);
        match format!("{whole}{fraction}").parse() {
            Ok(digits) => Ok(Decimal { digits, scale }),
            Err(_) => too_long(),
        }
    }

    fn value(self) -> f64 {
        format!("{}e-{}", self.digits, self.scale)
            .parse()
            .unwrap_or(f64::NAN)
    }

    /// Both with the larger scale.
    fn aligned(self, other: Decimal) -> Option<(i128, i128, u32)> {
        let scale = self.scale.max(other.scale);
        let raised = |decimal: Decimal| decimal.digits.checked_mul(power(scale - decimal.scale)?);
        Some((raised(self)?, raised(other)?, scale))
    }

    pub(super) fn add(self, other: Decimal) -> Called<Decimal> {
        let sum = || {
            let (one, two, scale) = self.aligned(other)?;
            Some(Decimal {
                digits: one.checked_add(two)?,
                scale,
            })
        };
        sum().map_or_else(too_long, Ok)
    }

    pub(super) fn sub(self, other: Decimal) -> Called<Decimal> {
        self.add(Decimal {
            digits: -other.digits,
            ..other
        })
    }

    pub(super) fn mul(self, other: Decimal) -> Called<Decimal> {
        match self.digits.checked_mul(other.digits) {
            Some(digits) => Ok(Decimal {
                digits,
                scale: self.scale + other.scale,
            }),
            None => too_long(),
        }
    }

    pub(super) fn div(self, other: Decimal) -> Called<Decimal> {
        if other.digits == 0 {
            return rejected("decimal division by 0");
        }
        let quotient = || {
            let (one, two, _) = self.aligned(other)?;
            let scaled = one.checked_mul(power(PRECISION)?)?;
            let (digits, rest) = (scaled / two, scaled % two);
            let up = rest.checked_mul(2)?.abs() >= two.abs();
            let digits = if up {
                digits + if (one < 0) == (two < 0) { 1 } else { -1 }
            } else {
                digits
            };
            Some(Decimal {
                digits,
                scale: PRECISION,
            })
        };
        quotient().map_or_else(too_long, Ok)
    }
}
