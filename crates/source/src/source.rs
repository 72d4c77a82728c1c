//! A text with its name, and where its lines begin.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::diag::{Diagnostic, Place, Position, Span, rules};

rules! {
    /// a file is not UTF-8
    pub INPUT_NOT_UTF8 = error("input-not-utf8");
}

fn not_utf8(name: &str, bytes: &[u8], valid: usize) -> Diagnostic {
    let text = String::from_utf8_lossy(&bytes[..valid]);
    let byte = bytes.get(valid).copied().unwrap_or_default();
    let place = Source::new(name, text).place_at(valid..valid);
    Diagnostic::of(
        &INPUT_NOT_UTF8,
        format!("{name} is not UTF-8 text: byte 0x{byte:02x}"),
    )
    .at(place)
    .help("save the file as UTF-8, or leave it out")
}

/// A file that was read, or text that stands in for one. Cheap to clone.
#[derive(Clone)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
    /// Made when the first line or column is asked for.
    lines: Arc<OnceLock<Lines>>,
}

impl Source {
    /// A text under the name that findings will show: the path as the user gave it, or `<stdin>`.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Source {
            name: name.into(),
            text: text.into(),
            lines: Arc::default(),
        }
    }

    /// Bytes that should be text, under the name that findings will show.
    ///
    /// # Errors
    /// They are not UTF-8: the finding has the place of the first that is none.
    pub fn of_bytes(name: &str, bytes: &[u8]) -> Result<Self, Box<Diagnostic>> {
        std::str::from_utf8(bytes)
            .map(|text| Source::new(name, text))
            .map_err(|error| Box::new(not_utf8(name, bytes, error.valid_up_to())))
    }

    /// The name that findings show.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The last part of the name: the file without its folders.
    pub fn file_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of a stretch; `""` when it does not lie within the text.
    pub fn slice(&self, range: impl Into<Range<usize>>) -> &str {
        self.text.get(range.into()).unwrap_or_default()
    }

    /// The location of the file as a whole, without a range of text.
    pub fn place(&self) -> Place {
        Place::file(self.name.clone())
    }

    /// A stretch of the file as a place.
    pub fn place_at(&self, range: impl Into<Range<usize>>) -> Place {
        self.place().at_span(self.span(range))
    }

    /// Line and column of a byte offset. An offset beyond the end, or inside a character, is moved
    /// back to the nearest boundary.
    pub fn position(&self, offset: usize) -> Position {
        self.lines().position(&self.text, offset)
    }

    /// Lines and columns of a byte range; each end is moved as [`Source::position`] moves it.
    pub fn span(&self, range: impl Into<Range<usize>>) -> Span {
        let Range { start, end } = range.into();
        Span {
            start: self.position(start),
            end: self.position(end),
        }
    }

    /// The text of a line (from 1) without its end; `None` beyond the last line.
    pub fn line(&self, line: u32) -> Option<&str> {
        self.line_range(line).map(|range| &self.text[range])
    }

    /// Where a line (from 1) stands, without its end; `None` beyond the last line.
    pub fn line_range(&self, line: u32) -> Option<Range<usize>> {
        let index = (line as usize).checked_sub(1)?;
        let starts = &self.lines().starts;
        let start = *starts.get(index)?;
        let end = starts
            .get(index + 1)
            .map_or(self.text.len(), |next| next - 1);
        Some(start..start + self.text[start..end].trim_end_matches('\r').len())
    }

    fn lines(&self) -> &Lines {
        self.lines.get_or_init(|| Lines::new(&self.text))
    }
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.text == other.text
    }
}

impl Eq for Source {}

/// The text may hold secrets.
impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "Source({:?}, {} bytes)",
            self.name,
            self.text.len()
        )
    }
}

/// A stretch of a text, in bytes from its start; `end` is exclusive. The text has less than 4 GiB.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextRange {
    start: u32,
    end: u32,
}

impl TextRange {
    /// A stretch; offsets beyond 4 GiB are moved there.
    pub fn new(start: usize, end: usize) -> Self {
        TextRange {
            start: saturating(start),
            end: saturating(end),
        }
    }

    /// The first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Just after the last byte.
    pub fn end(self) -> usize {
        self.end as usize
    }
}

impl From<TextRange> for Range<usize> {
    fn from(range: TextRange) -> Self {
        range.start()..range.end()
    }
}

/// The offsets at which lines begin: turns byte offsets into lines and columns, in logarithmic
/// time.
struct Lines {
    starts: Vec<usize>,
    /// How many characters stand before each [`STEP`] bytes, so that no column is counted from the
    /// start of a long line; empty for ASCII.
    characters: Vec<usize>,
}

/// So many bytes of a line are counted at most.
const STEP: usize = 1024;

impl Lines {
    fn new(text: &str) -> Self {
        let starts = std::iter::once(0)
            .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1))
            .collect();
        let mut characters = Vec::new();
        if !text.is_ascii() {
            let counts = text.as_bytes().chunks(STEP).scan(0, |before, chunk| {
                Some(std::mem::replace(before, *before + count(chunk)))
            });
            characters.extend(counts);
        }
        Lines { starts, characters }
    }

    fn position(&self, text: &str, offset: usize) -> Position {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts[line - 1];
        let column = if self.characters.is_empty() {
            offset - start
        } else {
            self.before(text, offset) - self.before(text, start)
        };
        Position {
            offset,
            line: saturating(line),
            column: saturating(column + 1),
        }
    }

    /// How many characters stand before a boundary of characters.
    fn before(&self, text: &str, offset: usize) -> usize {
        let step = (offset / STEP).min(self.characters.len() - 1);
        self.characters[step] + count(&text.as_bytes()[step * STEP..offset])
    }
}

/// How many characters begin in some bytes.
fn count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

fn saturating(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let source = Source::new("", "ab\nçé x\n");
        assert_eq!(
            source.position(0),
            Position {
                offset: 0,
                line: 1,
                column: 1
            }
        );
        assert_eq!(
            source.position(3),
            Position {
                offset: 3,
                line: 2,
                column: 1
            }
        );
        assert_eq!(
            source.position(7),
            Position {
                offset: 7,
                line: 2,
                column: 3
            }
        );
        assert_eq!(
            source.position(4),
            Position {
                offset: 3,
                line: 2,
                column: 1
            },
            "inside a character"
        );
        assert_eq!(
            source.position(99),
            Position {
                offset: 10,
                line: 3,
                column: 1
            }
        );
        assert_eq!(source.line(2), Some("çé x"));
        assert_eq!(source.line(4), None);
        assert_eq!(
            Source::new("", "").position(0),
            Position {
                offset: 0,
                line: 1,
                column: 1
            }
        );
    }

    #[test]
    fn long_lines_are_counted_in_steps() {
        let text = format!("a\n{}", "aéb".repeat(3 * STEP));
        let source = Source::new("", text.as_str());
        let mut column = 1;
        for (at, _) in text.char_indices().skip(2) {
            assert_eq!(
                source.position(at),
                Position {
                    offset: at,
                    line: 2,
                    column
                }
            );
            column += 1;
        }
        assert_eq!(source.position(text.len()).column, column);
    }
}
