//! The entries of a mapping while it is read: keys that stand twice, and what `<<` brings.

use std::collections::BTreeMap;

use super::node::Entry;
use windlass_source::TextRange;

/// The entries of a mapping that is still open.
pub(super) struct Entries<T> {
    pub(super) all: Vec<Entry<T>>,
    /// The places in `all` of those that `<<` brought, in order.
    merged: Vec<usize>,
}

/// An entry that a later one with the same key overrides.
pub(super) struct Overridden {
    pub(super) key: String,
    pub(super) lost: TextRange,
    pub(super) won: TextRange,
    /// Whether the one that wins came from `<<`.
    pub(super) by_merge: bool,
}

/// Mappings up to this size are searched one by one.
const SMALL: usize = 8;

impl<T> Entries<T> {
    pub(super) fn new() -> Self {
        Entries {
            all: Vec::new(),
            merged: Vec::new(),
        }
    }

    /// Adds what `<<` brings.
    pub(super) fn merge(&mut self, entries: Vec<Entry<T>>) {
        self.merged
            .extend(self.all.len()..self.all.len() + entries.len());
        self.all.extend(entries);
    }

    /// The entries with each key once: the last value of a key wins, at its own position. Also
    /// returns the overridden keys, except those from `<<`, which exist to be overridden.
    pub(super) fn close(self) -> (Vec<Entry<T>>, Vec<Overridden>) {
        let Entries { mut all, merged } = self;
        if all.is_sorted_by(|a, b| a.key < b.key) {
            return (all, Vec::new());
        }
        let lost = lost(&all);
        let is_merged = |at: &usize| merged.binary_search(at).is_ok();
        let told = lost
            .iter()
            .filter(|(lost, _)| !is_merged(lost))
            .map(|(lost, won)| Overridden {
                key: all[*lost].key.clone(),
                lost: all[*lost].key_span,
                won: all[*won].key_span,
                by_merge: is_merged(won),
            });
        let told = told.collect();
        if !lost.is_empty() {
            let mut at = 0..;
            all.retain(|_| {
                at.next()
                    .is_some_and(|at| lost.binary_search_by_key(&at, |(lost, _)| *lost).is_err())
            });
        }
        (all, told)
    }
}

/// The entries that lose to a later one, in order, each with the one that wins.
fn lost<T>(entries: &[Entry<T>]) -> Vec<(usize, usize)> {
    let mut lost: Vec<(usize, usize)> = Vec::new();
    if entries.len() <= SMALL {
        for at in 0..entries.len() {
            let winner = (at + 1..entries.len())
                .rev()
                .find(|later| entries[*later].key == entries[at].key);
            lost.extend(winner.map(|winner| (at, winner)));
        }
        return lost;
    }
    let mut winners: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate().rev() {
        let winner = *winners.entry(&entry.key).or_insert(at);
        if winner != at {
            lost.push((at, winner));
        }
    }
    lost.reverse();
    lost
}
