//! Lines that are not indented as those that they belong with: which line is wrong, and what its
//! indentation should be.

use super::quoting::shown;
use windlass_source::TextRange;
use windlass_source::cut::cut;
use windlass_source::diag::Remedy;

/// Longer lines are not written out in a help.
const LONGEST_LINE: usize = 80;

#[derive(Debug)]
pub(super) struct Misplaced {
    pub(super) message: String,
    pub(super) help: Remedy,
    /// What can be done instead, behind the line of the neighbour.
    pub(super) or: &'static str,
    /// The word that is at the wrong place.
    pub(super) word: TextRange,
    /// The word beside which it belongs.
    pub(super) beside: Option<TextRange>,
}

/// A line that holds something.
#[derive(Debug, Clone, Copy)]
struct Line<'t> {
    /// The blanks before it.
    indent: usize,
    /// The bytes of the text before its first word.
    start: usize,
    /// Without blanks around it.
    text: &'t str,
}

impl<'t> Line<'t> {
    fn is_item(&self) -> bool {
        self.text == "-" || self.text.starts_with("- ")
    }

    /// What stands behind the signs of items.
    fn behind_items(&self) -> &'t str {
        let mut rest = self.text;
        while let Some(item) = rest.strip_prefix("- ") {
            rest = item.trim_start();
        }
        rest
    }

    /// The column of the key behind the signs of items.
    fn key_column(&self) -> usize {
        self.indent + self.text.len() - self.behind_items().len()
    }

    /// What the line is called: its key, with the signs of items before it.
    fn name(&self) -> &'t str {
        let end = self.key_column() - self.indent + self.key().len();
        cut(self.text, ..end)
    }

    /// The key behind the signs of items.
    fn key(&self) -> &'t str {
        let rest = self.behind_items();
        rest.split(": ")
            .next()
            .unwrap_or(rest)
            .trim_end_matches(':')
    }

    /// Where its first word stands: the sign of an item, or the key.
    fn word_range(&self) -> TextRange {
        let length = if self.is_item() {
            "-".len()
        } else {
            self.key().len()
        };
        TextRange::new(self.start, self.start + length)
    }

    /// Whether the lines that follow are the text of a block.
    fn opens_block(&self) -> bool {
        let rest = self.behind_items();
        let value = rest.rsplit_once(": ").map_or(rest, |(_, value)| value);
        value.starts_with(['|', '>']) && value.len() <= "|2-".len()
    }

    fn key_range(&self) -> TextRange {
        let start = self.start + self.key_column() - self.indent;
        TextRange::new(start, start + self.key().len())
    }

    fn of(start: usize, line: &'t str) -> Self {
        let rest = line.trim_start_matches(' ');
        let indent = line.len() - rest.len();
        Line {
            indent,
            start: start + indent,
            text: rest.trim_end(),
        }
    }

    fn holds_something(&self) -> bool {
        !self.text.is_empty() && !self.text.starts_with('#')
    }

    fn is_document_mark(&self) -> bool {
        self.indent == 0 && (self.text.starts_with("---") || self.text.starts_with("..."))
    }
}

/// The lines before the one that holds a place, the nearest first, as far as the document goes.
fn above(text: &str, at: usize) -> impl Iterator<Item = Line<'_>> {
    let mut end = cut(text, ..at).rfind('\n');
    let lines = std::iter::from_fn(move || {
        let stop = end?;
        end = cut(text, ..stop).rfind('\n');
        let start = end.map_or(0, |before| before + 1);
        Some(Line::of(start, cut(text, start..stop)))
    });
    lines
        .take_while(|line| !line.is_document_mark())
        .filter(Line::holds_something)
}

/// The line that holds a place, and those after it, as far as the document goes.
fn from(text: &str, at: usize) -> impl Iterator<Item = Line<'_>> {
    let mut next = Some(cut(text, ..at).rfind('\n').map_or(0, |before| before + 1));
    let lines = std::iter::from_fn(move || {
        let start = next?;
        let end = cut(text, start..)
            .find('\n')
            .map_or(text.len(), |end| start + end);
        next = (end < text.len()).then_some(end + 1);
        Some(Line::of(start, cut(text, start..end)))
    });
    lines
        .take_while(|line| !line.is_document_mark())
        .filter(Line::holds_something)
}

/// A line that belongs to nothing where it stands: which one is to be moved, and beside what.
pub(super) fn of_line(text: &str, at: usize) -> Option<Misplaced> {
    let line = from(text, at).next()?;
    if line.is_item() {
        let neighbour = above(text, at)
            .find(|other| other.is_item() || other.indent < line.indent)
            .filter(Line::is_item)?;
        return (neighbour.indent != line.indent).then(|| wrong_of(text, &neighbour, &line));
    }
    let mut first_within = None;
    let mut parent = None;
    for other in above(text, at) {
        if other.indent <= line.indent {
            parent = Some(other);
            break;
        }
        first_within = Some(other);
    }
    let of_parent = parent.map(|parent| (parent.key_column(), parent.key(), parent.key_range()));
    let near = first_within.filter(|inner| !inner.is_item());
    let distance = |column: usize| column.abs_diff(line.indent);
    match (near, of_parent) {
        (_, Some((column, ..))) if column == line.indent => None,
        (Some(inner), parent)
            if parent.is_none_or(|(column, ..)| distance(inner.indent) <= distance(column)) =>
        {
            Some(wrong_of(text, &inner, &line))
        }
        (_, Some((column, key, range))) => Some(beside(&line, column, key, range)),
        _ => None,
    }
}

/// Of two neighbours the one that is wrong: that with fewer lines beside it, else that whose
/// indentation is odd.
fn wrong_of<'t>(text: &'t str, first: &Line<'t>, second: &Line<'t>) -> Misplaced {
    let alike = |line: &Line<'t>| {
        let beside = from(text, line.start).take_while(|other| other.indent >= line.indent);
        beside
            .filter(|other| other.indent == line.indent && other.is_item() == line.is_item())
            .count()
    };
    let first_is_wrong = match alike(first).cmp(&alike(second)) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Equal => first.indent % 2 == 1 && second.indent.is_multiple_of(2),
        std::cmp::Ordering::Greater => false,
    };
    let (wrong, right) = if first_is_wrong {
        (first, second)
    } else {
        (second, first)
    };
    beside(wrong, right.indent, right.name(), right.word_range())
}

fn beside(line: &Line<'_>, column: usize, key: &str, range: TextRange) -> Misplaced {
    let (word, key) = (shown(line.name()), shown(key));
    let message = format!(
        "`{word}` is indented by {}, but its sibling `{key}` by {}",
        spaces(line.indent),
        spaces(column)
    );
    Misplaced {
        message,
        help: indent_by(column),
        or: "",
        word: line.word_range(),
        beside: Some(range),
    }
}

/// A line that YAML takes for more of the value above it, although a `: ` is in it; `None` when
/// it does not begin with a word and a `:`.
pub(super) fn of_continuation(text: &str, at: usize) -> Option<Misplaced> {
    let line = from(text, at).next()?;
    let word = text.get(line.start..at)?;
    if word.is_empty() || word.contains([' ', '\t', '"', '\'']) {
        return None;
    }
    let previous = above(text, at).next()?;
    if let Some(lacking) = lacks_a_blank(&previous, &line) {
        return Some(lacking);
    }
    let is_entry =
        |other: &Line<'_>| other.behind_items().contains(": ") || other.text.ends_with(':');
    let owner =
        above(text, at).find(|other| other.key_column() < line.indent && is_entry(other))?;
    let (word, key) = (shown(line.key()), shown(owner.key()));
    let message = format!(
        "`{word}` is indented more than `{key}`, so YAML reads its line as part of that value"
    );
    let (help, or) = (
        indent_by(owner.key_column()),
        ", or put the whole value in quotes",
    );
    Some(Misplaced {
        message,
        help,
        or,
        word: line.word_range(),
        beside: Some(owner.key_range()),
    })
}

/// A line whose `-` or `:` lacks the blank behind it, so that it is a word and not an item or an
/// entry.
fn lacks_a_blank(line: &Line<'_>, next: &Line<'_>) -> Option<Misplaced> {
    let found = |sign: char, fixed: String| {
        let message =
            format!("there is no space after the `{sign}`, so YAML reads the line as text");
        let word = TextRange::new(line.start, line.start + line.text.len());
        Some(Misplaced {
            message,
            help: Remedy::new("write ").quoted(shown(&fixed).0),
            or: "",
            word,
            beside: None,
        })
    };
    let is_entry = |item: &&str| {
        item.split_once(": ")
            .is_some_and(|(key, _)| key.starts_with(char::is_alphabetic) && !key.contains(' '))
    };
    if let Some(item) = line.text.strip_prefix('-').filter(is_entry) {
        return found('-', format!("- {item}"));
    }
    let rest = line.behind_items();
    let (key, value) = rest
        .split_once(':')
        .filter(|_| line.key_column() >= next.indent)?;
    if value.is_empty() || value.starts_with([' ', '\t', '/']) || key.contains([' ', '\t']) {
        return None;
    }
    found(
        ':',
        format!(
            "{}{key}: {value}",
            &line.text[..line.text.len() - rest.len()]
        ),
    )
}

/// A line without a `: ` below a block's text, which may be meant as more of it.
pub(super) fn of_block(text: &str, at: usize) -> Option<Misplaced> {
    let line = from(text, at).next()?;
    let mut first = None;
    let mut header = None;
    for other in above(text, at) {
        if other.opens_block() {
            header = Some(other).filter(|header| header.key_column() >= line.indent);
            break;
        }
        if other.indent <= line.indent {
            break;
        }
        first = Some(other);
    }
    let header = header?;
    let column = first.map_or(header.key_column() + 2, |first| first.indent);
    let message = format!(
        "`{}` is neither a `key: value` pair nor indented like the text of `{}`",
        shown(line.text),
        shown(header.key())
    );
    let word = TextRange::new(line.start, line.start + line.text.len());
    let (help, or) = (indent_by(column), ", or write `key: value`");
    Some(Misplaced {
        message,
        help,
        or,
        word,
        beside: first.map(|first| first.word_range()),
    })
}

/// As a line is written that is indented by a tab: beside the line above, or below it when that has
/// only a key.
pub(super) fn without_tab(text: &str, at: usize) -> Option<String> {
    let start = cut(text, ..at).rfind('\n').map_or(0, |before| before + 1);
    let line = cut(text, start..)
        .split('\n')
        .next()
        .unwrap_or_default()
        .trim();
    let previous = above(text, at).next()?;
    let column = previous.key_column() + if previous.text.ends_with(':') { 2 } else { 0 };
    (!line.is_empty() && column + line.len() <= LONGEST_LINE).then(|| " ".repeat(column) + line)
}

fn indent_by(column: usize) -> Remedy {
    Remedy::new(format!("indent it by {}", spaces(column)))
}

fn spaces(count: usize) -> String {
    match count {
        0 => "no space".to_owned(),
        1 => "1 space".to_owned(),
        count => format!("{count} spaces"),
    }
}
