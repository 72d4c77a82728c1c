//! The lines of a file that a finding speaks of, with what is marked in them and what would be
//! added.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use super::{Paint, Style, visible, visible_lines};
use crate::Sources;
use windlass_objects::secrets::{REDACTED, joined};
use windlass_source::Source;
use windlass_source::cut::cut;
use windlass_source::diag::{Severity, Span, Text};

const TAB: usize = 4;
/// Bytes of the longest line that is searched for what to show. Beyond, the place alone must do:
/// with thousands of findings in one line the search would take longer than finding them did.
const LONGEST_LINE: usize = 256 << 10;
/// Characters before and after a mark that are looked at in a line that is longer than both: more
/// than any terminal shows.
const AROUND: usize = 4096;
/// A line is trimmed to no less than this, however narrow the terminal is.
const LEAST_WIDTH: usize = 20;

pub(super) struct Excerpt<'a> {
    source: Option<&'a Source>,
    /// All texts, which know what is secret in them.
    sources: &'a Sources,
    severity: Severity,
    marks: Vec<Mark>,
    insertion: Option<(u32, Vec<String>)>,
    /// The line of a field whose value is hidden, and the characters up to the end of its name.
    hidden_value: Option<(u32, usize)>,
}

/// A stretch of one line that is underlined.
#[derive(Clone)]
struct Mark {
    line: u32,
    /// Characters before it.
    from: usize,
    /// Characters before its end; `None` is the end of the line.
    to: Option<usize>,
    label: String,
    is_primary: bool,
}

impl<'a> Excerpt<'a> {
    /// An excerpt of a file; without its text only added lines are shown.
    pub(super) fn new(
        source: Option<&'a Source>,
        sources: &'a Sources,
        severity: Severity,
    ) -> Self {
        Excerpt {
            source,
            sources,
            severity,
            marks: Vec::new(),
            insertion: None,
            hidden_value: None,
        }
    }

    /// Hides the value of a field.
    pub(super) fn hide_value(&mut self, name: Span) {
        if name.start.line == name.end.line {
            let end = name.end.column.max(1) as usize - 1;
            self.hidden_value = Some((name.start.line, end));
        }
    }

    /// Marks a stretch of text. Of one that runs over several lines the first is marked: it says
    /// what is meant, as the key of a mapping or the first words of a block do.
    pub(super) fn mark(&mut self, span: Span, label: &str, is_primary: bool) {
        let (line, last) = (span.start.line, span.end.line);
        let from = span.start.column.max(1) as usize - 1;
        let to = (last <= line).then(|| span.end.column.max(1) as usize - 1);
        self.marks.push(Mark {
            line,
            from,
            to,
            label: label.to_owned(),
            is_primary,
        });
    }

    /// Shows lines to add after a line.
    pub(super) fn insert(&mut self, after_line: u32, lines: &[Text]) {
        let lines = lines.iter().map(ToString::to_string).collect();
        self.insertion = Some((after_line, lines));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.insertion.is_none() && self.lines().is_empty()
    }

    /// The digits of the largest line number.
    pub(super) fn widest_number(&self) -> usize {
        self.lines().last().map_or(0, |line| line.to_string().len())
    }

    /// The lines that are shown: those with a mark, the one before an insertion, and single lines
    /// between them.
    fn lines(&self) -> BTreeSet<u32> {
        let marked = self
            .marks
            .iter()
            .map(|mark| mark.line)
            .chain(self.insertion.as_ref().map(|(after, _)| *after));
        let mut lines: BTreeSet<u32> = marked.filter(|line| self.line(*line).is_some()).collect();
        let gaps: Vec<u32> = lines
            .iter()
            .zip(lines.iter().skip(1))
            .filter(|(a, b)| **b == **a + 2)
            .map(|(a, _)| a + 1)
            .collect();
        lines.extend(gaps);
        lines
    }

    fn line(&self, line: u32) -> Option<&'a str> {
        self.source?
            .line(line)
            .filter(|text| text.len() <= LONGEST_LINE)
    }

    fn secrets(&self, line: u32) -> Vec<Range<usize>> {
        let known = self.source.map_or(Vec::new(), |source| {
            self.sources.secrets_of_line(source.name(), line)
        });
        joined(known.into_iter().chain(self.value_of_line(line)).collect())
    }

    /// What is hidden of a line because nothing is known of its field: all but numbers, booleans
    /// and brackets.
    fn value_of_line(&self, line: u32) -> Option<Range<usize>> {
        let (_, end) = self.hidden_value.filter(|(hidden, _)| *hidden == line)?;
        let text = self.line(line).filter(|_| !self.sources.shows_secrets())?;
        let rest = cut(text, byte_of(text, end)..);
        let value = rest.trim_start_matches(['"', '\'', ' ', ':']);
        let start = text.len() - value.len();
        let value = value.trim_end();
        let is_harmless = value
            .chars()
            .all(|c| c.is_ascii_digit() || "[]{}|>-+,. ".contains(c))
            || matches!(
                value.trim_end_matches(['}', ',', ' ']),
                "true" | "false" | "null"
            );
        (!is_harmless).then(|| start..start + value.len())
    }

    /// Writes the lines, without the empty gutter lines around them.
    pub(super) fn render(&self, style: Style, gutter: usize, out: &mut String) {
        let width = style.width.saturating_sub(gutter + 3).max(LEAST_WIDTH);
        let mut previous: Option<u32> = None;
        let mut pending = self.insertion.as_ref();
        let mut marks: BTreeMap<u32, Vec<&Mark>> = BTreeMap::new();
        self.marks
            .iter()
            .for_each(|mark| marks.entry(mark.line).or_default().push(mark));
        for line in self.lines() {
            if previous.is_some_and(|previous| previous + 1 < line) {
                out.push_str("...\n");
            }
            if pending.is_some_and(|(after, _)| *after < line) {
                added(pending.take(), style, gutter, out);
            }
            self.render_line(
                line,
                marks.get(&line).map(Vec::as_slice).unwrap_or_default(),
                style,
                gutter,
                width,
                out,
            );
            if pending.is_some_and(|(after, _)| *after == line) {
                added(pending.take(), style, gutter, out);
            }
            previous = Some(line);
        }
        added(pending, style, gutter, out);
    }

    /// One source line and the rows of its marks. When a mark is outside the part of a long line
    /// that fits, the line is shown again.
    fn render_line(
        &self,
        number: u32,
        marks: &[&Mark],
        style: Style,
        gutter: usize,
        width: usize,
        out: &mut String,
    ) {
        let Some(line) = self.line(number) else {
            return;
        };
        let mut marks: Vec<Mark> = marks.iter().map(|mark| (*mark).clone()).collect();
        marks.sort_by_key(|mark| mark.from);
        for stretch in Stretch::of(line, self.secrets(number), marks) {
            self.render_stretch(number, stretch, style, gutter, width, out);
        }
    }

    fn render_stretch(
        &self,
        number: u32,
        stretch: Stretch<'_>,
        style: Style,
        gutter: usize,
        width: usize,
        out: &mut String,
    ) {
        let masked = MaskedLine::new(stretch.text, stretch.secrets);
        let text = visible_lines(&masked.text);
        let marks: Vec<Mark> = stretch
            .marks
            .iter()
            .map(|mark| masked.moved(mark))
            .collect();
        let mut shown: Option<Window> = None;
        let row = |out: &mut String, window: &Window| {
            out.push_str(format!("{number:>gutter$} | {}", window.text).trim_end());
            out.push('\n');
        };
        for mark in &marks {
            let window = match shown.take().filter(|window| window.holds(mark.from)) {
                Some(window) => window,
                None => {
                    let window = Window::new(&text, mark.from, width);
                    row(out, &window);
                    window
                }
            };
            let (before, length) = window.underline(mark.from, mark.to);
            let (sign, paint) = if mark.is_primary {
                ("^", Some(Paint::Severity(self.severity)))
            } else {
                ("-", None)
            };
            let label = if mark.label.is_empty() {
                String::new()
            } else {
                format!(" {}", visible(&mark.label))
            };
            let underline = format!("{}{label}", sign.repeat(length));
            let underline =
                paint.map_or_else(|| underline.clone(), |paint| style.paint(paint, &underline));
            out.push_str(&format!("{:gutter$} | {:before$}{underline}\n", "", ""));
            shown = Some(window);
        }
        if marks.is_empty() {
            row(out, &Window::new(&text, 0, width));
        }
    }
}

fn added(insertion: Option<&(u32, Vec<String>)>, style: Style, gutter: usize, out: &mut String) {
    for line in insertion.into_iter().flat_map(|(_, lines)| lines) {
        let line = style.paint(Paint::Added, format!("+ {}", visible(line)).trim_end());
        out.push_str(&format!("{:gutter$} {line}\n", ""));
    }
}

/// The byte at which a character of a line begins, or the length of the line. Where all before it is
/// ASCII nothing is counted: each of many findings in one line asks.
fn byte_of(line: &str, characters: usize) -> usize {
    match line.get(..characters) {
        Some(before) if before.is_ascii() => characters,
        _ => line
            .char_indices()
            .nth(characters)
            .map_or(line.len(), |(at, _)| at),
    }
}

/// A part of a line with the marks in it.
struct Stretch<'l> {
    text: &'l str,
    secrets: Vec<Range<usize>>,
    marks: Vec<Mark>,
}

impl<'l> Stretch<'l> {
    /// The line as it is, or, of one that is long, what is around each mark: what a finding costs
    /// does not grow with its line.
    fn of(line: &'l str, secrets: Vec<Range<usize>>, marks: Vec<Mark>) -> Vec<Self> {
        if line.len() <= 2 * AROUND {
            return vec![Stretch {
                text: line,
                secrets,
                marks,
            }];
        }
        if marks.is_empty() {
            return vec![Stretch::between(line, &secrets, 0..AROUND, None)];
        }
        let around = |mark: Mark| {
            let first = mark.from.saturating_sub(AROUND);
            let to = mark.to.map(|to| to.min(mark.from + AROUND) - first);
            let moved = Mark {
                from: mark.from - first,
                to,
                ..mark
            };
            Stretch::between(line, &secrets, first..mark.from + AROUND, Some(moved))
        };
        marks.into_iter().map(around).collect()
    }

    /// These characters of the line.
    fn between(
        line: &'l str,
        secrets: &[Range<usize>],
        characters: Range<usize>,
        mark: Option<Mark>,
    ) -> Self {
        let start = byte_of(line, characters.start);
        let end = start + byte_of(cut(line, start..), characters.len());
        let within =
            |secret: &Range<usize>| secret.start.max(start) - start..secret.end.min(end) - start;
        let touching = secrets
            .iter()
            .filter(|secret| secret.start < end && secret.end > start);
        Stretch {
            text: cut(line, start..end),
            secrets: touching.map(within).collect(),
            marks: mark.into_iter().collect(),
        }
    }
}

/// A line with `<redacted>` in place of its secrets.
pub(super) struct MaskedLine {
    pub(super) text: String,
    /// The secrets: characters before each and before its end, and the characters before what
    /// stands for it.
    secrets: Vec<(Range<usize>, usize)>,
}

impl MaskedLine {
    pub(super) fn new(line: &str, secrets: Vec<Range<usize>>) -> Self {
        let mut masked = MaskedLine {
            text: String::new(),
            secrets: Vec::new(),
        };
        let (mut at, mut before, mut written) = (0, 0, 0);
        for secret in secrets {
            let gap = cut(line, at..secret.start).chars().count();
            let length = cut(line, secret.clone()).chars().count();
            masked.text.push_str(cut(line, at..secret.start));
            masked.text.push_str(REDACTED);
            masked
                .secrets
                .push((before + gap..before + gap + length, written + gap));
            (at, before, written) = (
                secret.end,
                before + gap + length,
                written + gap + REDACTED.len(),
            );
        }
        masked.text.push_str(cut(line, at..));
        masked
    }

    /// The mark where it stands now; in a secret it marks what stands for it.
    fn moved(&self, mark: &Mark) -> Mark {
        let place = |at: usize, in_secret: usize| match self
            .secrets
            .iter()
            .rev()
            .find(|(secret, _)| secret.start <= at)
        {
            Some((secret, start)) if at < secret.end => start + in_secret,
            Some((secret, start)) => at - secret.end + start + REDACTED.len(),
            None => at,
        };
        Mark {
            from: place(mark.from, 0),
            to: mark.to.map(|to| place(to, REDACTED.len())),
            ..mark.clone()
        }
    }
}

/// The part of a line that fits on the screen.
struct Window {
    /// With `…` where something is cut off.
    text: String,
    /// The first character that is shown, counted from the start of the line.
    first: usize,
    /// The columns of each shown character, without a leading `…`.
    widths: Vec<usize>,
    /// The columns of the leading `…`.
    lead: usize,
    is_cut_after: bool,
}

impl Window {
    /// The whole line when it fits; else the part around the character `focus`, a third of it
    /// before.
    fn new(line: &str, focus: usize, width: usize) -> Self {
        let fits = columns(line, width).is_some();
        let first = if fits {
            0
        } else {
            focus.saturating_sub(width / 3)
        };
        let lead = usize::from(first > 0);
        let mut window = Window {
            text: "…".repeat(lead),
            first,
            widths: Vec::new(),
            lead,
            is_cut_after: false,
        };
        let mut used = lead;
        for c in line.chars().skip(first) {
            let columns = columns_of(c);
            // One column stays free for the `…` of a line that goes on.
            if !fits && used + columns >= width {
                window.text.push('…');
                window.is_cut_after = true;
                break;
            }
            if c == '\t' {
                window.text.push_str(&" ".repeat(TAB))
            } else {
                window.text.push_str(&visible(c.encode_utf8(&mut [0; 4])))
            }
            window.widths.push(columns);
            used += columns;
        }
        window
    }

    fn holds(&self, character: usize) -> bool {
        character >= self.first
            && (character < self.first + self.widths.len() || !self.is_cut_after)
    }

    /// Columns before a mark and its own columns, at least one.
    fn underline(&self, from: usize, to: Option<usize>) -> (usize, usize) {
        let at = |character: usize| character.saturating_sub(self.first).min(self.widths.len());
        let (start, end) = (at(from), to.map_or(self.widths.len(), at));
        let before = self.lead + self.widths[..start].iter().sum::<usize>();
        let length = self.widths[start..end.max(start)].iter().sum::<usize>();
        (before, length.max(1))
    }
}

/// The columns of a line, unless they are more than `most`.
fn columns(line: &str, most: usize) -> Option<usize> {
    let mut sum = 0;
    for c in line.chars() {
        sum += columns_of(c);
        if sum > most {
            return None;
        }
    }
    Some(sum)
}

/// The columns of a character as it is shown.
fn columns_of(c: char) -> usize {
    if c == '\t' {
        return TAB;
    }
    visible(c.encode_utf8(&mut [0; 4]))
        .chars()
        .map(|c| c.width().unwrap_or(1))
        .sum()
}
