//! What everyone who writes asks first.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

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

    /// Of a candidate: it may not write yet.
    pub(super) fn of_candidate() -> Self {
        Leadership(Arc::new(Mutex::new(Term::None)))
    }

    /// Whether this process may write now. Ask directly before each write.
    pub(crate) fn holds(&self) -> bool {
        match self.term() {
            Term::None => false,
            Term::Until(end) => Instant::now() < end,
            Term::Endless => true,
        }
    }

    /// It may write until then.
    pub(super) fn extend(&self, end: Instant) {
        self.set(Term::Until(end));
    }

    /// It may not write any more.
    pub(super) fn end(&self) {
        self.set(Term::None);
    }

    /// When the term of a leader ends.
    pub(super) fn ends(&self) -> Option<Instant> {
        match self.term() {
            Term::Until(end) => Some(end),
            Term::None | Term::Endless => None,
        }
    }

    fn term(&self) -> Term {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, term: Term) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = term;
    }
}
