//! Doubles as Go's packages `strconv` and `encoding/json` write them.

/// `strconv.FormatFloat(value, format, precision, 64)` for the formats `e E f g G x X b`. No
/// precision means the shortest digits that read back as the value.
pub(crate) fn format_float(value: f64, format: char, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let text = match (format, precision) {
        ('f', None) => format!("{}", value.abs()),
        ('f', Some(precision)) => {
            let exact = precision.min(MOST_DIGITS);
            filled(format!("{:.exact$}", value.abs()), precision - exact)
        }
        ('e' | 'E', None) => Digits::shortest(value).exponential(None, format),
        ('e' | 'E', Some(precision)) => {
            Digits::rounded(value, precision + 1).exponential(Some(precision), format)
        }
        ('g' | 'G', None) => Digits::shortest(value).general(None, format),
        ('g' | 'G', Some(precision)) => {
            Digits::rounded(value, precision.max(1)).general(Some(precision.max(1)), format)
        }
        ('b', _) => binary(value),
        ('X', precision) => hexadecimal(value, precision).to_uppercase(),
        (_, precision) => hexadecimal(value, precision),
    };
    if value.is_sign_negative() {
        format!("-{text}")
    } else {
        text
    }
}

/// No double has more digits than these, before the point or behind it. Rust's own formatting takes
/// at most 65,535, Go's a million.
const MOST_DIGITS: usize = 1100;

/// A number with so many zeros more at its end.
fn filled(mut digits: String, zeros: usize) -> String {
    digits.extend(std::iter::repeat_n('0', zeros));
    digits
}

/// As `%v` writes it: the shortest digits; an exponent below -4 or from 6 on switches to `1e+06`.
pub fn float(value: f64) -> String {
    format_float(value, 'g', None)
}

/// Never with an exponent: `strconv.FormatFloat(value, 'f', -1, 64)`.
pub fn plain_float(value: f64) -> String {
    format_float(value, 'f', None)
}

/// As `encoding/json` writes it: plain from 1e-6 up to 1e21, and exponents of one digit stay so.
pub fn json_float(value: f64) -> String {
    if value == 0.0 || (1e-6..1e21).contains(&value.abs()) {
        return format_float(value, 'f', None);
    }
    let text = format_float(value, 'e', None);
    match text.find("e-0") {
        Some(at) => format!("{}e-{}", &text[..at], &text[at + 3..]),
        None => text,
    }
}

/// The decimal digits of a double without zeros at the end, and how many of them stand before the
/// point. Zero has none.
pub struct Digits {
    digits: String,
    point: i32,
}

impl Digits {
    fn shortest(value: f64) -> Self {
        Digits::of(&format!("{:e}", value.abs()))
    }

    fn rounded(value: f64, count: usize) -> Self {
        Digits::of(&format!(
            "{:.*e}",
            (count - 1).min(MOST_DIGITS),
            value.abs()
        ))
    }

    /// Of Rust's `1.50e7`.
    fn of(scientific: &str) -> Self {
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
        let digits = mantissa.replace('.', "");
        let digits = digits.trim_end_matches('0').to_owned();
        let point = if digits.is_empty() {
            0
        } else {
            exponent.parse::<i32>().unwrap_or(0) + 1
        };
        Digits { digits, point }
    }

    fn count(&self) -> i32 {
        i32::try_from(self.digits.len()).unwrap_or(i32::MAX)
    }

    /// `d.ddde±dd`, with so many digits behind the point, or all that there are.
    fn exponential(&self, precision: Option<usize>, letter: char) -> String {
        let digits = if self.digits.is_empty() {
            "0"
        } else {
            &self.digits
        };
        let precision = precision.unwrap_or(digits.len() - 1);
        let mut out = digits[..1].to_owned();
        if precision > 0 {
            let behind = &digits[1..digits.len().min(precision + 1)];
            out.push('.');
            out = filled(out + behind, precision.saturating_sub(behind.len()));
        }
        let exponent = if self.digits.is_empty() {
            0
        } else {
            self.point - 1
        };
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("{letter}{sign}{:02}", exponent.abs()));
        out
    }

    /// `%g` with so many digits, or the shortest.
    fn general(&self, precision: Option<usize>, format: char) -> String {
        let wanted = precision.map_or(self.count(), |precision| {
            i32::try_from(precision).unwrap_or(i32::MAX)
        });
        let limit = match precision {
            None => 6,
            Some(_) if wanted > self.count() && self.count() >= self.point => self.count(),
            Some(_) => wanted,
        };
        let exponent = self.point - 1;
        if exponent < -4 || exponent >= limit {
            return self.exponential(None, if format == 'G' { 'E' } else { 'e' });
        }
        self.fixed()
    }

    /// All digits without an exponent.
    fn fixed(&self) -> String {
        let digits = &self.digits;
        match usize::try_from(self.point) {
            Ok(0) | Err(_) if digits.is_empty() => "0".to_owned(),
            Ok(before) if before >= digits.len() => format!("{digits:0<before$}"),
            Ok(before) if before > 0 => format!("{}.{}", &digits[..before], &digits[before..]),
            _ => format!(
                "0.{}{digits}",
                "0".repeat(self.point.unsigned_abs() as usize)
            ),
        }
    }
}

/// The mantissa as a whole number, and the exponent of two that goes with it. The mantissa of a
/// normal number has 53 bits.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.abs().to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    }
}

/// `%b`: `4503599627370496p-52`.
fn binary(value: f64) -> String {
    let (mantissa, exponent) = parts(value);
    format!("{mantissa}p{exponent:+}")
}

/// `%x`: `0x1.8p+01`.
fn hexadecimal(value: f64, precision: Option<usize>) -> String {
    let (mantissa, exponent) = parts(value);
    // The leading one is moved to bit 60, so that 15 digits follow it.
    let shift = mantissa.leading_zeros().saturating_sub(3);
    let mut mantissa = if mantissa == 0 { 0 } else { mantissa << shift };
    let mut exponent = if mantissa == 0 {
        0
    } else {
        exponent + 60 - i32::try_from(shift).unwrap_or_default()
    };
    if let Some(precision) = precision.filter(|precision| *precision < 15) {
        let shift = u32::try_from(precision * 4).unwrap_or_default();
        let extra = (mantissa << shift) & ((1 << 60) - 1);
        mantissa >>= 60 - shift;
        mantissa += u64::from(extra | (mantissa & 1) > 1 << 59);
        mantissa <<= 60 - shift;
        if mantissa & 1 << 61 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let digits = format!("{:015x}", mantissa & ((1 << 60) - 1));
    let fraction = match precision {
        None => digits.trim_end_matches('0').to_owned(),
        Some(precision) => filled(
            digits[..precision.min(15)].to_owned(),
            precision.saturating_sub(15),
        ),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    format!(
        "0x{}{point}{fraction}p{sign}{:02}",
        mantissa >> 60 & 1,
        exponent.abs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_switch_to_exponents_as_go_does() {
        let check = |value: f64, fmt: &str, json: &str| {
            assert_eq!(
                (float(value).as_str(), json_float(value).as_str()),
                (fmt, json)
            )
        };
        check(1.5, "1.5", "1.5");
        check(1e6, "1e+06", "1000000");
        check(123_456_789.0, "1.23456789e+08", "123456789");
        check(100_000.5, "100000.5", "100000.5");
        check(1e21, "1e+21", "1e+21");
        check(0.00001, "1e-05", "0.00001");
        check(1e-7, "1e-07", "1e-7");
        check(1e-100, "1e-100", "1e-100");
        check(-0.25, "-0.25", "-0.25");
        check(-0.0, "-0", "-0");
    }

    /// Observed of `strconv.FormatFloat`.
    #[test]
    fn formats_are_strconvs() {
        let check = |value: f64, format: char, precision: Option<usize>, expected: &str| {
            assert_eq!(
                format_float(value, format, precision),
                expected,
                "{value} {format} {precision:?}"
            );
        };
        check(100.0, 'g', Some(3), "100");
        check(100.0, 'g', Some(2), "1e+02");
        check(0.5, 'g', Some(2), "0.5");
        check(123_456_789.0, 'g', Some(10), "123456789");
        check(0.000_012_345, 'G', Some(3), "1.23E-05");
        check(1234.5678, 'e', Some(2), "1.23e+03");
        check(1234.5678, 'E', None, "1.2345678E+03");
        check(0.0, 'e', Some(2), "0.00e+00");
        check(0.0, 'g', None, "0");
        check(2.5, 'f', Some(0), "2");
        check(1e21, 'f', None, "1000000000000000000000");
        check(0.001_234, 'g', Some(2), "0.0012");
        check(1.0, 'x', None, "0x1p+00");
        check(-3.0, 'x', Some(2), "-0x1.80p+01");
        check(1.999, 'x', Some(1), "0x1.0p+01");
        check(5e-324, 'X', None, "0X1P-1074");
        check(1.0, 'b', None, "4503599627370496p-52");
    }

    /// Go takes precisions up to a million; no double has more than 1,074 digits behind the point.
    #[test]
    fn precisions_are_as_large_as_gos() {
        let zeros = |count: usize| "0".repeat(count);
        let check = |value: f64, format: char, expected: String| {
            assert_eq!(format_float(value, format, Some(70_000)), expected)
        };
        check(1.5, 'f', format!("1.5{}", zeros(69_999)));
        check(
            0.1,
            'f',
            format!(
                "0.1000000000000000055511151231257827021181583404541015625{}",
                zeros(70_000 - 55)
            ),
        );
        check(1.5, 'e', format!("1.5{}e+00", zeros(69_999)));
        check(0.25, 'g', "0.25".to_owned());
        check(1.5, 'x', format!("0x1.8{}p+00", zeros(69_999)));
        // The smallest double has its last digit at place 1,074.
        let smallest = format_float(5e-324, 'f', Some(1_100));
        assert!(
            smallest.trim_end_matches('0').len() == "0.".len() + 1_074
                && smallest.len() == "0.".len() + 1_100,
            "{smallest}"
        );
    }
}
