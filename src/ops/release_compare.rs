//! `release build --check`: how a folder differs from the release that provider.yaml gives.

use crate::diag::{Diagnostic, Place, Position, Report, Span, rules};
use crate::text::tree::{Change, Tree};

rules! {
    /// a file differs from what provider.yaml produces
    STALE = error("release-file-stale");
    /// a file that provider.yaml produces does not exist
    ABSENT = error("release-file-absent");
    /// a file exists that provider.yaml does not produce
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

/// Compares the files of a folder with a release. `folder` is its name as the user wrote it, `origin` the file that gives the release.
pub fn compare(present: &Tree, wanted: &Tree, folder: &str, origin: &str) -> Comparison {
    let mut comparison = Comparison::default();
    for (path, change) in present.diff(wanted) {
        let shown = format!("{}/{path}", folder.trim_end_matches('/'));
        let place = Place::file(shown.as_str());
        let finding = match change {
            Change::Added => {
                Diagnostic::of(&ABSENT, format!("{shown} is not there, but {origin} gives it")).help("build the release again")
            }
            Change::Removed => Diagnostic::of(&FOREIGN, format!("{shown} is there, but {origin} does not give it"))
                .help("remove the file, or build into another folder"),
            Change::Modified => {
                let (old, new) = (text(present, path), text(wanted, path));
                let (message, span) = difference(&old, &new, origin);
                comparison.sources.push((shown, old));
                comparison.report.push(Diagnostic::of(&STALE, message).at(place.at_span(span)).help("build the release again"));
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
    let mut offset = 0;
    let mut theirs = new.lines();
    for (number, line) in (1..).zip(old.lines()) {
        let other = theirs.next();
        if other != Some(line) {
            let other = other.unwrap_or_default();
            let same = line.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
            let column = u32::try_from(same + 1).unwrap_or(u32::MAX);
            let bytes: usize = line.chars().take(same).map(char::len_utf8).sum();
            let start = Position { offset: offset + bytes, line: number, column };
            let end =
                Position { offset: offset + line.len(), line: number, column: u32::try_from(line.chars().count() + 1).unwrap_or(u32::MAX) };
            return (format!("the line is `{}`, {origin} gives `{}`", line.trim(), other.trim()), Span { start, end });
        }
        offset += line.len() + 1;
    }
    let line = u32::try_from(old.lines().count().max(1)).unwrap_or(u32::MAX);
    let at = Position { offset: old.len(), line, column: 1 };
    (format!("the file ends here, {origin} gives more"), Span { start: at, end: at })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    }

    #[test]
    fn each_file_that_differs_is_one_finding_at_its_first_difference() {
        let present = tree(&[("a", "same\nimage: x:dev\n"), ("c", ""), ("d", "1\n")]);
        let wanted = tree(&[("a", "same\nimage: x:v1\n"), ("b", ""), ("d", "1\n")]);
        let comparison = compare(&present, &wanted, "out/", "provider.yaml");
        let found: Vec<_> = comparison.report.findings().iter().map(|f| (f.rule.id, f.place.file.as_deref().unwrap_or_default())).collect();
        assert_eq!(found, [("release-file-stale", "out/a"), ("release-file-absent", "out/b"), ("release-file-foreign", "out/c")]);
        let stale = &comparison.report.findings()[0];
        assert_eq!(stale.message, "the line is `image: x:dev`, provider.yaml gives `image: x:v1`");
        let start = Position { offset: 14, line: 2, column: 10 };
        assert_eq!(stale.place.span, Some(Span { start, end: Position { offset: 17, line: 2, column: 13 } }));
    }
}
