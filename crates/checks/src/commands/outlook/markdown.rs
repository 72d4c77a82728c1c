//! The outlook as Markdown for an issue: a section for each release, a task for each finding.

use super::{Prediction, grouped, text};
use windlass_report::markdown::{Comment, code, escaped};
use windlass_report::text::place_words;
use windlass_source::diag::{Diagnostic, Report};

/// The issue. What GitHub would not take is left out, which the last line says. `report` has no
/// secrets.
pub fn issue(predictions: &[Prediction], report: &Report, horizon: &str) -> String {
    let mut comment = Comment::default();
    let groups = grouped(predictions, report);
    if groups.is_empty() {
        comment.push(&format!("{}.\n", text::nothing(horizon)));
    }
    for (at, (first, found)) in groups.iter().enumerate() {
        let blank = if at == 0 { "" } else { "\n" };
        comment.push(&format!(
            "{blank}### {}\n\n",
            escaped(&text::heading(first))
        ));
        found
            .iter()
            .for_each(|(prediction, finding)| comment.push(&task(prediction, finding)));
    }
    comment.finish()
}

fn task(prediction: &Prediction, finding: &Diagnostic) -> String {
    let place = place_words(&finding.place).unwrap_or_default();
    let help = finding
        .help
        .as_ref()
        .map(|help| format!(": {}", escaped(&help.to_string())))
        .unwrap_or_default();
    format!(
        "- [ ] {}: {}{help} ([source]({}))\n",
        code(&place),
        escaped(&finding.message.to_string()),
        prediction.link()
    )
}
