//! Findings without secrets: what a message quotes from a secret value is `<redacted>`.

use super::Sources;
use windlass_objects::secrets::{REDACTED, Words};
use windlass_source::cut::cut;
use windlass_source::diag::{Change, Diagnostic, Place, Remedy, Report};

/// Secrets at one place that are looked at.
const MOST_NEAR: usize = 64;
/// Characters of the shortest part of a content or a command that is looked for in values of its
/// line: `1` is another value as well.
const SHORTEST_OF_LINE: usize = 4;
/// Characters of a value that a message quotes.
const LONGEST: usize = 400;
/// Bytes of a secret value at a finding that are looked at.
const NEAR: usize = 4 << 10;

/// The findings, with no secret of the sources in their words.
pub fn without_secrets(report: &Report, sources: &Sources) -> Report {
    if report.is_empty() {
        return report.clone();
    }
    if sources.shows_secrets() {
        return report
            .findings()
            .iter()
            .map(|finding| {
                let mut finding = without_unshown(finding, sources);
                shorten(&mut finding);
                finding
            })
            .collect();
    }
    let words = sources.words();
    report
        .findings()
        .iter()
        .map(|finding| redacted(finding, sources, words))
        .collect()
}

fn redacted(finding: &Diagnostic, sources: &Sources, words: &Words) -> Diagnostic {
    let hidden = Hidden::of(finding, sources, words);
    let mut finding = without_unshown(finding, sources);
    for quoted in finding.help.iter_mut().flat_map(Remedy::quotes_mut) {
        // A quote within is doubled, so that its words are no longer those of the secret.
        let plain = quoted.replace("''", "'");
        if hidden.has_secret || hidden.instead_of(&plain).is_some() {
            UNSHOWN.clone_into(quoted);
        }
    }
    let texts = [&mut finding.message, &mut finding.label];
    let related = finding.related.iter_mut().map(|related| &mut related.label);
    let help = finding.help.iter_mut().flat_map(Remedy::texts_mut);
    let lines = finding
        .insertion
        .iter_mut()
        .flat_map(|insertion| &mut insertion.lines);
    texts
        .into_iter()
        .chain(related)
        .chain(help)
        .chain(&mut finding.notes)
        .chain(&mut finding.upstream)
        .chain(lines)
        .filter(|text| text.has_values())
        .for_each(|text| *text = text.replaced(|value| hidden.instead_of(value)));
    shorten(&mut finding);
    finding.fix = finding.fix.filter(|fix| {
        !hidden.has_secret
            && fix
                .changes
                .iter()
                .all(|change| is_plain(change, &finding.place, sources, words))
    });
    finding
}

/// Cuts values that are longer than a message needs. Secrets must be gone before, because the rest
/// of one could not be reported from other words.
fn shorten(finding: &mut Diagnostic) {
    let cut_off = |value: &str| {
        let (end, _) = value.char_indices().nth(LONGEST)?;
        Some(format!("{}…", cut(value, 0..end)))
    };
    [&mut finding.message, &mut finding.label]
        .into_iter()
        .filter(|text| text.has_values())
        .for_each(|text| *text = text.replaced(cut_off));
}

/// What the values in the texts of one finding may not show.
struct Hidden<'s> {
    /// The secrets that its places touch.
    near: Vec<&'s str>,
    /// Their words.
    own: Words,
    /// The parts of its lines that are hidden beside secrets: contents of files, parts of commands.
    lines: Vec<&'s str>,
    /// The words of these parts.
    of_lines: Words,
    /// The words of all secrets.
    words: &'s Words,
    /// Whether its place or its line is secret.
    has_secret: bool,
}

impl<'s> Hidden<'s> {
    fn of(finding: &Diagnostic, sources: &'s Sources, words: &'s Words) -> Self {
        let places: Vec<&Place> = std::iter::once(&finding.place)
            .chain(finding.related.iter().map(|related| &related.place))
            .collect();
        let near: Vec<&str> = places
            .iter()
            .flat_map(|place| near(place, sources))
            .collect();
        let mut of_lines = Vec::new();
        for (file, span) in places
            .iter()
            .filter_map(|place| place.file.as_deref().zip(place.span))
        {
            of_lines.extend(sources.hidden_of_line(file, span.start.line));
        }
        let line = finding.place.file.as_deref().zip(finding.place.span);
        let is_secret_line = line
            .is_some_and(|(file, span)| !sources.secrets_of_line(file, span.start.line).is_empty());
        Hidden {
            own: Words::new(near.iter().copied(), 1),
            of_lines: Words::new(of_lines.iter().copied(), SHORTEST_OF_LINE),
            lines: of_lines,
            has_secret: !near.is_empty() || is_secret_line,
            near,
            words,
        }
    }

    /// What is shown instead of a value; `None` when it may be shown.
    fn instead_of(&self, value: &str) -> Option<String> {
        let whole = value.trim_matches(['…', '"', '\'']).trim();
        if !whole.is_empty() && self.near.iter().any(|secret| secret.contains(whole)) {
            return Some(REDACTED.to_owned());
        }
        // The tag of a hidden value is not among its words.
        let is_start = |hidden: &&str| hidden.trim_start().starts_with(whole);
        if whole.chars().count() >= SHORTEST_OF_LINE && self.lines.iter().any(is_start) {
            return Some(REDACTED.to_owned());
        }
        let mut shown = value.to_owned();
        self.own.remove_from(&mut shown);
        self.of_lines.remove_from(&mut shown);
        self.words.remove_from(&mut shown);
        (shown != value).then_some(shown)
    }
}

/// Whether a change neither takes away nor writes anything of a secret.
fn is_plain(change: &Change, place: &Place, sources: &Sources, words: &Words) -> bool {
    let mut with = change.with.clone();
    words.remove_from(&mut with);
    with == change.with
        && !place
            .file
            .as_deref()
            .is_some_and(|file| sources.is_secret(file, &change.range))
}

/// In place of a line that is not shown.
const UNSHOWN: &str = "'…'";

/// The finding without lines and changes of a file of which none is shown.
fn without_unshown(finding: &Diagnostic, sources: &Sources) -> Diagnostic {
    let mut finding = finding.clone();
    if finding
        .place
        .file
        .as_deref()
        .is_some_and(|file| sources.text(file).is_some_and(|text| !text.is_shown))
    {
        finding
            .help
            .iter_mut()
            .flat_map(Remedy::quotes_mut)
            .for_each(|quoted| UNSHOWN.clone_into(quoted));
        finding.fix = None;
    }
    finding
}

/// The secrets at a place, each as far as a message may quote from it.
fn near<'s>(place: &Place, sources: &'s Sources) -> Vec<&'s str> {
    let found = place
        .file
        .as_deref()
        .and_then(|file| sources.text(file))
        .zip(place.span);
    let Some((text, span)) = found else {
        return Vec::new();
    };
    let place = span.start.offset..span.end.offset.max(span.start.offset + 1);
    let touched = text.secrets_in(&place).take(MOST_NEAR);
    touched
        .map(|secret| {
            let start = secret.start.max(place.start.saturating_sub(NEAR));
            cut(
                text.source.text(),
                start..secret.end.min(start.max(place.start) + NEAR),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::diag::{Quoted, Rule, Text};

    /// A file with a secret value in its second line, and a finding at a stretch of it.
    fn shown(
        at: std::ops::Range<usize>,
        finding: impl FnOnce(Diagnostic) -> Diagnostic,
    ) -> Diagnostic {
        let source = windlass_source::Source::new(
            "a.yaml",
            "first: plain\npassword: hunter2 again\nlast: plain\n",
        );
        let finding =
            finding(Diagnostic::of(const { &Rule::error("a-b", "") }, "").at(source.place_at(at)));
        let report = without_secrets(
            &[finding].into_iter().collect(),
            &[source].into_iter().collect(),
        );
        report.into_findings().remove(0)
    }

    /// Where the secret is in the file of [`shown`].
    const SECRET: std::ops::Range<usize> = 23..36;

    /// A part of a secret is one at its own place alone; elsewhere only the whole is. A place
    /// without length is that of what follows.
    #[test]
    fn what_stands_at_a_secret_is_told_without_it() {
        let told = |at: std::ops::Range<usize>, value: &str| {
            shown(at, |finding| Diagnostic {
                message: format!("again it is `{}`", Quoted(value)).into(),
                ..finding
            })
            .message
        };
        for at in [
            SECRET,
            SECRET.start..SECRET.start,
            SECRET.end - 1..SECRET.end + 5,
            SECRET.start + 3..SECRET.start + 4,
        ] {
            assert_eq!(
                told(at.clone(), "again"),
                "again it is `<redacted>`",
                "{at:?}"
            );
        }
        assert_eq!(told(SECRET, "hunter2…"), "again it is `<redacted>`");
        for at in [0..5, SECRET.end..SECRET.end] {
            assert_eq!(told(at.clone(), "again"), "again it is `again`", "{at:?}");
            let part = told(at.clone(), "a hunter2 again.");
            assert_eq!(part, "again it is `a <redacted>.`", "{at:?}");
        }
    }

    /// A place that begins far before a secret, and one that ends far behind it.
    #[test]
    fn a_place_may_be_longer_than_what_is_looked_at() {
        let padding = "x".repeat(3 * NEAR);
        let text = format!("a: {padding}\npassword: hunter2\nb: {padding}\n");
        let source = windlass_source::Source::new("a.yaml", text.as_str());
        for at in [
            0..text.len(),
            0..NEAR,
            text.len() - NEAR..text.len(),
            3..text.len() - 1,
        ] {
            let message = format!("it is {}", Quoted("hunter2"));
            let finding = Diagnostic::of(const { &Rule::error("a-b", "") }, message);
            let report = without_secrets(
                &[finding.at(source.place_at(at.clone()))]
                    .into_iter()
                    .collect(),
                &[source.clone()].into_iter().collect(),
            );
            assert_eq!(report.findings()[0].message, "it is <redacted>", "{at:?}");
        }
    }

    #[test]
    fn long_values_are_cut() {
        let long = "é".repeat(2 * LONGEST);
        let finding = shown(0..5, |finding| Diagnostic {
            message: format!("it is {}, and no port", Quoted(&long)).into(),
            upstream: Some(Text::of_value(&long)),
            ..finding
        });
        let expected = format!("it is {}…, and no port", "é".repeat(LONGEST));
        assert_eq!(finding.message, expected);
        assert_eq!(
            finding.upstream.unwrap(),
            long,
            "upstream's words are unedited"
        );
    }

    /// A change is shown where neither its line nor what it takes away or writes is of a secret.
    #[test]
    fn changes_are_shown_where_they_hold_nothing_of_a_secret() {
        let is_shown = |at: std::ops::Range<usize>, range: std::ops::Range<usize>, with: &str| {
            let change = Change {
                range,
                with: with.to_owned(),
            };
            shown(at, |finding| Diagnostic {
                fix: Some(windlass_source::diag::Fix {
                    changes: vec![change],
                }),
                ..finding
            })
            .fix
            .is_some()
        };
        assert!(is_shown(0..5, 0..5, "second"));
        assert!(!is_shown(0..5, 0..5, "hunter2 again"));
        assert!(!is_shown(0..5, SECRET, ""));
        assert!(!is_shown(SECRET, SECRET, "x"));
        assert!(
            !is_shown(0..SECRET.start + 1, 0..5, "second"),
            "the finding reaches into one"
        );
        assert!(!is_shown(13..21, 13..21, "passwd"), "the line holds one");
    }
}
