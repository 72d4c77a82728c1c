//! What one run may spend on the little languages that a document can hold: substitution, patterns, Go's templates.
//!
//! Each is small enough to be bounded by itself; a run that reads a thousand of them is not. So the bound is the run's: a budget is made
//! where a run begins, handed down by reference, and shared by threads.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many steps a run has. A step is about one byte that is looked at or written: all of them take less than a second.
pub const MOST_STEPS: u64 = 1 << 28;

/// The steps that a run has left.
#[derive(Debug)]
pub struct Budget {
    most: u64,
    used: AtomicU64,
}

/// The run has no steps left. Whoever gets this says which input took them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded;

impl fmt::Display for Exceeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "more than {MOST_STEPS} steps in one run")
    }
}

impl std::error::Error for Exceeded {}

impl Default for Budget {
    fn default() -> Self {
        Budget::of(MOST_STEPS)
    }
}

impl Budget {
    /// A budget of so many steps.
    pub fn of(most: u64) -> Self {
        Budget { most, used: AtomicU64::new(0) }
    }

    /// Takes steps.
    ///
    /// # Errors
    /// [`Exceeded`] when there are not so many; from then on nothing is left.
    pub fn charge(&self, steps: usize) -> Result<(), Exceeded> {
        let steps = u64::try_from(steps).unwrap_or(u64::MAX);
        let before = self.used.fetch_add(steps.min(self.most + 1), Ordering::Relaxed);
        if before.saturating_add(steps) <= self.most { Ok(()) } else { Err(Exceeded) }
    }

    /// Whether somebody got [`Exceeded`].
    pub fn is_spent(&self) -> bool {
        self.used() > self.most
    }

    /// The steps that were taken so far.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_once_it_is_used_up() {
        let budget = Budget::of(10);
        assert_eq!(budget.charge(4), Ok(()));
        assert_eq!((budget.charge(6), budget.used()), (Ok(()), 10));
        assert!(!budget.is_spent());
        assert_eq!(budget.charge(1), Err(Exceeded));
        assert!(budget.is_spent());
        assert_eq!(budget.charge(0), Err(Exceeded));
        assert_eq!(budget.charge(usize::MAX), Err(Exceeded));
    }
}
