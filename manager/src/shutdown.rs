//! The wish to end, which everything that runs waits for.

use tokio::sync::watch;
use tokio::time::Instant;

/// A handle on the wish to end; all clones are of one wish.
#[derive(Debug, Clone)]
pub(crate) struct Shutdown(watch::Sender<Option<Instant>>);

impl Shutdown {
    pub(crate) fn new() -> Self {
        Shutdown(watch::Sender::new(None))
    }

    /// Wishes it; more than once is as once.
    pub(crate) fn begin(&self) {
        self.0
            .send_if_modified(|begun| begun.is_none() && begun.replace(Instant::now()).is_none());
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.begun_at().is_some()
    }

    pub(crate) fn begun_at(&self) -> Option<Instant> {
        *self.0.borrow()
    }

    pub(crate) async fn begun(&self) {
        // The sender is ours, so that the channel is open.
        let mut wish = self.0.subscribe();
        drop(wish.wait_for(Option::is_some).await);
    }

    /// Begins when the process is told to end: SIGTERM by the kubelet, SIGINT by people.
    pub(crate) fn on_signals(&self) -> std::io::Result<()> {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut terminate, mut interrupt) = (
            signal(SignalKind::terminate())?,
            signal(SignalKind::interrupt())?,
        );
        let shutdown = self.clone();
        tokio::spawn(async move {
            let name = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
            };
            tracing::info!(signal = name, "Shutting down");
            shutdown.begin();
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn all_who_wait_hear_of_it() {
        let shutdown = Shutdown::new();
        let early = tokio::spawn({
            let shutdown = shutdown.clone();
            async move { shutdown.begun().await }
        });
        tokio::task::yield_now().await;
        assert!(!shutdown.has_begun() && !early.is_finished());
        shutdown.begin();
        shutdown.begin();
        early.await.unwrap();
        shutdown.begun().await;
        assert!(shutdown.has_begun());
    }
}
