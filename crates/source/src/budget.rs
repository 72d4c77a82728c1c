//! What one run may spend: bytes of YAML, the values in them, and steps of the little languages
//! that a document can hold: substitution, patterns, Go's templates, CEL rules.
//!
//! Each document is small enough to be bounded by itself; a run that reads a thousand of them is
//! not. So the bound is the run's: a budget is made where a run begins, handed down by reference,
//! and shared by threads.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use crate::diag::{Diagnostic, Report};
use crate::steps::{Used, take};

pub use crate::steps::{Exceeded, Resource, Steps};

/// The maximum number of levels of lists and maps that a value may have, wherever it comes from:
/// YAML, JSON patches or templates. All that walks or drops a value recurses at most as deep.
pub const MAX_NESTING: usize = 200;

/// How much a run has left.
#[derive(Debug)]
pub struct Budget {
    most: [u64; Resource::ALL.len()],
    used: Arc<Used>,
    /// Values that other crates store for the run, by type.
    kept: Mutex<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    /// The finding about the document that exceeded the budget.
    blame: OnceLock<Diagnostic>,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            most: Resource::ALL.map(Resource::most),
            used: Arc::default(),
            kept: Mutex::default(),
            blame: OnceLock::new(),
        }
    }
}

impl Budget {
    /// A budget of so many steps, and of all else as much as a run has.
    pub fn of(steps: u64) -> Self {
        Budget::default().with(Resource::Steps, steps)
    }

    /// Sets the limit of a resource.
    #[must_use]
    pub fn with(mut self, resource: Resource, most: u64) -> Self {
        self.most[resource as usize] = most;
        self
    }

    /// Takes steps.
    ///
    /// # Errors
    /// [`Exceeded`] when there are not so many; from then on nothing is left.
    pub fn charge(&self, steps: usize) -> Result<(), Exceeded> {
        self.take(Resource::Steps, steps)
    }

    /// Takes some of a resource.
    ///
    /// # Errors
    /// [`Exceeded`] when there is not so much; from then on nothing is left.
    pub fn take(&self, resource: Resource, amount: usize) -> Result<(), Exceeded> {
        take(&self.used, self.exceeding(resource), amount)
    }

    /// The steps of this budget, for what outlives the borrow.
    pub fn steps(&self) -> Steps {
        Steps {
            used: Arc::clone(&self.used),
            exceeding: self.exceeding(Resource::Steps),
        }
    }

    /// Returns the value of this type that crates share for the run, such as compiled regular
    /// expressions. The first call creates it.
    pub fn kept<T: Any + Send + Sync + Default>(&self) -> Arc<T> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let value = Arc::clone(
            kept.entry(TypeId::of::<T>())
                .or_insert_with(|| Arc::new(T::default())),
        );
        value.downcast().unwrap_or_default()
    }

    /// Gives back what was taken of a resource that is held no more.
    pub fn give_back(&self, resource: Resource, amount: usize) {
        self.used[resource as usize]
            .fetch_sub(u64::try_from(amount).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// A budget of as much as is left of this one.
    pub fn rest(&self) -> Budget {
        let mut rest = Budget::default();
        for resource in Resource::ALL {
            rest.most[resource as usize] = self.left(resource);
        }
        rest
    }

    /// Takes what was taken of another.
    ///
    /// # Errors
    /// [`Exceeded`] for the first resource of which there is not so much.
    pub fn take_all(&self, other: &Budget) -> Result<(), Exceeded> {
        Resource::ALL.into_iter().try_for_each(|resource| {
            self.take(
                resource,
                usize::try_from(other.used_of(resource)).unwrap_or(usize::MAX),
            )
        })
    }

    /// Does the work for each item, on all cores, and hands back the results in their order. Which
    /// item takes the last of the run would depend on the cores: when there is not enough for
    /// all of them, they are worked through again, one after the other.
    pub fn each<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T, &Budget) -> R + Sync,
    ) -> Vec<R> {
        if items.len() > 1 {
            let own = self.rest();
            let results = items.par_iter().map(|item| work(item, &own)).collect();
            if self.settles(&own) {
                return results;
            }
        }
        items.iter().map(|item| work(item, self)).collect()
    }

    /// Does two works at the same time. When there is not enough for both they are done again, the
    /// first one first: they must change nothing but what they return.
    pub fn both<A: Send, B: Send>(
        &self,
        first: impl Fn(&Budget) -> A + Sync,
        second: impl Fn(&Budget) -> B + Sync,
    ) -> (A, B) {
        let own = self.rest();
        let results = rayon::join(|| first(&own), || second(&own));
        if self.settles(&own) {
            results
        } else {
            (first(self), second(self))
        }
    }

    /// Takes what was taken of another, unless somebody was left without there. Whether it did.
    fn settles(&self, own: &Budget) -> bool {
        own.blame.get().is_none() && own.exceeded().is_none() && self.take_all(own).is_ok()
    }

    /// The error of the first resource that is spent, if any.
    pub fn exceeded(&self) -> Option<Exceeded> {
        let resource = Resource::ALL
            .into_iter()
            .find(|resource| self.is_spent(*resource))?;
        Some(self.exceeding(resource))
    }

    /// The error of a request beyond the limit of a resource.
    pub fn exceeding(&self, resource: Resource) -> Exceeded {
        Exceeded {
            resource,
            most: self.most[resource as usize],
        }
    }

    /// Whether somebody got [`Exceeded`] for a resource.
    pub fn is_spent(&self, resource: Resource) -> bool {
        self.used_of(resource) > self.most[resource as usize]
    }

    /// The amount of a resource that is left, in the unit of the resource; 0 once it is spent.
    pub fn left(&self, resource: Resource) -> u64 {
        self.most[resource as usize].saturating_sub(self.used_of(resource))
    }

    /// The steps that were taken so far.
    pub fn used(&self) -> u64 {
        self.used_of(Resource::Steps)
    }

    /// How much of a resource was taken so far.
    pub fn used_of(&self, resource: Resource) -> u64 {
        self.used[resource as usize].load(Ordering::Relaxed)
    }

    /// The finding about the document that took the last of it: this one, unless another was to
    /// blame before.
    pub fn blamed(&self, finding: impl FnOnce() -> Diagnostic) -> Diagnostic {
        self.blame.get_or_init(finding).clone()
    }

    /// Adds to the report of a run which document took the last of what it may read, where nobody
    /// else told: some engines read a document again for one question, and leave its faults to
    /// those that read it as a whole.
    pub fn tell(&self, report: &mut Report) {
        let untold = self
            .blame
            .get()
            .filter(|finding| !report.findings().contains(finding));
        report.extend(untold.cloned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Rule;

    #[test]
    fn who_takes_the_last_of_it_is_the_same_on_any_number_of_cores() {
        let items: Vec<usize> = (0..64).collect();
        let done = |budget: &Budget| {
            budget.each(&items, |item, budget| budget.charge(1).map(|()| *item).ok())
        };
        let enough = Budget::of(64);
        assert!(
            done(&enough)
                .into_iter()
                .eq(items.iter().copied().map(Some)),
            "the results keep the order of the items"
        );
        assert_eq!((enough.used(), enough.exceeded()), (64, None));
        for _ in 0..16 {
            let scarce = Budget::of(40);
            let results = done(&scarce);
            assert!(
                results.iter().take(40).flatten().eq(items.iter().take(40))
                    && results.iter().skip(40).all(Option::is_none)
            );
            assert!(scarce.is_spent(Resource::Steps));
        }
    }

    #[test]
    fn of_two_works_the_first_takes_what_there_is() {
        let done = |budget: &Budget| {
            budget.both(
                |budget| budget.charge(3).is_ok(),
                |budget| budget.charge(4).is_ok(),
            )
        };
        let enough = Budget::of(7);
        assert_eq!(
            (done(&enough), enough.used(), enough.exceeded()),
            ((true, true), 7, None)
        );
        for _ in 0..16 {
            let scarce = Budget::of(6);
            assert_eq!(
                (done(&scarce), scarce.is_spent(Resource::Steps)),
                ((true, false), true)
            );
        }
    }

    /// What was given back since may hide it.
    #[test]
    fn work_that_was_to_blame_for_something_is_done_again() {
        let budget = Budget::of(6);
        let blamed = |budget: &Budget| {
            let finding = budget
                .charge(7)
                .err()
                .map(|_| budget.blamed(|| Diagnostic::of(const { &Rule::error("x", "") }, "x")));
            budget.give_back(Resource::Steps, 7);
            finding.is_some()
        };
        assert_eq!(budget.both(blamed, |_| ()), (true, ()));
        assert!(budget.blame.get().is_some() && budget.exceeded().is_none());
    }

    #[test]
    fn nothing_is_left_once_it_is_used_up() {
        let budget = Budget::of(10);
        assert_eq!(budget.charge(4), Ok(()));
        assert_eq!((budget.charge(6), budget.used()), (Ok(()), 10));
        assert!(!budget.is_spent(Resource::Steps));
        let exceeded = Exceeded {
            resource: Resource::Steps,
            most: 10,
        };
        assert_eq!(budget.charge(1), Err(exceeded));
        assert!(budget.is_spent(Resource::Steps) && !budget.is_spent(Resource::Bytes));
        assert_eq!(budget.charge(0), Err(exceeded));
        assert_eq!(budget.charge(usize::MAX), Err(exceeded));
        assert_eq!(
            budget.take(Resource::Bytes, 1),
            Ok(()),
            "each is counted by itself"
        );
        assert_eq!(exceeded.to_string(), "more than 10 steps in one run");
    }

    #[test]
    fn what_no_reader_told_is_told_once() {
        let (budget, mut report) = (Budget::default(), Report::new());
        budget.tell(&mut report);
        assert!(report.is_empty());
        let finding = budget.blamed(|| Diagnostic::of(const { &Rule::error("x", "") }, "x"));
        budget.tell(&mut report);
        budget.tell(&mut report);
        assert_eq!(report.findings(), [finding]);
    }
}
