//! What everyone who writes asks first.

use tokio::sync::watch;
use tokio::time::Instant;

/// Whether this process may write; clones are of one answer.
///
/// It is checked by the monotonic clock, which runs on while the process is stopped: a leader that
/// was frozen and wakes up after its time knows that it is none any more, before it has heard of
/// anybody else.
#[derive(Debug, Clone)]
pub(crate) struct Leadership(watch::Sender<Term>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Term {
    None,
    Until(Instant),
    Endless,
}

impl Leadership {
    /// Of a process that takes part in no election: it may always write.
    pub(crate) fn without_election() -> Self {
        Leadership(watch::Sender::new(Term::Endless))
    }

    /// Of a candidate: it may not write yet.
    pub(crate) fn of_candidate() -> Self {
        Leadership(watch::Sender::new(Term::None))
    }

    /// Whether this process may write now.
    pub(crate) fn holds(&self) -> bool {
        match self.term() {
            Term::None => false,
            Term::Until(end) => Instant::now() < end,
            Term::Endless => true,
        }
    }

    pub(crate) fn extend(&self, end: Instant) {
        self.set(Term::Until(end));
    }

    pub(super) fn end(&self) {
        self.set(Term::None);
    }

    pub(super) fn ends(&self) -> Option<Instant> {
        match self.term() {
            Term::Until(end) => Some(end),
            Term::None | Term::Endless => None,
        }
    }

    /// Waits until it may write.
    pub(crate) async fn begun(&self) {
        // The sender is ours, so that the channel is open.
        let mut term = self.0.subscribe();
        drop(term.wait_for(|term| *term != Term::None).await);
    }

    fn term(&self) -> Term {
        *self.0.borrow()
    }

    fn set(&self, term: Term) {
        self.0.send_replace(term);
    }
}

/// All that a process must lead before it may write something.
#[derive(Debug, Clone)]
pub(crate) struct Mandate(Vec<Leadership>);

impl Mandate {
    pub(crate) fn of(all: impl IntoIterator<Item = Leadership>) -> Self {
        Mandate(all.into_iter().collect())
    }

    /// Whether this process may write now. Ask directly before each write.
    pub(crate) fn holds(&self) -> bool {
        self.0.iter().all(Leadership::holds)
    }

    /// Waits until it may write.
    pub(crate) async fn begun(&self) {
        for leadership in &self.0 {
            leadership.begun().await;
        }
    }
}
