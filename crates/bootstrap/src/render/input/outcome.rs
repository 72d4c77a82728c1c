//! What a rendering collects on its way: findings and placeholders.

use std::collections::BTreeSet;

use super::filling::{Filled, Filling};
use super::placeholder::Placeholder;
use windlass_source::diag::{Diagnostic, Report};

/// Findings and placeholders, in the order in which they were met.
#[derive(Debug, Clone, Default)]
pub struct Notes {
    /// What is wrong.
    pub report: Report,
    /// What was filled in, each once.
    pub placeholders: Vec<Placeholder>,
    /// The Secrets that were read, as `Kind/name`.
    pub secrets: BTreeSet<String>,
    /// What the rendering added to the config on its own.
    pub filled: Vec<Filled>,
}

impl Notes {
    /// Adds a finding; `None`, for a caller that goes no further.
    pub(crate) fn reject<T>(&mut self, finding: Diagnostic) -> Option<T> {
        self.report.push(finding);
        None
    }

    pub(crate) fn extend(&mut self, other: Notes) {
        self.report.extend(other.report);
        other
            .placeholders
            .into_iter()
            .for_each(|placeholder| drop(self.placeholder(placeholder)));
        self.secrets.extend(other.secrets);
        self.filled.extend(other.filled);
    }

    /// Says from where a field of kubeadm's documents is that the config leaves open.
    pub(crate) fn fill(&mut self, field: &str, from: Filling) {
        self.filled.push(Filled::field(field, from));
    }

    /// Adds a placeholder, unless it is known.
    pub(crate) fn placeholder(&mut self, placeholder: Placeholder) -> String {
        let value = placeholder.value.clone();
        if !self.placeholders.contains(&placeholder) {
            self.placeholders.push(placeholder);
        }
        value
    }
}
