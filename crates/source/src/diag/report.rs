//! All findings of one run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Diagnostic, Severity};

/// How many findings there are of each weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Pieces of advice.
    pub infos: usize,
    /// Findings that are waived; they are in none of the other numbers.
    pub waived: usize,
}

/// The findings of one run, in the order in which they are shown once [`Report::sort`] was called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    findings: Vec<Diagnostic>,
}

impl Report {
    /// A report without findings.
    pub fn new() -> Self {
        Report::default()
    }

    /// The finding that was added last, to be changed.
    pub fn last_mut(&mut self) -> Option<&mut Diagnostic> {
        self.findings.last_mut()
    }

    /// Adds a finding.
    pub fn push(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }

    /// The findings.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// The findings, by value.
    pub fn into_findings(self) -> Vec<Diagnostic> {
        self.findings
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// The findings that no waiver covers, in the order of the report.
    pub fn unwaived(&self) -> impl Iterator<Item = &Diagnostic> {
        self.findings
            .iter()
            .filter(|finding| finding.waived.is_none())
    }

    /// Whether at least one finding is an error that counts.
    pub fn has_errors(&self) -> bool {
        self.unwaived().any(|f| f.rule.severity == Severity::Error)
    }

    /// The files and offsets at which the findings begin that `takes` returns true for.
    pub fn starts(&self, takes: impl Fn(&Diagnostic) -> bool) -> BTreeSet<(Arc<str>, usize)> {
        let taken = self.findings.iter().filter(|finding| takes(finding));
        taken.filter_map(|finding| finding.place.start()).collect()
    }

    /// How many findings there are of each weight.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for finding in &self.findings {
            match finding.rule.severity {
                _ if finding.waived.is_some() => summary.waived += 1,
                Severity::Error => summary.errors += 1,
                Severity::Warning => summary.warnings += 1,
                Severity::Info => summary.infos += 1,
            }
        }
        summary
    }

    /// Orders the findings: files in the order given in `files`, then document, position, rule id.
    /// Findings of files that are not listed come last, by name. What was found twice stands
    /// there once.
    pub fn sort(&mut self, files: &[&str]) {
        let mut ranks = BTreeMap::new();
        files.iter().enumerate().for_each(|(rank, file)| {
            ranks.entry(*file).or_insert(rank);
        });
        self.findings.sort_by_cached_key(|finding| {
            let file = finding.place.file.as_deref().unwrap_or_default();
            let rank = ranks.get(file).copied().unwrap_or(files.len());
            (
                rank,
                file.to_owned(),
                finding.place.document,
                finding.place.span.map(|s| s.start),
                finding.rule,
            )
        });
        self.findings.dedup();
    }
}

impl FromIterator<Diagnostic> for Report {
    fn from_iter<T: IntoIterator<Item = Diagnostic>>(iter: T) -> Self {
        Report {
            findings: iter.into_iter().collect(),
        }
    }
}

impl IntoIterator for Report {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.findings.into_iter()
    }
}

impl Extend<Diagnostic> for Report {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, iter: T) {
        self.findings.extend(iter);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Place, Position, Rule, Span};
    use super::*;

    fn finding(file: &str, line: u32) -> Diagnostic {
        let at = Position {
            offset: 0,
            line,
            column: 1,
        };
        Diagnostic::of(const { &Rule::error("x", "") }, "x")
            .at(Place::file(file).at_span(Span { start: at, end: at }))
    }

    #[test]
    fn findings_follow_the_files_as_given_then_the_position() {
        let mut report: Report = [finding("b", 2), finding("a", 9), finding("b", 1)]
            .into_iter()
            .collect();
        report.sort(&["b", "a"]);
        let order: Vec<_> = report
            .findings()
            .iter()
            .map(|f| f.place.span.map(|s| s.start.line))
            .collect();
        assert_eq!(order, [Some(1), Some(2), Some(9)]);
    }

    #[test]
    fn what_was_found_twice_is_told_once() {
        let mut report: Report = [finding("a", 1), finding("b", 1), finding("a", 1)]
            .into_iter()
            .collect();
        report.sort(&["a", "b"]);
        assert_eq!(report.findings(), [finding("a", 1), finding("b", 1)]);
    }
}
