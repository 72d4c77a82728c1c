//! Findings about the content of releases, which only their authors can change. Users who install a
//! release see one line for each release, and all findings with `-v 1`.

use std::collections::BTreeSet;

use crate::cli::Context;
use windlass_report::text::summary_line;
use windlass_shell as shell;
use windlass_source::diag::{Diagnostic, Report};

/// The releases of a run, with what is for their authors.
#[derive(Default)]
pub(super) struct Authors {
    releases: Vec<Release>,
}

struct Release {
    title: String,
    /// Its folder, if it is on this machine.
    folder: Option<String>,
    findings: BTreeSet<String>,
}

/// What tells findings apart, whatever their severity is set to.
fn key(finding: &Diagnostic) -> String {
    format!(
        "{} {:?} {}",
        finding.rule.id, finding.place, finding.message
    )
}

impl Authors {
    pub(super) fn add(&mut self, title: String, folder: Option<String>, report: &Report) {
        self.releases.push(Release {
            title,
            folder,
            findings: report.findings().iter().map(key).collect(),
        });
    }

    /// The findings that the user can act on, and a line for each release that has others. With
    /// `-v 1` all findings are shown.
    pub(super) fn fold(&self, context: &Context<'_>, report: &Report) -> (Report, Vec<String>) {
        if context.global.verbosity > 0 {
            return (report.clone(), Vec::new());
        }
        let mut kept: Vec<Diagnostic> = report.findings().to_vec();
        let mut lines = Vec::new();
        for release in &self.releases {
            let (own, others): (Vec<_>, Vec<_>) = kept
                .into_iter()
                .partition(|finding| release.findings.contains(&key(finding)));
            kept = others;
            let own: Report = own.into_iter().collect();
            if own.is_empty() {
                continue;
            }
            let counts = summary_line("", own.summary(), "");
            let lint = match &release.folder {
                Some(folder) => {
                    let lint = context.command(&format!("lint {}", shell::quoted(folder)));
                    format!("`{lint}` and `-v 1` list them")
                }
                None => "`-v 1` lists them".to_owned(),
            };
            lines.push(format!(
                "{}: {counts}, for the authors of the release; {lint}",
                release.title
            ));
        }
        (kept.into_iter().collect(), lines)
    }
}
