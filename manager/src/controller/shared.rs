//! Reads that many configs of one cluster have in common, and tokens: who comes a moment later
//! takes the answer that another one got, or what was written.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;
use windlass_reconcile::Key;

use super::requests::Rejection;

/// How long an object that was found is taken for what is there: a CA is written once, a control
/// plane changes its version over minutes, and a token that was made lives for minutes. The core
/// writes the Machine right after its data is there, which is no reason to look for the token
/// again.
const FRESH: Duration = Duration::from_secs(5);

/// What was read of objects that belong to a Cluster, by the `metadata.uid` of the Cluster: one
/// that was made again has others.
#[derive(Default)]
pub(super) struct Shared(Mutex<BTreeMap<(String, Key), Slot>>);

/// Held by the one that reads.
type Slot = Arc<tokio::sync::Mutex<Option<Known>>>;

struct Known {
    began: Instant,
    answer: Answer,
}

pub(super) type Answer = Result<Option<Arc<Value>>, Rejection>;

impl Shared {
    /// The object, as somebody has just read it, or as it is read now.
    pub(super) async fn read(
        &self,
        cluster: &str,
        key: &Key,
        read: impl Future<Output = Result<Option<Value>, Rejection>>,
    ) -> Answer {
        let asked = Instant::now();
        let slot = self.slot(cluster, key);
        let mut known = slot.lock().await;
        // Whoever began to read after this was asked knows as much as we would; what is missing or
        // rejected may be there a moment later.
        let is_good = |known: &&Known| {
            known.began >= asked
                || (known.began.elapsed() < FRESH && matches!(known.answer, Ok(Some(_))))
        };
        if let Some(known) = known.as_ref().filter(is_good) {
            return known.answer.clone();
        }
        let began = Instant::now();
        let answer = read.await.map(|found| found.map(Arc::new));
        *known = Some(Known {
            began,
            answer: answer.clone(),
        });
        answer
    }

    /// The object was written, and this is there now; `None`: nobody knows.
    pub(super) async fn wrote(&self, cluster: &str, key: &Key, value: Option<&Value>) {
        let slot = self.slot(cluster, key);
        let mut known = slot.lock().await;
        *known = value.map(|value| Known {
            began: Instant::now(),
            answer: Ok(Some(Arc::new(value.clone()))),
        });
    }

    /// What is not fresh any more is not kept: there are keys among it.
    pub(super) fn sweep(&self) {
        let is_fresh = |known: &Option<Known>| {
            known
                .as_ref()
                .is_some_and(|known| known.began.elapsed() < FRESH)
        };
        self.lock().retain(|_, slot| {
            Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|known| is_fresh(&known))
        });
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn slot(&self, cluster: &str, key: &Key) -> Slot {
        self.lock()
            .entry((cluster.to_owned(), key.clone()))
            .or_default()
            .clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<(String, Key), Slot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;
    use windlass_reconcile::Realm;

    use super::*;

    fn key(name: &str) -> Key {
        Key {
            realm: Realm::Management,
            group: String::new(),
            kind: "Secret".to_owned(),
            namespace: "n".to_owned(),
            name: name.to_owned(),
        }
    }

    async fn read(
        shared: &Shared,
        cluster: &str,
        name: &str,
        count: &AtomicUsize,
        answer: Result<Option<Value>, Rejection>,
    ) -> Answer {
        let reading = async {
            count.fetch_add(1, Ordering::Relaxed);
            tokio::task::yield_now().await;
            answer
        };
        shared.read(cluster, &key(name), reading).await
    }

    #[tokio::test]
    async fn many_ask_and_one_reads() {
        let (shared, count) = (Shared::default(), AtomicUsize::new(0));
        let all = (0..50).map(|_| read(&shared, "c", "ca", &count, Ok(Some(json!(1)))));
        let answers = futures::future::join_all(all).await;
        assert!(
            answers
                .iter()
                .all(|answer| *answer == Ok(Some(Arc::new(json!(1)))))
        );
        assert_eq!(count.load(Ordering::Relaxed), 1);
        // Another object, and a Cluster that was made again.
        read(&shared, "c", "other", &count, Ok(None)).await.unwrap();
        assert_eq!(
            read(&shared, "d", "ca", &count, Ok(Some(json!(2)))).await,
            Ok(Some(Arc::new(json!(2))))
        );
        assert_eq!(count.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn what_was_written_is_known_and_what_was_not_is_read() {
        let (shared, count) = (Shared::default(), AtomicUsize::new(0));
        shared.wrote("c", &key("token"), Some(&json!(1))).await;
        assert_eq!(
            read(&shared, "c", "token", &count, Ok(None)).await,
            Ok(Some(Arc::new(json!(1))))
        );
        shared.wrote("c", &key("token"), None).await;
        assert_eq!(
            read(&shared, "c", "token", &count, Ok(None)).await,
            Ok(None)
        );
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }

    #[tokio::test]
    async fn what_is_missing_or_rejected_is_asked_for_again() {
        let (shared, count) = (Shared::default(), AtomicUsize::new(0));
        assert_eq!(read(&shared, "c", "ca", &count, Ok(None)).await, Ok(None));
        assert_eq!(
            read(&shared, "c", "ca", &count, Err(Rejection::Silent)).await,
            Err(Rejection::Silent)
        );
        assert_eq!(
            read(&shared, "c", "ca", &count, Ok(Some(json!(1)))).await,
            Ok(Some(Arc::new(json!(1))))
        );
        assert_eq!(count.load(Ordering::Relaxed), 3);
    }
    /// Nobody may come any more to whom it would be of use.
    #[tokio::test(start_paused = true)]
    async fn what_is_not_fresh_any_more_is_not_kept() {
        let (shared, count) = (Shared::default(), AtomicUsize::new(0));
        shared.wrote("c", &key("token"), Some(&json!(1))).await;
        read(&shared, "c", "missing", &count, Ok(None))
            .await
            .unwrap();
        let slow = async {
            tokio::time::sleep(FRESH * 3).await;
            Ok(Some(json!(2)))
        };
        let key = key("slow");
        let mut reading = Box::pin(shared.read("c", &key, slow));
        assert!(futures::poll!(&mut reading).is_pending());
        shared.sweep();
        assert_eq!(shared.lock().len(), 3);
        tokio::time::sleep(FRESH).await;
        shared.sweep();
        assert_eq!(
            shared
                .lock()
                .keys()
                .map(|(_, key)| key.name.as_str())
                .collect::<Vec<_>>(),
            ["slow"],
            "somebody waits for it"
        );
        reading.await.unwrap();
        tokio::time::sleep(FRESH).await;
        shared.sweep();
        assert!(shared.lock().is_empty());
    }
}
