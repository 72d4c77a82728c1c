//! How many configs are worked on at once. Who waits for a workload cluster takes no worker from
//! the others, but keeps its place among all that have begun, which are bounded too: each holds
//! what it has read.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::workload;

/// Configs that have begun, with those that wait for a workload cluster: as many as thirty clusters
/// that hang may hold on to, and some 15 MB.
const PLACES: usize = 300;

/// The turns of all configs of a kind.
pub(super) struct Turns {
    workers: Arc<Semaphore>,
    places: Arc<Semaphore>,
    of_one_cluster: usize,
}

/// The place of a config that has begun; free when it is dropped.
pub(super) struct Place(#[expect(dead_code, reason = "it is held")] OwnedSemaphorePermit);

/// The turn of one config; over when it is dropped.
pub(super) struct Turn {
    workers: Arc<Semaphore>,
    worker: Option<OwnedSemaphorePermit>,
}

impl Turns {
    pub(super) fn new(concurrency: usize) -> Self {
        Turns {
            workers: Arc::new(Semaphore::new(concurrency)),
            places: Arc::new(Semaphore::new(concurrency.max(PLACES))),
            of_one_cluster: concurrency.div_ceil(2).min(workload::AT_ONCE),
        }
    }

    /// How many configs of one cluster have begun at once: half of the workers stay free for
    /// others, and no more wait for a workload cluster than it is asked at once.
    pub(super) fn of_one_cluster(&self) -> usize {
        self.of_one_cluster
    }

    /// Waits until a config may begin.
    pub(super) fn place(&self) -> impl Future<Output = Place> + Send + use<> {
        let places = self.places.clone();
        async { Place(acquire(places).await) }
    }

    /// Waits for a worker.
    pub(super) async fn turn(&self) -> Turn {
        Turn {
            worker: Some(acquire(self.workers.clone()).await),
            workers: self.workers.clone(),
        }
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
    semaphore
        .acquire_owned()
        .await
        .expect("internal error: the semaphore is never closed")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn so_many_begin_and_so_many_work() {
        let turns = Turns::new(2);
        assert_eq!(
            (
                turns.of_one_cluster(),
                Turns::new(1).of_one_cluster(),
                Turns::new(1000).of_one_cluster()
            ),
            (1, 1, workload::AT_ONCE)
        );
        let all = futures::future::join_all((0..PLACES).map(|_| turns.place()));
        let places = tokio::time::timeout(Duration::from_secs(5), all)
            .await
            .expect("so many are free");
        assert!(turns.place().now_or_never().is_none());
        drop(places);
        assert!(turns.place().now_or_never().is_some());
        let both = (turns.turn().await, turns.turn().await);
        assert!(turns.turn().now_or_never().is_none());
        drop(both);
        assert!(turns.turn().now_or_never().is_some());
    }

    #[tokio::test]
    async fn who_waits_takes_nobodys_place() {
        let turns = Turns::new(1);
        let mut waiting = turns.turn().await;
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let aside = tokio::spawn(async move { waiting.aside(receiver).await });
        let other = turns.turn().await;
        sender.send(()).unwrap();
        tokio::task::yield_now().await;
        assert!(!aside.is_finished(), "the other one works now");
        drop(other);
        aside.await.unwrap().unwrap();
    }
}
