//! Whose turn it is: so many configs are worked on at once, and of one cluster half of them at most, so that a cluster with very many machines does
//! not keep all others waiting. Who waits for a workload cluster takes nobody's place.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::workload::Name;

/// The turns of all configs of a kind.
pub(super) struct Turns {
    workers: Arc<Semaphore>,
    /// Turns that one cluster has at once.
    each: usize,
    /// Clusters of which some config has a turn, or waits for one.
    clusters: Mutex<BTreeMap<Name, Weak<Semaphore>>>,
}

/// The turn of one config; over when it is dropped.
pub(super) struct Turn {
    workers: Arc<Semaphore>,
    worker: Option<OwnedSemaphorePermit>,
    _of_cluster: OwnedSemaphorePermit,
}

impl Turns {
    /// `concurrency`: how many configs are worked on at once.
    pub(super) fn new(concurrency: usize) -> Self {
        Turns { workers: Arc::new(Semaphore::new(concurrency)), each: concurrency.div_ceil(2), clusters: Mutex::default() }
    }

    /// Waits for the turn of a config of that cluster.
    pub(super) async fn turn(&self, cluster: Name) -> Turn {
        let of_cluster = acquire(self.of_cluster(cluster)).await;
        Turn { worker: Some(acquire(self.workers.clone()).await), workers: self.workers.clone(), _of_cluster: of_cluster }
    }

    fn of_cluster(&self, cluster: Name) -> Arc<Semaphore> {
        let mut clusters = self.clusters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turns) = clusters.get(&cluster).and_then(Weak::upgrade) {
            return turns;
        }
        clusters.retain(|_, turns| turns.strong_count() > 0);
        let turns = Arc::new(Semaphore::new(self.each));
        clusters.insert(cluster, Arc::downgrade(&turns));
        turns
    }
}

impl Turn {
    /// Waits for somebody else's server, and lets others work meanwhile.
    pub(super) async fn aside<T>(&mut self, waiting: impl Future<Output = T>) -> T {
        self.worker = None;
        let answer = waiting.await;
        self.worker = Some(acquire(self.workers.clone()).await);
        answer
    }
}

async fn acquire(semaphore: Arc<Semaphore>) -> OwnedSemaphorePermit {
    semaphore.acquire_owned().await.expect("internal error: nobody closes the semaphore")
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn name(cluster: &str) -> Name {
        ("n".to_owned(), cluster.to_owned())
    }

    #[tokio::test]
    async fn a_cluster_has_half_of_the_turns() {
        let turns = Turns::new(4);
        let first = turns.turn(name("a")).await;
        let second = turns.turn(name("a")).await;
        assert!(turns.turn(name("a")).now_or_never().is_none());
        let others = (turns.turn(name("b")).await, turns.turn(name("b")).await);
        assert!(turns.turn(name("c")).now_or_never().is_none(), "all work");
        drop(first);
        assert!(turns.turn(name("c")).now_or_never().is_some());
        drop((second, others));
        drop(turns.turn(name("d")).await);
        assert_eq!(turns.clusters.lock().unwrap().len(), 1, "nobody waits for the others any more");
    }

    #[tokio::test]
    async fn who_waits_takes_nobodys_place() {
        let turns = Turns::new(1);
        let mut waiting = turns.turn(name("a")).await;
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let aside = tokio::spawn(async move { waiting.aside(receiver).await });
        let other = turns.turn(name("b")).await;
        sender.send(()).unwrap();
        tokio::task::yield_now().await;
        assert!(!aside.is_finished(), "the other one works now");
        drop(other);
        aside.await.unwrap().unwrap();
    }
}
