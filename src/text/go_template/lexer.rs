//! Pieces of a template, and words of an action.

use std::ops::Range;

use super::Fault;

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text, as a range of the template.
    Text(Range<usize>),
    /// What is between `{{` and `}}`, without trim markers.
    Action(Range<usize>),
}

/// The line of an offset, from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

pub(super) fn syntax<T>(text: &str, at: usize, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Syntax { line: line(text, at), message: message.into() })
}

const SPACES: [char; 4] = [' ', '\t', '\r', '\n'];

/// The pieces of a template; comments are gone, and text is trimmed where actions ask for it.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece>, Fault> {
    let mut pieces = Vec::new();
    let (mut at, mut trim_next) = (0, false);
    loop {
        let Some(open) = text[at..].find("{{").map(|found| at + found) else {
            pieces.push(Piece::Text(trimmed(text, at..text.len(), trim_next, false)));
            return Ok(pieces);
        };
        let mut inner = open + 2;
        let trims_before = text[inner..].starts_with('-') && text[inner + 1..].starts_with(SPACES);
        pieces.push(Piece::Text(trimmed(text, at..open, trim_next, trims_before)));
        inner += usize::from(trims_before);
        let rest = text[inner..].trim_start_matches(SPACES);
        let start = text.len() - rest.len();
        if rest.starts_with("/*") {
            let Some(end) = rest.find("*/") else { return syntax(text, open, "unclosed comment") };
            let after = rest[end + 2..].trim_start_matches(SPACES);
            let (after, trims) = after.strip_prefix('-').map_or((after, false), |after| (after, true));
            let Some(after) = after.strip_prefix("}}") else { return syntax(text, open, "comment ends before closing delimiter") };
            (at, trim_next) = (text.len() - after.len(), trims);
            continue;
        }
        let Some(close) = end_of_action(text, start) else { return syntax(text, open, "unclosed action") };
        let inside = &text[start..close];
        let trims_after = inside.ends_with('-') && inside[..inside.len() - 1].ends_with(SPACES);
        let end = if trims_after { close - 1 } else { close };
        pieces.push(Piece::Action(start..end));
        (at, trim_next) = (close + 2, trims_after);
    }
}

fn trimmed(text: &str, range: Range<usize>, start: bool, end: bool) -> Range<usize> {
    let mut range = range;
    if start {
        range.start = range.end - text[range.clone()].trim_start_matches(SPACES).len();
    }
    if end {
        range.end = range.start + text[range.clone()].trim_end_matches(SPACES).len();
    }
    range
}

/// Where the `}}` is that closes an action; strings are skipped.
fn end_of_action(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = start;
    while at < bytes.len() {
        match bytes[at] {
            b'}' if bytes.get(at + 1) == Some(&b'}') => return Some(at),
            quote @ (b'"' | b'`' | b'\'') => at = end_of_string(bytes, at, quote)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the closing quote of a string is.
fn end_of_string(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote != b'`' => at += 1,
            b'\n' if quote != b'`' => return None,
            byte if byte == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The words of an action: strings, names, numbers, fields, single marks.
pub(super) fn words(text: &str, action: Range<usize>) -> Result<Vec<Range<usize>>, Fault> {
    let bytes = text.as_bytes();
    let mut words = Vec::new();
    let mut at = action.start;
    while at < action.end {
        let start = at;
        match bytes[at] {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            quote @ (b'"' | b'`' | b'\'') => match end_of_string(bytes, at, quote) {
                Some(end) if end < action.end => at = end + 1,
                _ => return syntax(text, start, "unterminated quoted string"),
            },
            b'|' | b'(' | b')' | b',' => at += 1,
            b':' if bytes.get(at + 1) == Some(&b'=') => at += 2,
            b'=' => at += 1,
            _ => {
                let ends = |byte: &u8| {
                    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'|' | b'(' | b')' | b',' | b'=' | b'"' | b'`' | b'\'' | b':')
                };
                at += bytes[at..action.end].iter().position(ends).unwrap_or(action.end - at).max(1);
            }
        }
        words.push(start..at);
    }
    Ok(words)
}
