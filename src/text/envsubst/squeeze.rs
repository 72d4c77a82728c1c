//! clusterctl's legacy blanks: `${ VAR }`, `${VAR }` and `${ VAR}` become `${VAR}` before anything else is read.

use std::ops::Range;

use memchr::memmem;

/// The text without legacy blanks, and where they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Squeezed {
    /// The text without them.
    pub(super) bytes: Vec<u8>,
    /// For each run of blanks, ascending: the offset in `bytes` from which on it is missing, and how many bytes are missing in all by then.
    gaps: Vec<(usize, usize)>,
}

impl Squeezed {
    pub(super) fn new(text: &[u8]) -> Self {
        let mut squeezed = Squeezed { bytes: Vec::with_capacity(text.len()), gaps: Vec::new() };
        let mut rest = 0;
        let mut at = 0;
        while let Some(found) = memmem::find(&text[at..], b"${") {
            let open = at + found;
            at = open + 2;
            if let Some((name, end)) = legacy_reference(text, at) {
                squeezed.bytes.extend_from_slice(&text[rest..at]);
                squeezed.skip(name.start - at);
                squeezed.bytes.extend_from_slice(&text[name.clone()]);
                squeezed.skip(end - name.end);
                rest = end;
                at = end;
            }
        }
        squeezed.bytes.extend_from_slice(&text[rest..]);
        squeezed
    }

    /// The text as it is.
    pub(super) fn without_gaps(text: &[u8]) -> Self {
        Squeezed { bytes: text.to_vec(), gaps: Vec::new() }
    }

    fn skip(&mut self, blanks: usize) {
        if blanks > 0 {
            let before = self.gaps.last().map_or(0, |(_, missing)| *missing);
            self.gaps.push((self.bytes.len(), before + blanks));
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

/// The offset before blanks were squeezed out.
pub(super) fn original(gaps: &[(usize, usize)], offset: usize) -> usize {
    let passed = gaps.partition_point(|(at, _)| *at <= offset);
    offset + passed.checked_sub(1).map_or(0, |last| gaps[last].1)
}

/// The range before blanks were squeezed out, without blanks that follow it.
pub(super) fn original_range(gaps: &[(usize, usize)], range: &Range<usize>) -> Range<usize> {
    let start = original(gaps, range.start);
    let end = if range.is_empty() { start } else { original(gaps, range.end - 1) + 1 };
    start..end
}

/// After `${` at `from`: the name and the offset of `}`, when at least one side of the name has blanks and nothing else is there.
fn legacy_reference(text: &[u8], from: usize) -> Option<(Range<usize>, usize)> {
    let skip = |mut at: usize, accept: fn(u8) -> bool| {
        while text.get(at).copied().is_some_and(accept) {
            at += 1;
        }
        at
    };
    let start = skip(from, is_blank);
    let end = skip(start, |b| b.is_ascii_alphanumeric() || b == b'_' || b == b'$');
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
        assert_eq!(String::from_utf8_lossy(&Squeezed::new(input.as_bytes()).bytes), expected, "{input:?}");
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
        for text in ["${ A:=x }", "${ }", "${ A B }", "${ ${ A}", "${\u{b}A}", "${ A"] {
            let expected = text.replace("${ A}", "${A}");
            check(text, &expected);
        }
    }

    #[test]
    fn offsets_lead_back_across_the_gaps() {
        let text = "x${  A } y${B\t}z";
        let squeezed = Squeezed::new(text.as_bytes());
        for (offset, byte) in squeezed.bytes.iter().enumerate() {
            assert_eq!(text.as_bytes()[squeezed.original(offset)], *byte, "offset {offset}");
        }
        assert_eq!(squeezed.original_range(&(1..5)), 1..8);
    }
}
