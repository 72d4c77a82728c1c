//! Findings as GitHub's workflow commands, which its checks show beside the line
//! (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions>).

use std::fmt::Write;

use super::text::visible;
use windlass_source::diag::{Diagnostic, Report, Severity};

/// One line a finding that counts: `::error file=…,line=…,col=…,title=RULE::MESSAGE`.
pub fn render(report: &Report) -> String {
    report.unwaived().map(command).collect()
}

fn command(finding: &Diagnostic) -> String {
    let level = match finding.rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let mut line = format!("::{level} ");
    if let Some(file) = &finding.place.file {
        let _ = write!(line, "file={},", property(file));
    }
    if let Some(span) = finding.place.span {
        let _ = write!(line, "line={},col={},", span.start.line, span.start.column);
    }
    let help = finding.help.iter().map(|help| format!("\nhelp: {help}"));
    let _ = writeln!(
        line,
        "title={}::{}",
        finding.rule.id,
        data(&help.fold(finding.message.to_string(), |text, help| text + &help))
    );
    line
}

/// GitHub's own escapes, and no other control character: the log is shown on terminals too.
fn data(text: &str) -> String {
    let escaped = text
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A");
    visible(&escaped).into_owned()
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::diag::{Place, Position, Rule, Span};

    #[test]
    fn a_finding_is_one_command() {
        let at = Position {
            offset: 0,
            line: 1374,
            column: 16,
        };
        let place =
            Place::file("out/bootstrap-components.yaml").at_span(Span { start: at, end: at });
        let stale = Diagnostic::of(
            const { &Rule::error("release-file-stale", "") },
            "image tag is dev, provider.yaml gives v0.3.0",
        )
        .at(place);
        let expected = "::error file=out/bootstrap-components.yaml,line=1374,col=16,title=release-file-stale::\
                        image tag is dev, provider.yaml gives v0.3.0\n";
        assert_eq!(render(&[stale].into_iter().collect()), expected);
    }

    #[test]
    fn githubs_own_characters_are_escaped() {
        let odd = Diagnostic::of(const { &Rule::info("x-y", "") }, "100 %\r\n::error::")
            .at(Place::file("C:a,b%.yaml"));
        assert_eq!(
            render(&[odd].into_iter().collect()),
            "::notice file=C%3Aa%2Cb%25.yaml,title=x-y::100 %25%0D%0A::error::\n"
        );
        let hostile = Diagnostic::of(const { &Rule::info("x-y", "") }, "\x1b[2Jm\u{9b}")
            .at(Place::file("a\n::stop-commands::x\x1b.yaml"));
        let expected =
            "::notice file=a%0A%3A%3Astop-commands%3A%3Ax␛.yaml,title=x-y::␛[2Jm\u{fffd}\n";
        assert_eq!(render(&[hostile].into_iter().collect()), expected);
        let helped = Diagnostic::of(const { &Rule::info("x-y", "") }, "m").help("do\nthis");
        assert_eq!(
            render(&[helped].into_iter().collect()),
            "::notice title=x-y::m%0Ahelp: do%0Athis\n"
        );
        let placeless = Diagnostic::of(const { &Rule::warning("x-y", "") }, "m");
        assert_eq!(
            render(&[placeless].into_iter().collect()),
            "::warning title=x-y::m\n"
        );
    }
}
