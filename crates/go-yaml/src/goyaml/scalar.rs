//! How a text is written: plain, in quotes, or as a block.

use crate::yaml::resolve::{Resolved, resolve};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    /// `'…'`, where the syntax does not let it stand as it is.
    Single,
    /// `"…"`, where it would not be read as a text, or needs escapes.
    Double,
    /// `|`, over several lines.
    Literal,
}

/// What there is to know about a text before it is written (`yaml_emitter_analyze_scalar`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Analysis {
    /// It has line breaks: also U+2028 and U+2029, which YAML 1.1 takes for such.
    pub(super) multiline: bool,
    pub(super) ascii: bool,
    plain_allowed: bool,
    single_allowed: bool,
    block_allowed: bool,
}

pub(super) fn analyze(text: &str) -> Analysis {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return Analysis {
            multiline: false,
            ascii: true,
            plain_allowed: true,
            single_allowed: true,
            block_allowed: false,
        };
    };
    let (mut indicators, mut special, mut ascii) = (starts_like_syntax(bytes), false, true);
    let (mut multiline, mut space_break, mut break_space) = (false, false, false);
    let (mut after_space, mut after_break) = (false, false);
    let mut at = 0;
    while at < bytes.len() {
        let ordinary = bytes[at..]
            .iter()
            .take_while(|b| ORDINARY[usize::from(**b)])
            .count();
        if ordinary > 0 {
            (after_space, after_break) = (false, false);
            at += ordinary;
            continue;
        }
        let byte = bytes[at];
        let (width, is_break, is_special) = class(&bytes[at..]);
        special |= is_special;
        ascii &= byte < 0x80;
        multiline |= is_break;
        space_break |= is_break && after_space;
        break_space |= byte == b' ' && after_break;
        indicators |= at > 0
            && (byte == b':' && is_blank_or_end(bytes, at + 1)
                || byte == b'#' && is_blank_or_break_before(bytes, at));
        (after_space, after_break) = (byte == b' ', is_break);
        at += width;
    }
    let edges = *first == b' ' || is_break(bytes, 0) || *last == b' ' || after_break;
    let escapes = space_break || special;
    Analysis {
        multiline,
        ascii,
        plain_allowed: !(edges || break_space || escapes || multiline || indicators),
        single_allowed: !(break_space || escapes),
        block_allowed: !(*last == b' ' || escapes),
    }
}

/// The bytes that mean nothing inside a text, for speed: most are such.
const ORDINARY: [bool; 256] = {
    let mut ordinary = [false; 256];
    let mut byte = 0x21;
    while byte <= 0x7e {
        ordinary[byte] = byte != b':' as usize && byte != b'#' as usize;
        byte += 1;
    }
    ordinary
};

/// The width of the first character, whether it breaks lines, and whether it needs an escape.
fn class(bytes: &[u8]) -> (usize, bool, bool) {
    match bytes[0] {
        0x20..=0x7e => (1, false, false),
        b'\n' => (1, true, false),
        b'\r' => (1, true, true),
        0..=0x1f | 0x7f => (1, false, true),
        0x80.. => {
            let (width, kind) = beyond_ascii(bytes);
            (width, kind == Wide::Break, kind == Wide::Special)
        }
    }
}

/// Whether the first characters mean something to YAML.
fn starts_like_syntax(bytes: &[u8]) -> bool {
    if bytes.starts_with(b"---") || bytes.starts_with(b"...") {
        return true;
    }
    match bytes[0] {
        b'#' | b',' | b'[' | b']' | b'{' | b'}' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\''
        | b'"' | b'%' | b'@' | b'`' => true,
        b'?' | b':' | b'-' => is_blank_or_end(bytes, 1),
        _ => false,
    }
}

fn is_blank_or_end(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), None | Some(b' ' | b'\t'))
}

/// Whether a blank, a break or NUL stands before `at`.
fn is_blank_or_break_before(bytes: &[u8], at: usize) -> bool {
    matches!(bytes[at - 1], b' ' | b'\t' | b'\n' | b'\r' | 0)
        || at >= 3 && is_line_separator(&bytes[at - 3..])
}

/// What a character beyond ASCII is to the emitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wide {
    /// Written as it is.
    Printable,
    /// U+2028 or U+2029.
    Break,
    /// Written as an escape: beyond the basic plane, or a byte-order mark.
    Special,
}

/// The width in bytes of a character beyond ASCII, and what it is.
pub(super) fn beyond_ascii(bytes: &[u8]) -> (usize, Wide) {
    match bytes[0] {
        // U+0080 to U+009F never get here: they are rejected or folded.
        0..=0xdf => (2, Wide::Printable),
        0xe0..=0xef if is_line_separator(bytes) => (3, Wide::Break),
        0xe0..=0xef if bytes.starts_with("\u{feff}".as_bytes()) => (3, Wide::Special),
        0xe0..=0xef => (3, Wide::Printable),
        _ => (4, Wide::Special),
    }
}

/// Whether U+2028 or U+2029 stands first.
pub(super) fn is_line_separator(bytes: &[u8]) -> bool {
    matches!(bytes, [0xe2, 0x80, 0xa8 | 0xa9, ..])
}

/// Whether a line break of YAML 1.1 is at `at`.
pub(super) fn is_break(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at), Some(b'\n' | b'\r')) || bytes.get(at..).is_some_and(is_line_separator)
}

impl Analysis {
    /// The style for a text; `simple_key` says that it stands before a `:` on the same line.
    pub(super) fn style(&self, text: &str, simple_key: bool) -> Style {
        let has_lines = self.multiline && text.contains('\n');
        let wanted = if has_lines {
            Style::Literal
        } else if resolve(text) == Resolved::Str && !is_base_60(text) {
            Style::Plain
        } else {
            Style::Double
        };
        match wanted {
            Style::Literal if self.block_allowed && !simple_key => Style::Literal,
            Style::Plain if self.plain_allowed => Style::Plain,
            Style::Plain if self.single_allowed => Style::Single,
            _ => Style::Double,
        }
    }
}

/// Whether YAML 1.1 takes the text for a number of base 60:
/// `^[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?$`. Go does not, but quotes it.
fn is_base_60(text: &str) -> bool {
    if !text.starts_with(['-', '+', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
        || !text.contains(':')
    {
        return false;
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits_or_bars = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let (numbers, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let mut parts = numbers.split(':');
    let first = parts.next().unwrap_or_default();
    let sixtieth = |part: &str| match part.as_bytes() {
        [digit] => digit.is_ascii_digit(),
        [ten, digit] => matches!(ten, b'0'..=b'5') && digit.is_ascii_digit(),
        _ => false,
    };
    first.starts_with(|c: char| c.is_ascii_digit())
        && digits_or_bars(first)
        && digits_or_bars(fraction)
        && parts.all(sixtieth)
        && numbers.contains(':')
}
