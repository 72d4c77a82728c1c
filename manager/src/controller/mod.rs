//! The controller proper. `windlass_reconcile` decides; here is what asks it, reads for it, and
//! does what it says.
//!
//! - [`resources`]: what kinds are called at the API server.
//! - [`caches`]: what is watched, and which of its fields are kept.
//! - [`store`]: where objects are kept; [`kept`]: how; [`texts`]: what many have in common, once.
//! - [`triggers`]: whose config is looked at when something changes.
//! - [`echoes`]: which change of a config says nothing new, such as our own writing.
//! - [`queue`]: which config is looked at next, and when; [`turns`]: how many at once.
//! - [`work`]: one config, from its first step to its last.
//! - [`shared`]: what many configs of a cluster read.
//! - [`requests`]: reading and writing one object, in either cluster; [`workload`]: who answers for
//!   the other one.
//! - [`protobuf`]: Secrets as workload clusters take them.
//! - [`keys`]: what is random.

mod caches;
mod echoes;
mod kept;
mod keys;
mod protobuf;
mod queue;
mod requests;
mod resources;
mod shared;
mod store;
#[cfg(test)]
mod tests;
mod texts;
mod triggers;
mod turns;
mod work;
mod workload;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc;
use futures::future::{Fuse, FusedFuture};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use tokio::time::{Instant, sleep_until};

use crate::election::Mandate;
use crate::fault::Fault;
use crate::flags::{ConfigKind, Flags};
use crate::metrics::Metrics;
use crate::readiness::{Check, Readiness};
use crate::shutdown::Shutdown;
use caches::{Caches, OfConfigs};
use queue::Queue;
use resources::Core;
use store::Store;
use triggers::{Part, Triggers};
use turns::Place;
use work::Context;
use workload::{Name, Workloads};

/// How long the core may be missing before it is looked for again.
const CORE_AGAIN: Duration = Duration::from_secs(5);

/// How often it is looked which versions of the core are served: upgrades of it come seldom, and
/// nobody may watch what tells of them.
const VERSIONS_AGAIN: Duration = Duration::from_secs(10);

/// How often it is looked for what was read and is old.
const SWEEP_AGAIN: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(crate) struct Setting {
    /// For all that the controller asks of the management cluster; it keeps to `--kube-api-qps`
    /// and `--kube-api-burst`.
    pub(crate) client: kube::Client,
    pub(crate) flags: Flags,
    pub(crate) metrics: Metrics,
    /// Where the controller says that its caches are filled.
    pub(crate) readiness: Readiness,
    /// The kinds that are worked on, and what is asked before each write for one of them.
    pub(crate) mandates: BTreeMap<ConfigKind, Mandate>,
    pub(crate) shutdown: Shutdown,
}

/// Works until the shutdown begins; with fresh caches whenever the version changes in which the
/// core is read.
pub(crate) async fn run(setting: Setting) -> Result<(), Fault> {
    let check = setting.readiness.check("caches", "They are being filled");
    while let Some(core) = core(&setting).await {
        let round = Setting {
            shutdown: Shutdown::new(),
            ..setting.clone()
        };
        let until = async {
            tokio::select! {
                () = setting.shutdown.begun() => {}
                () = another_version(&setting, &core) => {}
            }
            round.shutdown.begin();
        };
        futures::future::join(until, work_with(&round, &core, &check)).await;
    }
    Ok(())
}

/// Works on what the core has in one version, until the shutdown begins.
async fn work_with(setting: &Setting, core: &Core, check: &Check) {
    let (caches, watches) = Caches::begin(setting, core);
    let caches = Arc::new(caches);
    let workloads = Arc::new(Workloads::new(
        setting.client.clone(),
        setting.flags.workload_api,
        setting.metrics.clone(),
    ));
    let (mut contexts, mut parts, mut working) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, mandate) in &setting.mandates {
        let context = Arc::new(Context::new(
            setting,
            *kind,
            core.clone(),
            caches.clone(),
            workloads.clone(),
        ));
        for namespace in caches::namespaces(setting) {
            let (sender, triggers) = mpsc::unbounded();
            parts.push(Part {
                kind: *kind,
                mandate: mandate.clone(),
                namespace: namespace.clone(),
                echoes: context.echoes.clone(),
                sender,
            });
            working.push(controller(
                setting,
                *kind,
                context.clone(),
                namespace,
                triggers,
            ));
        }
        contexts.push(context);
    }
    triggers::spread(setting, &caches, &workloads, watches, parts);
    // Nothing is decided before all that decisions are made from is there.
    tokio::select! {
        () = caches.filled() => {}
        () = setting.shutdown.begun() => return,
    }
    check.passed();
    tracing::info!(version = core.cluster.version, "Caches are filled");
    let working = futures::future::join_all(working);
    tokio::select! {
        _ = working => {}
        () = sweep(&contexts) => {}
    }
}

/// Drops what was read and is old, also when nobody comes who would read more.
async fn sweep(contexts: &[Arc<Context>]) {
    loop {
        tokio::time::sleep(SWEEP_AGAIN).await;
        contexts.iter().for_each(|context| context.sweep());
    }
}

/// Waits until the core is read better in another version than so far: it was upgraded, or rolled
/// back.
async fn another_version(setting: &Setting, core: &Core) {
    loop {
        tokio::time::sleep(VERSIONS_AGAIN).await;
        // A core that is away is no other one: what is known of it stays, and the watches wait for
        // it.
        match Core::discover(&setting.client).await {
            Ok(now) if now != *core => {
                let (from, to) = (&core.cluster.version, &now.cluster.version);
                tracing::info!(
                    from,
                    to,
                    "Cluster API's core is read in another version from now on, with fresh caches"
                );
                return;
            }
            Ok(_) => {}
            Err(cause) => tracing::debug!(err = %cause, "Cluster API's core is not there"),
        }
    }
}

/// The core's kinds; `None` when the process is told to end before they are there.
async fn core(setting: &Setting) -> Option<Core> {
    while !setting.shutdown.has_begun() {
        match Core::discover(&setting.client).await {
            Ok(core) => return Some(core),
            Err(cause) => tracing::warn!(err = %cause, "Cluster API's core is not there yet"),
        }
        tokio::select! {
            () = setting.shutdown.begun() => return None,
            () = tokio::time::sleep(CORE_AGAIN) => {}
        }
    }
    None
}

/// Works on the configs of a kind in one namespace, or in all, from when this process may write for
/// them until the shutdown begins and what is being worked on is done. A process that may not write
/// any more ends.
async fn controller(
    setting: &Setting,
    kind: ConfigKind,
    context: Arc<Context>,
    namespace: Option<String>,
    mut triggers: Triggers,
) {
    tokio::select! {
        () = context.mandate.begun() => {}
        () = setting.shutdown.begun() => return,
    }
    let (configs, store) = caches::configs(setting, kind, namespace.as_deref());
    let (mut changed, mut ending) = (configs.boxed(), Box::pin(setting.shutdown.begun()));
    let mut queue = Queue::new(context.turns.of_one_cluster());
    let (mut working, mut place) = (FuturesUnordered::new(), Box::pin(Fuse::terminated()));
    loop {
        if place.is_terminated() && queue.has_next() {
            place.set(context.turns.place().fuse());
        }
        let changed = tokio::select! {
            () = &mut ending => break,
            Some(change) = changed.next() => change,
            Some(config) = triggers.next() => Ok(config),
            Some((config, again)) = working.next() => {
                queue.answers(&config, |cluster| context.answers(cluster));
                let is_gone = store.get(&config).is_none();
                if is_gone {
                    context.forget(&config);
                }
                queue.ended(config, (!is_gone).then(|| Instant::now() + again));
                continue;
            }
            () = sleep_until(queue.wakes_at().unwrap_or_else(Instant::now)), if queue.wakes_at().is_some() => {
                queue.wake(Instant::now());
                continue;
            }
            free = &mut place, if !place.is_terminated() => {
                working.extend(begin(&mut queue, &context, &store, free));
                continue;
            }
        };
        match changed.map(|name| (store.get(&name), name)) {
            Ok((Some(config), name)) => {
                queue.tell(name, context.cluster_of(&config), work::size_of(&config))
            }
            // One that is not there yet is told of when it comes. One that is gone is forgotten,
            // once nobody works on it any more.
            Ok((None, name)) => {
                if queue.forget(&name) {
                    context.forget(&name);
                }
            }
            Err(cause) => tracing::warn!(err = %cause, "A watch failed and begins again"),
        }
    }
    while working.next().await.is_some() {}
}

/// Begins with the next config of the queue; `None` when it is gone.
fn begin(
    queue: &mut Queue,
    context: &Arc<Context>,
    store: &Store<OfConfigs>,
    place: Place,
) -> Option<impl Future<Output = (Name, Duration)> + Send + use<>> {
    let name = queue.begin()?;
    let Some(config) = store.get(&name) else {
        context.forget(&name);
        queue.ended(name, None);
        return None;
    };
    let working = work::look(config, context.clone(), place);
    Some(async move { (name, working.await) })
}
