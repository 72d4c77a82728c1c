//! The words that go-yaml v2 takes for a date or a time. Their text stays a string for JSON; only the emitter's quotes depend on it.

/// Whether Go's `time.Parse` takes the word in one of go-yaml's four layouts: `2006-1-2T15:4:5.999999999Z07:00` (or with `t`),
/// `2006-1-2 15:4:5.999999999`, `2006-1-2`.
pub(crate) fn is_timestamp(word: &str) -> bool {
    let bytes = word.as_bytes();
    if bytes.len() < 8 || bytes[4] != b'-' || !bytes[..4].iter().all(u8::is_ascii_digit) {
        return false;
    }
    let Some((year, _)) = digits(&bytes[..4], 4) else { return false };
    let Some(rest) = date(year, &bytes[5..]) else { return false };
    match rest {
        [] => true,
        [b'T' | b't', rest @ ..] => time(rest).is_some_and(is_zone),
        [b' ', ..] => time(rest.trim_ascii_start()).is_some_and(<[u8]>::is_empty),
        _ => false,
    }
}

/// `1-2` after the year: the rest, when such a day exists.
fn date(year: u32, text: &[u8]) -> Option<&[u8]> {
    let (month, rest) = digits(text, 2)?;
    let (day, rest) = digits(rest.strip_prefix(b"-")?, 2)?;
    (1..=days_in(month, year)?).contains(&day).then_some(rest)
}

/// `15:4:5` with an optional fraction of any length, after a period or a comma.
fn time(text: &[u8]) -> Option<&[u8]> {
    let (hour, rest) = digits(text, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(b":")?, 2)?;
    let (second, rest) = digits(rest.strip_prefix(b":")?, 2)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    match rest {
        [b'.' | b',', fraction @ ..] if fraction.first().is_some_and(u8::is_ascii_digit) => {
            Some(&fraction[fraction.iter().take_while(|b| b.is_ascii_digit()).count()..])
        }
        _ => Some(rest),
    }
}

/// `Z` or `+07:00`. Go lets an offset of 24 hours and 60 minutes pass.
fn is_zone(text: &[u8]) -> bool {
    match text {
        [b'Z'] => true,
        [b'+' | b'-', hour @ .., b':', _, _] if hour.len() == 2 => {
            let within = |text: &[u8], most| digits(text, 2).is_some_and(|(n, rest)| rest.is_empty() && n <= most);
            let minute = &text[4..];
            minute.iter().chain(hour).all(u8::is_ascii_digit) && within(hour, 24) && within(minute, 60)
        }
        _ => false,
    }
}

/// A number of one to `most` digits, and what follows it.
fn digits(text: &[u8], most: usize) -> Option<(u32, &[u8])> {
    let count = text.iter().take(most).take_while(|b| b.is_ascii_digit()).count();
    let number = text[..count].iter().fold(0, |n, b| n * 10 + u32::from(b - b'0'));
    (count > 0).then_some((number, &text[count..]))
}

fn days_in(month: u32, year: u32) -> Option<u32> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        4 | 6 | 9 | 11 => Some(30),
        2 => Some(if leap { 29 } else { 28 }),
        1..=12 => Some(31),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_recognised_as_go_parses_them() {
        for word in [
            "2020-01-01",
            "2020-1-2",
            "2020-02-29",
            "2030-01-02T03:04:05Z",
            "2030-01-02t3:4:5Z",
            "2030-01-02T03:04:05.5+02:00",
            "2030-01-02T03:04:05,123456789012-24:60",
            "2001-12-14 21:59:43.10",
            "2001-12-14   1:2:3",
        ] {
            assert!(is_timestamp(word), "{word}");
        }
    }

    #[test]
    fn other_words_are_not() {
        for word in [
            "2020-13-01",
            "2021-02-29",
            "2020-01-00",
            "2020-01",
            "20200-01-01",
            "2020-01-01T",
            "2020-01-01 ",
            "2030-01-02T03:04:05",
            "2030-01-02T24:04:05Z",
            "2030-01-02T03:04:05+2:00",
            "2030-01-02T03:04:05.Z",
            "2001-12-14 21:59:43.10 -5",
            "2020-01-01x",
            "2020-001-01",
        ] {
            assert!(!is_timestamp(word), "{word}");
        }
    }
}
