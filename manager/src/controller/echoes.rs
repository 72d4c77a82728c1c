//! What was looked at of each config last. A change of a config that is our own writing makes nobody look again: the pass that wrote it went on until
//! there was nothing to do.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::workload::Name;

/// How long the watch may be behind our own writing before a config is looked at as the watch has it.
const BEHIND: Duration = Duration::from_secs(10);
/// How long to wait for the watch.
const PAUSE: Duration = Duration::from_millis(50);

/// What was looked at last, of all configs of a kind.
#[derive(Default)]
pub(super) struct Echoes(Mutex<BTreeMap<Name, Looked>>);

/// The last pass over a config.
struct Looked {
    /// The versions that it saw and wrote, the newest last.
    versions: Vec<String>,
    /// Whether something else has changed since it began.
    is_told: bool,
    /// When it ended with nothing left to do, and when to look again whatever happens.
    rest: Option<(Instant, Instant)>,
}

impl Echoes {
    /// Something that the config depends on has changed.
    pub(super) fn tell(&self, name: &Name) {
        if let Some(looked) = self.lock().get_mut(name) {
            looked.is_told = true;
        }
    }

    /// When to look at a config, if not now: nothing has changed since the last pass but what it wrote itself.
    pub(super) fn later(&self, name: &Name, version: &str, now: Instant) -> Option<Duration> {
        let all = self.lock();
        let looked = all.get(name)?;
        let (ended, due) = looked.rest?;
        let is_known = looked.versions.iter().any(|known| known == version);
        let is_newest = looked.versions.last().is_some_and(|newest| newest == version);
        match looked.is_told || now >= due {
            _ if !is_known => None,
            false => Some(due - now),
            // Of an older version every write would be refused.
            true if !is_newest && now < ended + BEHIND => Some(PAUSE),
            true => None,
        }
    }

    /// A pass begins.
    pub(super) fn begin(&self, name: &Name, version: &str) {
        self.lock().insert(name.clone(), Looked { versions: vec![version.to_owned()], is_told: false, rest: None });
    }

    /// It has written the config.
    pub(super) fn wrote(&self, name: &Name, version: &str) {
        if let Some(looked) = self.lock().get_mut(name) {
            looked.versions.push(version.to_owned());
        }
    }

    /// It has ended with nothing left to do.
    pub(super) fn rest(&self, name: &Name, now: Instant, again: Duration) {
        if let Some(looked) = self.lock().get_mut(name) {
            looked.rest = Some((now, now + again));
        }
    }

    /// The config is gone, or was not done.
    pub(super) fn forget(&self, name: &Name) {
        self.lock().remove(name);
    }

    /// Of those namespaces whoever leads anew looks at all configs.
    pub(super) fn forget_all(&self, is_meant: impl Fn(&str) -> bool) {
        self.lock().retain(|(namespace, _), _| !is_meant(namespace));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Name, Looked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGAIN: Duration = Duration::from_secs(300);

    fn name() -> Name {
        ("n".to_owned(), "w".to_owned())
    }

    /// A pass that saw version 1 and wrote 2 and 3.
    fn looked(now: Instant) -> Echoes {
        let echoes = Echoes::default();
        echoes.begin(&name(), "1");
        ["2", "3"].iter().for_each(|version| echoes.wrote(&name(), version));
        assert_eq!(echoes.later(&name(), "2", now), None, "it is not done");
        echoes.rest(&name(), now, AGAIN);
        echoes
    }

    #[test]
    fn our_own_writing_makes_nobody_look_again() {
        let now = Instant::now();
        let echoes = looked(now);
        for version in ["1", "2", "3"] {
            assert_eq!(echoes.later(&name(), version, now + Duration::from_secs(1)), Some(AGAIN - Duration::from_secs(1)));
        }
        assert_eq!(echoes.later(&name(), "4", now), None, "somebody else wrote");
        assert_eq!(echoes.later(&name(), "3", now + AGAIN), None, "it is time");
        assert_eq!(echoes.later(&("n".to_owned(), "other".to_owned()), "3", now), None);
    }

    #[test]
    fn a_change_of_something_else_makes_somebody_look() {
        let now = Instant::now();
        let echoes = looked(now);
        echoes.tell(&name());
        assert_eq!(echoes.later(&name(), "3", now), None);
        // Not before the watch has what was written, but not for ever either.
        assert_eq!(echoes.later(&name(), "2", now), Some(PAUSE));
        assert_eq!(echoes.later(&name(), "2", now + BEHIND), None);
        echoes.begin(&name(), "3");
        echoes.rest(&name(), now, AGAIN);
        assert_eq!(echoes.later(&name(), "3", now), Some(AGAIN), "it was looked at");
    }

    /// What changes while a pass is on may not have been seen by it.
    #[test]
    fn a_change_during_a_pass_counts() {
        let now = Instant::now();
        let echoes = Echoes::default();
        echoes.begin(&name(), "1");
        echoes.tell(&name());
        echoes.rest(&name(), now, AGAIN);
        assert_eq!(echoes.later(&name(), "1", now), None);
    }

    #[test]
    fn what_was_not_done_is_looked_at() {
        let echoes = looked(Instant::now());
        echoes.forget(&name());
        assert_eq!(echoes.later(&name(), "3", Instant::now()), None);
    }

    #[test]
    fn who_leads_anew_knows_nothing_of_those_namespaces() {
        let now = Instant::now();
        let echoes = looked(now);
        echoes.forget_all(|namespace| namespace == "other");
        assert!(echoes.later(&name(), "3", now).is_some());
        echoes.forget_all(|namespace| namespace == "n");
        assert_eq!(echoes.later(&name(), "3", now), None);
    }
}
