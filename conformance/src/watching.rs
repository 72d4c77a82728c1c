//! Watches that fill the history of one namespace.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http_body_util::BodyExt as _;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::api::{Api, Kind, Rejection};
use crate::history::{History, Seen, Subject};

/// The history of a namespace, which grows until it is dropped.
pub(crate) struct Watching {
    shared: Arc<Shared>,
    tasks: Vec<JoinHandle<()>>,
}

struct Shared {
    begun: Instant,
    history: Mutex<History>,
    changed: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, subject: Subject, change: &str, object: Value) {
        let at = self.begun.elapsed();
        self.lock().add(Seen {
            subject,
            at,
            change: change.to_owned(),
            object,
        });
        self.changed.notify_waiters();
    }
}

impl Watching {
    /// Watches kinds of a namespace; each is listed before this returns.
    pub(crate) async fn begin(
        api: &Api,
        namespace: &str,
        kinds: &[(Subject, Kind)],
    ) -> Result<Watching, Rejection> {
        let shared = Arc::new(Shared {
            begun: Instant::now(),
            history: Mutex::default(),
            changed: Notify::new(),
        });
        let mut watching = Watching {
            shared: shared.clone(),
            tasks: Vec::new(),
        };
        for (subject, kind) in kinds {
            let collection = kind.collection(Some(namespace));
            let version = list(api, &collection, *subject, &shared).await?;
            let (api, shared, subject) = (api.clone(), shared.clone(), *subject);
            watching.tasks.push(tokio::spawn(async move {
                follow(&api, &collection, subject, &shared, version).await;
            }));
        }
        Ok(watching)
    }

    /// The history so far.
    pub(crate) fn history(&self) -> History {
        self.shared.lock().clone()
    }

    pub(crate) fn with<T>(&self, read: impl FnOnce(&History) -> T) -> T {
        read(&self.shared.lock())
    }

    /// Waits until a function of the history returns something.
    pub(crate) async fn until<T>(
        &self,
        limit: Duration,
        mut found: impl FnMut(&History) -> Option<T>,
    ) -> Option<T> {
        let deadline = Instant::now() + limit;
        loop {
            let changed = self.shared.changed.notified();
            if let Some(found) = self.with(&mut found) {
                return Some(found);
            }
            if tokio::time::timeout_at(deadline, changed).await.is_err() {
                return self.with(&mut found);
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

/// Adds what exists; returns the version to watch from.
async fn list(
    api: &Api,
    collection: &str,
    subject: Subject,
    shared: &Shared,
) -> Result<String, Rejection> {
    let list = api.read(collection).await?;
    let kind = list["kind"]
        .as_str()
        .unwrap_or_default()
        .trim_end_matches("List")
        .to_owned();
    for mut item in list["items"].as_array().cloned().unwrap_or_default() {
        item["kind"] = Value::String(kind.clone());
        shared.add(subject, "ADDED", item);
    }
    Ok(list["metadata"]["resourceVersion"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}

async fn follow(
    api: &Api,
    collection: &str,
    subject: Subject,
    shared: &Shared,
    mut version: String,
) {
    loop {
        let path = format!(
            "{collection}?watch=1&resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=300"
        );
        if let Ok(response) = api.watch(&path).await {
            let mut body = response.into_body();
            let mut buffer: Vec<u8> = Vec::new();
            while let Some(Ok(frame)) = body.frame().await {
                buffer.extend_from_slice(frame.data_ref().map_or(&[][..], |data| &data[..]));
                while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = buffer.drain(..=end).collect();
                    take(&line, subject, shared, &mut version);
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        // After an expired version everything is listed again.
        if version.is_empty()
            && let Ok(listed) = list(api, collection, subject, shared).await
        {
            version = listed;
        }
    }
}

fn take(line: &[u8], subject: Subject, shared: &Shared, version: &mut String) {
    let Ok(mut event) = serde_json::from_slice::<Value>(line) else {
        return;
    };
    let change = event["type"].as_str().unwrap_or_default().to_owned();
    if change == "ERROR" {
        version.clear();
        return;
    }
    let object = event["object"].take();
    if let Some(newer) = object["metadata"]["resourceVersion"].as_str() {
        newer.clone_into(version);
    }
    if change != "BOOKMARK" {
        shared.add(subject, &change, object);
    }
}
