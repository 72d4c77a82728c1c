//! Points in time as Go's `time.Parse` reads them: RFC 3339, and the layouts in which go-yaml looks
//! for them.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime, Time as Clock};

/// A point in time as it was written, in its own zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    local: DateTime,
    /// Seconds to the east of UTC.
    offset: i64,
}

/// A part of a layout. Whether two digits are needed is said where the layout can say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A fixed text. A blank matches any number of blanks, or the end of the input.
    Text(&'static str),
    /// The year, in four digits.
    Year,
    /// The month, from 1 to 12.
    Month(Digits),
    /// The day of the month, from 1.
    Day(Digits),
    /// The hour, from 0 to 23, in one digit or two.
    Hour,
    /// The minute, from 0 to 59.
    Minute(Digits),
    /// With a fraction of any length, whether the layout has one or not.
    Second(Digits),
    /// The offset from UTC: `Z` or such as `+02:00`.
    Zone,
}

/// The number of digits that a part needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    /// One digit or two.
    One,
    /// Two digits, with a leading zero for numbers below 10.
    Two,
}

/// `time.RFC3339`.
const RFC_3339: &[Part] = {
    use Digits::Two;
    use Part::{Day, Hour, Minute, Month, Second, Text, Year, Zone};
    &[
        Year,
        Text("-"),
        Month(Two),
        Text("-"),
        Day(Two),
        Text("T"),
        Hour,
        Text(":"),
        Minute(Two),
        Text(":"),
        Second(Two),
        Zone,
    ]
};

/// How errors name it.
const RFC_3339_SHOWN: &str = "2006-01-02T15:04:05Z07:00";

/// `allowedTimestampFormats` of go-yaml, of which v2 and v3 have the same.
const OF_YAML: [&[Part]; 4] = {
    use Digits::One;
    use Part::{Day, Hour, Minute, Month, Second, Text, Year, Zone};
    [
        &[
            Year,
            Text("-"),
            Month(One),
            Text("-"),
            Day(One),
            Text("T"),
            Hour,
            Text(":"),
            Minute(One),
            Text(":"),
            Second(One),
            Zone,
        ],
        &[
            Year,
            Text("-"),
            Month(One),
            Text("-"),
            Day(One),
            Text("t"),
            Hour,
            Text(":"),
            Minute(One),
            Text(":"),
            Second(One),
            Zone,
        ],
        &[
            Year,
            Text("-"),
            Month(One),
            Text("-"),
            Day(One),
            Text(" "),
            Hour,
            Text(":"),
            Minute(One),
            Text(":"),
            Second(One),
        ],
        &[Year, Text("-"), Month(One), Text("-"), Day(One)],
    ]
};

/// `time.Parse(time.RFC3339, text)`.
///
/// # Errors
/// The message of Go.
pub fn rfc3339(text: &str) -> Result<Time, String> {
    parse(RFC_3339, text.as_bytes()).map_err(|fault| match fault {
        Fault::Range(what) => format!(
            "parsing time {}: {what} out of range",
            quote(text.as_bytes())
        ),
        Fault::Rest(rest) => format!(
            "parsing time {}: extra text: {}",
            quote(text.as_bytes()),
            quote(rest)
        ),
        Fault::Part(part, rest) => {
            let (text, rest) = (quote(text.as_bytes()), quote(rest));
            format!(
                "parsing time {text} as \"{RFC_3339_SHOWN}\": cannot parse {rest} as \"{}\"",
                part.shown()
            )
        }
    })
}

/// What go-yaml takes for a date or a time.
pub fn of_yaml(text: &str) -> Option<Time> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_promising = digits == 4 && text.as_bytes().get(4) == Some(&b'-');
    OF_YAML
        .iter()
        .filter(|_| is_promising)
        .find_map(|layout| parse(layout, text.as_bytes()).ok())
}

impl Time {
    /// The same in UTC; `None` where it is in no year up to 9999 there.
    pub fn utc(self) -> Option<DateTime> {
        self.local
            .checked_sub(SignedDuration::from_secs(self.offset))
            .ok()
    }
}

/// `Time.String()`, where the zone has no name.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, time) = (self.local.date(), self.local.time());
        write!(
            f,
            "{date} {:02}:{:02}:{:02}",
            time.hour(),
            time.minute(),
            time.second()
        )?;
        let fraction = format!("{:09}", time.subsec_nanosecond());
        let fraction = fraction.trim_end_matches('0');
        if !fraction.is_empty() {
            write!(f, ".{fraction}")?;
        }
        if self.offset == 0 {
            return f.write_str(" +0000 UTC");
        }
        let (sign, minutes) = (
            if self.offset < 0 { '-' } else { '+' },
            self.offset.abs() / 60,
        );
        let zone = format!("{sign}{:02}{:02}", minutes / 60, minutes % 60);
        write!(f, " {zone} {zone}")
    }
}

impl Part {
    /// As layouts have it.
    fn shown(self) -> &'static str {
        let digits = |digits: Digits, two: &'static str| {
            if digits == Digits::Two {
                two
            } else {
                &two[1..]
            }
        };
        match self {
            Part::Text(text) => text,
            Part::Year => "2006",
            Part::Month(n) => digits(n, "01"),
            Part::Day(n) => digits(n, "02"),
            Part::Hour => "15",
            Part::Minute(n) => digits(n, "04"),
            Part::Second(n) => digits(n, "05"),
            Part::Zone => "Z07:00",
        }
    }
}

/// What does not fit a layout.
#[derive(Debug)]
enum Fault<'t> {
    /// A part, and what is in its place.
    Part(Part, &'t [u8]),
    /// A number of this name.
    Range(&'static str),
    /// What follows the last part.
    Rest(&'t [u8]),
}

/// What was read so far.
#[derive(Default)]
struct Read {
    year: i16,
    month: i8,
    day: i8,
    hour: i8,
    minute: i8,
    second: i8,
    nanosecond: i32,
    offset: i64,
}

fn parse<'t>(layout: &[Part], text: &'t [u8]) -> Result<Time, Fault<'t>> {
    let mut read = Read::default();
    let mut rest = text;
    for part in layout {
        rest = read.part(*part, rest)?;
    }
    if !rest.is_empty() {
        return Err(Fault::Rest(rest));
    }
    let date = Date::new(read.year, read.month, read.day).map_err(|_| Fault::Range("day"))?;
    // Each was checked where it was read.
    let clock = Clock::new(read.hour, read.minute, read.second, read.nanosecond)
        .map_err(|_| Fault::Range("second"))?;
    Ok(Time {
        local: date.to_datetime(clock),
        offset: read.offset,
    })
}

impl Read {
    /// Takes a part; gives what follows it.
    fn part<'t>(&mut self, part: Part, text: &'t [u8]) -> Result<&'t [u8], Fault<'t>> {
        let within = |name: &'static str, range: std::ops::RangeInclusive<i8>, digits: Digits| {
            let (number, rest) = number(text, digits).ok_or(Fault::Part(part, text))?;
            if range.contains(&number) {
                Ok((number, rest))
            } else {
                Err(Fault::Range(name))
            }
        };
        let rest;
        match part {
            // A blank of a layout stands for any number of them, none included at the end.
            Part::Text(" ") if text.first().is_none_or(|byte| *byte == b' ') => {
                rest = &text[text.iter().take_while(|byte| **byte == b' ').count()..];
            }
            Part::Text(wanted) => {
                rest = text
                    .strip_prefix(wanted.as_bytes())
                    .ok_or(Fault::Part(part, text))?
            }
            Part::Year => {
                let year = text
                    .first_chunk::<4>()
                    .filter(|year| year.iter().all(u8::is_ascii_digit))
                    .ok_or(Fault::Part(part, text))?;
                self.year = year
                    .iter()
                    .fold(0, |number, digit| number * 10 + i16::from(digit - b'0'));
                rest = &text[4..];
            }
            Part::Month(digits) => (self.month, rest) = within("month", 1..=12, digits)?,
            // Which days a month has is checked at the end.
            Part::Day(digits) => (self.day, rest) = within("day", 0..=99, digits)?,
            Part::Hour => (self.hour, rest) = within("hour", 0..=23, Digits::One)?,
            Part::Minute(digits) => (self.minute, rest) = within("minute", 0..=59, digits)?,
            Part::Second(digits) => {
                let (second, after) = within("second", 0..=59, digits)?;
                self.second = second;
                (self.nanosecond, rest) = fraction(after);
            }
            Part::Zone if text.first() == Some(&b'Z') => rest = &text[1..],
            Part::Zone => (self.offset, rest) = offset(text)?,
        }
        Ok(rest)
    }
}

/// One or two digits.
fn number(text: &[u8], digits: Digits) -> Option<(i8, &[u8])> {
    let digit = |at: usize| {
        text.get(at)
            .filter(|byte| byte.is_ascii_digit())
            .map(|byte| (byte - b'0').cast_signed())
    };
    match (digit(0)?, digit(1)) {
        (first, Some(second)) => Some((first * 10 + second, &text[2..])),
        (first, None) if digits == Digits::One => Some((first, &text[1..])),
        _ => None,
    }
}

/// The nanoseconds of a fraction, behind a period or a comma. Digits beyond the ninth are dropped.
fn fraction(text: &[u8]) -> (i32, &[u8]) {
    let [b'.' | b',', digits @ ..] = text else {
        return (0, text);
    };
    let count = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if count == 0 {
        return (0, text);
    }
    let padded = digits[..count]
        .iter()
        .copied()
        .chain(std::iter::repeat(b'0'))
        .take(9);
    (
        padded.fold(0, |number, digit| number * 10 + i32::from(digit - b'0')),
        &digits[count..],
    )
}

/// `+07:00`. Go lets an offset of 24 hours and 60 minutes pass.
fn offset(text: &[u8]) -> Result<(i64, &[u8]), Fault<'_>> {
    let fault = || Fault::Part(Part::Zone, text);
    let [sign, zone @ ..] = text else {
        return Err(fault());
    };
    let [_, _, b':', _, _, rest @ ..] = zone else {
        return Err(fault());
    };
    let two = |text| {
        number(text, Digits::Two)
            .filter(|(_, rest): &(i8, &[u8])| rest.is_empty())
            .map(|(number, _)| number)
    };
    let (hours, minutes) = two(&zone[..2]).zip(two(&zone[3..5])).ok_or_else(fault)?;
    if minutes > 60 {
        return Err(Fault::Range("time zone offset minute"));
    }
    if hours > 24 {
        return Err(Fault::Range("time zone offset hour"));
    }
    let seconds = (i64::from(hours) * 60 + i64::from(minutes)) * 60;
    match sign {
        b'+' => Ok((seconds, rest)),
        b'-' => Ok((-seconds, rest)),
        _ => Err(fault()),
    }
}

/// As the package `time` quotes in its errors.
fn quote(text: &[u8]) -> String {
    let shown = |byte: &u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'\x7f' => char::from(*byte).to_string(),
        byte => format!("\\x{byte:02x}"),
    };
    format!("\"{}\"", text.iter().map(shown).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Go 1.26 prints for a text with the layout `time.RFC3339`: the time in UTC, or the error
    /// behind its begin.
    #[test]
    fn rfc3339_is_read_as_go_reads_it() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let read = rfc3339(text).map(|time| {
                time.utc()
                    .map_or_else(|| "beyond 9999".to_owned(), |utc| format!("{utc}Z"))
            });
            let begin = format!("parsing time {}", quote(text.as_bytes()));
            let read = read.map_err(|error| {
                error
                    .strip_prefix(&begin)
                    .unwrap_or(&error)
                    .replace(&format!(" as \"{RFC_3339_SHOWN}\""), "")
            });
            assert_eq!(read.as_deref().map_err(String::as_str), expected, "{text}");
        };
        check("2024-01-02T03:04:05Z", Ok("2024-01-02T03:04:05Z"));
        check(
            "2024-01-02T03:04:05.678+02:00",
            Ok("2024-01-02T01:04:05.678Z"),
        );
        check("2024-01-02T3:04:05Z", Ok("2024-01-02T03:04:05Z"));
        check("2024-01-02T03:04:05,5Z", Ok("2024-01-02T03:04:05.5Z"));
        check(
            "2024-01-02T03:04:05.1234567891Z",
            Ok("2024-01-02T03:04:05.123456789Z"),
        );
        check("0000-01-01T00:00:00Z", Ok("0000-01-01T00:00:00Z"));
        check("2024-02-29T23:59:59-00:30", Ok("2024-03-01T00:29:59Z"));
        // Go has a year 10000.
        check("9999-12-31T23:59:59-24:60", Ok("beyond 9999"));
        for (text, rest, part) in [
            ("", "", "2006"),
            ("x", "x", "2006"),
            ("2024", "", "-"),
            ("2024-01-02", "", "T"),
            ("2024-01-02 03:04:05Z", " 03:04:05Z", "T"),
            ("2024-01-02t03:04:05Z", "t03:04:05Z", "T"),
            ("2024-01-02T03:04:05z", "z", "Z07:00"),
            ("2024-1-02T03:04:05Z", "1-02T03:04:05Z", "01"),
            ("2024-01-02T03:04:05.Z", ".Z", "Z07:00"),
            ("2024-01-02T03:04:05", "", "Z07:00"),
            ("2024-01-02T03:04:05+2:00", "+2:00", "Z07:00"),
            ("2024-01-02T03:04:05+0200", "+0200", "Z07:00"),
            ("2024-01-02T03:04:05*02:00", "*02:00", "Z07:00"),
            ("2024-01-02T03:04:05+-1:00", "+-1:00", "Z07:00"),
            ("2024-01-02T3:4:05Z", "4:05Z", "04"),
            ("20é4", r"20\xc3\xa94", "2006"),
            ("2024-01-02T\"03\\\n", r#"\"03\\\x0a"#, "15"),
            ("-024-01-02T03:04:05Z", "-024-01-02T03:04:05Z", "2006"),
        ] {
            check(
                text,
                Err(&format!(": cannot parse \"{rest}\" as \"{part}\"")),
            );
        }
        check("2024-13-02T03:04:05Z", Err(": month out of range"));
        check("2024-00-02T03:04:05Z", Err(": month out of range"));
        check("2023-02-29T03:04:05Z", Err(": day out of range"));
        check("2024-01-00T03:04:05Z", Err(": day out of range"));
        check("2024-01-02T24:04:05Z", Err(": hour out of range"));
        check("2024-01-02T03:60:05Z", Err(": minute out of range"));
        check("2024-01-02T03:04:60Z", Err(": second out of range"));
        check(
            "2024-01-02T03:04:05+25:00",
            Err(": time zone offset hour out of range"),
        );
        check(
            "2024-01-02T03:04:05+02:61",
            Err(": time zone offset minute out of range"),
        );
        check("2024-01-02T03:04:05Zx", Err(": extra text: \"x\""));
        check("2024-01-02T03:04:05Z ", Err(": extra text: \" \""));
    }

    /// What Go 1.26 prints of a time that go-yaml finds, in UTC's zone; nothing, where it finds
    /// none.
    #[test]
    fn times_of_yaml_are_those_of_go_yaml() {
        for (text, expected) in [
            ("2024-01-02", "2024-01-02 00:00:00 +0000 UTC"),
            ("2024-1-2", "2024-01-02 00:00:00 +0000 UTC"),
            ("2024-01-02T03:04:05Z", "2024-01-02 03:04:05 +0000 UTC"),
            ("2024-01-02t3:4:5Z", "2024-01-02 03:04:05 +0000 UTC"),
            ("2024-01-02 03:04:05.50", "2024-01-02 03:04:05.5 +0000 UTC"),
            ("2024-01-02   1:2:3", "2024-01-02 01:02:03 +0000 UTC"),
            ("2024-01-02 1:2:3,5", "2024-01-02 01:02:03.5 +0000 UTC"),
            (
                "2024-01-02T03:04:05+02:00",
                "2024-01-02 03:04:05 +0200 +0200",
            ),
            (
                "2024-01-02T03:04:05.250-00:30",
                "2024-01-02 03:04:05.25 -0030 -0030",
            ),
            ("2024-01-02T03:04:05+00:00", "2024-01-02 03:04:05 +0000 UTC"),
            ("2024-01-02T03:04:05-00:00", "2024-01-02 03:04:05 +0000 UTC"),
            (
                "2024-01-02T03:04:05,123456789012-24:60",
                "2024-01-02 03:04:05.123456789 -2500 -2500",
            ),
            ("0000-01-01", "0000-01-01 00:00:00 +0000 UTC"),
        ] {
            assert_eq!(
                of_yaml(text).map(|time| time.to_string()).as_deref(),
                Some(expected),
                "{text}"
            );
        }
        for text in [
            "2024-02-30",
            "2024-01-02 ",
            "2024-01-02T",
            "2024-01-02T03:04:05",
            "2024-01-02 03:04:05Z",
            "2024-01-02T03:04:05.Z",
            "20240-01-02",
            "2024-01-02  ",
            "24-01-02",
            "2024-001-02",
            "2024-01-02T24:00:00Z",
            "2024-1-2T1:2:3Z ",
            "2024-01-02 03:04:05 ",
            "2024-13-01",
            "2024-01",
            "2024-01-02 21:59:43.10 -5",
            "2024-01-02x",
        ] {
            assert_eq!(of_yaml(text), None, "{text}");
        }
    }
}
