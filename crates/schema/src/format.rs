//! The string formats that CRD schemas may demand, checked as the API server checks them.
//!
//! Source: `supportedVersionedFormats` of apiextensions-apiserver 0.36 and the registry of
//! kube-openapi. The checks are what that registry does, not what the RFCs say. A format that is
//! not listed is ignored by the API server, and so here.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use regex::Regex;

/// The check of a format, by its name in a schema; `None` for a format that the API server ignores.
pub(super) fn check_of(name: &str) -> Option<fn(&str) -> bool> {
    Some(match name.replace('-', "").as_str() {
        "bsonobjectid" => |text| text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
        "uri" => is_request_uri,
        "email" => is_email,
        "hostname" => is_hostname,
        "ipv4" => |text| text.contains('.') && is_ip(text),
        "ipv6" => |text| text.contains(':') && text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr,
        "mac" => is_mac,
        "uuid" => |text| UUID.is_match(text),
        "uuid3" => |text| UUID.is_match(text) && uuid_digit(text, 12) == Some('3'),
        "uuid4" => |text| {
            UUID.is_match(text)
                && uuid_digit(text, 12) == Some('4')
                && matches!(uuid_digit(text, 16), Some('8' | '9' | 'a' | 'b'))
        },
        "uuid5" => |text| {
            UUID.is_match(text)
                && uuid_digit(text, 12) == Some('5')
                && matches!(uuid_digit(text, 16), Some('8' | '9' | 'a' | 'b'))
        },
        "isbn" => |text| is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10,
        "isbn13" => is_isbn13,
        "creditcard" => is_credit_card,
        "ssn" => |text| text.len() == 11 && SSN.is_match(text),
        "hexcolor" => |text| HEX_COLOR.is_match(text),
        "rgbcolor" => |text| RGB_COLOR.is_match(text),
        "byte" => is_base64,
        "password" => |_| true,
        "date" => is_date,
        "duration" => is_duration,
        "datetime" => is_date_time,
        "k8sshortname" => |text| text.len() <= 63 && is_label(text),
        "k8slongname" => |text| text.len() <= 253 && text.split('.').all(is_label),
        _ => return None,
    })
}

/// Declares the expressions; they are compiled when first used.
macro_rules! expressions {
    ($($name:ident = $text:expr;)*) => {
        $(static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($text).expect("internal error: the expression of a format is valid"));)*
    };
}

expressions! {
    UUID = r"^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
    SSN = r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$";
    HEX_COLOR = r"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$";
    RGB_COLOR = r"^rgb\(\s*(BYTE)\s*,\s*(BYTE)\s*,\s*(BYTE)\s*\)$".replace("BYTE", "0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5]").as_str();
    HOSTNAME = r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$";
    TIME = r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";
    GO_DURATION = r"^[-+]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$";
    LOOSE_DURATION = r"([0-9]+)[\t\n\f\r ]*([A-Za-zµ]+)";
    CARD = r"^(4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9]{2})[0-9]{12}|3[47][0-9]{13}|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11})$";
}

/// The hexadecimal digit number `index` of a UUID, dashes not counted, in lower case.
fn uuid_digit(text: &str, index: usize) -> Option<char> {
    text.chars()
        .filter(|c| *c != '-')
        .nth(index)
        .map(|c| c.to_ascii_lowercase())
}

fn is_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_hostname(text: &str) -> bool {
    text.len() <= 255 && text.split('.').all(|part| part.len() <= 63) && HOSTNAME.is_match(text)
}

/// An address as Go read it before 1.17: IPv4 octets may have leading zeros.
fn is_ip(text: &str) -> bool {
    let octet = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.trim_start_matches('0').len() <= 3
    };
    let sloppy: Vec<_> = text.split('.').collect();
    let v4 = sloppy.len() == 4
        && sloppy
            .iter()
            .all(|part| octet(part) && part.parse::<u32>().is_ok_and(|n| n <= 255));
    v4 || text.parse::<Ipv4Addr>().is_ok() || text.parse::<Ipv6Addr>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else {
        return false;
    };
    let digits = !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit());
    let limit = if address.contains(':') { 128 } else { 32 };
    digits && is_ip(address) && length.parse::<u32>().is_ok_and(|n| n <= limit)
}

fn is_mac(text: &str) -> bool {
    let groups = |separator: char, width: usize, counts: [usize; 3]| {
        let parts: Vec<_> = text.split(separator).collect();
        counts.contains(&parts.len())
            && parts
                .iter()
                .all(|part| part.len() == width && part.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    groups(':', 2, [6, 8, 20]) || groups('-', 2, [6, 8, 20]) || groups('.', 4, [3, 4, 10])
}

/// Standard base64 with padding, as the expression of govalidator has it: unlike `encoding/base64`
/// it takes no line breaks and no empty text, and like it ignores spare bits.
fn is_base64(text: &str) -> bool {
    let body = text
        .strip_suffix("==")
        .or_else(|| text.strip_suffix('='))
        .unwrap_or(text);
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && body
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}

/// `2006-01-02`.
fn is_date(text: &str) -> bool {
    let number = |range: std::ops::Range<usize>| -> Option<u32> {
        let part = text.get(range)?;
        part.bytes()
            .all(|b| b.is_ascii_digit())
            .then(|| part.parse().ok())
            .flatten()
    };
    let dashes = text.len() == 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-';
    let (Some(year), Some(month), Some(day), true) =
        (number(0..4), number(5..7), number(8..10), dashes)
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(&day)
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    let Some(found) = TIME.captures(time) else {
        return false;
    };
    is_date(date) && &found[1] <= "23" && &found[2] <= "59" && &found[3] <= "59"
}

/// A duration of Go, or anything in which a number is followed by the name of a unit of time.
fn is_duration(text: &str) -> bool {
    if GO_DURATION.is_match(text) && !overflows(text) {
        return true;
    }
    let mut found = false;
    for part in LOOSE_DURATION.captures_iter(text) {
        if part[1].parse::<i64>().is_err() {
            return false;
        }
        found |= is_time_unit(&part[2].to_lowercase());
    }
    found
}

/// Whether a duration of Go is longer than an int64 of nanoseconds. Only digits that alone are too
/// many count.
fn overflows(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit())
        .any(|digits| digits.trim_start_matches('0').len() > 19)
}

fn is_time_unit(unit: &str) -> bool {
    const EXACT: [&str; 14] = [
        "ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk", "nano", "micro", "milli",
    ];
    const PREFIX: [&str; 8] = [
        "nano", "micro", "milli", "sec", "min", "hour", "day", "week",
    ];
    EXACT.contains(&unit) || PREFIX.iter().any(|prefix| unit.starts_with(prefix))
}

/// What `net/url.ParseRequestURI` accepts: a scheme and something, or an absolute path.
fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|b| b < b' ' || b == 0x7f) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let scheme_end =
        text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
    let scheme = scheme_end.filter(|end| text.as_bytes()[*end] == b':');
    let rest = match scheme {
        Some(0) => return false,
        Some(end) if !text.starts_with(|c: char| c.is_ascii_alphabetic()) && end > 0 => text,
        Some(end) => &text[end + 1..],
        None => text,
    };
    if !rest.starts_with('/') {
        // `mailto:x`: opaque, but only behind a scheme.
        return scheme.is_some() && rest.len() < text.len();
    }
    let path = rest.split('?').next().unwrap_or_default();
    match path.strip_prefix("//").filter(|_| rest.len() < text.len()) {
        Some(hierarchy) => {
            let (authority, path) =
                hierarchy.split_at(hierarchy.find('/').unwrap_or(hierarchy.len()));
            is_authority(authority) && escapes_are_valid(path)
        }
        None => escapes_are_valid(path),
    }
}

fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
    let user_is_valid = user
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&b));
    let port = if host.starts_with('[') {
        host.split_once(']')
            .map_or(Some("x"), |(_, port)| (!port.is_empty()).then_some(port))
    } else {
        host.rfind(':').map(|at| &host[at..])
    };
    let port_is_valid = port.is_none_or(|port| {
        port.strip_prefix(':')
            .is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
    });
    let host_is_valid = !host
        .chars()
        .any(|c| matches!(c, ' ' | '\\' | '^' | '`' | '{' | '|' | '}' | '#'));
    user_is_valid && escapes_are_valid(user) && port_is_valid && host_is_valid
}

fn escapes_are_valid(text: &str) -> bool {
    text.split('%')
        .skip(1)
        .all(|part| part.len() >= 2 && part.bytes().take(2).all(|b| b.is_ascii_hexdigit()))
}

/// An address of RFC 5322 as far as people write it: `a@b`, `Name <a@b>`.
fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match text.strip_suffix('>') {
        Some(open) => match open.rsplit_once('<') {
            Some((_, address)) => address,
            None => return false,
        },
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else {
        return false;
    };
    let atoms = |text: &str| {
        text.split('.')
            .all(|atom| !atom.is_empty() && atom.chars().all(is_atom_char))
    };
    let quoted = local.len() >= 2 && local.starts_with('"') && local.ends_with('"');
    let literal = domain
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
        .is_some_and(is_ip);
    (quoted || atoms(local)) && (literal || atoms(domain))
}

fn is_atom_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() || "!#$%&'*+-/=?^_`{|}~".contains(c)
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let luhn =
        digits
            .bytes()
            .rev()
            .enumerate()
            .map(|(i, b)| match u32::from(b - b'0') << (i % 2) {
                doubled @ 10.. => doubled - 9,
                plain => plain,
            });
    CARD.is_match(&digits) && luhn.sum::<u32>().is_multiple_of(10)
}

/// The digits of a book number, without blanks and dashes.
fn book_digits(text: &str) -> String {
    text.chars()
        .filter(|c| !matches!(c, '-' | ' ' | '\t' | '\n' | '\u{c}' | '\r'))
        .collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = book_digits(text);
    let last_is_x = digits.ends_with('X');
    let plain = digits.strip_suffix('X').unwrap_or(&digits);
    if digits.len() != 10 || !plain.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let sum: u32 = plain
        .bytes()
        .zip(1..)
        .map(|(b, weight)| u32::from(b - b'0') * weight)
        .sum();
    (sum + if last_is_x { 100 } else { 0 }).is_multiple_of(11)
}

fn is_isbn13(text: &str) -> bool {
    let digits = book_digits(text);
    if digits.len() != 13 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return false;
    }
    let sum: u32 = digits
        .bytes()
        .zip([1, 3].into_iter().cycle())
        .map(|(b, weight)| u32::from(b - b'0') * weight)
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_checked_as_the_registry_does() {
        let check = |format: &str, good: &[&str], bad: &[&str]| {
            let is = check_of(format).unwrap_or_else(|| panic!("{format} is known"));
            for text in good {
                assert!(is(text), "{text:?} is a {format}");
            }
            for text in bad {
                assert!(!is(text), "{text:?} is no {format}");
            }
        };
        check(
            "date-time",
            &["2024-02-29T12:00:00Z", "2024-01-01t00:00:00.5+01:00"],
            &[
                "tomorrow",
                "2023-02-29T12:00:00Z",
                "2024-01-01T24:00:00Z",
                "2024-01-01T00:00:00",
            ],
        );
        check("date", &["2024-12-31"], &["2024-13-01", "2024-1-1", ""]);
        check("byte", &["aGk=", "aGVsbG8="], &["", "aGk", "a-k="]);
        check(
            "duration",
            &["1h30m", "22 ns", "3 weeks", "-1.5h", "0"],
            &["", "1", "h"],
        );
        check(
            "ipv4",
            &["10.0.0.1", "010.0.0.1", "::ffff:1.2.3.4"],
            &["10.0.0", "256.1.1.1", "::1"],
        );
        check(
            "ipv6",
            &["::1", "fd00::1"],
            &["10.0.0.1", "::g", "fe80::1%eth0"],
        );
        check(
            "cidr",
            &["10.0.0.0/8", "fd00::/48"],
            &["10.0.0.0", "10.0.0.0/33", "10.0.0.0/+8"],
        );
        check(
            "mac",
            &["01:23:45:67:89:ab", "0123.4567.89ab"],
            &["01:23:45:67:89", "01-23-45-67-89:ab"],
        );
        check(
            "uuid4",
            &["F47AC10B-58CC-4372-A567-0E02B2C3D479"],
            &["f47ac10b-58cc-3372-a567-0e02b2c3d479", "x"],
        );
        check(
            "uri",
            &["http://a.b:80/x?y", "/abs", "mailto:a@b", "http://a.b/#x"],
            &["a.b", "", "./x", "http://a b/", "http://a:x/", "/%zz"],
        );
        check("email", &["a@b", "Me <a.b@c.d>"], &["a", "a@", "a..b@c"]);
        check(
            "hostname",
            &["a", "a.example.com", "xn--a.de"],
            &["", "-a", "a_b", "a.b-"],
        );
        check("isbn", &["0321751043", "978-0321751041"], &["0321751044"]);
        check(
            "creditcard",
            &["4220 8554 2622 2389"],
            &["4220855426213389", ""],
        );
        check("rgbcolor", &["rgb(0,  31, 255)"], &["rgb(01,31,255)"]);
        check("k8s-short-name", &["a-1"], &["A", "a-", "a.b"]);
        check("k8s-long-name", &["a.b-1"], &["a..b"]);
    }

    #[test]
    fn unknown_formats_are_ignored() {
        assert!(check_of("ip").is_none());
        assert!(check_of("int32").is_none());
    }
}
