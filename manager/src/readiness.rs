//! Whether the manager can do its work: named checks, which those who know set.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The checks of this process; all clones are of one set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Readiness(Arc<Mutex<BTreeMap<&'static str, Option<String>>>>);

impl Readiness {
    /// A check that has not passed yet, for the reason given.
    pub(crate) fn check(&self, name: &'static str, why: &str) -> Check {
        let check = Check {
            all: self.clone(),
            name,
        };
        check.failed(why);
        check
    }

    /// Each check by name, with why it does not pass.
    pub(crate) fn checks(&self) -> Vec<(&'static str, Option<String>)> {
        self.lock()
            .iter()
            .map(|(name, failure)| (*name, failure.clone()))
            .collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<&'static str, Option<String>>> {
        // Nothing panics while it holds the lock, and a map is whole between two calls.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One check, in the hands of who knows.
#[derive(Debug, Clone)]
pub(crate) struct Check {
    all: Readiness,
    name: &'static str,
}

impl Check {
    pub(crate) fn passed(&self) {
        self.all.lock().insert(self.name, None);
    }

    pub(crate) fn failed(&self, why: &str) {
        self.all.lock().insert(self.name, Some(why.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_start_as_failed_and_are_set_by_their_holders() {
        let readiness = Readiness::default();
        let caches = readiness.check("caches", "They are being filled");
        assert_eq!(
            readiness.checks(),
            [("caches", Some("They are being filled".to_owned()))]
        );
        caches.passed();
        assert_eq!(readiness.clone().checks(), [("caches", None)]);
    }
}
