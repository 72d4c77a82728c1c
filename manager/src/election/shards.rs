//! The Leases of shards: several, which replicas share out among each other. A Lease that is free
//! goes to the replica that holds the fewest; one that holds fewer than another by two asks for
//! one, which the other then lets run out.
//!
//! How many shards there are is the same for all who work: they hold our own Lease together, under
//! a name that says it (`Candidacy::of_shards`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::Client;
use tokio::sync::{Mutex as Turn, MutexGuard as HeldTurn};
use tokio::time::Instant;

use super::decision::{Action, Observation};
use super::elector::{Candidacy, Elector, WANTED_BY};
use super::{Leadership, identity};
use crate::fault::told;
use crate::flags::LeaseTimes;
use crate::metrics::Metrics;
use crate::shard::Shard;
use crate::shutdown::Shutdown;

/// The candidacies of one replica for the Leases of all shards.
pub(crate) struct ShardLeases(Vec<(Elector, Share)>);

impl ShardLeases {
    /// Candidacies that have not tried yet, in the namespace of the manager.
    pub(crate) fn new(
        client: &Client,
        home: &str,
        count: usize,
        times: LeaseTimes,
        metrics: &Metrics,
    ) -> Self {
        let (identity, board) = (identity(), Arc::new(Board::default()));
        let elector = |shard: Shard| {
            let candidacy = Candidacy {
                lease: format!("windlass-manager-shard-{}-of-{}", shard.index, shard.count),
                namespace: home.to_owned(),
                identity: identity.clone(),
                waiting: "this replica stands by for the shard",
            };
            let share = Share::new(board.clone(), shard.index, identity.clone());
            (
                Elector::new(client.clone(), candidacy, times, metrics.clone())
                    .sharing(share.clone()),
                share,
            )
        };
        ShardLeases(Shard::all(count).map(elector).collect())
    }

    /// For each shard, in their order, whether this process may write for it.
    pub(crate) fn leaderships(&self) -> impl Iterator<Item = Leadership> {
        self.0.iter().map(|(elector, _)| elector.leadership())
    }

    /// Gets what Leases can be had, and renews them, until the shutdown begins. One that is lost
    /// may be had again later.
    pub(crate) async fn keep(&mut self, shutdown: &Shutdown) {
        futures::future::join_all(
            self.0
                .iter_mut()
                .map(|(elector, share)| strive(elector, share, shutdown)),
        )
        .await;
    }

    /// Gives all back; everything must have stopped writing before.
    pub(crate) async fn release(&mut self) {
        futures::future::join_all(self.0.iter_mut().map(|(elector, _)| elector.release())).await;
    }
}

async fn strive(elector: &mut Elector, share: &Share, shutdown: &Shutdown) {
    while elector.acquire(shutdown).await {
        match elector.keep(shutdown).await {
            Ok(()) => return,
            Err(fault) => {
                share.lost();
                tracing::info!(cause = %told(fault.as_ref()), "Nothing is written for this shard any more");
            }
        }
    }
}

/// What the candidacies of one replica know of each other.
#[derive(Default)]
struct Board {
    /// Of who tries to get a Lease.
    turn: Turn<()>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many Leases this replica holds.
    held: u32,
    /// Who holds the others, as they were seen last.
    holders: BTreeMap<usize, String>,
    /// The one that was asked for.
    asked: Option<usize>,
}

/// One candidacy's part in the sharing.
#[derive(Clone)]
pub(super) struct Share {
    board: Arc<Board>,
    index: usize,
    identity: String,
    /// Since when it is known that nobody holds the Lease.
    free_since: Option<Instant>,
    /// It was given up, and nobody has taken it yet.
    is_given_up: bool,
}

impl Share {
    fn new(board: Arc<Board>, index: usize, identity: String) -> Self {
        Share {
            board,
            index,
            identity,
            free_since: None,
            is_given_up: false,
        }
    }

    /// Of the candidacies of a replica one at a time tries to get its Lease.
    pub(super) async fn turn(&self) -> HeldTurn<'_, ()> {
        self.board.turn.lock().await
    }

    pub(super) fn took(&self) {
        let mut state = self.lock();
        state.held += 1;
        state.holders.remove(&self.index);
        state.asked.take_if(|asked| *asked == self.index);
    }

    fn lost(&self) {
        let mut state = self.lock();
        state.held = state.held.saturating_sub(1);
    }

    /// What is to be done, when a candidate alone would do that.
    pub(super) fn decide(
        &mut self,
        action: Action,
        seen: Option<&Observation>,
        pause: Duration,
    ) -> Action {
        let now = Instant::now();
        let action = match (action, seen) {
            (Action::Renew, Some(seen)) if self.is_given_up => seen.once_it_is_free(now),
            (Action::Renew, Some(seen)) if self.is_wanted(seen) => {
                self.is_given_up = true;
                return Action::GiveUp;
            }
            (action, _) => action,
        };
        match action {
            Action::Create | Action::TakeOver => {
                // Who holds fewer comes first.
                let patience = pause * self.lock().held;
                let left =
                    (*self.free_since.get_or_insert(now) + patience).saturating_duration_since(now);
                if !left.is_zero() {
                    return Action::Wait(left);
                }
                self.free_since = None;
                self.is_given_up = false;
            }
            Action::Renew | Action::Wait(_) | Action::GiveUp => self.free_since = None,
        }
        action
    }

    /// Whether another replica asks for a Lease of ours, and there are more.
    fn is_wanted(&self, seen: &Observation) -> bool {
        self.lock().held > 1 && wanted_by(seen).is_some_and(|asker| *asker != self.identity)
    }

    /// Whether to ask for this Lease, which another holds: its holder has two more than this
    /// replica, which has asked for no other.
    pub(super) fn asks(&self, seen: Option<&Observation>) -> bool {
        let Some(seen) = seen else { return false };
        let mut state = self.lock();
        if seen.holder() == self.identity {
            return false;
        }
        state.holders.insert(self.index, seen.holder().to_owned());
        let theirs = state
            .holders
            .values()
            .filter(|holder| *holder == seen.holder())
            .count();
        let is_unfair = !seen.holder().is_empty()
            && theirs
                >= usize::try_from(state.held)
                    .unwrap_or(usize::MAX)
                    .saturating_add(2);
        let is_free_to_ask =
            state.asked.is_none_or(|asked| asked == self.index) && wanted_by(seen).is_none();
        if is_unfair && is_free_to_ask {
            state.asked = Some(self.index);
        } else if !is_unfair || wanted_by(seen).is_some_and(|asker| *asker != self.identity) {
            state.asked.take_if(|asked| *asked == self.index);
        }
        is_unfair && is_free_to_ask
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.board
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

fn wanted_by(seen: &Observation) -> Option<&String> {
    seen.lease.metadata.annotations.as_ref()?.get(WANTED_BY)
}
