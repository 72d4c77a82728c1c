//! YAML as go-yaml v3 reads it into a mapping: `yes` is a text, `0755` is 493, a date is a time, and a key must not stand twice.

use k8s_openapi::jiff;

use super::formats::plain_float;
use super::setting::Setting;
use crate::diag::Severity;
use crate::text::source::Source;
use crate::text::yaml::{self, Limits, Node, Value};

/// The rule of the reader's warning for a key that stands twice.
const KEY_DUPLICATED: &str = "yaml-key-duplicated";

/// The rule of the error for `.inf` and `.nan`, which only JSON cannot hold.
const NUMBER_INFINITE: &str = "yaml-number-infinite";

/// # Errors
/// In go-yaml's words where they are known, else in our reader's.
pub(super) fn parse(name: &str, text: &str) -> Result<Setting, String> {
    let source = Source::new(name, text);
    let parsed = yaml::parse(&source, &Limits::default());
    let is_fault = |finding: &&crate::diag::Diagnostic| finding.severity == Severity::Error && finding.rule.id != NUMBER_INFINITE;
    if let Some(finding) = parsed.report.findings().iter().find(is_fault) {
        let line = finding.place.span.map_or(1, |span| span.start.line);
        return Err(format!("yaml: line {line}: {}", finding.message));
    }
    if let Some(finding) = parsed.report.findings().iter().find(|finding| finding.rule.id == KEY_DUPLICATED) {
        return Err(duplicate(&source, finding));
    }
    let Some(document) = parsed.documents.into_iter().next() else { return Ok(Setting::from_iter([])) };
    let tag = match &document.root.value {
        Value::Null => return Ok(Setting::from_iter([])),
        Value::Mapping(_) => return Ok(setting(&source, document.root)),
        Value::Sequence(_) => "!!seq".to_owned(),
        Value::Bool(bool) => format!("!!bool `{bool}`"),
        Value::Number(number) => format!("!!int `{number}`"),
        Value::String(text) => format!("!!str `{text}`"),
    };
    let line = source.position(document.root.span.start()).line;
    Err(format!("yaml: unmarshal errors:\n  line {line}: cannot unmarshal {tag} into map[string]interface {{}}"))
}

/// go-yaml names the second of two equal keys, and the line of the first.
fn duplicate(source: &Source, finding: &crate::diag::Diagnostic) -> String {
    let spans = finding.related.iter().filter_map(|related| related.place.span).chain(finding.place.span);
    let mut spans: Vec<_> = spans.collect();
    spans.sort_by_key(|span| span.start.offset);
    let key = spans.last().map_or("", |span| &source.text()[span.start.offset..span.end.offset]);
    let lines: Vec<u32> = spans.iter().map(|span| span.start.line).collect();
    let (first, last) = (lines.first().copied().unwrap_or(1), lines.last().copied().unwrap_or(1));
    format!("yaml: unmarshal errors:\n  line {last}: mapping key \"{key}\" already defined at line {first}")
}

fn setting(source: &Source, node: Node) -> Setting {
    let raw = source.slice(node.span);
    match node.value {
        Value::Mapping(mapping) => mapping.into_entries().into_iter().map(|entry| (entry.key, setting(source, entry.value))).collect(),
        Value::Sequence(items) => Setting::List(items.into_iter().map(|item| setting(source, item)).collect()),
        Value::String(text) if !is_plain(raw) => Setting::Text(text),
        Value::String(text) => scalar(&text),
        // The place of an alias is the alias: only the value is known.
        Value::Bool(bool) if raw.starts_with('*') => Setting::Bool(bool),
        Value::Number(number) if raw.starts_with('*') => Setting::Integer(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) => scalar(untagged(raw).trim()),
    }
}

fn is_plain(raw: &str) -> bool {
    !untagged(raw).starts_with(['"', '\'', '|', '>', '*']) && !raw.starts_with("!!str")
}

/// The text behind a tag and an anchor.
fn untagged(raw: &str) -> &str {
    let mut rest = raw;
    while rest.starts_with(['!', '&']) {
        rest = rest.split_once(char::is_whitespace).map_or("", |(_, rest)| rest.trim_start());
    }
    rest
}

/// What an unquoted word means.
fn scalar(word: &str) -> Setting {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => return Setting::Null,
        "true" | "True" | "TRUE" => return Setting::Bool(true),
        "false" | "False" | "FALSE" => return Setting::Bool(false),
        ".nan" | ".NaN" | ".NAN" => return Setting::Scalar("NaN".to_owned()),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Setting::Scalar("+Inf".to_owned()),
        "-.inf" | "-.Inf" | "-.INF" => return Setting::Scalar("-Inf".to_owned()),
        _ => {}
    }
    if !word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return Setting::Text(word.to_owned());
    }
    if let Some(time) = timestamp(word) {
        return Setting::Scalar(time);
    }
    let digits = word.replace('_', "");
    integer(&digits).map(Setting::Integer).or_else(|| float(&digits)).unwrap_or_else(|| Setting::Text(word.to_owned()))
}

/// Whole numbers up to 64 bits: decimal, `0x`, `0o`, `0b`, and octal with a leading zero.
fn integer(text: &str) -> Option<String> {
    let (sign, magnitude) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (if text.starts_with('-') { "-" } else { "" }, rest),
        None => ("", text),
    };
    let lower = magnitude.to_ascii_lowercase();
    let (radix, digits) = match lower.get(..2) {
        Some("0x") => (16, &lower[2..]),
        Some("0b") => (2, &lower[2..]),
        Some("0o") => (8, &lower[2..]),
        _ if lower.len() > 1 && lower.starts_with('0') => (8, &lower[1..]),
        _ => (10, lower.as_str()),
    };
    if digits.is_empty() || digits.starts_with(['+', '-']) {
        return None;
    }
    let value = u64::from_str_radix(digits, radix).ok()?;
    let fits = sign.is_empty() || value <= 1 << 63;
    fits.then(|| if value == 0 { "0".to_owned() } else { format!("{sign}{value}") })
}

fn float(text: &str) -> Option<Setting> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let are_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let has_digits = !whole.is_empty() || fraction.is_some_and(|f| !f.is_empty());
    let exponent_fits = exponent.is_none_or(|e| {
        let digits = e.strip_prefix(['+', '-']).unwrap_or(e);
        !digits.is_empty() && are_digits(digits)
    });
    if !(has_digits && are_digits(whole) && fraction.is_none_or(are_digits) && exponent_fits) {
        return None;
    }
    text.parse().ok().map(|float| Setting::Scalar(plain_float(float)))
}

/// A date or a time, as Go prints it.
fn timestamp(word: &str) -> Option<String> {
    let (date, time) = match word.find(['T', 't', ' ']) {
        Some(at) => (&word[..at], Some(word[at + 1..].trim_start())),
        None => (word, None),
    };
    let mut parts = date.split('-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let numeric = |text: &str, longest: usize| (1..=longest).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if parts.next().is_some() || year.len() != 4 || !numeric(year, 4) || !numeric(month, 2) || !numeric(day, 2) {
        return None;
    }
    let date = jiff::civil::Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()?;
    let Some(time) = time else { return Some(format!("{date} 00:00:00 +0000 UTC")) };
    let is_t = word.contains(['T', 't']);
    let zone_at = time.find(['Z', '+', '-']);
    let (clock, zone) = time.split_at(zone_at.unwrap_or(time.len()));
    let zone = match (zone, is_t) {
        ("Z", true) | ("", false) => "+0000 UTC".to_owned(),
        (offset, true) if offset.len() == 6 && offset.as_bytes()[3] == b':' => {
            let offset = offset.replace(':', "");
            if offset == "+0000" { "+0000 UTC".to_owned() } else { format!("{offset} {offset}") }
        }
        _ => return None,
    };
    let (clock, fraction) = clock.trim_end().split_once('.').map_or((clock.trim_end(), ""), |(clock, fraction)| (clock, fraction));
    let units: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = units.as_slice() else { return None };
    if ![hour, minute, second].iter().all(|unit| numeric(unit, 2)) || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let time = jiff::civil::Time::new(hour.parse().ok()?, minute.parse().ok()?, second.parse().ok()?, 0).ok()?;
    let fraction = fraction.trim_end_matches('0');
    let fraction = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
    Some(format!("{date} {time}{fraction} {zone}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Observed of clusterctl: the value in the file, and what `${VAR}` gives.
    #[test]
    fn variables_are_printed_as_viper_prints_them() {
        for (value, expected) in [
            ("3", Some("3")),
            ("true", Some("true")),
            ("1.50", Some("1.5")),
            ("1.10", Some("1.1")),
            ("1e3", Some("1000")),
            ("0755", Some("493")),
            ("0o755", Some("493")),
            ("0x1f", Some("31")),
            ("yes", Some("yes")),
            ("on", Some("on")),
            ("2024-01-02", Some("2024-01-02 00:00:00 +0000 UTC")),
            ("2024-01-02T03:04:05Z", Some("2024-01-02 03:04:05 +0000 UTC")),
            ("2024-01-02 03:04:05.50", Some("2024-01-02 03:04:05.5 +0000 UTC")),
            ("2024-01-02T03:04:05+02:00", Some("2024-01-02 03:04:05 +0200 +0200")),
            ("12345678901234567890", Some("12345678901234567890")),
            ("[a]", Some("")),
            ("{a: b}", Some("")),
            (".inf", Some("+Inf")),
            (".nan", Some("NaN")),
            ("1_000", Some("1000")),
            ("0b101", Some("5")),
            ("+5", Some("5")),
            ("1e-7", Some("0.0000001")),
            ("Yes", Some("Yes")),
            ("off", Some("off")),
            ("1:30", Some("1:30")),
            ("null", None),
            ("", None),
            ("\"\"", Some("")),
            ("'3'", Some("3")),
            ("!!str 3", Some("3")),
            ("\"0x1f\"", Some("0x1f")),
            ("1.2.3", Some("1.2.3")),
            ("a b", Some("a b")),
        ] {
            let found = parse("c.yaml", &format!("VAR: {value}\n")).unwrap();
            assert_eq!(found.get("var").and_then(Setting::to_variable).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn faults_are_in_go_yamls_words() {
        assert_eq!(
            parse("c.yaml", "A: 1\nA: 2\n"),
            Err("yaml: unmarshal errors:\n  line 2: mapping key \"A\" already defined at line 1".to_owned())
        );
        assert_eq!(
            parse("c.yaml", "- a\n"),
            Err("yaml: unmarshal errors:\n  line 1: cannot unmarshal !!seq into map[string]interface {}".to_owned())
        );
        assert!(parse("c.yaml", "a: [\n").is_err_and(|message| message.starts_with("yaml: line ")));
    }
}
