//! Positions of the Language Server Protocol: lines and characters from 0, in the units that client
//! and server agree on, to and from byte offsets.

use std::ops::Range;

use ls_types::{Position, PositionEncodingKind};

use windlass_source::cut::cut;

/// The unit in which characters of a line are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Utf8,
    /// The unit of clients that do not name one.
    Utf16,
    Utf32,
}

impl Encoding {
    /// The unit for a client that supports these, in its order of preference. Bytes are preferred,
    /// because nothing has to be counted.
    pub(super) fn negotiated(offered: &[PositionEncodingKind]) -> Self {
        let known = [
            (PositionEncodingKind::UTF8, Encoding::Utf8),
            (PositionEncodingKind::UTF16, Encoding::Utf16),
            (PositionEncodingKind::UTF32, Encoding::Utf32),
        ];
        known
            .into_iter()
            .find(|(kind, _)| offered.contains(kind))
            .map_or(Encoding::Utf16, |(_, encoding)| encoding)
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
            Encoding::Utf32 => PositionEncodingKind::UTF32,
        }
    }

    fn units(self, c: char) -> usize {
        match self {
            Encoding::Utf8 => c.len_utf8(),
            Encoding::Utf16 => c.len_utf16(),
            Encoding::Utf32 => 1,
        }
    }

    fn length(self, text: &str) -> usize {
        if self == Encoding::Utf8 || text.is_ascii() {
            return text.len();
        }
        text.chars().map(|c| self.units(c)).sum()
    }
}

/// The offsets at which lines begin. A line ends with a line feed, a carriage return, or both, as
/// the protocol has it.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
            .filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
        Lines {
            starts: std::iter::once(0).chain(ends.map(|at| at + 1)).collect(),
        }
    }

    /// The position of a byte offset. One beyond the end or inside a character is moved back.
    pub(crate) fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let before = cut(text, self.starts[line]..offset);
        Position::new(saturating(line), saturating(encoding.length(before)))
    }

    /// The byte offset of a position. A character beyond the end of its line is the end of the
    /// line, a line beyond the last one the end of the text, as the protocol demands; a position
    /// inside a character is its begin.
    pub(crate) fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let Some(line) = self.line(text, position.line as usize) else {
            return text.len();
        };
        let mut left = position.character as usize;
        let written = cut(text, line.clone());
        for (at, c) in written.char_indices() {
            match left.checked_sub(encoding.units(c)) {
                Some(rest) if left > 0 => left = rest,
                _ => return line.start + at,
            }
        }
        line.end
    }

    /// The bytes of a line (from 0) without its end; `None` beyond the last one.
    pub(super) fn line(&self, text: &str, line: usize) -> Option<Range<usize>> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied().unwrap_or(text.len());
        Some(start..start + cut(text, start..end).trim_end_matches(['\n', '\r']).len())
    }
}

fn saturating(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [Encoding; 3] = [Encoding::Utf8, Encoding::Utf16, Encoding::Utf32];

    #[test]
    fn counts_in_the_units_of_the_encoding() {
        let text = "é😀x\r\ny";
        let lines = Lines::of(text);
        for (encoding, character) in ALL.into_iter().zip([6, 3, 2]) {
            let position = Position::new(0, character);
            assert_eq!(lines.position(text, 6, encoding), position, "{encoding:?}");
            assert_eq!(lines.offset(text, position, encoding), 6, "{encoding:?}");
        }
    }

    #[test]
    fn moves_positions_outside_of_the_text_into_it() {
        let text = "ab\r\n😀";
        let lines = Lines::of(text);
        let offset =
            |line, character| lines.offset(text, Position::new(line, character), Encoding::Utf16);
        assert_eq!(offset(0, 99), 2, "the end of the line, before its line end");
        assert_eq!(offset(1, 1), 4, "inside a pair of surrogates");
        assert_eq!(offset(7, 0), text.len());
        assert_eq!(
            lines.position(text, 99, Encoding::Utf16),
            Position::new(1, 2)
        );
        assert_eq!(
            lines.position(text, 5, Encoding::Utf16),
            Position::new(1, 0)
        );
    }

    #[test]
    fn lines_end_as_the_protocol_has_it() {
        let text = "a\nb\r\nc\rd";
        let lines = Lines::of(text);
        let of = |line| lines.line(text, line).map(|range| &text[range]);
        assert_eq!(
            [of(0), of(1), of(2), of(3), of(4)],
            [Some("a"), Some("b"), Some("c"), Some("d"), None]
        );
    }

    #[test]
    fn prefers_bytes_and_falls_back_to_utf_16() {
        let offered = [PositionEncodingKind::UTF16, PositionEncodingKind::UTF8];
        assert_eq!(Encoding::negotiated(&offered), Encoding::Utf8);
        assert_eq!(Encoding::negotiated(&offered[..1]), Encoding::Utf16);
        assert_eq!(Encoding::negotiated(&[]), Encoding::Utf16);
    }

    proptest! {
        /// Every boundary of a character that is not inside a line end comes back.
        #[test]
        fn offsets_and_positions_round_trip(text in "[a-cé\u{20ac}\u{1f600}\u{10ffff}\r\n: -]{0,60}") {
            let lines = Lines::of(&text);
            let boundaries = (0..=text.len()).filter(|at| text.is_char_boundary(*at));
            for offset in boundaries {
                let is_within_line_end =
                    text[..offset].ends_with('\r') && text[offset..].starts_with('\n');
                for encoding in ALL {
                    let position = lines.position(&text, offset, encoding);
                    let back = lines.offset(&text, position, encoding);
                    let expected = offset - usize::from(is_within_line_end);
                    prop_assert_eq!(back, expected, "{:?} {:?}", encoding, position);
                }
            }
        }
    }
}
