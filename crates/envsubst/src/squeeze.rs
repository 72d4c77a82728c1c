//! clusterctl's legacy blanks: `${ VAR }`, `${VAR }` and `${ VAR}` become `${VAR}` before anything
//! else is read.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

/// The text without legacy blanks, and where they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Squeezed<'t> {
    pub(super) bytes: Cow<'t, [u8]>,
    /// For each run of blanks, ascending: the offset in `bytes` from which on it is missing, and
    /// how many bytes are missing in all by then.
    gaps: Vec<(usize, usize)>,
}

impl<'t> Squeezed<'t> {
    pub(super) fn new(text: &'t [u8]) -> Self {
        let mut bytes = Vec::new();
        let mut gaps = Vec::new();
        let mut rest = 0;
        let mut at = 0;
        while let Some(found) = memmem::find(&text[at..], b"${") {
            let open = at + found;
            at = open + 2;
            if let Some((name, end)) = legacy_reference(text, at) {
                bytes.extend_from_slice(&text[rest..at]);
                skip(&mut gaps, bytes.len(), name.start - at);
                bytes.extend_from_slice(&text[name.clone()]);
                skip(&mut gaps, bytes.len(), end - name.end);
                rest = end;
                at = end;
            }
        }
        if gaps.is_empty() {
            return Squeezed::without_gaps(text);
        }
        bytes.extend_from_slice(&text[rest..]);
        Squeezed {
            bytes: bytes.into(),
            gaps,
        }
    }

    /// The text as it is.
    pub(super) fn without_gaps(text: &'t [u8]) -> Self {
        Squeezed {
            bytes: text.into(),
            gaps: Vec::new(),
        }
    }

    /// The offset in the text as it was.
    pub(super) fn original(&self, offset: usize) -> usize {
        original(&self.gaps, offset)
    }

    pub(super) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        original_range(&self.gaps, range)
    }

    pub(super) fn gaps(&self) -> &[(usize, usize)] {
        &self.gaps
    }
}

/// Notes that from an offset on so many blanks more are missing.
fn skip(gaps: &mut Vec<(usize, usize)>, at: usize, blanks: usize) {
    if blanks > 0 {
        let before = gaps.last().map_or(0, |(_, missing)| *missing);
        gaps.push((at, before + blanks));
    }
}

/// The offset before blanks were squeezed out.
pub(super) fn original(gaps: &[(usize, usize)], offset: usize) -> usize {
    let passed = gaps.partition_point(|(at, _)| *at <= offset);
    offset + passed.checked_sub(1).map_or(0, |last| gaps[last].1)
}

/// The range before blanks were squeezed out, without blanks that follow it.
pub(super) fn original_range(gaps: &[(usize, usize)], range: &Range<usize>) -> Range<usize> {
    let start = original(gaps, range.start);
    let end = if range.is_empty() {
        start
    } else {
        original(gaps, range.end - 1) + 1
    };
    start..end
}

/// After `${` at `from`: the name and the offset of `}`, when at least one side of the name has
/// blanks and nothing else is there.
fn legacy_reference(text: &[u8], from: usize) -> Option<(Range<usize>, usize)> {
    let skip = |mut at: usize, accept: fn(u8) -> bool| {
        while text.get(at).copied().is_some_and(accept) {
            at += 1;
        }
        at
    };
    let start = skip(from, is_blank);
    let end = skip(start, |b| {
        b.is_ascii_alphanumeric() || b == b'_' || b == b'$'
    });
    let close = skip(end, is_blank);
    let blanks = start > from || close > end;
    (blanks && end > start && text.get(close) == Some(&b'}')).then_some((start..end, close))
}

/// `\s` of Go's regular expressions.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: &str) {
        assert_eq!(
            String::from_utf8_lossy(&Squeezed::new(input.as_bytes()).bytes),
            expected,
            "{input:?}"
        );
    }

    #[test]
    fn blanks_around_plain_names_vanish() {
        check("${ A} ${A } ${ A } ${A}", "${A} ${A} ${A} ${A}");
        check("${\tA\r\n\x0c}", "${A}");
        check("$${ A }", "$${A}");
        check("${ A$B }", "${A$B}");
    }

    #[test]
    fn anything_else_is_left_alone() {
        for text in [
            "${ A:=x }",
            "${ }",
            "${ A B }",
            "${ ${ A}",
            "${\u{b}A}",
            "${ A",
        ] {
            let expected = text.replace("${ A}", "${A}");
            check(text, &expected);
        }
    }

    #[test]
    fn offsets_lead_back_across_the_gaps() {
        let text = "x${  A } y${B\t}z";
        let squeezed = Squeezed::new(text.as_bytes());
        for (offset, byte) in squeezed.bytes.iter().enumerate() {
            assert_eq!(
                text.as_bytes()[squeezed.original(offset)],
                *byte,
                "offset {offset}"
            );
        }
        assert_eq!(squeezed.original_range(&(1..5)), 1..8);
    }
}
