//! Characters that Go's reader rejects or takes for line breaks, wherever they stand, comments
//! included.

use super::syntax;
use windlass_source::Source;
use windlass_source::diag::Report;

/// Finds the first character that Go's reader rejects, the first that it takes for a line break
/// while other readers do not, and the first byte order mark within the text.
pub(super) fn judge(source: &Source, report: &mut Report) {
    let Found {
        rejected,
        unusual_break,
        byte_order_mark,
    } = find(source.text());
    let at = |offset: usize| source.text()[offset..].chars().next().map(|c| (offset, c));
    let rejected = rejected
        .and_then(at)
        .map(|(at, c)| (at, c, syntax::rejected(c)));
    let unusual = unusual_break
        .and_then(at)
        .map(|(at, c)| (at, c, syntax::unusual_break(c)));
    let is_second =
        |at: usize| at == '\u{feff}'.len_utf8() && source.text().starts_with('\u{feff}');
    let mark = byte_order_mark
        .and_then(at)
        .map(|(at, c)| (at, c, syntax::byte_order_mark(is_second(at))));
    for (at, c, finding) in rejected.into_iter().chain(unusual).chain(mark) {
        if !report
            .findings()
            .iter()
            .any(|known| known.rule.id == finding.rule.id)
        {
            report.push(finding.at(source.place_at(at..at + c.len_utf8())));
        }
    }
}

/// Where the first of them stand.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    rejected: Option<usize>,
    unusual_break: Option<usize>,
    /// Behind the start of the text.
    byte_order_mark: Option<usize>,
}

/// So many bytes are looked at together: nearly always none of them is out of the ordinary.
const CHUNK: usize = 64;

fn find(text: &str) -> Found {
    let bytes = text.as_bytes();
    let mut found = Found::default();
    for (number, chunk) in bytes.chunks(CHUNK).enumerate() {
        // Without branches, so that it is done for many bytes at once.
        let is_odd = |byte: u8| {
            (byte < b' ') & (byte != b'\n') & (byte != b'\t') & (byte != b'\r') | (byte >= 0x7f)
        };
        if !chunk.iter().fold(false, |odd, byte| odd | is_odd(*byte)) {
            continue;
        }
        for at in number * CHUNK..number * CHUNK + chunk.len() {
            match bytes[at..] {
                [b'\t' | b'\n' | b'\r', ..] => {}
                [0xc2, 0x85, ..] | [0xe2, 0x80, 0xa8 | 0xa9, ..] => {
                    found.unusual_break = found.unusual_break.or(Some(at))
                }
                [0xef, 0xbb, 0xbf, ..] if at > 0 => {
                    found.byte_order_mark = found.byte_order_mark.or(Some(at))
                }
                [..b' ' | 0x7f, ..] | [0xc2, 0x80..=0x9f, ..] | [0xef, 0xbf, 0xbe | 0xbf, ..] => {
                    found.rejected = found.rejected.or(Some(at))
                }
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_characters_are_judged_as_go_judges_them() {
        for c in '\0'..=char::MAX {
            let found = find(&format!("{}{c}é", "x".repeat(CHUNK - 1)));
            let at = |is: bool| is.then_some(CHUNK - 1);
            let expected = Found {
                rejected: at(syntax::is_rejected(c)),
                unusual_break: at(matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}')),
                byte_order_mark: at(c == '\u{feff}'),
            };
            assert_eq!(found, expected, "{c:?}");
        }
    }
}
