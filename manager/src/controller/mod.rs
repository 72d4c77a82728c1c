//! The controller proper. `windlass::reconcile` decides; here is what asks it, reads for it, and does what it says.
//!
//! - [`resources`]: what kinds are called at the API server.
//! - [`caches`]: what is watched, and which of its fields are kept.
//! - [`kept`]: how an object is kept.
//! - [`triggers`]: whose config is looked at when something changes.
//! - [`echoes`]: whose change is our own writing.
//! - [`turns`]: how many are worked on at once.
//! - [`work`]: one config, from its first step to its last.
//! - [`shared`]: what many configs of a cluster read.
//! - [`requests`]: reading and writing one object, in either cluster; [`workload`]: who answers for the other one.
//! - [`protobuf`]: Secrets as workload clusters take them.
//! - [`keys`]: what is random.

mod caches;
mod echoes;
mod kept;
mod keys;
mod protobuf;
mod requests;
mod resources;
mod shared;
#[cfg(test)]
mod tests;
mod triggers;
mod turns;
mod work;
mod workload;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc;
use futures::{FutureExt, StreamExt, TryStreamExt};
use kube::runtime::applier;
use kube::runtime::controller::{Config, Error};
use kube::runtime::reflector::ObjectRef;

use crate::election::Mandate;
use crate::fault::Fault;
use crate::flags::{ConfigKind, Flags};
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::shutdown::Shutdown;
use caches::Caches;
use resources::Core;
use triggers::{Part, Triggers};
use work::Context;
use workload::Workloads;

/// How long the core may be missing before it is looked for again.
const CORE_AGAIN: Duration = Duration::from_secs(5);

/// What the controller works with.
#[derive(Clone)]
pub(crate) struct Setting {
    /// For all that the controller asks of the management cluster; it keeps to `--kube-api-qps` and `--kube-api-burst`.
    pub(crate) client: kube::Client,
    /// The command line.
    pub(crate) flags: Flags,
    /// Where work is counted.
    pub(crate) metrics: Metrics,
    /// Where the controller says that its caches are filled.
    pub(crate) readiness: Readiness,
    /// The kinds that are worked on, and what is asked before each write for one of them.
    pub(crate) mandates: BTreeMap<ConfigKind, Mandate>,
    /// When to end.
    pub(crate) shutdown: Shutdown,
}

/// Works until the shutdown begins.
///
/// # Errors
/// What keeps it from working.
pub(crate) async fn run(setting: Setting) -> Result<(), Fault> {
    let check = setting.readiness.check("caches", "They are being filled");
    let Some(core) = core(&setting).await else { return Ok(()) };
    let (caches, watches) = Caches::begin(&setting, &core);
    let caches = Arc::new(caches);
    let workloads = Arc::new(Workloads::new(setting.client.clone(), setting.flags.workload_api, setting.metrics.clone()));
    let (mut parts, mut working) = (Vec::new(), Vec::new());
    for (kind, mandate) in &setting.mandates {
        let context = Arc::new(Context::new(&setting, *kind, core.clone(), caches.clone(), workloads.clone()));
        for namespace in caches::namespaces(&setting) {
            let (sender, triggers) = mpsc::unbounded();
            let echoes = context.echoes.clone();
            parts.push(Part { kind: *kind, mandate: mandate.clone(), namespace: namespace.clone(), echoes, sender });
            working.push(controller(&setting, *kind, context.clone(), namespace, triggers));
        }
    }
    triggers::spread(&setting, &caches, &workloads, watches, parts);
    // Nothing is decided before all that decisions are made from is there.
    tokio::select! {
        () = caches.filled() => {}
        () = setting.shutdown.begun() => return Ok(()),
    }
    check.passed();
    tracing::info!("Caches are filled");
    futures::future::join_all(working).await;
    Ok(())
}

/// The core's kinds; `None` when the process is told to end before they are there.
async fn core(setting: &Setting) -> Option<Core> {
    loop {
        match Core::discover(&setting.client).await {
            Ok(core) => return Some(core),
            Err(cause) => tracing::warn!(err = %cause, "Cluster API's core is not there yet"),
        }
        tokio::select! {
            () = setting.shutdown.begun() => return None,
            () = tokio::time::sleep(CORE_AGAIN) => {}
        }
    }
}

/// Works on the configs of a kind, of one namespace or of all, from when this process may write for them until the shutdown begins and what is
/// being worked on is done.
async fn controller(setting: &Setting, kind: ConfigKind, context: Arc<Context>, namespace: Option<String>, triggers: Triggers) {
    tokio::select! {
        () = context.mandate.begun() => {}
        () = setting.shutdown.begun() => return,
    }
    let (configs, store) = caches::configs(setting, kind, namespace.as_deref());
    let shutdown = setting.shutdown.clone();
    let changed = configs.map_ok(move |config| ObjectRef::from_obj_with(&config, kind));
    let queue = futures::stream::select(changed, triggers.map(Ok)).take_until(async move { shutdown.begun().await });
    // A task of its own each, so that all processors work; how many work is a matter of turns.
    let work = |config, context| {
        let working = tokio::spawn(work::reconcile(config, context));
        working.map(|ended| ended.unwrap_or_else(|_| Err(work::Failure::Fault("the work was given up".to_owned()))))
    };
    applier(work, work::after_failure, context.clone(), store, queue, Config::default())
        .for_each(|result| {
            match result {
                // What went wrong was logged with the object.
                Ok(_) | Err(Error::ReconcilerFailed(..)) => {}
                Err(Error::ObjectNotFound(gone)) => context.forget(&(gone.namespace.clone().unwrap_or_default(), gone.name.clone())),
                Err(Error::QueueError(cause)) => tracing::warn!(err = %cause, "A watch failed and begins again"),
                Err(Error::RunnerError(cause)) => tracing::error!(err = %cause, "The queue failed"),
            }
            std::future::ready(())
        })
        .await;
}
