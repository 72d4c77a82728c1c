//! A finding with the release that makes it true.

use std::fmt;

use super::rules::TENTATIVE;
use windlass_capi::contract::endings::{self, Certainty, Ending, Expected, Release};
use windlass_source::diag::{Diagnostic, Place, Remedy, Rule, Text};

/// Something that stops working with a release.
#[derive(Debug, Clone)]
pub struct Prediction {
    pub(crate) release: &'static Release,
    /// How certain it is; at most as certain as the release.
    pub(crate) certainty: Certainty,
    /// The page or file of the project that has the fact.
    pub(crate) source: &'static str,
    /// What stops working, where, and what to do.
    pub finding: Diagnostic,
}

/// A release that ends something, with the source of the fact. A message has it as release and date.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    release: &'static Release,
    certainty: Certainty,
    source: &'static str,
}

impl fmt::Display for Ends {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Expected(self.release, self.certainty).fmt(formatter)
    }
}

impl Ends {
    /// The end that a row of the table has.
    pub(super) fn of(ending: &Ending) -> Self {
        Ends {
            release: ending.release,
            certainty: ending.certainty,
            source: ending.source,
        }
    }

    /// The end with Kubernetes 1.`minor`, by the tables of `windlass_bootstrap::preflight` and
    /// `windlass_lint`, which name their sources; `None` for versions without a date.
    pub(super) fn in_kubernetes(minor: u64) -> Option<Self> {
        let release = endings::kubernetes(minor)?;
        Some(Ends {
            release,
            certainty: release.certainty,
            source: release.source,
        })
    }

    /// A prediction. `rule` is that of the subject; what is not certain has its own.
    pub(super) fn predict(
        self,
        rule: &'static Rule,
        message: impl Into<Text>,
        place: Place,
        help: impl Into<Remedy>,
    ) -> Prediction {
        let rule = match self.certainty {
            Certainty::Tentative => &TENTATIVE,
            Certainty::Released | Certainty::Planned => rule,
        };
        let finding = Diagnostic::of(rule, message)
            .at(place)
            .help(help)
            .note(format!("source: {}", self.source));
        Prediction {
            release: self.release,
            certainty: self.certainty,
            source: self.source,
            finding,
        }
    }
}

impl Prediction {
    /// The address of the source, without remarks.
    pub(super) fn link(&self) -> &'static str {
        self.source.split(' ').next().unwrap_or(self.source)
    }

    /// The finding with another upstream message.
    pub(super) fn upstream(mut self, message: String) -> Self {
        self.finding = self.finding.upstream(message);
        self
    }
}
