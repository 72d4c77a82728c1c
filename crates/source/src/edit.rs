//! Changes to a text at byte ranges. What is not changed stays as it was: comments, indentation,
//! line ends.

use std::ops::Range;

use crate::cut::cut;
use crate::diag::{Change, Fix};

/// Changes to one text, made together by [`Edits::apply`]. Ranges are bytes of the text as it was
/// read.
#[derive(Debug, Clone)]
pub struct Edits<'t> {
    text: &'t str,
    changes: Vec<Change>,
}

/// Two changes want these bytes, so that the text stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap(Range<usize>);

impl<'t> Edits<'t> {
    /// An empty list of changes to this text.
    pub fn of(text: &'t str) -> Self {
        Edits {
            text,
            changes: Vec::new(),
        }
    }

    /// Puts `with` in the place of a node's text.
    pub fn replace(&mut self, node: impl Into<Range<usize>>, with: impl Into<String>) {
        self.changes.push(Change {
            range: node.into(),
            with: with.into(),
        });
    }

    /// Puts `with` right behind a node, in its line: a further item of a list in brackets.
    pub fn append(&mut self, node: impl Into<Range<usize>>, with: impl Into<String>) {
        let end = node.into().end;
        self.replace(end..end, with);
    }

    /// Puts a key with its value before the entries of a mapping, in brackets as well as in lines.
    pub fn first_entry(&mut self, mapping: impl Into<Range<usize>>, entry: &str) {
        let start = mapping.into().start;
        let Some(entries) = cut(self.text, start..).strip_prefix('{') else {
            let with = format!(
                "{entry}{}{}",
                self.line_end_of_text(),
                indentation(self.text, start)
            );
            return self.replace(start..start, with);
        };
        let comma = if entries.trim_start().starts_with('}') {
            ""
        } else {
            ", "
        };
        self.replace(start + 1..start + 1, format!("{entry}{comma}"));
    }

    /// Adds lines below the last line of a node, and below the comment that is in that line.
    pub fn lines_after(&mut self, node: impl Into<Range<usize>>, lines: &[String]) {
        self.lines_at(self.line_end(&node.into()), lines);
    }

    /// Adds lines at the end of a document whose root this is: below the comments that follow,
    /// above the next document.
    pub fn lines_at_end(&mut self, root: impl Into<Range<usize>>, lines: &[String]) {
        let end = self.line_end(&root.into());
        let is_last = cut(self.text, end..)
            .lines()
            .all(|line| line.trim_start().is_empty() || line.trim_start().starts_with('#'));
        self.lines_at(if is_last { self.text.len() } else { end }, lines);
    }

    /// The text with all changes. The same change made twice is made once; what is inserted at one
    /// place keeps the order of the calls.
    ///
    /// # Errors
    /// Two different changes want the same bytes.
    pub fn apply(mut self) -> Result<String, Overlap> {
        self.sort();
        let overlapping = self
            .changes
            .iter()
            .zip(self.changes.iter().skip(1))
            .find(|(earlier, later)| later.range.start < earlier.range.end);
        match overlapping {
            Some((_, later)) => Err(Overlap(later.range.clone())),
            None => Ok(changed(self.text, 0..self.text.len(), &self.changes)),
        }
    }

    /// The whole lines that change: where they stand, and what stands there then. [`Edits::apply`]
    /// must take the same changes.
    pub fn changed_lines(mut self) -> Vec<(Range<usize>, String)> {
        self.sort();
        let mut stretches: Vec<(Range<usize>, Vec<Change>)> = Vec::new();
        for change in std::mem::take(&mut self.changes) {
            let lines = self.lines_of(&change);
            match stretches.last_mut().filter(|(last, _)| {
                lines.start < last.end || lines.start == last.end && lines.is_empty()
            }) {
                Some((last, changes)) => {
                    last.end = last.end.max(lines.end);
                    changes.push(change);
                }
                None => stretches.push((lines, vec![change])),
            }
        }
        let text = self.text;
        stretches
            .into_iter()
            .map(|(lines, changes)| (lines.clone(), changed(text, lines, &changes)))
            .collect()
    }

    /// The lines that a change touches; none where it adds whole lines between two others.
    fn lines_of(&self, change: &Change) -> Range<usize> {
        let Range { start, end } = change.range;
        let begins_line = start == 0 || cut(self.text, ..start).ends_with('\n');
        if begins_line && start == end && change.with.ends_with('\n') {
            return start..start;
        }
        let line_start = cut(self.text, ..start)
            .rfind('\n')
            .map_or(0, |before| before + 1);
        // What ends where a line begins leaves that line alone, if it still begins there.
        let is_whole = end > start
            && cut(self.text, ..end).ends_with('\n')
            && (change.with.is_empty() && begins_line || change.with.ends_with('\n'));
        line_start..if is_whole {
            end
        } else {
            cut(self.text, end..)
                .find('\n')
                .map_or(self.text.len(), |at| end + at + 1)
        }
    }

    fn sort(&mut self) {
        self.changes
            .sort_by_key(|change| (change.range.start, change.range.end));
        self.changes
            .dedup_by(|later, earlier| later == earlier && !later.range.is_empty());
    }

    fn lines_at(&mut self, at: usize, lines: &[String]) {
        let line_end = self.line_end_of_text();
        // A last line that does not end is ended, once.
        let is_open = at > 0
            && !cut(self.text, ..at).ends_with('\n')
            && !self.changes.iter().any(|change| change.range == (at..at));
        let with = lines.iter().fold(
            if is_open {
                line_end.to_owned()
            } else {
                String::new()
            },
            |text, line| text + line + line_end,
        );
        self.replace(at..at, with);
    }

    /// How the lines of the text end: as the first one does.
    pub fn line_end_of_text(&self) -> &'static str {
        if self
            .text
            .split_inclusive('\n')
            .next()
            .is_some_and(|line| line.ends_with("\r\n"))
        {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// Behind the line in which a node ends.
    fn line_end(&self, node: &Range<usize>) -> usize {
        let last = node.start + self.text[node.clone()].trim_end().len();
        cut(self.text, last..)
            .find('\n')
            .map_or(self.text.len(), |at| last + at + 1)
    }
}

/// A stretch of a text with changes that lie in it, in their order.
fn changed(text: &str, stretch: Range<usize>, changes: &[Change]) -> String {
    let mut new = String::with_capacity(
        stretch.len()
            + changes
                .iter()
                .map(|change| change.with.len())
                .sum::<usize>(),
    );
    let mut done = stretch.start;
    for Change { range, with } in changes {
        new.push_str(cut(text, done..range.start));
        new.push_str(with);
        done = range.end;
    }
    new.push_str(cut(text, done..stretch.end));
    new
}

impl From<Edits<'_>> for Fix {
    fn from(edits: Edits<'_>) -> Self {
        Fix {
            changes: edits.changes,
        }
    }
}

/// The spaces before what is at a place and to the left of it, so that lines that begin with
/// them are aligned with it.
pub fn indentation(text: &str, at: usize) -> String {
    let start = cut(text, ..at).rfind('\n').map_or(0, |before| before + 1);
    " ".repeat(cut(text, start..at).chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# head\na: 1 # one\nlist:\n  - x # first\n  # between\n  - y\nb: {c: 2}\n# tail\n";

    fn range(text: &str, part: &str) -> Range<usize> {
        let start = text.find(part).expect("the part is in the text");
        start..start + part.len()
    }

    /// `text` after `change`, which gets the range of `part`.
    fn edited(
        text: &str,
        part: &str,
        change: impl FnOnce(&mut Edits<'_>, Range<usize>),
    ) -> Result<String, Overlap> {
        let mut edits = Edits::of(text);
        change(&mut edits, range(text, part));
        edits.apply()
    }

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn only_what_is_named_changes() {
        let replaced = edited(TEXT, "1", |edits, at| edits.replace(at, "17"));
        assert_eq!(replaced, Ok(TEXT.replace("a: 1 # one", "a: 17 # one")));
        let added = edited(TEXT, "2", |edits, at| edits.append(at, ", d: 3"));
        assert_eq!(added, Ok(TEXT.replace("{c: 2}", "{c: 2, d: 3}")));
        let after = edited(TEXT, "x", |edits, at| {
            edits.lines_after(at, &lines(&["  - new"]))
        });
        assert_eq!(after, Ok(TEXT.replace("# first\n", "# first\n  - new\n")));
    }

    #[test]
    fn line_ends_are_those_of_the_text() {
        let text = "a: 1\r\nb: |\r\n  two\r\n";
        let added = edited(text, "|\r\n  two\r\n", |edits, at| {
            edits.lines_after(at, &lines(&["c: 3"]))
        });
        assert_eq!(added.as_deref(), Ok("a: 1\r\nb: |\r\n  two\r\nc: 3\r\n"));
        let open = edited("a: 1\nb: 2", "2", |edits, at| {
            edits.lines_after(at.clone(), &lines(&["c: 3"]));
            edits.lines_after(at, &lines(&["d: 4"]));
        });
        assert_eq!(open.as_deref(), Ok("a: 1\nb: 2\nc: 3\nd: 4\n"));
        assert_eq!(
            edited("", "", |edits, at| edits
                .lines_at_end(at, &lines(&["a: 1"])))
            .as_deref(),
            Ok("a: 1\n")
        );
    }

    #[test]
    fn the_end_of_a_document_is_below_its_comments_and_above_the_next() {
        let root = TEXT.trim_end_matches("# tail\n");
        assert_eq!(
            edited(TEXT, root, |edits, at| edits
                .lines_at_end(at, &lines(&["z: 9"]))),
            Ok(format!("{TEXT}z: 9\n"))
        );
        let two = "a: 1\n# of a\n---\nb: 2\n";
        assert_eq!(
            edited(two, "a: 1", |edits, at| edits
                .lines_at_end(at, &lines(&["z: 9"]))),
            Ok(two.replace("a: 1\n", "a: 1\nz: 9\n"))
        );
    }

    #[test]
    fn changes_that_overlap_are_rejected_and_equal_ones_are_one() {
        let overlap = edited(TEXT, "{c: 2}", |edits, at| {
            edits.replace(at.start + 1..at.end - 1, "d: 3");
            edits.replace(at, "4");
        });
        assert!(matches!(overlap, Err(Overlap(_))), "{overlap:?}");
        let inside = edited(TEXT, "{c: 2}", |edits, at| {
            edits.append(at.start + 1..at.start + 2, "x");
            edits.replace(at, "4");
        });
        assert!(matches!(inside, Err(Overlap(_))), "{inside:?}");
        let twice = edited(TEXT, "{c: 2}", |edits, at| {
            edits.replace(at.clone(), "4");
            edits.replace(at.clone(), "4");
            edits.append(at, " # beside");
        });
        assert_eq!(twice, Ok(TEXT.replace("{c: 2}", "4 # beside")));
    }

    #[test]
    fn indentation_aligns_with_what_stands_there() {
        assert_eq!(indentation(TEXT, range(TEXT, "- y").start), "  ");
        assert_eq!(indentation("- ä: 1", 2), "  ");
        assert_eq!(indentation("a", 0), "");
    }

    #[test]
    fn a_first_entry_stands_before_the_others() {
        let first =
            |text: &str, part: &str| edited(text, part, |edits, at| edits.first_entry(at, "z: 9"));
        assert_eq!(
            first("b: {c: 2}\n", "{c: 2}"),
            Ok("b: {z: 9, c: 2}\n".to_owned())
        );
        assert_eq!(first("b: { }\n", "{ }"), Ok("b: {z: 9 }\n".to_owned()));
        assert_eq!(
            first("b:\r\n- c: 2\r\n  d: 3\r\n", "c: 2\r\n  d: 3"),
            Ok("b:\r\n- z: 9\r\n  c: 2\r\n  d: 3\r\n".to_owned())
        );
    }

    #[test]
    fn whole_lines_change() {
        let check = |text: &str, changes: &[(Range<usize>, &str)], expected: &[(&str, &str)]| {
            let mut edits = Edits::of(text);
            changes
                .iter()
                .for_each(|(range, with)| edits.replace(range.clone(), *with));
            let after = edits.clone().apply().unwrap();
            let lines = edits.changed_lines();
            let shown: Vec<_> = lines
                .iter()
                .map(|(range, with)| (cut(text, range.clone()), with.as_str()))
                .collect();
            assert_eq!(shown, expected, "{text:?} {changes:?}");
            // Nothing else changes.
            let mut rebuilt = Edits::of(text);
            lines
                .into_iter()
                .for_each(|(range, with)| rebuilt.replace(range, with));
            assert_eq!(rebuilt.apply(), Ok(after));
        };
        let text = "a: 1\nb: 2\nc: 3";
        check(text, &[], &[]);
        check(text, &[(3..4, "7")], &[("a: 1\n", "a: 7\n")]);
        check(text, &[(5..5, "x\n")], &[("", "x\n")]);
        check(text, &[(5..5, "x: ")], &[("b: 2\n", "x: b: 2\n")]);
        check(text, &[(14..14, "\nd: 4\n")], &[("c: 3", "c: 3\nd: 4\n")]);
        check(text, &[(5..10, "")], &[("b: 2\n", "")]);
        check(text, &[(4..9, "")], &[("a: 1\nb: 2\n", "a: 1\n")]);
        check(text, &[(3..10, "")], &[("a: 1\nb: 2\nc: 3", "a: c: 3")]);
        check(
            text,
            &[(0..1, "A"), (3..4, "7"), (13..14, "8")],
            &[("a: 1\n", "A: 7\n"), ("c: 3", "c: 8")],
        );
        check(
            text,
            &[(5..5, "x\n"), (5..5, "y\n"), (5..6, "B")],
            &[("", "x\ny\n"), ("b: 2\n", "B: 2\n")],
        );
        check(
            text,
            &[(8..9, "7"), (10..10, "x\n")],
            &[("b: 2\n", "b: 7\nx\n")],
        );
    }
}
