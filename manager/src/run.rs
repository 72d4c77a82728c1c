//! One run of the manager: what begins when, and what ends when.

use std::time::Duration;

use crate::client::{client, configuration};
use crate::controller::{self, Setting};
use crate::election::Leadership;
use crate::flags::Flags;
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::shutdown::Shutdown;
use crate::{Fault, VERSION};

/// How long the controller may take to end what it is at. The kubelet kills after ten seconds (`terminationGracePeriodSeconds`).
const GRACE: Duration = Duration::from_secs(5);

/// Runs until the process is told to end.
///
/// # Errors
/// Why it cannot go on.
pub(crate) async fn run(flags: Flags) -> Result<(), Fault> {
    tracing::info!(version = VERSION, "Starting manager");
    let shutdown = Shutdown::new();
    shutdown.on_signals()?;
    let metrics = Metrics::new();
    let readiness = Readiness::default();
    let config = configuration(flags.kubeconfig.as_deref()).await?;
    let client = client(config, flags.kube_api, &metrics)?;
    let leadership = Leadership::without_election();
    let controller = controller::run(Setting { client, flags, metrics, readiness, leadership, shutdown: shutdown.clone() });
    tokio::select! {
        ended = controller => ended,
        () = async { shutdown.begun().await; tokio::time::sleep(GRACE).await } => {
            tracing::warn!("Controller did not end in time");
            Ok(())
        }
    }
}
