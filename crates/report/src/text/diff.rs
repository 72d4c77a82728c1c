//! What changes in a text, as `diff -u` writes it. What is secret in it is not shown, so that such
//! a difference is none for `patch`.

use std::fmt::Write;
use std::ops::Range;

use super::excerpt::MaskedLine;
use super::{Paint, Style, visible};
use crate::Sources;
use windlass_source::Source;

/// Lines that are shown around those that change.
const CONTEXT: usize = 3;

/// A text before and after changes of whole lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The text as it is.
    pub before: Source,
    /// The text as it will be.
    pub after: Source,
    /// The lines that change, in bytes of the text before, and what stands there then.
    pub lines: Vec<(Range<usize>, String)>,
}

impl Changed {
    /// A text before and after changes of these lines.
    pub fn new(before: Source, after: Source, lines: Vec<(Range<usize>, String)>) -> Self {
        Changed {
            before,
            after,
            lines,
        }
    }
}

/// Lines of both texts, from 0, that belong together.
struct Hunk {
    old: Range<usize>,
    new: Range<usize>,
}

/// The difference of the texts. `sources` say what is shown.
pub fn unified(changed: &Changed, sources: &Sources, style: Style) -> String {
    let name = visible(changed.before.name()).into_owned();
    let mut text = String::new();
    for (sign, file, paint) in [("---", "a", Paint::Removed), ("+++", "b", Paint::Added)] {
        let _ = writeln!(
            text,
            "{}",
            style.paint(paint, &format!("{sign} {file}/{name}"))
        );
    }
    let mut after = Sources::new();
    after.shows_secrets = sources.shows_secrets;
    after.add(changed.after.clone());
    let writer = Writer {
        before: Shown::new(&changed.before, sources),
        after: Shown::new(&changed.after, &after),
        style,
    };
    hunks(changed)
        .iter()
        .for_each(|hunks| writer.hunk(hunks, &mut text));
    text
}

/// The changes, those together whose context would touch.
fn hunks(changed: &Changed) -> Vec<Vec<Hunk>> {
    let mut groups: Vec<Vec<Hunk>> = Vec::new();
    let (mut added, mut removed) = (0, 0);
    for (range, with) in &changed.lines {
        let start = line_at(&changed.before, range.start);
        let old = start..start + changed.before.slice(range.clone()).lines().count();
        let new_start = start + added - removed;
        let new = new_start..new_start + with.lines().count();
        (added, removed) = (added + new.len(), removed + old.len());
        let near = groups.last_mut().filter(|group| {
            group
                .last()
                .is_some_and(|last| old.start <= last.old.end + 2 * CONTEXT)
        });
        match near {
            Some(group) => group.push(Hunk { old, new }),
            None => groups.push(vec![Hunk { old, new }]),
        }
    }
    groups
}

/// The line (from 0) that begins at a byte.
fn line_at(source: &Source, byte: usize) -> usize {
    source.position(byte).line as usize - 1
}

fn line_count(source: &Source) -> usize {
    source.text().lines().count()
}

/// A text, how many lines it has, and what of it is not shown.
#[derive(Clone, Copy)]
struct Shown<'a> {
    source: &'a Source,
    lines: usize,
    sources: &'a Sources,
}

impl<'a> Shown<'a> {
    fn new(source: &'a Source, sources: &'a Sources) -> Self {
        Shown {
            source,
            lines: line_count(source),
            sources,
        }
    }
}

struct Writer<'a> {
    before: Shown<'a>,
    after: Shown<'a>,
    style: Style,
}

impl Writer<'_> {
    fn hunk(&self, hunks: &[Hunk], text: &mut String) {
        let (Some(first), Some(last)) = (hunks.first(), hunks.last()) else {
            return;
        };
        let start = first.old.start.saturating_sub(CONTEXT);
        let end = (last.old.end + CONTEXT)
            .min(self.before.lines)
            .max(last.old.end);
        let new_start = first.new.start - (first.old.start - start);
        let new_end = last.new.end + (end - last.old.end);
        let header = format!(
            "@@ -{} +{} @@",
            numbered(start..end),
            numbered(new_start..new_end)
        );
        let _ = writeln!(text, "{header}");
        let mut at = start;
        for Hunk { old, new } in hunks {
            self.lines(' ', self.before, at..old.start, text);
            self.lines('-', self.before, old.clone(), text);
            self.lines('+', self.after, new.clone(), text);
            at = old.end;
        }
        self.lines(' ', self.before, at..end, text);
    }

    fn lines(
        &self,
        sign: char,
        Shown {
            source,
            lines: count,
            sources,
        }: Shown<'_>,
        lines: Range<usize>,
        text: &mut String,
    ) {
        for line in lines {
            let number = u32::try_from(line + 1).unwrap_or(u32::MAX);
            let shown = MaskedLine::new(
                source.line(number).unwrap_or_default(),
                sources.secrets_of_line(source.name(), number),
            )
            .text;
            let shown = format!("{sign}{}", visible(&shown));
            let shown = match sign {
                '-' => self.style.paint(Paint::Removed, &shown),
                '+' => self.style.paint(Paint::Added, &shown),
                _ => shown,
            };
            let _ = writeln!(text, "{shown}");
            if line + 1 == count && !source.text().ends_with('\n') {
                text.push_str("\\ No newline at end of file\n");
            }
        }
    }
}

/// Lines as the header of a hunk counts them: of none, the one before is named.
fn numbered(lines: Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::edit::Edits;

    fn diff(text: &str, changes: &[(Range<usize>, &str)]) -> String {
        let before = Source::new("d/x.yaml", text);
        let mut edits = Edits::of(text);
        changes
            .iter()
            .for_each(|(range, with)| edits.replace(range.clone(), *with));
        let after = Source::new("d/x.yaml", edits.clone().apply().unwrap());
        let changed = Changed::new(before.clone(), after, edits.changed_lines());
        unified(
            &changed,
            &std::iter::once(before).collect(),
            Style::default(),
        )
    }

    /// As `diff -u` writes them.
    #[test]
    fn differences_are_those_of_diff() {
        let text = (1..=20)
            .map(|line| format!("{line:02}\n"))
            .collect::<String>();
        let head = "--- a/d/x.yaml\n+++ b/d/x.yaml\n";
        let expected = "@@ -1,4 +1,5 @@\n+new\n-01\n+1\n 02\n 03\n 04\n";
        assert_eq!(
            diff(&text, &[(0..0, "new\n"), (0..2, "1")]),
            format!("{head}{expected}")
        );
        let expected = "@@ -2,7 +2,6 @@\n 02\n 03\n 04\n-05\n 06\n 07\n 08\n@@ -17,4 +16,5 @@\n 17\n 18\n 19\n-20\n+twenty\n+21\n";
        assert_eq!(
            diff(&text, &[(12..15, ""), (57..59, "twenty"), (60..60, "21\n")]),
            format!("{head}{expected}")
        );
        // The context of the two would touch.
        let expected = "@@ -2,14 +2,14 @@\n 02\n 03\n 04\n-05\n+5\n 06\n 07\n 08\n 09\n 10\n 11\n-12\n+twelve\n 13\n 14\n 15\n";
        assert_eq!(
            diff(&text, &[(12..14, "5"), (33..35, "twelve")]),
            format!("{head}{expected}")
        );
        let expected = "@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n";
        assert_eq!(diff("a", &[(1..1, "\nb\n")]), format!("{head}{expected}"));
        assert_eq!(
            diff("", &[(0..0, "a\n")]),
            format!("{head}@@ -0,0 +1 @@\n+a\n")
        );
    }

    #[test]
    fn secrets_and_commands_are_not_shown() {
        let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  a: hunter2\n  b: c\x1b[2J\n";
        let at = text.find("kind").unwrap();
        let told = diff(
            text,
            &[
                (at..at, "# x\x1b\n"),
                (text.len()..text.len(), "  c: hunter3\n"),
            ],
        );
        assert!(
            !told.contains("hunter")
                && told.contains("+# x␛\n")
                && told.contains("+  c: <redacted>\n"),
            "{told}"
        );
    }
}
