//! Findings on a page: what is wrong, where, the lines that are meant, what to do.

use super::{Html, Tone};
use crate::diag::{Diagnostic, Report, Severity};
use crate::report::Sources;
use crate::report::text::{counts, excerpt, place_words};

/// The most findings of a page.
const MOST: usize = 500;

/// All findings that count, in their order.
pub(super) fn findings(html: &mut Html, report: &Report, sources: &Sources) {
    if let Some(counts) = counts(report.summary()) {
        html.leaf("p", "muted", &counts);
    }
    html.each(report.unwaived(), MOST, |html, finding| one(html, finding, sources));
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
    html.element("div", &[("class", &format!("finding {}", tone.class()))], |html| {
        html.element("h3", &[], |html| html.sentence(&finding.message));
        html.element("p", &[("class", "meta")], |html| {
            html.badge(tone, finding.rule.severity.as_str());
            html.leaf("code", "", finding.rule.id);
            place_words(&finding.place).iter().for_each(|place| html.leaf("code", "", place));
        });
        let lines = excerpt(finding, sources);
        if !lines.is_empty() {
            html.listing("Where it stands", |html| html.lines(&lines));
        }
        remarks(html, finding);
    });
}

/// Help and notes.
fn remarks(html: &mut Html, finding: &Diagnostic) {
    let help = finding.help.as_ref().map(ToString::to_string);
    let notes = finding.notes.iter().map(|note| ("Note", note));
    let remarks: Vec<(&str, &String)> = help.iter().map(|help| ("Help", help)).chain(notes).collect();
    if remarks.is_empty() {
        return;
    }
    html.element("dl", &[("class", "remarks")], |html| {
        for (word, text) in remarks {
            html.element("div", &[], |html| {
                html.leaf("dt", "", word);
                html.element("dd", &[("class", "command")], |html| html.sentence(text));
            });
        }
    });
}
