//! Findings as diagnostics of the protocol.

use ls_types::{
    CodeDescription, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
};
use serde_json::json;

use super::documents::{Document, Locator};
use windlass_report::Sources;
use windlass_report::text::visible;
use windlass_source::diag::{Diagnostic, Place, Rule, Severity, Span};

/// The name under which clients show where a diagnostic is from.
pub(super) const SOURCE: &str = "windlass";

/// Turns findings without secrets into diagnostics.
pub(super) struct Writer<'a> {
    pub(super) locator: Locator<'a>,
    pub(super) sources: &'a Sources,
    /// The folder of the workspace, which messages omit from paths.
    pub(super) root: &'a str,
}

impl Writer<'_> {
    /// The diagnostic of a finding about a document.
    pub(super) fn diagnostic(
        &self,
        finding: &Diagnostic,
        document: &Document,
    ) -> ls_types::Diagnostic {
        let related = finding.related.iter().filter_map(|related| {
            let message = match related.label.is_empty() {
                true => "related to the finding".to_owned(),
                false => self.shown(&related.label),
            };
            Some(DiagnosticRelatedInformation {
                location: self.location(&related.place)?,
                message,
            })
        });
        let related: Vec<_> = related.collect();
        ls_types::Diagnostic {
            range: range(document, finding.place.span),
            severity: Some(severity(finding.rule.severity)),
            code: Some(NumberOrString::String(finding.rule.id.to_owned())),
            code_description: page(finding.rule),
            source: Some(SOURCE.to_owned()),
            message: self.message(finding),
            related_information: (!related.is_empty()).then_some(related),
            tags: None,
            data: Some(json!({"rule": finding.rule.id, "hasFix": finding.fix.is_some()})),
        }
    }

    /// The message, the help and the notes, each on a line of its own.
    fn message(&self, finding: &Diagnostic) -> String {
        let mut lines = vec![self.shown(&finding.message)];
        if !finding.label.is_empty() {
            lines.push(self.shown(&finding.label));
        }
        if let Some(insertion) = &finding.insertion {
            lines.extend(insertion.lines.iter().map(|line| self.shown(line)));
        }
        let help = finding.help.iter().map(|help| format!("help: {help}"));
        let notes = finding.notes.iter().map(|note| format!("note: {note}"));
        lines.extend(help.chain(notes).map(|line| self.shown(&line)));
        lines.join("\n")
    }

    /// Text without characters that reorder a line, and with paths relative to the workspace.
    fn shown(&self, text: &str) -> String {
        let lines = text.lines().map(|line| visible(line).into_owned());
        let text = lines.collect::<Vec<_>>().join("\n");
        match self.root {
            "" => text,
            root => without_root(&text, root),
        }
    }

    fn location(&self, place: &Place) -> Option<Location> {
        let source = self.sources.get(place.file.as_deref()?)?;
        let bytes = place
            .span
            .map_or(0..0, |span| span.start.offset..span.end.offset);
        self.locator.location(source, bytes)
    }
}

/// The text with the paths below a folder relative to it. The name of the folder within another path
/// or a URL stays.
fn without_root(text: &str, root: &str) -> String {
    let prefix = format!("{root}/");
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(&prefix) {
        shown.push_str(before);
        let is_within = shown.ends_with(|c: char| c.is_alphanumeric() || "/.-_~".contains(c));
        if is_within {
            shown.push_str(&prefix);
        }
        rest = after;
    }
    shown + rest
}

/// The range of a finding: its first line, where it is about several. A finding about a whole file
/// is at its begin.
pub(super) fn range(document: &Document, span: Option<Span>) -> ls_types::Range {
    let Some(span) = span else {
        return ls_types::Range::default();
    };
    let range = document.range(span.start.offset..span.end.offset);
    if range.start.line == range.end.line {
        return range;
    }
    let line = document
        .lines
        .line(document.text(), range.start.line as usize);
    let end = line.map_or(span.end.offset, |line| line.end.max(span.start.offset));
    document.range(span.start.offset..end)
}

fn severity(severity: Severity) -> DiagnosticSeverity {
    match severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Info => DiagnosticSeverity::INFORMATION,
    }
}

/// The page of a rule in the book.
fn page(rule: &Rule) -> Option<CodeDescription> {
    let href = rule.page_url().parse().ok()?;
    Some(CodeDescription { href })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_the_root_are_relative() {
        for (text, expected) in [
            ("/src/a.yaml has no kind", "a.yaml has no kind"),
            ("write `/src/a.yaml`", "write `a.yaml`"),
            (
                "see https://example.com/src/b",
                "see https://example.com/src/b",
            ),
            ("/home/src/a and ../src/b", "/home/src/a and ../src/b"),
        ] {
            assert_eq!(without_root(text, "/src"), expected);
        }
    }
}
