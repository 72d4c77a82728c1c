//! The lines of a shell script as the shell takes them: one that goes on behind a backslash, an
//! open quote or a pipe is one, and a here-document belongs to the line that asks for it.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use windlass_source::cut::cut;

/// The beginning of a here-document; its delimiter may be quoted, and a list of `runcmd` quotes it
/// once more.
static HERE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(<+)-?[ \t]*['"\\]*([A-Za-z_][0-9A-Za-z_.-]*)"#)
        .expect("internal error: the pattern is one of ours")
});

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Its number, from 1.
    pub(super) number: usize,
    /// Location, in bytes, with its here-documents and the line end.
    pub(super) range: Range<usize>,
    /// Where its here-documents stand, without their delimiters.
    pub(super) bodies: Vec<Range<usize>>,
}

pub(super) fn lines(script: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut line: Option<Line> = None;
    let (mut quote, mut delimiters) = (None, VecDeque::<&str>::new());
    let mut end = 0;
    for (at, physical) in script.split_inclusive('\n').enumerate() {
        let start = end;
        end += physical.len();
        let current = line.get_or_insert_with(|| Line {
            number: at + 1,
            range: start..start,
            bodies: Vec::new(),
        });
        current.range.end = end;
        let text = physical.trim_end_matches(['\n', '\r']);
        let rest = match delimiters.front() {
            None => Some(text),
            Some(delimiter) => after_delimiter(text, delimiter),
        };
        let Some(rest) = rest else {
            match current.bodies.last_mut().filter(|body| body.end == start) {
                Some(body) => body.end = end,
                None => current.bodies.push(start..end),
            }
            continue;
        };
        delimiters.pop_front();
        let (code, goes_on) = code(rest, &mut quote);
        delimiters.extend(here_documents(code));
        if !goes_on && delimiters.is_empty() {
            lines.extend(line.take());
        }
    }
    lines.extend(line);
    lines
}

/// What stands behind the delimiter of a here-document on the line that ends it: a quote, when all
/// of it is in one.
fn after_delimiter<'t>(text: &'t str, delimiter: &str) -> Option<&'t str> {
    let rest = text.trim_start_matches('\t').strip_prefix(delimiter)?;
    (rest.is_empty() || rest.starts_with(['\'', '"'])).then_some(rest)
}

/// The delimiters of the here-documents that a line asks for. `<<<` is none, and neither is a shift
/// in `((…))`.
fn here_documents(code: &str) -> impl Iterator<Item = &str> {
    HERE.captures_iter(code).filter_map(|found| {
        let (all, sign, delimiter) = (found.get(0)?, found.get(1)?, found.get(2)?);
        let is_shift =
            cut(code, ..all.start()).contains("((") && cut(code, all.end()..).contains("))");
        (sign.len() == 2 && !is_shift).then_some(delimiter.as_str())
    })
}

/// A line without its comment, and whether the next one belongs to it. `quote` is the one that is
/// open.
fn code<'t>(text: &'t str, quote: &mut Option<char>) -> (&'t str, bool) {
    let mut is_escaped = false;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match (*quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some('"') | None, '\\') => is_escaped = true,
            (Some(open), c) if c == open => *quote = None,
            (None, '\'' | '"') => *quote = Some(c),
            (None, '#') if before.is_whitespace() => return (cut(text, ..at), false),
            _ => {}
        }
        before = c;
    }
    let is_piped = text.trim_end().ends_with(['|']) || text.trim_end().ends_with("&&");
    (text, is_escaped || quote.is_some() || is_piped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(script: &str) -> Vec<(usize, &str, Vec<&str>)> {
        let of = |line: Line| {
            (
                line.number,
                cut(script, line.range),
                line.bodies.into_iter().map(|body| &script[body]).collect(),
            )
        };
        lines(script).into_iter().map(of).collect()
    }

    #[test]
    fn what_the_shell_takes_for_one_line_is_one() {
        assert_eq!(
            shown("a\n\nb"),
            [(1, "a\n", vec![]), (2, "\n", vec![]), (3, "b", vec![])]
        );
        for one in [
            "a \\\n b\n",
            "a 'b\n# c' d\n",
            "a \"b\n'c\" d\n",
            "a |\n b\n",
            "a &&\n b\n",
            "cat <<A <<B\nb\nA\nc\nB\n",
        ] {
            assert_eq!(
                shown(&format!("{one}z\n"))
                    .iter()
                    .map(|line| line.1)
                    .collect::<Vec<_>>(),
                [one, "z\n"]
            );
        }
        for two in [
            "# don't\nz",
            "a '\\'\nz",
            "a <<< b\nz",
            "echo $((1 << n))\nz",
            "a # <<EOF\nz",
        ] {
            assert_eq!(shown(two).len(), 2, "{two}");
        }
    }

    #[test]
    fn here_documents_end_at_their_delimiter() {
        assert_eq!(
            shown("cat <<-'A' > x\nb\n A\n\tA\nz\n")[0],
            (1, "cat <<-'A' > x\nb\n A\n\tA\n", vec!["b\n A\n"])
        );
        assert_eq!(
            shown("'bash' '-c' 'cat <<'\\''A'\\''\nb\nA' 'c'\nz")[0].2,
            ["b\n"]
        );
        assert_eq!(
            shown("cat <<A\nb\nc")[0].2,
            ["b\nc"],
            "without an end it is all that follows"
        );
    }
}
