//! Regular expressions: sprig's `regex.go`.

use super::super::MAX_VALUE;
use super::arguments::{Arguments, text, texts, truth};
use crate::functions::{CallFault, Called, rejected};
use crate::held::Held;
use windlass_go_text::regexp::{Fault, Pattern, Patterns};

/// The pattern of the first argument.
fn compiled(arguments: &Arguments<'_>) -> Called<Pattern> {
    let source = arguments.text(0);
    match Patterns::of(arguments.1).get(&source) {
        Ok(pattern) => Ok(pattern),
        Err(Fault::Exceeded(exceeded)) => Err(exceeded.into()),
        Err(Fault::Invalid(reason)) => {
            rejected(format!("error parsing regexp: {reason}: `{source}`"))
        }
    }
}

/// Each search for the next match may read the rest of the text, most of them little of it.
const READ_AGAIN: usize = 4;

/// Takes the steps of one search more that begins at a byte of a text.
fn charge_next(arguments: &Arguments<'_>, subject: &str, at: usize) -> Called<()> {
    Ok(arguments.1.charge((subject.len() - at) / READ_AGAIN)?)
}

pub(super) fn matches(arguments: &Arguments<'_>) -> Called<Held> {
    let (pattern, subject) = (compiled(arguments)?, arguments.text(1));
    pattern.charge(subject.len())?;
    truth(pattern.is_match(&subject))
}

pub(super) fn find(arguments: &Arguments<'_>) -> Called<Held> {
    let (pattern, subject) = (compiled(arguments)?, arguments.text(1));
    pattern.charge(subject.len())?;
    text(pattern.find(&subject).map_or("", |found| found.as_str()))
}

/// How many are wanted: all, if negative.
fn most(count: i64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

pub(super) fn find_all(arguments: &Arguments<'_>) -> Called<Held> {
    let (pattern, subject) = (compiled(arguments)?, arguments.text(1));
    pattern.charge(subject.len())?;
    let mut all = Vec::new();
    for found in pattern.find_iter(&subject).take(most(arguments.int(2))) {
        charge_next(arguments, &subject, found.end())?;
        all.push(found.as_str());
    }
    texts(all)
}

pub(super) fn replace_all(arguments: &Arguments<'_>) -> Called<Held> {
    let template = arguments.text(2);
    replaced(arguments, |found, out| expand(&template, found, out))
}

pub(super) fn replace_all_literally(arguments: &Arguments<'_>) -> Called<Held> {
    let replacement = arguments.text(2);
    replaced(arguments, |_, out| out.push_str(&replacement))
}

fn replaced(
    arguments: &Arguments<'_>,
    push: impl Fn(&regex::Captures<'_>, &mut String),
) -> Called<Held> {
    let subject = arguments.text(1);
    let (mut out, mut from) = (String::with_capacity(subject.len()), 0);
    let pattern = compiled(arguments)?;
    pattern.charge(subject.len())?;
    for found in pattern.captures_iter(&subject) {
        let whole = found.get_match();
        charge_next(arguments, &subject, whole.end())?;
        out.push_str(&subject[from..whole.start()]);
        push(&found, &mut out);
        from = whole.end();
        if out.len() > MAX_VALUE {
            return Err(CallFault::TooLarge);
        }
    }
    out.push_str(&subject[from..]);
    text(out)
}

/// `Regexp.Expand`: `$1`, `${name}`, `$$`; a `$` before anything else stays.
fn expand(template: &str, found: &regex::Captures<'_>, out: &mut String) {
    let mut rest = template;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('$') {
            out.push('$');
            rest = behind;
            continue;
        }
        let Some((name, behind)) = reference(rest) else {
            out.push('$');
            continue;
        };
        let group = if name.bytes().all(|byte| byte.is_ascii_digit()) {
            name.parse().ok().and_then(|at| found.get(at))
        } else {
            found.name(name)
        };
        out.push_str(group.map_or("", |group| group.as_str()));
        rest = behind;
    }
    out.push_str(rest);
}

/// The name behind a `$`, and what follows it.
fn reference(text: &str) -> Option<(&str, &str)> {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    match text.strip_prefix('{') {
        Some(inner) => {
            let (name, behind) = inner.split_once('}')?;
            (!name.is_empty() && name.chars().all(is_word)).then_some((name, behind))
        }
        None => {
            let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
            (end > 0).then(|| text.split_at(end))
        }
    }
}

/// `Regexp.Split`
pub(super) fn split(arguments: &Arguments<'_>) -> Called<Held> {
    let (pattern, subject, count) = (
        compiled(arguments)?,
        arguments.text(1),
        most(arguments.int(2)),
    );
    if count == 0 {
        return texts([""; 0]);
    }
    if subject.is_empty() && !arguments.bytes(0).is_empty() {
        return texts([""]);
    }
    pattern.charge(subject.len())?;
    let (mut parts, mut begin, mut end) = (Vec::new(), 0, 0);
    for found in pattern.find_iter(&subject) {
        if parts.len() + 1 == count {
            break;
        }
        charge_next(arguments, &subject, found.end())?;
        end = found.start();
        if found.end() != 0 {
            parts.push(&subject[begin..end]);
        }
        begin = found.end();
    }
    if end != subject.len() {
        parts.push(&subject[begin..]);
    }
    texts(parts)
}

/// `regexp.QuoteMeta`
pub(super) fn quote_meta(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for byte in bytes {
        if br"\.+*?()|[]{}^$".contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}
