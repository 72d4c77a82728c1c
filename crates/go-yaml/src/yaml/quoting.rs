//! The value of a line as its reader meant it: where it stands, and how it is written in quotes.

use std::borrow::Cow;

use windlass_source::TextRange;
use windlass_source::cut::cut;
use windlass_source::diag::Quoted;

/// Longer values are not repeated: their own line shows them.
const LONGEST: usize = 120;

/// The value of one line: what stands behind `- ` and `key: `, up to the comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineValue<'t> {
    /// The bytes of the text before it.
    pub(super) start: usize,
    /// The value, without blanks around it.
    pub(super) text: &'t str,
}

impl<'t> LineValue<'t> {
    /// The value of the line that holds this place; `None` where the line has none.
    pub(super) fn at(text: &'t str, at: usize) -> Option<Self> {
        let start = cut(text, ..at).rfind('\n').map_or(0, |before| before + 1);
        let end = cut(text, at..)
            .find('\n')
            .map_or(text.len(), |after| at + after);
        let line = cut(text, start..end);
        let mut value = line.trim_start();
        while let Some(item) = value.strip_prefix("- ") {
            value = item.trim_start();
        }
        if let Some((key, of_key)) = value.split_once(": ")
            && is_key(key)
        {
            value = of_key.trim_start();
        }
        let start = start + (line.len() - value.len());
        let value = without_comment(value).trim_end();
        (!value.is_empty()).then_some(LineValue { start, text: value })
    }

    /// Where the brackets, the quotes or the alias are over that it begins with, in bytes of the
    /// text; `None` when they are not, or when it begins with another word.
    pub(super) fn first_ends(&self) -> Option<usize> {
        let ends = match self.text.as_bytes().first()? {
            quote @ (b'"' | b'\'') => closing_quote(self.text, *quote),
            b'[' | b'{' => closing_bracket(self.text),
            b'*' => self.text.find(' '),
            _ => None,
        };
        ends.map(|ends| self.start + ends)
    }

    /// The value in quotes. One that was cut short by a quote within it keeps what was meant as its
    /// text.
    pub(super) fn in_quotes(&self) -> Option<String> {
        let cut_short = self
            .text
            .chars()
            .next()
            .filter(|quote| matches!(quote, '"' | '\''))
            .and_then(|quote| {
                let inner = self.text.strip_prefix(quote)?.strip_suffix(quote)?;
                let behind = cut(self.text, self.first_ends()? - self.start..);
                (!behind.starts_with([' ', '\t'])).then_some(inner)
            });
        in_quotes(cut_short.unwrap_or(self.text))
    }

    /// What of it belongs in quotes where a place within its brackets cannot be read: an expression
    /// of jinja, else the word there.
    pub(super) fn word_in_quotes(&self, at: usize) -> Option<String> {
        let at = at
            .checked_sub(self.start)
            .filter(|at| *at <= self.text.len())?;
        let (before, behind) = self.text.split_at(at);
        for (opens, closes) in [("{{", "}}"), ("{%", "%}")] {
            // The place may be the second of the two signs.
            let Some(open) = cut(
                self.text,
                ..behind.chars().next().map_or(at, |c| at + c.len_utf8()),
            )
            .rfind(opens) else {
                continue;
            };
            if before
                .get(open..)
                .is_none_or(|within| !within.contains(closes))
            {
                let end = behind
                    .find(closes)
                    .map_or(self.text.len(), |end| at + end + closes.len());
                return in_quotes(if open == 0 {
                    self.text
                } else {
                    cut(self.text, open..end)
                });
            }
        }
        let separates = |c: char| matches!(c, ',' | '[' | ']' | '{' | '}');
        let start = before.rfind(separates).map_or(0, |before| before + 1);
        let start = before[start..]
            .rfind(": ")
            .map_or(start, |key| start + key + ": ".len());
        let end = behind
            .find(separates)
            .map_or(self.text.len(), |end| at + end);
        in_quotes(cut(self.text, start..end).trim())
    }
}

/// A text in single quotes, unless it is long.
pub(super) fn in_quotes(text: &str) -> Option<String> {
    (!text.is_empty() && text.len() <= LONGEST && !text.contains('\n'))
        .then(|| format!("'{}'", text.replace('\'', "''")))
}

/// A text of the user as a message repeats it: not all of it, when it is long.
pub(super) fn shown(text: &str) -> Quoted<Cow<'_, str>> {
    Quoted(match text.char_indices().nth(60) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", cut(text, ..end))),
    })
}

/// Whether something stands behind a value in its line that cannot follow it there.
pub(super) fn is_followed(text: &str, value: TextRange) -> bool {
    let rest = cut(text, value.end()..)
        .split('\n')
        .next()
        .unwrap_or_default();
    let behind = rest.trim();
    let is_comment = behind.starts_with('#') && rest.starts_with([' ', '\t']);
    !behind.is_empty() && !is_comment && !behind.starts_with([',', ']', '}', ':'])
}

/// Whether a word reads as a key: commands have blanks.
fn is_key(word: &str) -> bool {
    !word.is_empty()
        && !word.starts_with(['"', '\'', '[', '{', '&', '*', '!'])
        && !word.contains([' ', '\t'])
}

/// A value up to the ` #` that is in no quotes.
fn without_comment(value: &str) -> &str {
    let mut quote = None;
    let mut previous = ' ';
    for (at, c) in value.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '#' && previous.is_whitespace() => return cut(value, ..at),
            None if matches!(c, '"' | '\'') && !previous.is_alphanumeric() => quote = Some(c),
            _ => {}
        }
        previous = c;
    }
    value
}

/// Just behind the quote that closes the one at the start.
fn closing_quote(text: &str, quote: u8) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 2,
            found if found == quote && quote == b'\'' && bytes.get(at + 1) == Some(&quote) => {
                at += 2
            }
            found if found == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Just behind the bracket that closes the one at the start; what quotes hold does not count.
fn closing_bracket(text: &str) -> Option<usize> {
    let (mut depth, mut at, mut previous) = (0_usize, 0, b' ');
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let found = bytes[at];
        match found {
            b'"' | b'\''
                if previous.is_ascii_whitespace()
                    || matches!(previous, b'[' | b'{' | b',' | b':') =>
            {
                at += closing_quote(cut(text, at..), found)?;
                previous = found;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
        previous = found;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_quoted_as_it_was_meant() {
        for (line, expected) in [
            ("  - [ -f x ] && y # why", "'[ -f x ] && y'"),
            ("- - a", "'a'"),
            ("key: b: c", "'b: c'"),
            ("- key: *b c", "'*b c'"),
            ("- echo a: b: c", "'echo a: b: c'"),
            ("a: 'it's'", "'it''s'"),
            ("a: \"say \"x\"\"", "'say \"x\"'"),
            ("- \"a\" \"b\"", "'\"a\" \"b\"'"),
            ("- echo \"a # b\" # c", "'echo \"a # b\"'"),
            ("- echo it's # c", "'echo it''s'"),
        ] {
            let value = LineValue::at(line, 0).unwrap();
            assert_eq!(value.in_quotes().as_deref(), Some(expected), "{line}");
        }
        assert_eq!(LineValue::at("a:\n- \n", 4), None);
        assert_eq!(
            LineValue::at(&"x".repeat(200), 3).unwrap().in_quotes(),
            None
        );
    }

    #[test]
    fn brackets_and_quotes_end_where_they_are_closed() {
        for (text, expected) in [
            ("[ -f x ] && y", Some(8)),
            ("{{ x }} y", Some(7)),
            ("[\"]\", ']'] z", Some(10)),
            ("[it's] z", Some(6)),
            ("[a", None),
            ("\"a\\\"b\" c", Some(6)),
            ("'a''b' c", Some(6)),
            ("*a b", Some(2)),
            ("a b", None),
        ] {
            assert_eq!(
                LineValue::at(text, 0).unwrap().first_ends(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn within_brackets_the_word_is_quoted() {
        for (text, word, expected) in [
            ("a: [b, @c d, e]", "@c", "'@c d'"),
            ("a: {b: @c}", "@c", "'@c'"),
            ("a: [b, {{ x[\"y\"] }}]", "[\"y", "'{{ x[\"y\"] }}'"),
            ("a: {{ x[\"y\"] }}-z", "[\"y", "'{{ x[\"y\"] }}-z'"),
            ("a: {% if x %}", "%", "'{% if x %}'"),
            ("a: [b, {% if x %}]", "%", "'{% if x %}'"),
        ] {
            let at = text.find(word).unwrap();
            assert_eq!(
                LineValue::at(text, at)
                    .unwrap()
                    .word_in_quotes(at)
                    .as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }
}
