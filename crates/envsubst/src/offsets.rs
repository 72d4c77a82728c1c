//! The way back from substituted text to the template: a finding in the one is reported at its
//! place in the other.

use std::ops::Range;

use super::squeeze;

/// Maps offsets of a substituted text to offsets of its template.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OffsetMap {
    /// Ascending in both texts; each reaches to the next one's output offset.
    segments: Vec<Segment>,
    /// The length of the output.
    length: usize,
    /// Where blanks were squeezed out of the template.
    gaps: Vec<(usize, usize)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    output: usize,
    /// For a copied stretch the offset of its first byte, and an empty range; for a value the
    /// reference that it stands for.
    template: Range<usize>,
}

impl OffsetMap {
    pub(super) fn new(gaps: &[(usize, usize)]) -> Self {
        OffsetMap {
            segments: Vec::new(),
            length: 0,
            gaps: gaps.to_vec(),
        }
    }

    /// From `output` on the bytes are those of the template from `start` on.
    pub(super) fn literal(&mut self, output: usize, start: usize) {
        self.segments.push(Segment {
            output,
            template: start..start,
        });
    }

    /// The bytes from `output` on are the value of a reference.
    pub(super) fn replaced(&mut self, output: usize, length: usize, reference: Range<usize>) {
        if length > 0 {
            self.segments.push(Segment {
                output,
                template: reference,
            });
        }
    }

    pub(super) fn end(&mut self, length: usize) {
        self.length = length;
    }

    /// Where a byte of the output comes from: its own place when it was copied, the start of the
    /// reference when it is part of a value. The end of the output, and what is beyond it, is
    /// taken for the end of the last byte.
    pub fn to_template(&self, offset: usize) -> usize {
        match self.segment(offset) {
            Some(segment) if offset < self.length => self.start(segment, offset),
            _ => self
                .length
                .checked_sub(1)
                .map_or(0, |last| self.to_template_range(last..last + 1).end),
        }
    }

    /// Where a stretch of the output comes from; whole references where it touches a value. An
    /// empty stretch stays empty.
    pub fn to_template_range(&self, range: Range<usize>) -> Range<usize> {
        let last = range
            .end
            .min(self.length)
            .checked_sub(1)
            .filter(|last| *last >= range.start);
        let Some((segment, last)) = last.and_then(|last| Some((self.segment(last)?, last))) else {
            let at = self.to_template(range.start);
            return at..at;
        };
        let end = match segment.template.is_empty() {
            true => self.start(segment, last) + 1,
            false => squeeze::original_range(&self.gaps, &segment.template).end,
        };
        self.to_template(range.start)..end
    }

    fn segment(&self, offset: usize) -> Option<&Segment> {
        let after = self
            .segments
            .partition_point(|segment| segment.output <= offset);
        self.segments.get(after.checked_sub(1)?)
    }

    fn start(&self, segment: &Segment, offset: usize) -> usize {
        let within = if segment.template.is_empty() {
            offset - segment.output
        } else {
            0
        };
        squeeze::original(&self.gaps, segment.template.start + within)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use windlass_source::budget::Budget;

    /// Each byte of the output, and the template from the place where it comes from.
    fn origins(template: &str, value: &str) -> Vec<(char, String)> {
        let done = parse(template)
            .unwrap()
            .expand(
                |name| (name == "A").then(|| value.to_owned()),
                &Budget::default(),
            )
            .unwrap();
        let text = done.text().unwrap().to_owned();
        text.char_indices()
            .map(|(at, c)| {
                (
                    c,
                    template[done.map.to_template(at)..]
                        .chars()
                        .take(4)
                        .collect(),
                )
            })
            .collect()
    }

    fn check(template: &str, expected: &[(char, &str)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(c, origin)| (*c, (*origin).to_owned()))
            .collect();
        assert_eq!(origins(template, "vw"), expected, "{template}");
    }

    #[test]
    fn copied_bytes_map_to_themselves_and_values_to_their_reference() {
        check(
            "a${A}b",
            &[('a', "a${A"), ('v', "${A}"), ('w', "${A}"), ('b', "b")],
        );
        check(
            "x$$y${E}z",
            &[('x', "x$$y"), ('$', "$y${"), ('y', "y${E"), ('z', "z")],
        );
        check("${ A }b", &[('v', "${ A"), ('w', "${ A"), ('b', "b")]);
    }

    #[test]
    fn defaults_map_into_their_own_text() {
        check(
            "${M:=d${A}e}",
            &[('d', "d${A"), ('v', "${A}"), ('w', "${A}"), ('e', "e}")],
        );
    }

    #[test]
    fn ranges_cover_whole_references() {
        let done = parse("ab ${A:=x} cd")
            .unwrap()
            .expand(|_| Some("value"), &Budget::default())
            .unwrap();
        assert_eq!(done.text(), Ok("ab value cd"));
        for (output, template) in [
            (0..2, 0..2),
            (3..8, 3..10),
            (4..5, 3..10),
            (1..4, 1..10),
            (7..11, 3..13),
            (9..11, 11..13),
            (2..2, 2..2),
            (11..11, 13..13),
        ] {
            assert_eq!(
                done.map.to_template_range(output.clone()),
                template,
                "{output:?}"
            );
        }
        assert_eq!(done.map.to_template(99), 13);
    }

    #[test]
    fn an_empty_output_maps_to_the_start() {
        let done = parse("${A}")
            .unwrap()
            .expand(|_| None::<String>, &Budget::default())
            .unwrap();
        assert_eq!(
            (done.map.to_template(0), done.map.to_template_range(0..0)),
            (0, 0..0)
        );
    }
}
