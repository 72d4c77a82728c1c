//! What a rendering collects on its way: findings and stand-ins.

use std::collections::BTreeSet;

use super::filling::{Filled, Filling};
use super::stand_in::StandIn;
use crate::diag::{Diagnostic, Report};

/// Findings and stand-ins, in the order in which they were met.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    /// What is wrong.
    pub report: Report,
    /// What was filled in, each once.
    pub stand_ins: Vec<StandIn>,
    /// The Secrets that were read, as `Kind/name`.
    pub secrets: BTreeSet<String>,
    /// What the rendering added to the config on its own.
    pub filled: Vec<Filled>,
}

impl Notes {
    /// Adds a finding; `None`, for a caller that goes no further.
    pub(crate) fn refuse<T>(&mut self, finding: Diagnostic) -> Option<T> {
        self.report.push(finding);
        None
    }

    pub(crate) fn extend(&mut self, other: Notes) {
        self.report.extend(other.report);
        other
            .stand_ins
            .into_iter()
            .for_each(|stand_in| drop(self.stand_in(stand_in)));
        self.secrets.extend(other.secrets);
        self.filled.extend(other.filled);
    }

    /// Says from where a field of kubeadm's documents is that the config leaves open.
    pub(crate) fn fill(&mut self, field: &str, from: Filling) {
        self.filled.push(Filled::field(field, from));
    }

    /// Adds a stand-in, unless it is known.
    pub(crate) fn stand_in(&mut self, stand_in: StandIn) -> String {
        let value = stand_in.value.clone();
        if !self.stand_ins.contains(&stand_in) {
            self.stand_ins.push(stand_in);
        }
        value
    }
}
