//! Numbers in a template: one literal may be a whole number, a float and a complex number at once,
//! and its use decides.

use windlass_go_text::number::{parse_float, parse_int, parse_uint};
use windlass_go_text::quote::{quote, unquote_char};

/// A number as it is written, and what it can be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    pub(super) text: String,
    pub(super) int: Option<i64>,
    pub(super) uint: Option<u64>,
    pub(super) float: Option<f64>,
    pub(super) complex: Option<(f64, f64)>,
}

/// Up to here each whole number is a double.
const EXACT: f64 = 9_223_372_036_854_775_808.0;

impl Number {
    fn of(text: &str) -> Self {
        Number {
            text: text.to_owned(),
            int: None,
            uint: None,
            float: None,
            complex: None,
        }
    }

    /// A character in quotes.
    pub(super) fn character(text: &str) -> Result<Self, String> {
        let (unit, rest) = unquote_char(&text[1..], '\'').ok_or("invalid syntax")?;
        if rest != "'" {
            return Err(format!("malformed character constant: {text}"));
        }
        let code = unit.code();
        Ok(Number {
            int: Some(code.into()),
            uint: Some(code.into()),
            float: Some(code.into()),
            ..Number::of(text)
        })
    }

    /// `1+2i`
    pub(super) fn complex(text: &str) -> Result<Self, String> {
        let middle = text.char_indices().skip(1).filter(|(at, c)| {
            let before = text.as_bytes()[at - 1].to_ascii_lowercase();
            let is_exponent =
                before == b'p' || before == b'e' && !text.to_ascii_lowercase().starts_with("0x");
            matches!(c, '+' | '-') && !is_exponent
        });
        let (at, _) = middle
            .last()
            .ok_or("syntax error scanning complex number")?;
        let fault =
            |text: &str, fault| format!("strconv.ParseFloat: parsing {}: {fault}", quote(text));
        let (real, imaginary) = (&text[..at], text[at..].trim_end_matches('i'));
        let parts = (
            parse_float(real).map_err(|error| fault(real, error))?,
            parse_float(imaginary).map_err(|error| fault(imaginary, error))?,
        );
        Ok(Number {
            complex: Some(parts),
            ..Number::of(text)
        }
        .simplified())
    }

    /// Any other number.
    pub(super) fn plain(text: &str) -> Result<Self, String> {
        if let Some(Ok(imaginary)) = text.strip_suffix('i').map(parse_float) {
            return Ok(Number {
                complex: Some((0.0, imaginary)),
                ..Number::of(text)
            }
            .simplified());
        }
        let mut number = Number {
            int: parse_int(text, 0).ok(),
            uint: parse_uint(text, 0).ok(),
            ..Number::of(text)
        };
        if number.int == Some(0) {
            number.uint = number.uint.or(Some(0));
        }
        #[allow(clippy::cast_precision_loss, reason = "Go converts in the same way")]
        match (number.int, number.uint) {
            (Some(int), _) => number.float = Some(int as f64),
            (None, Some(uint)) => number.float = Some(uint as f64),
            (None, None) => {
                if let Ok(float) = parse_float(text) {
                    if !text.contains(['.', 'e', 'E', 'p', 'P']) {
                        return Err(format!("integer overflow: {}", quote(text)));
                    }
                    number.float = Some(float);
                    (number.int, number.uint) = whole(float);
                }
            }
        }
        if number.float.is_none() {
            return Err(format!("illegal number syntax: {}", quote(text)));
        }
        Ok(number)
    }

    /// A complex number without an imaginary part is a float, and perhaps a whole number.
    fn simplified(mut self) -> Self {
        if let Some((real, 0.0)) = self.complex {
            self.float = Some(real);
            (self.int, self.uint) = whole(real);
        }
        self
    }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "only where it is exact"
)]
fn whole(float: f64) -> (Option<i64>, Option<u64>) {
    let is_whole = float == float.trunc();
    let int = (is_whole && (-EXACT..EXACT).contains(&float)).then_some(float as i64);
    let uint = (is_whole && (0.0..2.0 * EXACT).contains(&float)).then_some(float as u64);
    (int, uint)
}
