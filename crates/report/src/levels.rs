//! `--deny` and `--allow`: which findings make a run fail.

use std::collections::BTreeSet;

use windlass_source::diag::{Diagnostic, Report, Rule, Severity};

/// In place of a rule: all warnings.
pub const ALL_WARNINGS: &str = "warnings";

/// What the flags ask for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Levels {
    /// `--deny warnings`: a warning fails the run as an error does.
    pub deny_warnings: bool,
    /// `--deny RULE`: a finding of this rule fails the run whatever it weighs.
    pub deny: BTreeSet<String>,
    /// `--allow RULE`: findings of this rule are left out. Beats `deny`.
    pub allow: BTreeSet<String>,
}

/// A report after the flags were applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The findings that are left, with the weight that their rule gives them: text and JSON stay
    /// the same whatever is denied.
    pub report: Report,
    /// Whether the run fails (exit code 1).
    pub fails: bool,
}

impl Levels {
    /// Reads the values of `--deny` and `--allow`.
    pub fn new<'a>(
        deny: impl IntoIterator<Item = &'a str>,
        allow: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut deny: BTreeSet<String> = deny.into_iter().map(str::to_owned).collect();
        Levels {
            deny_warnings: deny.remove(ALL_WARNINGS),
            deny,
            allow: allow.into_iter().map(str::to_owned).collect(),
        }
    }

    /// The rules that the flags name.
    pub fn rules(&self) -> impl Iterator<Item = &str> {
        self.deny.iter().chain(&self.allow).map(String::as_str)
    }

    /// Checks a report.
    pub fn judge(&self, report: Report) -> Verdict {
        self.judged(report, |_| true)
    }

    /// Checks a report of something that is not whole: neither to allow a rule nor to waive a
    /// finding completes it, so its errors stay.
    pub fn judge_unfinished(&self, report: Report) -> Verdict {
        let mut findings = report.into_findings();
        findings
            .iter_mut()
            .filter(|finding| finding.rule.severity == Severity::Error)
            .for_each(|finding| finding.waived = None);
        self.judged(findings.into_iter().collect(), |rule| {
            rule.severity != Severity::Error
        })
    }

    fn judged(&self, report: Report, may_be_left_out: impl Fn(&Rule) -> bool) -> Verdict {
        let is_left_out = |rule: &Rule| self.allow.contains(rule.id) && may_be_left_out(rule);
        let mut findings = report.into_findings();
        findings.retain(|finding| !is_left_out(finding.rule));
        findings
            .iter_mut()
            .for_each(|finding| finding.is_denied = self.denies(finding.rule));
        let fails = findings.iter().any(Diagnostic::fails);
        Verdict {
            report: findings.into_iter().collect(),
            fails,
        }
    }

    fn denies(&self, rule: &Rule) -> bool {
        self.deny_warnings && rule.severity == Severity::Warning || self.deny.contains(rule.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::diag::{Rule, WaivedIn, Waiver};

    fn check(deny: &[&str], allow: &[&str], expected: (usize, bool)) {
        let warning = Diagnostic::of(const { &Rule::warning("w-x", "") }, "");
        let info = Diagnostic::of(const { &Rule::info("i-x", "") }, "");
        let verdict = Levels::new(deny.iter().copied(), allow.iter().copied())
            .judge([warning, info].into_iter().collect());
        assert_eq!(
            (verdict.report.findings().len(), verdict.fails),
            expected,
            "--deny {deny:?} --allow {allow:?}"
        );
    }

    #[test]
    fn warnings_and_advice_fail_only_when_denied() {
        check(&[], &[], (2, false));
        check(&["warnings"], &[], (2, true));
        check(&["i-x"], &[], (2, true));
        check(&["e-x"], &[], (2, false));
    }

    #[test]
    fn allowed_rules_are_left_out() {
        check(&["warnings"], &["w-x"], (1, false));
        check(&["w-x"], &["w-x"], (1, false));
        let error: Report = [Diagnostic::of(const { &Rule::error("e-x", "") }, "")]
            .into_iter()
            .collect();
        assert!(Levels::default().judge(error.clone()).fails);
        assert!(!Levels::new([], ["e-x"]).judge(error).fails);
    }

    #[test]
    fn errors_of_what_is_not_whole_are_never_left_out() {
        let findings = [
            Diagnostic::of(const { &Rule::error("e-x", "") }, ""),
            Diagnostic::of(const { &Rule::warning("w-x", "") }, ""),
        ];
        let verdict =
            Levels::new([], ["e-x", "w-x"]).judge_unfinished(findings.into_iter().collect());
        let left: Vec<&str> = verdict
            .report
            .findings()
            .iter()
            .map(|finding| finding.rule.id)
            .collect();
        assert_eq!((left, verdict.fails), (vec!["e-x"], true));
    }

    #[test]
    fn what_is_waived_fails_only_what_is_not_whole() {
        let mut waived = Diagnostic::of(const { &Rule::error("e-x", "") }, "");
        waived.waived = Some(Waiver {
            reason: "known".to_owned(),
            waived_in: WaivedIn::Settings,
        });
        let report: Report = std::iter::once(waived).collect();
        assert!(!Levels::new(["e-x"], []).judge(report.clone()).fails);
        let unfinished = Levels::default().judge_unfinished(report);
        assert!(unfinished.fails && unfinished.report.has_errors());
    }
}
