//! The report for an issue or a page.

use std::fmt::Write as _;

use windlass_report::text::visible;

use super::Report;

/// The report as Markdown: a table, and the evidence of failures.
pub(crate) fn render(report: &Report) -> String {
    let mut text = format!(
        "## Bootstrap contract: {}\n\n{}.\n\n{}.\n\n| rule | level | check | verdict | reason |\n|---|---|---|---|---|\n",
        cell(&report.title()),
        cell(&report.setting()),
        report.counts(),
    );
    for result in &report.results {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} |",
            result.rule,
            result.level.name(),
            result.check,
            result.verdict.name(),
            cell(&result.reason),
        );
    }
    for failure in report.failures() {
        let _ = write!(
            text,
            "\n### {} {}\n\n{}. Expected: {}\n",
            failure.rule,
            failure.check,
            cell(&failure.reason),
            failure.expects
        );
        for evidence in &failure.evidence {
            let _ = write!(text, "\n```text\n{}\n", fenced(&evidence.line()));
            for line in &evidence.history {
                let _ = writeln!(text, "{}", fenced(line));
            }
            text += "```\n";
        }
    }
    text
}

/// Text that cannot end a cell or begin markup.
fn cell(text: &str) -> String {
    let mut escaped = String::new();
    for c in visible(text).chars() {
        match c {
            '|' | '<' | '>' | '`' | '*' | '_' | '[' | ']' | '\\' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text that cannot end a fence.
fn fenced(text: &str) -> String {
    visible(text).replace("```", "'''")
}

#[cfg(test)]
mod tests {
    #[test]
    fn cells_and_fences_hold() {
        assert_eq!(super::cell("a|b `c`"), "a\\|b \\`c\\`");
        assert_eq!(super::fenced("```x"), "'''x");
        assert!(!super::cell("a\nb").contains('\n') && !super::fenced("a\nb").contains('\n'));
        let text = super::render(&super::super::tests::sample());
        assert!(text.contains("| fail | it is not |"), "{text}");
    }
}
