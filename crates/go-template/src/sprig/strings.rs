//! Texts: sprig's `strings.go` and what it takes from `goutils`.

use super::super::MAX_VALUE;
use super::arguments::{Arguments, text, texts, truth};
use super::values::{shown, texts as texts_of};
use crate::functions::{CallFault, Called, rejected};
use crate::held::Held;
use windlass_go_text::quote::quote_bytes;
use windlass_go_text::value::Value;

/// `unicode.IsSpace`
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() && !('\x1c'..='\x1f').contains(&c)
}

/// `strings.TrimSpace`
pub(super) fn trim_space(text: &str) -> &str {
    text.trim_matches(is_space)
}

fn size(int: i64) -> usize {
    usize::try_from(int).unwrap_or_default()
}

/// What Go says of an index of a string that is too large.
fn out_of_range(what: &str, at: i64, length: usize) -> Called<Held> {
    rejected(format!(
        "runtime error: slice bounds out of range [{}]",
        what.replace("%d", &at.to_string())
            .replace("%n", &length.to_string())
    ))
}

pub(super) fn abbrev(arguments: &Arguments<'_>) -> Called<Held> {
    let (width, bytes) = (arguments.int(0), arguments.bytes(1));
    text(if width < 4 {
        bytes.to_vec()
    } else {
        abbreviated(bytes, 0, size(width))
    })
}

pub(super) fn abbrev_both(arguments: &Arguments<'_>) -> Called<Held> {
    let (left, right, bytes) = (arguments.int(0), arguments.int(1), arguments.bytes(2));
    text(if right < 4 || left > 0 && right < 7 {
        bytes.to_vec()
    } else {
        abbreviated(bytes, left, size(right))
    })
}

/// `goutils.AbbreviateFull`
fn abbreviated(text: &[u8], offset: i64, width: usize) -> Vec<u8> {
    let length = text.len();
    if length <= width {
        return text.to_vec();
    }
    let mut offset = if offset > i64::try_from(length).unwrap_or(i64::MAX) {
        length
    } else {
        size(offset)
    };
    if length - offset < width - 3 {
        offset = length - (width - 3);
    }
    if offset <= 4 {
        return [&text[..width - 3], b"..."].concat();
    }
    if width < 7 {
        return Vec::new();
    }
    let rest = if offset + width - 3 < length {
        abbreviated(&text[offset..], 0, width - 3)
    } else {
        text[length - (width - 3)..].to_vec()
    };
    [b"...", &rest[..]].concat()
}

pub(super) fn trunc(arguments: &Arguments<'_>) -> Called<Held> {
    let (count, bytes) = (arguments.int(0), arguments.bytes(1));
    let length = size(count.saturating_abs());
    text(match count {
        ..0 if length < bytes.len() => &bytes[bytes.len() - length..],
        0.. if length < bytes.len() => &bytes[..length],
        _ => bytes,
    })
}

pub(super) fn substr(arguments: &Arguments<'_>) -> Called<Held> {
    let (start, end, bytes) = (arguments.int(0), arguments.int(1), arguments.bytes(2));
    let length = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
    match (start, end) {
        (..0, ..0) => out_of_range(":%d", end, bytes.len()),
        (..0, _) if end > length => out_of_range(":%d] with length %n", end, bytes.len()),
        (..0, _) => text(&bytes[..size(end)]),
        _ if (end < 0 || end > length) && start > length => {
            out_of_range("%d:%n", start, bytes.len())
        }
        _ if end < 0 || end > length => text(&bytes[size(start)..]),
        _ if start > end => out_of_range("%d:%n", start, size(end)),
        _ => text(&bytes[size(start)..size(end)]),
    }
}

pub(super) fn repeat(arguments: &Arguments<'_>) -> Called<Held> {
    let (count, bytes) = (arguments.int(0), arguments.bytes(1));
    if count < 0 {
        return rejected("strings: negative Repeat count");
    }
    if bytes.len().saturating_mul(size(count)) > MAX_VALUE {
        return Err(CallFault::TooLarge);
    }
    text(if bytes.is_empty() {
        Vec::new()
    } else {
        bytes.repeat(size(count))
    })
}

pub(super) fn trim_all(arguments: &Arguments<'_>) -> Called<Held> {
    let (cut, all) = (arguments.text(0), arguments.text(1));
    let cut: std::collections::BTreeSet<char> = cut.chars().collect();
    text(all.trim_matches(|c| cut.contains(&c)))
}

/// `goutils.Initials`
pub(super) fn initials(text: &str) -> String {
    text.split(is_space)
        .filter_map(|word| word.chars().next())
        .collect()
}

/// `goutils.Wrap` and `WrapCustom`
pub(super) fn wrap(bytes: &[u8], width: i64, newline: &[u8], breaks_words: bool) -> Called<Held> {
    let newline = if newline.is_empty() { b"\n" } else { newline };
    let width = size(width.max(1));
    let (mut out, mut offset) = (Vec::with_capacity(bytes.len()), 0);
    while bytes.len() - offset > width {
        if bytes[offset] == b' ' {
            offset += 1;
            continue;
        }
        let end = offset + width;
        let (until, next) = match bytes[offset..=end].iter().rposition(|byte| *byte == b' ') {
            Some(at) => (offset + at, offset + at + 1),
            None if breaks_words => (end, end),
            None => match bytes[end..].iter().position(|byte| *byte == b' ') {
                Some(at) => (end + at, end + at + 1),
                None => break,
            },
        };
        out.extend_from_slice(&bytes[offset..until]);
        out.extend_from_slice(newline);
        if out.len() > MAX_VALUE {
            return Err(CallFault::TooLarge);
        }
        offset = next;
    }
    out.extend_from_slice(&bytes[offset..]);
    text(out)
}

pub(super) fn position(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}

pub(super) fn contains(arguments: &Arguments<'_>) -> Called<Held> {
    truth(position(arguments.bytes(1), arguments.bytes(0)).is_some())
}

pub(super) fn quoted(arguments: &Arguments<'_>) -> Called<Held> {
    let given = arguments.values().filter(|value| **value != Value::Nil);
    let quoted: Vec<String> = given
        .map(|value| Ok(quote_bytes(&shown(value)?, false)))
        .collect::<Called<_>>()?;
    text(quoted.join(" "))
}

pub(super) fn single_quoted(arguments: &Arguments<'_>) -> Called<Held> {
    let given = arguments.values().filter(|value| **value != Value::Nil);
    let quoted: Vec<Vec<u8>> = given
        .map(|value| Ok([b"'", &shown(value)?[..], b"'"].concat()))
        .collect::<Called<_>>()?;
    text(quoted.join(&b' '))
}

pub(super) fn cat(arguments: &Arguments<'_>) -> Called<Held> {
    let given = arguments.values().filter(|value| **value != Value::Nil);
    let parts: Vec<Vec<u8>> = given.map(shown).collect::<Called<_>>()?;
    text(parts.join(&b' '))
}

pub(super) fn indent(arguments: &Arguments<'_>, before: &str) -> Called<Held> {
    let (spaces, bytes) = (arguments.int(0), arguments.bytes(1));
    if spaces < 0 {
        return rejected("strings: negative Repeat count");
    }
    let lines = memchr::memchr_iter(b'\n', bytes).count() + 1;
    if size(spaces)
        .saturating_mul(lines)
        .saturating_add(bytes.len())
        > MAX_VALUE
    {
        return Err(CallFault::TooLarge);
    }
    let pad = b" ".repeat(size(spaces));
    let mut out = before.as_bytes().to_vec();
    for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        out.extend_from_slice(if at > 0 { b"\n" } else { b"" });
        out.extend_from_slice(&pad);
        out.extend_from_slice(line);
    }
    text(out)
}

pub(super) fn replace(arguments: &Arguments<'_>) -> Called<Held> {
    let (old, new, all) = (arguments.bytes(0), arguments.bytes(1), arguments.bytes(2));
    if old.is_empty() {
        let all = String::from_utf8_lossy(all);
        let new = String::from_utf8_lossy(new);
        return if new.len().saturating_mul(all.len() + 1) > MAX_VALUE {
            Err(CallFault::TooLarge)
        } else {
            text(all.replace("", &new))
        };
    }
    let (mut out, mut from) = (Vec::with_capacity(all.len()), 0);
    for at in memchr::memmem::find_iter(all, old) {
        out.extend_from_slice(&all[from..at]);
        out.extend_from_slice(new);
        from = at + old.len();
        if out.len() > MAX_VALUE {
            return Err(CallFault::TooLarge);
        }
    }
    out.extend_from_slice(&all[from..]);
    text(out)
}

/// `strings.SplitN`; a negative number stands for all.
pub(super) fn split<'t>(text: &'t [u8], separator: &[u8], most: i64) -> Vec<&'t [u8]> {
    let most = if most < 0 { usize::MAX } else { size(most) };
    if most == 0 {
        return Vec::new();
    }
    if separator.is_empty() {
        let mut parts: Vec<&[u8]> = Vec::new();
        let mut rest = text;
        while !rest.is_empty() && parts.len() + 1 < most {
            let (_, width) = windlass_go_text::rune::decode(rest);
            parts.push(&rest[..width.max(1)]);
            rest = &rest[width.max(1)..];
        }
        parts.extend((!rest.is_empty()).then_some(rest));
        return parts;
    }
    let (mut parts, mut from) = (Vec::new(), 0);
    for at in memchr::memmem::find_iter(text, separator).take(most - 1) {
        parts.push(&text[from..at]);
        from = at + separator.len();
    }
    parts.push(&text[from..]);
    parts
}

/// `map[string]string{"_0": …}`
pub(super) fn split_map(text: &[u8], separator: &[u8], most: i64) -> Called<Held> {
    let parts = split(text, separator, most).into_iter().enumerate();
    Ok(Held::named(
        Value::map(parts.map(|(at, part)| (format!("_{at}"), Value::text(part)))),
        "map[string]string",
    ))
}

pub(super) fn join(arguments: &Arguments<'_>) -> Called<Held> {
    let (separator, parts) = (arguments.bytes(0), texts_of(arguments.value(1))?);
    if parts.iter().map(Vec::len).sum::<usize>() + separator.len().saturating_mul(parts.len())
        > MAX_VALUE
    {
        return Err(CallFault::TooLarge);
    }
    text(parts.join(separator))
}

pub(super) fn sort_alpha(arguments: &Arguments<'_>) -> Called<Held> {
    let value = arguments.value(0);
    let mut parts = if matches!(value, Value::List(_)) {
        texts_of(value)?
    } else {
        vec![shown(value)?]
    };
    parts.sort();
    texts(parts)
}
