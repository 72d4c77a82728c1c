//! The report for a terminal.

use std::fmt::Write as _;

use windlass_report::text::visible_lines;

use super::Report;
use crate::outcome::Verdict;

/// The report as text: a table, the evidence of failures, and what is not proven.
pub(crate) fn render(report: &Report) -> String {
    let mut text = format!("{}: {}\n\n", report.title(), report.setting());
    let width = report
        .results
        .iter()
        .map(|result| result.check.len())
        .max()
        .unwrap_or(0);
    for result in &report.results {
        let _ = writeln!(
            text,
            "{:<6} {:<8} {:<width$} {:<14} {}",
            result.rule,
            result.level.name(),
            result.check,
            result.verdict.name(),
            if result.verdict == Verdict::Pass {
                ""
            } else {
                &result.reason
            },
        );
    }
    for failure in report.failures() {
        let _ = write!(
            text,
            "\n{} {}: {}\n  expected: {}\n",
            failure.rule, failure.check, failure.reason, failure.expects
        );
        for evidence in &failure.evidence {
            let _ = writeln!(text, "  {}", evidence.line());
            for line in &evidence.history {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    let _ = write!(text, "\n{}\nnot proven:\n", report.counts());
    for line in &report.not_proven {
        let _ = writeln!(text, "- {line}");
    }
    let lines = text.lines().map(|line| line.trim_end().to_owned() + "\n");
    visible_lines(&lines.collect::<String>()).into_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn failures_have_their_evidence_and_no_escapes() {
        let text = super::render(&super::super::tests::sample());
        assert!(text.contains("Secret a/b type: Opaque"), "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(
            text.contains("1 passed, 1 failed, 1 not applicable, 1 not covered"),
            "{text}"
        );
    }
}
