//! Findings on a page: what is wrong, where, the lines that are meant, what to do.

use super::{Html, Tone};
use crate::Sources;
use crate::text::{counts, excerpt, place_words};
use windlass_source::diag::{Diagnostic, Report, Severity};

/// The maximum number of findings of a page.
const MOST: usize = 500;

/// All findings that count: errors before warnings, and each in the order of the report.
pub(super) fn findings(html: &mut Html, report: &Report, sources: &Sources) {
    if let Some(counts) = counts(report.summary()) {
        html.leaf("p", "muted", &counts);
    }
    let mut worst_first: Vec<&Diagnostic> = report.unwaived().collect();
    worst_first.sort_by_key(|finding| match finding.rule.severity {
        Severity::Error => 0,
        Severity::Warning => 1,
        Severity::Info => 2,
    });
    html.each(worst_first, MOST, |html, finding| {
        one(html, finding, sources)
    });
}

fn tone(severity: Severity) -> Tone {
    match severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Doubtful,
        Severity::Info => Tone::Plain,
    }
}

fn one(html: &mut Html, finding: &Diagnostic, sources: &Sources) {
    let tone = tone(finding.rule.severity);
    html.element(
        "div",
        &[("class", &format!("finding {}", tone.class()))],
        |html| {
            html.element("h3", &[], |html| html.sentence(&finding.message));
            html.element("p", &[("class", "meta")], |html| {
                html.badge(tone, finding.rule.severity.as_str());
                html.leaf("code", "", finding.rule.id);
                place_words(&finding.place)
                    .iter()
                    .for_each(|place| html.leaf("code", "", place));
            });
            let lines = excerpt(finding, sources);
            if !lines.is_empty() {
                html.listing("Location", |html| html.lines(&lines));
            }
            remarks(html, finding);
        },
    );
}

/// Help and notes.
fn remarks(html: &mut Html, finding: &Diagnostic) {
    let help = finding.help.as_ref().map(ToString::to_string);
    let notes = finding.notes.iter().map(|note| ("Note", note.as_str()));
    let remarks: Vec<(&str, &str)> = help
        .iter()
        .map(|help| ("Help", help.as_str()))
        .chain(notes)
        .collect();
    if remarks.is_empty() {
        return;
    }
    html.element("dl", &[("class", "remarks")], |html| {
        for (word, text) in remarks {
            html.element("div", &[], |html| {
                html.leaf("dt", "", word);
                html.element("dd", &[("class", "command")], |html| html.linked(text));
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::Source;
    use windlass_source::diag::{Rule, WaivedIn, Waiver};

    fn written(found: impl IntoIterator<Item = Diagnostic>, sources: &Sources) -> (String, usize) {
        let mut html = Html::default();
        findings(&mut html, &found.into_iter().collect(), sources);
        (html.markup().to_owned(), html.untold())
    }

    /// What is not there leaves no element behind.
    #[test]
    fn a_finding_has_the_parts_that_it_has() {
        let source = Source::new("f", "a: 1\n");
        let bad = Diagnostic::of(const { &Rule::error("a-b", "") }, "is `1`")
            .at(source.place_at(3..4))
            .help("do")
            .note("why");
        let plain = Diagnostic::of(const { &Rule::info("c-d", "") }, "so");
        let doubtful = Diagnostic::of(const { &Rule::warning("e-f", "") }, "late").note("why");
        let waived = Some(Waiver {
            reason: "known".to_owned(),
            waived_in: WaivedIn::Settings,
        });
        let known = Diagnostic {
            waived,
            ..bad.clone()
        };
        let expected = "<p class=\"muted\">1 error, 1 warning, 1 info, 1 waived</p>\
            <div class=\"finding bad\"><h3>is <code>1</code></h3><p class=\"meta\"><span class=\"badge bad\">error</span><code>a-b</code>\
            <code>f:1:4</code></p><pre tabindex=\"0\" role=\"group\" aria-label=\"Location\"><code>   |\n 1 | a: 1\n   |    ^\n</code></pre>\
            <dl class=\"remarks\"><div><dt>Help</dt><dd class=\"command\">do</dd></div><div><dt>Note</dt><dd class=\"command\">why</dd></div></dl>\
            </div>\
            <div class=\"finding doubtful\"><h3>late</h3><p class=\"meta\"><span class=\"badge doubtful\">warning</span><code>e-f</code></p>\
            <dl class=\"remarks\"><div><dt>Note</dt><dd class=\"command\">why</dd></div></dl></div>\
            <div class=\"finding plain\"><h3>so</h3><p class=\"meta\"><span class=\"badge plain\">info</span><code>c-d</code></p></div>";
        assert_eq!(
            written(
                [bad, plain, doubtful, known],
                &std::iter::once(source).collect()
            ),
            (expected.to_owned(), 0)
        );
        assert_eq!(written([], &Sources::new()), (String::new(), 0));
    }

    #[test]
    fn addresses_in_notes_are_links() {
        let linked = |text: &str| {
            let mut html = Html::default();
            html.linked(text);
            html.markup().to_owned()
        };
        assert_eq!(
            linked("see https://a/b?c&d, or `https://e`"),
            "see <a href=\"https://a/b?c&amp;d\" rel=\"noreferrer\">https://a/b?c&amp;d</a>, or <code>https://e</code>"
        );
        for text in ["https://", "http://a", "javascript:https", "`https://a`"] {
            assert!(!linked(text).contains("<a "), "{text}");
        }
        assert!(!linked("https://a\" onclick=\"b").contains("onclick=\"b"));
    }

    #[test]
    fn a_page_has_five_hundred_findings() {
        for (count, untold) in [(500, 0), (502, 2)] {
            let many = (0..count)
                .map(|n| Diagnostic::of(const { &Rule::info("a-b", "") }, format!("m{n}")));
            let (markup, left_out) = written(many, &Sources::new());
            assert_eq!(
                (markup.matches("class=\"finding ").count(), left_out),
                (500, untold)
            );
        }
    }
}
