//! `resource.Quantity`: `1000m` becomes `1`, `1024Mi` becomes `1Gi`. A port of the reference's
//! parser and printer, quirks included.

/// A decimal number: digits times a power of ten.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Amount {
    negative: bool,
    /// Most significant first, without leading or trailing zeros; empty is zero.
    digits: Vec<u8>,
    exponent: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    DecimalExponent,
    DecimalSi,
    BinarySi,
}

const FORMAT_WRONG: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX_WRONG: &str = "unable to parse quantity's suffix";

const DECIMAL_SUFFIXES: [(&str, i64); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];
const BINARY_SUFFIXES: [(&str, u32); 6] = [
    ("Ki", 10),
    ("Mi", 20),
    ("Gi", 30),
    ("Ti", 40),
    ("Pi", 50),
    ("Ei", 60),
];

/// The quantity as Kubernetes writes it back.
///
/// # Errors
/// In the words of Kubernetes.
pub fn canonical(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(FORMAT_WRONG.to_owned());
    }
    let parts = Parts::of(text).ok_or_else(|| FORMAT_WRONG.to_owned())?;
    let (scale, format) = interpret(parts.suffix).ok_or_else(|| SUFFIX_WRONG.to_owned())?;
    if is_kept(&parts, scale, format) {
        return Ok(text.to_owned());
    }
    let (amount, format) = parts.amount(scale, format);
    Ok(amount.print(format))
}

struct Parts<'t> {
    negative: bool,
    /// Without leading zeros; `0` when there is no other digit.
    integer: &'t str,
    fraction: &'t str,
    suffix: &'t str,
}

impl<'t> Parts<'t> {
    fn of(text: &'t str) -> Option<Self> {
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let rest = unsigned.trim_start_matches('0');
        let digits = |text: &str| {
            text.find(|c: char| !c.is_ascii_digit())
                .unwrap_or(text.len())
        };
        let (integer, rest) = rest.split_at(digits(rest));
        let (fraction, rest) = match rest.strip_prefix('.') {
            Some(rest) => rest.split_at(digits(rest)),
            None => ("", rest),
        };
        let letters = rest
            .find(|c: char| !"eEinumkKMGTP".contains(c))
            .unwrap_or(rest.len());
        let exponent = rest[letters..]
            .strip_prefix(['+', '-'])
            .unwrap_or(&rest[letters..]);
        let is_whole = exponent.bytes().all(|b| b.is_ascii_digit());
        let integer = if integer.is_empty() { "0" } else { integer };
        is_whole.then_some(Parts {
            negative: text.starts_with('-'),
            integer,
            fraction,
            suffix: rest,
        })
    }

    fn amount(&self, scale: Scale, format: Format) -> (Amount, Format) {
        let digits: Vec<u8> = self
            .integer
            .bytes()
            .chain(self.fraction.bytes())
            .map(|b| b - b'0')
            .collect();
        let exponent = -i64::try_from(self.fraction.len()).unwrap_or(i64::MAX);
        let mut amount = Amount::new(self.negative, digits, exponent);
        match scale {
            Scale::Ten(power) => amount.exponent += power,
            Scale::Two(power) => amount.double(power),
        }
        amount.round_up_to_nano();
        let mut format = format;
        if format == Format::BinarySi {
            amount.cap();
            if amount.is_below_one() {
                format = Format::DecimalSi;
            }
        }
        (amount, format)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    Ten(i64),
    Two(u32),
}

fn interpret(suffix: &str) -> Option<(Scale, Format)> {
    if let Some((_, power)) = DECIMAL_SUFFIXES.iter().find(|(known, _)| *known == suffix) {
        return Some((Scale::Ten(*power), Format::DecimalSi));
    }
    if let Some((_, power)) = BINARY_SUFFIXES.iter().find(|(known, _)| *known == suffix) {
        return Some((Scale::Two(*power), Format::BinarySi));
    }
    let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    // The reference cuts the exponent to 32 bits.
    #[allow(clippy::cast_possible_truncation, reason = "that is what Go does")]
    let exponent = i64::from(exponent as i32);
    Some((Scale::Ten(exponent), Format::DecimalExponent))
}

/// Whether the reference keeps the text as it was written: short numbers in canonical form.
fn is_kept(parts: &Parts<'_>, scale: Scale, format: Format) -> bool {
    let (integer, fraction) = (parts.integer.len() as i64, parts.fraction.len() as i64);
    let digits = [parts.integer, parts.fraction].concat();
    match scale {
        Scale::Ten(power) => {
            let scale = power - fraction;
            let is_short = 18 - integer - fraction >= 0 && scale >= -9;
            is_short
                && format != Format::BinarySi
                && scale % 3 == 0
                && !digits.ends_with("000")
                && !digits.starts_with('0')
        }
        Scale::Two(power) => {
            let is_short = fraction == 0 && 15 - integer - i64::from(power * 3 / 10) > 0;
            let value: i64 = if is_short {
                digits.parse().unwrap_or(0)
            } else {
                0
            };
            value & 7 != 0 && value.checked_mul(1 << power).is_some()
        }
    }
}

impl Amount {
    fn new(negative: bool, digits: Vec<u8>, exponent: i64) -> Self {
        let mut amount = Amount {
            negative,
            digits,
            exponent,
        };
        amount.normalise();
        amount
    }

    fn normalise(&mut self) {
        let leading = self.digits.iter().take_while(|d| **d == 0).count();
        self.digits.drain(..leading);
        while self.digits.last() == Some(&0) {
            self.digits.pop();
            self.exponent += 1;
        }
        if self.digits.is_empty() {
            self.exponent = 0;
            self.negative = false;
        }
    }

    /// Multiplies by a power of two.
    fn double(&mut self, mut power: u32) {
        while power > 0 {
            let step = power.min(30);
            let mut carry = 0u64;
            for digit in self.digits.iter_mut().rev() {
                carry += u64::from(*digit) << step;
                *digit = (carry % 10) as u8;
                carry /= 10;
            }
            while carry > 0 {
                self.digits.insert(0, (carry % 10) as u8);
                carry /= 10;
            }
            power -= step;
        }
        self.normalise();
    }

    /// Numbers below a billionth are rounded away from zero.
    fn round_up_to_nano(&mut self) {
        let spare = -9 - self.exponent;
        if spare <= 0 || self.digits.is_empty() {
            return;
        }
        let kept =
            usize::try_from(spare).map_or(0, |spare| self.digits.len().saturating_sub(spare));
        self.digits.truncate(kept);
        self.exponent = -9;
        let mut at = kept;
        loop {
            if at == 0 {
                self.digits.insert(0, 1);
                break;
            }
            at -= 1;
            if self.digits[at] < 9 {
                self.digits[at] += 1;
                break;
            }
            self.digits[at] = 0;
        }
        self.normalise();
    }

    /// Binary amounts end at the largest 64-bit integer.
    fn cap(&mut self) {
        let limit = 9_223_372_036_854_775_807u64;
        let places = self.digits.len() as i64 + self.exponent;
        let exceeds = places > 19
            || places == 19 && (self.whole() > limit || self.whole() == limit && self.exponent < 0);
        if exceeds {
            let digits = limit.to_string().bytes().map(|b| b - b'0').collect();
            *self = Amount::new(self.negative, digits, 0);
        }
    }

    fn is_below_one(&self) -> bool {
        !self.digits.is_empty() && self.digits.len() as i64 + self.exponent <= 0
    }

    /// The part before the point; for amounts of at most 19 places.
    fn whole(&self) -> u64 {
        let places = usize::try_from(self.digits.len() as i64 + self.exponent).unwrap_or(0);
        (0..places).fold(0u64, |whole, at| {
            whole
                .wrapping_mul(10)
                .wrapping_add(u64::from(self.digits.get(at).copied().unwrap_or(0)))
        })
    }

    fn print(&self, format: Format) -> String {
        if self.digits.is_empty() {
            return "0".to_owned();
        }
        let is_binary = format == Format::BinarySi && self.exponent >= 0 && self.whole() >= 1024;
        if is_binary {
            return self.print_binary();
        }
        let spare = self.exponent.rem_euclid(3);
        let exponent = self.exponent - spare;
        let suffix = match format {
            Format::DecimalExponent if exponent == 0 => String::new(),
            Format::DecimalExponent => format!("e{exponent}"),
            // Beyond the known suffixes the reference writes none.
            _ => DECIMAL_SUFFIXES
                .iter()
                .find(|(_, power)| *power == exponent)
                .map_or("", |(suffix, _)| suffix)
                .to_owned(),
        };
        let digits: String = self.digits.iter().map(|d| char::from(b'0' + d)).collect();
        let zeros = if spare == 1 {
            "0"
        } else if spare == 2 {
            "00"
        } else {
            ""
        };
        format!("{}{digits}{zeros}{suffix}", self.sign())
    }

    fn print_binary(&self) -> String {
        let mut whole = self.whole();
        let mut power = 0;
        while whole.is_multiple_of(1024) {
            whole /= 1024;
            power += 10;
        }
        let suffix = BINARY_SUFFIXES
            .iter()
            .find(|(_, known)| *known == power)
            .map_or("", |(suffix, _)| suffix);
        format!("{}{whole}{suffix}", self.sign())
    }

    fn sign(&self) -> &'static str {
        if self.negative { "-" } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[(&str, &str)]) {
        for (text, expected) in rows {
            assert_eq!(canonical(text).as_deref(), Ok(*expected), "{text}");
        }
    }

    /// Observed of Kubernetes.
    #[test]
    fn quantities_are_canonical() {
        check(&[
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("1000", "1k"),
            ("100000k", "100M"),
            ("0.5Gi", "512Mi"),
            ("1024Ki", "1Mi"),
            ("0Mi", "0"),
            ("1e10", "10e9"),
            ("0.1Gi", "107374182400m"),
            ("16Ei", "9223372036854775807"),
            ("0.1n", "1n"),
            ("00", "0"),
            ("-0", "0"),
            (" 1000m ", "1"),
            ("-1.5Gi", "-1536Mi"),
            ("512", "512"),
            ("0.5Ki", "512"),
        ]);
    }

    #[test]
    fn short_canonical_forms_are_kept_as_written() {
        let kept = [
            "100m",
            "1500m",
            "1025Mi",
            "1000Ki",
            "128974848",
            "1500",
            "1e3",
            "12e6",
            "1e-3",
            "007",
            "+5",
            "5.",
            "9223372036854775808",
        ];
        check(&kept.map(|text| (text, text)));
    }

    #[test]
    fn what_is_no_quantity_is_rejected() {
        for text in ["", "abc", "1x", "1 Gi", "1.2.3", "1e3x"] {
            assert_eq!(canonical(text), Err(FORMAT_WRONG.to_owned()), "{text}");
        }
        for text in ["1Kim", "1K", "1e", "1ee3", "--1"] {
            assert_eq!(canonical(text), Err(SUFFIX_WRONG.to_owned()), "{text}");
        }
    }
}
