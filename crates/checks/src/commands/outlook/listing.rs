//! The outlook for programs: what `-o json` lists beside the findings.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Prediction, grouped};
use windlass_source::diag::{Diagnostic, Report};

/// A release, and what stops working with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedRelease {
    /// `cluster-api`, `kubernetes`, `cloud-init`, or `hosts` for servers that nodes download from.
    pub project: &'static str,
    /// `v1.16`; of `hosts` the servers.
    pub version: &'static str,
    /// `2026-12-08`, or `2027-04` where only the month is known.
    pub date: &'static str,
    /// `released`, `planned` or `tentative`, as was known when this version of Windlass was released.
    pub certainty: &'static str,
    /// The page that has the date.
    pub source: &'static str,
    /// What stops working, in the order of the findings.
    pub predictions: Vec<ListedPrediction>,
}

/// Something that stops working: a finding with its source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedPrediction {
    /// The rule of the finding.
    pub rule: &'static str,
    /// `released`, `planned` or `tentative`; at most as certain as the release.
    pub certainty: &'static str,
    /// The file of the finding.
    pub file: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// Its column, from 1.
    pub column: Option<u32>,
    /// The page or file of the project that has the fact.
    pub source: &'static str,
}

/// The releases with what stops working, of what counts.
pub fn releases(predictions: &[Prediction], report: &Report) -> Vec<ListedRelease> {
    let groups = grouped(predictions, report).into_iter();
    groups
        .map(|(first, found)| ListedRelease {
            project: first.release.project.as_str(),
            version: first.release.version,
            date: first.release.date,
            certainty: first.release.certainty.as_str(),
            source: first.release.source,
            predictions: found.into_iter().map(listed).collect(),
        })
        .collect()
}

fn listed((prediction, finding): (&Prediction, &Diagnostic)) -> ListedPrediction {
    let start = finding.place.span.map(|span| span.start);
    ListedPrediction {
        rule: finding.rule.id,
        certainty: prediction.certainty.as_str(),
        file: finding.place.file.as_deref().map(str::to_owned),
        line: start.map(|start| start.line),
        column: start.map(|start| start.column),
        source: prediction.source,
    }
}
