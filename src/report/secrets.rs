//! Findings without secrets: what a message quotes from a secret value is `<redacted>`.

use super::Sources;
use crate::diag::{Change, Diagnostic, Place, Remedy, Report};
use crate::objects::secrets::{REDACTED, Words};

/// Secrets at one place that are looked at.
const MOST_NEAR: usize = 64;
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
            .map(|finding| without_unshown(finding, sources))
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
    let near: Vec<&str> = std::iter::once(&finding.place)
        .chain(finding.related.iter().map(|related| &related.place))
        .flat_map(|place| near(place, sources))
        .collect();
    let own = Words::new(near.iter().copied(), 1);
    let mut finding = without_unshown(finding, sources);
    let line = finding
        .place
        .file
        .as_deref()
        .zip(finding.place.span)
        .map(|(file, span)| sources.secrets_of_line(file, span.start.line));
    let has_secret = !near.is_empty() || line.is_some_and(|secrets| !secrets.is_empty());
    for quoted in finding.help.iter_mut().flat_map(Remedy::quotes_mut) {
        // A quote within is doubled, so that its words are no longer those of the secret.
        let mut plain = quoted.replace("''", "'");
        words.remove_from(&mut plain);
        if has_secret || plain != quoted.replace("''", "'") {
            UNSHOWN.clone_into(quoted);
        }
    }
    let clean = |text: &mut String| {
        if !near.is_empty() {
            *text = without_quotes(text, &near);
        }
        own.remove_from(text);
        words.remove_from(text);
    };
    clean(&mut finding.message);
    clean(&mut finding.label);
    finding
        .related
        .iter_mut()
        .for_each(|related| clean(&mut related.label));
    finding
        .help
        .iter_mut()
        .flat_map(Remedy::texts_mut)
        .chain(&mut finding.notes)
        .chain(&mut finding.upstream)
        .for_each(clean);
    finding
        .insertion
        .iter_mut()
        .flat_map(|insertion| &mut insertion.lines)
        .for_each(clean);
    finding.fix = finding.fix.filter(|fix| {
        !has_secret
            && fix
                .changes
                .iter()
                .all(|change| is_plain(change, &finding.place, sources, words))
    });
    finding
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

/// The secrets at a place, as far as it reaches into them.
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
            text.slice(
                &(secret.start.max(place.start.saturating_sub(NEAR))
                    ..secret.end.min(place.start + NEAR)),
            )
        })
        .collect()
}

/// The text without what it quotes from one of the secrets, whole or cut off.
fn without_quotes(text: &str, secrets: &[&str]) -> String {
    let is_of_secret = |quoted: &str| {
        let quoted = quoted.trim_end_matches('…');
        !quoted.is_empty() && secrets.iter().any(|secret| secret.contains(quoted))
    };
    let mut clean = text.to_owned();
    for quote in ['`', '"'] {
        let parts: Vec<&str> = clean.split(quote).collect();
        let quoted = |(at, part): (usize, &&str)| {
            if at % 2 == 1 && is_of_secret(part) {
                REDACTED.to_owned()
            } else {
                (*part).to_owned()
            }
        };
        clean = parts
            .iter()
            .enumerate()
            .map(quoted)
            .collect::<Vec<_>>()
            .join(&quote.to_string());
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Rule;

    #[test]
    fn only_what_is_quoted_from_a_secret_goes() {
        let secrets = ["the first 40 characters", "kind"];
        for (text, expected) in [
            (
                "`kind` of `Secret` is \"the first…\"",
                "`<redacted>` of `Secret` is \"<redacted>\"",
            ),
            ("kind is `` and \"…\"", "kind is `` and \"…\""),
            ("40 is no `41`", "40 is no `41`"),
        ] {
            assert_eq!(without_quotes(text, &secrets), expected);
        }
    }

    /// A file with a secret value in its second line, and a finding at a stretch of it.
    fn shown(
        at: std::ops::Range<usize>,
        finding: impl FnOnce(Diagnostic) -> Diagnostic,
    ) -> Diagnostic {
        let source = crate::text::source::Source::new(
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

    /// Where the secret stands in the file of [`shown`].
    const SECRET: std::ops::Range<usize> = 23..36;

    /// A part of a secret is one at its own place alone; elsewhere only the whole is. A place
    /// without length is that of what follows.
    #[test]
    fn what_stands_at_a_secret_is_told_without_it() {
        let told = |at: std::ops::Range<usize>, message: &str| {
            shown(at, |finding| Diagnostic {
                message: message.to_owned(),
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
                told(at.clone(), "it is `again`"),
                "it is `<redacted>`",
                "{at:?}"
            );
        }
        assert_eq!(told(SECRET, "it is `hunter2…`"), "it is `<redacted>`");
        for at in [0..5, SECRET.end..SECRET.end, SECRET.start - 1..SECRET.start] {
            assert_eq!(told(at.clone(), "it is `again`"), "it is `again`", "{at:?}");
            assert_eq!(
                told(at.clone(), "it is hunter2 again."),
                "it is <redacted>.",
                "{at:?}"
            );
        }
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
                fix: Some(crate::diag::Fix {
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
