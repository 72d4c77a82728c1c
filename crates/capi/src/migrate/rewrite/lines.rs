//! The lines that belong to an entry of a mapping, and how they are moved to the side.

use windlass_go_yaml::yaml::{Entry, Node, Value};

/// The lines of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stretch {
    /// The first byte of the comments that stand directly above it.
    pub(super) lead: usize,
    /// The first byte of its line, or its key where a `- ` stands before that.
    pub(super) start: usize,
    /// Behind its last line.
    pub(super) end: usize,
}

impl Stretch {
    /// The lines of an entry; what stands before `from` belongs to others.
    pub(super) fn of(text: &str, entry: &Entry, from: usize) -> Self {
        let key = entry.key_span.start();
        let line = line_start(text, key);
        let start = if text[line..key].trim().is_empty() {
            line
        } else {
            key
        };
        let lead = if start == line {
            lead(text, line, from)
        } else {
            start
        };
        let end = line_end(text, end_of(text, &entry.value).max(entry.key_span.end()));
        Stretch { lead, start, end }
    }
}

/// The line above a text in lines: `|` or `>`, and what may stand behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header<'t> {
    /// The first byte of its sign.
    pub(super) start: usize,
    /// How the text is to be read: `|`, `>-`, `|2+`.
    pub(super) sign: &'t str,
    /// A comment, with the blanks before it.
    pub(super) comment: &'t str,
    /// Where the lines below it begin.
    pub(super) end: usize,
}

impl<'t> Header<'t> {
    /// The header of a text whose words begin at a place, and whose key ends at another one; `None`
    /// of one that has none.
    pub(super) fn of(text: &'t str, key_end: usize, words: usize) -> Option<Self> {
        let above = text[..words].trim_end();
        let line = above.get(line_start(above, above.len()).max(key_end)..)?;
        let comment = line
            .match_indices('#')
            .map(|(at, _)| at)
            .find(|at| line[..*at].ends_with([' ', '\t']));
        let said = line[..comment.unwrap_or(line.len())].trim_end();
        let sign = &said[said.rfind([' ', '\t', ':']).map_or(0, |blank| blank + 1)..];
        let is_sign = sign
            .strip_prefix(['|', '>'])
            .is_some_and(|how| how.chars().all(|c| c.is_ascii_digit() || "+-".contains(c)));
        let mut owners = said[..said.len() - sign.len()].split_whitespace();
        let is_header = is_sign
            && owners.all(|word| word == ":" || word == "-" || word.starts_with(['!', '&']));
        let start = above.len() - line.len() + said.len() - sign.len();
        let header = Header {
            start,
            sign,
            comment: &line[said.len()..],
            end: line_end(text, above.len()),
        };
        (is_header && header.end <= words).then_some(header)
    }
}

pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |before| before + 1)
}

/// Behind the end of a line.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// How many characters stand before a place in its line.
pub(super) fn column(text: &str, at: usize) -> usize {
    text[line_start(text, at)..at].chars().count()
}

/// Where the text of a node ends, without the blanks behind it.
pub(super) fn end_of(text: &str, node: &Node) -> usize {
    node.span.start() + text[node.span.start()..node.span.end()].trim_end().len()
}

/// Whether a value is written where it stands. What an alias (`*name`) says, or a merge (`<<`), is
/// written elsewhere.
pub(super) fn stands_here(node: &Node) -> bool {
    let is_within = |start: usize, end: usize| node.span.start() <= start && end <= node.span.end();
    match &node.value {
        Value::Sequence(items) => items
            .iter()
            .all(|item| is_within(item.span.start(), item.span.end())),
        Value::Mapping(mapping) => {
            // Keys that a merge took from a value of this mapping stand within that value.
            let mut entries: Vec<_> = mapping
                .iter()
                .map(|entry| (entry.key_span.start(), entry.value.span.end()))
                .collect();
            entries.sort_unstable();
            let is_apart = entries.windows(2).all(|pair| pair[0].1 <= pair[1].0);
            is_apart && entries.iter().all(|(start, end)| is_within(*start, *end))
        }
        _ => true,
    }
}

/// Where the comments begin that stand directly above a line, not before `from`.
fn lead(text: &str, line: usize, from: usize) -> usize {
    let mut lead = line;
    while lead > from {
        let above = line_start(text, lead - 1);
        if above < from || !text[above..lead].trim_start().starts_with('#') {
            break;
        }
        lead = above;
    }
    lead
}

/// Lines moved to the right, or to the left as far as blanks stand there.
pub(super) fn shifted(lines: &str, by: isize) -> String {
    let shift = |line: &str| {
        if line.trim().is_empty() {
            return line.to_owned();
        }
        match usize::try_from(by) {
            Ok(right) => format!("{}{line}", " ".repeat(right)),
            Err(_) => {
                let blanks = line.len() - line.trim_start_matches(' ').len();
                line[blanks.min(by.unsigned_abs())..].to_owned()
            }
        }
    };
    lines.split_inclusive('\n').map(shift).collect()
}

/// The same but for the first line, which is where it will stand.
pub(super) fn shifted_below(lines: &str, by: isize) -> String {
    let (first, rest) = lines.split_at(lines.find('\n').map_or(lines.len(), |end| end + 1));
    format!("{first}{}", shifted(rest, by))
}

/// By how much a column lies to the right of another one.
pub(super) fn difference(to: usize, from: usize) -> isize {
    to.cast_signed() - from.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_go_yaml::yaml;
    use windlass_source::Source;
    use windlass_source::budget::Budget;

    #[test]
    fn what_aliases_and_merges_say_stands_elsewhere() {
        for (anchor, written, stands) in [
            ("", "{b: 1, c: {d: 2}}", true),
            ("", "[1, {b: 2}]", true),
            ("", "{}", true),
            ("", "1", true),
            ("", "\n  b:\n  c: 1\n", true),
            ("x: &x 1\n", "*x", true),
            ("x: &x {b: 1}\n", "*x", false),
            ("x: &x [1]\n", "*x", false),
            ("x: &x\n  b: 1\n", "*x", false),
            ("x: &x {b: 1}\n", "{c: 2, <<: *x}", false),
            ("x: &x {b: 1}\n", "\n  <<: *x", false),
            ("", "{c: &x {b: 1}, <<: *x}", false),
            ("", "\n  c: &x\n    b: 1\n  <<: *x", false),
        ] {
            let text = format!("{anchor}a: {written}\n");
            let documents =
                yaml::parse(&Source::new("f.yaml", text.as_str()), &Budget::default()).documents;
            let node = &documents[0]
                .root
                .as_mapping()
                .unwrap()
                .get("a")
                .unwrap()
                .value;
            let end = end_of(&text, node);
            assert_eq!(
                (stands_here(node), &text[node.span.start()..end]),
                (stands, written.trim()),
                "{text}"
            );
        }
    }

    #[test]
    fn the_header_of_a_text_in_lines_is_found() {
        let cases = [
            ("a", ": |\n", "|", ""),
            ("a", ": >-\r\n\r\n", ">-", ""),
            ("", "- |2+  # why | not\n", "|2+", "  # why | not"),
            ("a", ": !!str |\n", "|", ""),
            ("a", ":\n  |\n", "|", ""),
            ("\"a #b\"", ": |-  # c # d\n", "|-", "  # c # d"),
            ("\"a: | #b\"", ": >\n", ">", ""),
        ];
        for (key, above, sign, comment) in cases {
            let text = format!("{key}{above}  words");
            let header = Header::of(&text, key.len(), text.len() - "words".len()).unwrap();
            assert_eq!((header.sign, header.comment), (sign, comment), "{text}");
            assert!(
                text[header.start..].starts_with(sign) && text[..header.end].ends_with('\n'),
                "{text}"
            );
        }
        for other in [
            "a: # |\n  words",
            "a:\n  words",
            "a: |\nb: words",
            "a | words",
            "- a |\n  words",
            "words",
        ] {
            let key_end = other.find(':').unwrap_or_default();
            assert_eq!(
                Header::of(other, key_end, other.len() - "words".len()),
                None,
                "{other}"
            );
        }
    }
}
