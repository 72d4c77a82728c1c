//! Whose turn it is: scenarios run in the order of their list, but for those that what runs already
//! keeps waiting.

use std::sync::{Condvar, Mutex};
use std::time::Instant;

use super::runner::{Company, Scenario, lock};

/// Scenarios that wait, and what runs.
pub(super) struct Queue<'a> {
    state: Mutex<State<'a>>,
    changed: Condvar,
    /// Nothing starts after it.
    deadline: Option<Instant>,
}

struct State<'a> {
    waiting: Vec<&'a Scenario>,
    running: Vec<Company>,
}

/// A scenario that runs; over when it is dropped.
pub(super) struct Turn<'a> {
    pub(super) scenario: &'a Scenario,
    queue: &'a Queue<'a>,
}

impl<'a> Queue<'a> {
    pub(super) fn new(scenarios: &[&'a Scenario], deadline: Option<Instant>) -> Self {
        Queue {
            deadline,
            state: Mutex::new(State {
                waiting: scenarios.to_vec(),
                running: Vec::new(),
            }),
            changed: Condvar::new(),
        }
    }

    /// Those that did not start before the deadline.
    pub(super) fn left(&self) -> Vec<&'static str> {
        let state = lock(&self.state);
        state.waiting.iter().map(|scenario| scenario.name).collect()
    }

    fn is_over(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The next one that may run, when it may. None when nothing waits, or no time is left.
    pub(super) fn next(&'a self) -> Option<Turn<'a>> {
        let mut state = lock(&self.state);
        loop {
            if state.waiting.is_empty() || self.is_over() {
                return None;
            }
            if let Some(place) = state
                .waiting
                .iter()
                .position(|scenario| state.allows(scenario.company))
            {
                let scenario = state.waiting.remove(place);
                state.running.push(scenario.company);
                return Some(Turn {
                    scenario,
                    queue: self,
                });
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}

impl State<'_> {
    fn allows(&self, company: Company) -> bool {
        match company {
            Company::Nobody => self.running.is_empty(),
            Company::Any => !self.running.contains(&Company::Nobody),
            Company::OthersPlanes => !self.running.iter().any(|running| *running != Company::Any),
        }
    }
}

impl Turn<'_> {
    /// Whether nobody will use the shared control planes any more.
    pub(super) fn is_last_of_shared(&self) -> bool {
        let is_of_shared = |company| company != Company::Any;
        is_of_shared(self.scenario.company)
            && !lock(&self.queue.state)
                .waiting
                .iter()
                .any(|scenario| is_of_shared(scenario.company))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.queue.state);
        let place = state
            .running
            .iter()
            .position(|company| *company == self.scenario.company);
        state
            .running
            .remove(place.expect("internal error: it runs until now"));
        drop(state);
        self.queue.changed.notify_all();
    }
}
