//! What was looked at of each config last. A change of a config that is our own writing makes
//! nobody look again: the pass that wrote it went on until there was nothing to do. Nor does a
//! change of what is not read: the core writes twice into `metadata.managedFields` of each config.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::caches::Config;
use super::workload::Name;

/// How long the watch may be behind our own writing before a config is looked at as the watch has
/// it.
const BEHIND: Duration = Duration::from_secs(10);
/// How long to wait for the watch.
const PAUSE: Duration = Duration::from_millis(50);

/// What was looked at last, of all configs of a kind.
#[derive(Default)]
pub(super) struct Echoes(Mutex<BTreeMap<Name, Looked>>);

/// The last pass over a config.
struct Looked {
    /// What it saw and wrote, the newest last.
    states: Vec<State>,
    /// Whether something else has changed since it began.
    is_told: bool,
    /// When it ended with nothing left to do, and when to look again whatever happens.
    rest: Option<(Instant, Instant)>,
}

/// What a config was at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State {
    /// `metadata.resourceVersion`.
    version: Box<str>,
    content: u64,
}

impl State {
    pub(super) fn of(config: &Config) -> Self {
        State {
            version: config.version().into(),
            content: config.content(),
        }
    }
}

impl Echoes {
    /// Something that the config depends on has changed.
    pub(super) fn tell(&self, name: &Name) {
        if let Some(looked) = self.lock().get_mut(name) {
            looked.is_told = true;
        }
    }

    /// When to look at a config, if not now: nothing has changed since the last pass but what it
    /// wrote itself.
    pub(super) fn later(&self, name: &Name, state: &State, now: Instant) -> Option<Duration> {
        let all = self.lock();
        let looked = all.get(name)?;
        let (ended, due) = looked.rest?;
        // What has the content of an older state, and another version, was put back by somebody.
        let is_newest = looked.states.last().is_some_and(|newest| {
            newest.version == state.version || newest.content == state.content
        });
        let is_known = is_newest
            || looked
                .states
                .iter()
                .any(|known| known.version == state.version);
        match looked.is_told || now >= due {
            _ if !is_known => None,
            false => Some(due - now),
            // Of an older version every write would be rejected.
            true if !is_newest && now < ended + BEHIND => Some(PAUSE),
            true => None,
        }
    }

    pub(super) fn begin(&self, name: &Name, state: State) {
        self.lock().insert(
            name.clone(),
            Looked {
                states: vec![state],
                is_told: false,
                rest: None,
            },
        );
    }

    pub(super) fn wrote(&self, name: &Name, state: State) {
        if let Some(looked) = self.lock().get_mut(name) {
            looked.states.push(state);
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

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Name, Looked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGAIN: Duration = Duration::from_secs(300);

    fn name() -> Name {
        ("n".into(), "w".into())
    }

    /// One whose content no other has.
    fn state(number: &str) -> State {
        State {
            version: number.into(),
            content: number.parse().unwrap(),
        }
    }

    /// A pass that saw version 1 and wrote 2 and 3.
    fn looked(now: Instant) -> Echoes {
        let echoes = Echoes::default();
        echoes.begin(&name(), state("1"));
        ["2", "3"]
            .iter()
            .for_each(|number| echoes.wrote(&name(), state(number)));
        assert_eq!(
            echoes.later(&name(), &state("2"), now),
            None,
            "it is not done"
        );
        echoes.rest(&name(), now, AGAIN);
        echoes
    }

    #[test]
    fn our_own_writing_makes_nobody_look_again() {
        let now = Instant::now();
        let echoes = looked(now);
        for number in ["1", "2", "3"] {
            assert_eq!(
                echoes.later(&name(), &state(number), now + Duration::from_secs(1)),
                Some(AGAIN - Duration::from_secs(1))
            );
        }
        assert_eq!(
            echoes.later(&name(), &state("4"), now),
            None,
            "somebody else wrote"
        );
        assert_eq!(
            echoes.later(&name(), &state("3"), now + AGAIN),
            None,
            "it is time"
        );
        assert_eq!(
            echoes.later(&("n".into(), "other".into()), &state("3"), now),
            None
        );
    }

    /// What is printed in another way by the API server is the same version nevertheless.
    #[test]
    fn the_version_alone_says_that_it_is_the_newest() {
        let now = Instant::now();
        let echoes = looked(now);
        let printed_anew = State {
            version: "3".into(),
            content: 7,
        };
        assert_eq!(echoes.later(&name(), &printed_anew, now), Some(AGAIN));
        echoes.tell(&name());
        assert_eq!(echoes.later(&name(), &printed_anew, now), None);
    }

    #[test]
    fn a_version_of_the_same_content_makes_nobody_look_again() {
        let now = Instant::now();
        let echoes = looked(now);
        let fourth = |content: u64| State {
            version: "4".into(),
            content,
        };
        assert_eq!(echoes.later(&name(), &fourth(3), now), Some(AGAIN));
        assert_eq!(
            echoes.later(&name(), &fourth(2), now),
            None,
            "somebody put back what we had written over"
        );
        echoes.tell(&name());
        assert_eq!(
            echoes.later(&name(), &fourth(3), now),
            None,
            "there is something else, and what is written names the fourth version"
        );
    }

    #[test]
    fn a_change_of_something_else_makes_somebody_look() {
        let now = Instant::now();
        let echoes = looked(now);
        echoes.tell(&name());
        assert_eq!(echoes.later(&name(), &state("3"), now), None);
        // Not before the watch has what was written, but not for ever either.
        assert_eq!(echoes.later(&name(), &state("2"), now), Some(PAUSE));
        assert_eq!(echoes.later(&name(), &state("2"), now + BEHIND), None);
        echoes.begin(&name(), state("3"));
        echoes.rest(&name(), now, AGAIN);
        assert_eq!(
            echoes.later(&name(), &state("3"), now),
            Some(AGAIN),
            "it was looked at"
        );
    }

    /// What changes while a pass is on may not have been seen by it.
    #[test]
    fn a_change_during_a_pass_counts() {
        let now = Instant::now();
        let echoes = Echoes::default();
        echoes.begin(&name(), state("1"));
        echoes.tell(&name());
        echoes.rest(&name(), now, AGAIN);
        assert_eq!(echoes.later(&name(), &state("1"), now), None);
    }

    #[test]
    fn what_was_not_done_is_looked_at() {
        let echoes = looked(Instant::now());
        echoes.forget(&name());
        assert_eq!(echoes.later(&name(), &state("3"), Instant::now()), None);
    }
}
