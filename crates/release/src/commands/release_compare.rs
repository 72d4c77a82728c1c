//! `release build --check`: how a folder differs from the release that provider.yaml gives.

use crate::emit::checksums::signed_by;
use windlass_source::diag::{Diagnostic, Place, Position, Report, Span, rules};
use windlass_source::tree::{Change, Tree};

rules! {
    /// a file differs from what provider.yaml produces
    STALE = error("release-file-stale");
    /// a file that provider.yaml produces is missing
    ABSENT = error("release-file-absent");
    /// the folder contains a file that provider.yaml does not produce
    pub FOREIGN = error("release-file-foreign");
}

/// The result of a comparison.
#[derive(Debug, Default)]
pub struct Comparison {
    /// One finding for each file that differs.
    pub report: Report,
    /// The texts of the folder that findings point into, by their shown name.
    pub sources: Vec<(String, String)>,
}

/// Compares the files of a folder with a release. `folder` is its name as the user wrote it,
/// `origin` the file that gives the release.
pub fn compare(present: &Tree, wanted: &Tree, folder: &str, origin: &str) -> Comparison {
    let mut comparison = Comparison::default();
    for (path, change) in present.diff(wanted) {
        // Nobody gives a signature but who signs.
        if change == Change::Removed
            && signed_by(path).is_some_and(|signed| wanted.get(signed).is_some())
        {
            continue;
        }
        let shown = format!("{}/{path}", folder.trim_end_matches('/'));
        let place = Place::file(shown.as_str());
        let finding = match change {
            Change::Added => Diagnostic::of(
                &ABSENT,
                format!("{shown} is not there, but {origin} gives it"),
            )
            .help("build the release again"),
            Change::Removed => Diagnostic::of(
                &FOREIGN,
                format!("{shown} is there, but {origin} does not give it"),
            )
            .help("remove the file, or build into another folder"),
            Change::Modified => {
                let (old, new) = (text(present, path), text(wanted, path));
                let (message, span) = difference(&old, &new, origin);
                comparison.sources.push((shown, old));
                comparison.report.push(
                    Diagnostic::of(&STALE, message)
                        .at(place.at_span(span))
                        .help("build the release again"),
                );
                continue;
            }
        };
        comparison.report.push(finding.at(place));
    }
    comparison
}

fn text(tree: &Tree, path: &str) -> String {
    String::from_utf8_lossy(tree.get(path).unwrap_or_default()).into_owned()
}

/// The first line that differs, and from which character on.
fn difference(old: &str, new: &str, origin: &str) -> (String, Span) {
    let mut start = Position {
        offset: 0,
        line: 1,
        column: 1,
    };
    let mut theirs = new.split_inclusive('\n');
    for line in old.split_inclusive('\n') {
        let other = theirs.next();
        if other != Some(line) {
            return different_line(line, other, start, origin);
        }
        start.offset += line.len();
        start.line += 1;
    }
    let next = theirs.next().unwrap_or_default().trim();
    (
        format!("the file ends here, {origin} continues with `{next}`"),
        Span { start, end: start },
    )
}

/// How a line, which begins at `start`, differs from that in its place; `None` where the release
/// has none.
fn different_line(
    line: &str,
    other: Option<&str>,
    start: Position,
    origin: &str,
) -> (String, Span) {
    let (text, ending) = without_ending(line);
    let Some((theirs, their_ending)) = other.map(without_ending) else {
        return (
            format!(
                "the line `{}` is too much, {origin} gives none here",
                text.trim()
            ),
            Span {
                start,
                end: after(start, text),
            },
        );
    };
    if text == theirs {
        let end = after(start, text);
        return (
            format!("the line ends with {ending}, {origin} gives {their_ending}"),
            Span { start: end, end },
        );
    }
    let same: usize = text
        .chars()
        .zip(theirs.chars())
        .take_while(|(ours, theirs)| ours == theirs)
        .map(|(c, _)| c.len_utf8())
        .sum();
    // Where the difference is one of blanks at the ends, they are what is shown.
    let (text_shown, theirs_shown) = if text.trim() == theirs.trim() {
        (text, theirs)
    } else {
        (text.trim(), theirs.trim())
    };
    let span = Span {
        start: after(start, &text[..same]),
        end: after(start, text),
    };
    (
        format!("the line is `{text_shown}`, {origin} gives `{theirs_shown}`"),
        span,
    )
}

/// A line, and what ends it.
fn without_ending(line: &str) -> (&str, &'static str) {
    match (line.strip_suffix("\r\n"), line.strip_suffix('\n')) {
        (Some(line), _) => (line, "CR LF"),
        (None, Some(line)) => (line, "LF"),
        (None, None) => (line, "no line break"),
    }
}

/// The position behind a text without line breaks.
fn after(start: Position, text: &str) -> Position {
    let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    Position {
        offset: start.offset + text.len(),
        column: start.column.saturating_add(characters),
        ..start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().copied().collect()
    }

    #[test]
    fn each_file_that_differs_is_one_finding_at_its_first_difference() {
        let signatures = [("d.sigstore.json", "{}"), ("e.sigstore.json", "{}")];
        let present = tree(
            &[
                &[("a", "same\nimage: x:dev\n"), ("c", ""), ("d", "1\n")][..],
                &signatures,
            ]
            .concat(),
        );
        let wanted = tree(&[("a", "same\nimage: x:v1\n"), ("b", ""), ("d", "1\n")]);
        let comparison = compare(&present, &wanted, "out/", "provider.yaml");
        let found: Vec<_> = comparison
            .report
            .findings()
            .iter()
            .map(|f| (f.rule.id, f.place.file.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(
            found,
            [
                ("release-file-stale", "out/a"),
                ("release-file-absent", "out/b"),
                ("release-file-foreign", "out/c"),
                ("release-file-foreign", "out/e.sigstore.json")
            ]
        );
        let stale = &comparison.report.findings()[0];
        assert_eq!(
            stale.message,
            "the line is `image: x:dev`, provider.yaml gives `image: x:v1`"
        );
        let start = Position {
            offset: 14,
            line: 2,
            column: 10,
        };
        assert_eq!(
            stale.place.span,
            Some(Span {
                start,
                end: Position {
                    offset: 17,
                    line: 2,
                    column: 13
                }
            })
        );
    }

    #[test]
    fn the_first_difference_is_told_as_what_it_is() {
        let told = |old: &str, new: &str| {
            let (message, Span { start, end }) = difference(old, new, "p.yaml");
            (
                message,
                (start.offset, start.line, start.column),
                (end.offset, end.line, end.column),
            )
        };
        for (old, new, message, start, end) in [
            (
                "a\r\nb\n",
                "a\nb\n",
                "the line ends with CR LF, p.yaml gives LF",
                (1, 1, 2),
                (1, 1, 2),
            ),
            (
                "a\nb",
                "a\nb\n",
                "the line ends with no line break, p.yaml gives LF",
                (3, 2, 2),
                (3, 2, 2),
            ),
            (
                "a\nb\nc\n",
                "a\n",
                "the line `b` is too much, p.yaml gives none here",
                (2, 2, 1),
                (3, 2, 2),
            ),
            (
                "a\n",
                "a\n  b: 1\n",
                "the file ends here, p.yaml continues with `b: 1`",
                (2, 2, 1),
                (2, 2, 1),
            ),
            (
                "",
                "a\n",
                "the file ends here, p.yaml continues with `a`",
                (0, 1, 1),
                (0, 1, 1),
            ),
            (
                "é: b \n",
                "é: b\n",
                "the line is `é: b `, p.yaml gives `é: b`",
                (5, 1, 5),
                (6, 1, 6),
            ),
            (
                "é: bé\n",
                "é: cé\n",
                "the line is `é: bé`, p.yaml gives `é: cé`",
                (4, 1, 4),
                (7, 1, 6),
            ),
        ] {
            assert_eq!(
                told(old, new),
                (message.to_owned(), start, end),
                "{old:?} {new:?}"
            );
        }
    }
}
