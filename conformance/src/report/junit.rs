//! The report as JUnit XML (Jenkins' junit-10.xsd), one case for each check.

use std::fmt::Write as _;

use windlass_report::text::visible_lines;

use super::Report;
use crate::outcome::{Level, Verdict};

/// The report as one XML document. Only failures of at least `level` are failures there; weaker ones
/// and what was not decided are skipped, with the reason.
pub(crate) fn render(report: &Report, level: Level) -> String {
    let is_failure =
        |result: &&super::CheckResult| result.verdict == Verdict::Fail && result.level <= level;
    let failures = report.results.iter().filter(is_failure).count();
    let skipped = report
        .results
        .iter()
        .filter(|result| result.verdict != Verdict::Pass)
        .count()
        - failures;
    let (title, tests) = (attribute(&report.title()), report.results.len());
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\"");
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"windlass-conformance\" {counts}>\n  <testsuite name=\"{title}\" {counts} skipped=\"{skipped}\">\n"
    );
    for result in &report.results {
        let name = format!("{} {}", result.rule, result.check);
        let head = format!(
            "    <testcase name=\"{}\" classname=\"{title}\"",
            attribute(&name)
        );
        let reason = attribute(&result.reason);
        let _ = match result.verdict {
            Verdict::Pass => writeln!(xml, "{head}/>"),
            Verdict::Fail if is_failure(&result) => writeln!(
                xml,
                "{head}>\n      <failure message=\"{reason}\">{}</failure>\n    </testcase>",
                content(&evidence(result))
            ),
            verdict => writeln!(
                xml,
                "{head}>\n      <skipped message=\"{}: {reason}\"/>\n    </testcase>",
                verdict.name()
            ),
        };
    }
    xml + "  </testsuite>\n</testsuites>\n"
}

fn evidence(result: &super::CheckResult) -> String {
    let mut text = format!("expected: {}\n", result.expects);
    for evidence in &result.evidence {
        let _ = writeln!(text, "{}", evidence.line());
        for line in &evidence.history {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}

fn content(text: &str) -> String {
    visible_lines(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

fn attribute(text: &str) -> String {
    content(text)
        .replace('"', "&quot;")
        .replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use crate::outcome::Level;

    #[test]
    fn weak_failures_are_skipped() {
        let report = super::super::tests::sample();
        let strict = super::render(&report, Level::Observed);
        assert!(
            strict.contains("<failure message=\"it is not\">") && strict.contains("skipped=\"2\""),
            "{strict}"
        );
        assert!(
            strict.contains("Opaque &lt;&amp;&gt;") && !strict.contains('\u{1b}'),
            "{strict}"
        );
        let mut weak = report;
        weak.results
            .iter_mut()
            .for_each(|result| result.level = Level::May);
        let weak = super::render(&weak, Level::Should);
        assert!(
            weak.contains("failures=\"0\"") && weak.contains("fail: it is not"),
            "{weak}"
        );
    }
}
