//! What everyone who writes asks first.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Whether this process may write; clones are of one answer.
///
/// It is judged by the monotonic clock, which runs on while the process is stopped: a leader that was frozen and wakes up after its time
/// knows that it is none any more, before it has heard of anybody else.
#[derive(Debug, Clone)]
pub(crate) struct Leadership(Arc<Mutex<Term>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Term {
    None,
    Until(Instant),
    Endless,
}

impl Leadership {
    /// Of a process that takes part in no election: it may always write.
    pub(crate) fn without_election() -> Self {
        Leadership(Arc::new(Mutex::new(Term::Endless)))
    }

    /// Whether this process may write now. Ask directly before each write.
    #[cfg_attr(not(test), expect(dead_code, reason = "the controller asks"))]
    pub(crate) fn holds(&self) -> bool {
        self.holds_at(Instant::now())
    }

    fn holds_at(&self, now: Instant) -> bool {
        match *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Term::None => false,
            Term::Until(end) => now < end,
            Term::Endless => true,
        }
    }
}
