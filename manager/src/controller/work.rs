//! One config, from its first step to its last: asks what to do, does it, and tells what came of
//! it.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use futures::FutureExt;
use futures::future::join_all;
use k8s_openapi::api::core::v1::ObjectReference;
use kube::discovery::ApiResource;
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use tracing::Instrument;
use tracing::field::Empty;
use windlass_capi::api::time::Timestamp;
use windlass_capi::contract::CORE_GROUP;
use windlass_reconcile::{
    self as reconcile, Key, Observation, Realm, Rest, Settings, Step, World, Write,
};

use super::Setting;
use super::caches::{Caches, Config, CoreObject};
use super::echoes::{Echoes, State};
use super::keys;
use super::queue::Size;
use super::requests::{self, Rejection};
use super::resources::{Core, config, kubernetes};
use super::shared::Shared;
use super::turns::{Place, Turn, Turns};
use super::workload::{Name, Workloads};
use crate::client::NotLeading;
use crate::election::Mandate;
use crate::flags::{ConfigKind, Flags};
use crate::metrics::{ControllerMetrics, Outcome};

/// The maximum number of steps that one config takes at a time. The longest way has some thirty.
const MOST_STEPS: usize = 200;
/// How long after the first failure a config is looked at again; each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(120);
/// The same after another client wrote first. Who is overtaken again and again reads a watch that
/// lags behind.
const SHORT_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_SHORT_PAUSE: Duration = Duration::from_secs(5);

/// Configs with more bytes of text are large: several times what most are, and what they refer to
/// may be more. etcd takes a megabyte at most.
const LARGE: usize = 8 << 10;

pub(super) struct Context {
    setting: Setting,
    kind: ConfigKind,
    /// Asked before each write.
    pub(super) mandate: Mandate,
    core: Core,
    caches: Arc<Caches>,
    resource: ApiResource,
    workloads: Arc<Workloads>,
    pub(super) turns: Turns,
    pub(super) echoes: Arc<Echoes>,
    shared: Shared,
    metrics: ControllerMetrics,
    recorder: Recorder,
    /// How often in a row each config failed.
    failures: Mutex<BTreeMap<Name, u32>>,
    /// Kinds of control planes, by group and kind.
    control_planes: Mutex<BTreeMap<(String, String), ApiResource>>,
}

/// Why a config is looked at again.
#[derive(Debug)]
pub(super) enum Failure {
    Overtaken,
    Fault(String),
    NotLeading,
    Ending,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Overtaken => formatter.write_str("another client wrote first"),
            Failure::Fault(fault) => formatter.write_str(fault),
            Failure::NotLeading => NotLeading.fmt(formatter),
            Failure::Ending => formatter.write_str("this process ends"),
        }
    }
}

impl Error for Failure {}

impl Context {
    /// For a kind of which this process may write at times.
    pub(super) fn new(
        setting: &Setting,
        kind: ConfigKind,
        core: Core,
        caches: Arc<Caches>,
        workloads: Arc<Workloads>,
    ) -> Self {
        let resource = config(kind);
        let metrics = setting
            .metrics
            .controller(&controller(kind), setting.flags.concurrency);
        Context {
            kind,
            mandate: setting.mandates[&kind].clone(),
            workloads,
            turns: Turns::new(setting.flags.concurrency),
            echoes: Arc::default(),
            shared: Shared::default(),
            recorder: Recorder::new(setting.client.clone(), Reporter::from("windlass-manager")),
            setting: setting.clone(),
            core,
            caches,
            resource,
            metrics,
            failures: Mutex::default(),
            control_planes: Mutex::default(),
        }
    }

    /// A config that is gone fails no more.
    pub(super) fn forget(&self, config: &Name) {
        self.lock_failures().remove(config);
        self.echoes.forget(config);
    }

    /// Of what was read nothing is kept that is not taken for what is there any more.
    pub(super) fn sweep(&self) {
        self.shared.sweep();
        self.workloads.sweep();
    }

    /// Whether nothing is kept of what was read.
    #[cfg(test)]
    pub(super) fn is_swept(&self) -> bool {
        self.shared.is_empty()
    }

    /// Whether the workload cluster of a Cluster answers, as far as anybody knows.
    pub(super) fn answers(&self, cluster: &Name) -> bool {
        self.workloads.answers(cluster)
    }

    /// A client that was made while its Cluster went is nobody's.
    fn leave(&self, cluster: &Name) {
        if self.caches.get("Cluster", cluster).is_none() {
            self.workloads.forget(cluster);
        }
    }

    /// The Cluster of a config, for the queue alone: by the label that the core sets, or else what
    /// its machine says.
    pub(super) fn cluster_of(&self, config: &Config) -> Name {
        let namespace = &config.name().0;
        let of_machine = || {
            let value = config.value();
            let owners = value["metadata"]["ownerReferences"].as_array()?;
            let machine = |owner: &serde_json::Value| {
                self.caches.get(
                    owner["kind"].as_str()?,
                    &(namespace.clone(), owner["name"].as_str()?.into()),
                )
            };
            owners
                .iter()
                .filter_map(machine)
                .find_map(|machine| machine.cluster().cloned())
        };
        let cluster = config.cluster().cloned().or_else(of_machine);
        (namespace.clone(), cluster.unwrap_or_default())
    }

    fn settings(&self) -> Settings {
        let Flags {
            bootstrap_token_ttl,
            gates,
            ..
        } = &self.setting.flags;
        Settings {
            token_ttl: i64::try_from(bootstrap_token_ttl.as_secs()).unwrap_or(i64::MAX),
            machine_pools: gates.machine_pool,
        }
    }
}

/// How much work a config is, by what is known of it before it is looked at.
pub(super) fn size_of(config: &Config) -> Size {
    if config.len() > LARGE {
        Size::Large
    } else {
        Size::Ordinary
    }
}

/// Works on a config, in a task of its own so that all processors work, and says when it is to be
/// looked at again.
pub(super) async fn look(config: Arc<Config>, context: Arc<Context>, place: Place) -> Duration {
    let (to_work_on, with) = (config.clone(), context.clone());
    let working = tokio::spawn(async {
        let _place = place;
        reconcile(to_work_on, with).await
    });
    let ended = working
        .await
        .unwrap_or_else(|_| Err(Failure::Fault("the work was given up".to_owned())));
    // What went wrong was logged with the object.
    ended.unwrap_or_else(|failure| after_failure(&config, &failure, &context))
}

/// Works on a config when its turn has come, and says when it is to be looked at again if nothing
/// changes.
///
/// # Errors
/// It is to be looked at again soon.
pub(super) async fn reconcile(
    config: Arc<Config>,
    context: Arc<Context>,
) -> Result<Duration, Failure> {
    let (name, state) = (config.name().clone(), State::of(&config));
    if let Some(later) = context.echoes.later(&name, &state, Instant::now()) {
        return Ok(later);
    }
    let mut turn = tokio::select! {
        turn = context.turns.turn() => turn,
        () = context.setting.shutdown.begun() => return Err(Failure::Ending),
    };
    if !context.mandate.holds() {
        return Err(Failure::NotLeading);
    }
    // On the heap, so that those who wait for their turn are small.
    Box::pin(async {
        context.echoes.begin(&name, state);
        let worked = guarded(work(&config, &context, &mut turn), &config, &context).await;
        if worked.is_err() {
            context.echoes.forget(&name);
        }
        worked
    })
    .await
}

/// Does work on a config, counts and logs what came of it, and says in the object when it panicked.
pub(super) async fn guarded(
    work: impl Future<Output = Result<Rest, Failure>>,
    config: &Config,
    context: &Context,
) -> Result<Duration, Failure> {
    let name = config.name();
    let span = span(context.kind, name);
    let (began, _working) = (Instant::now(), context.metrics.working());
    let worked = match AssertUnwindSafe(work)
        .catch_unwind()
        .instrument(span.clone())
        .await
    {
        Ok(worked) => worked,
        Err(_) => {
            context.metrics.panicked();
            tell_of_panic(config, context)
                .instrument(span.clone())
                .await;
            Err(Failure::Fault(
                "a fault of ours ended the work on this object".to_owned(),
            ))
        }
    };
    let outcome = match &worked {
        Ok(rest) if rest.again.is_some() => Outcome::RequeueAfter,
        Ok(_) => Outcome::Success,
        Err(Failure::Overtaken) => Outcome::Requeue,
        Err(_) => Outcome::Error,
    };
    context.metrics.reconciled(outcome, began.elapsed());
    let rest = worked.inspect_err(|failure| {
        if let Failure::Fault(fault) = failure {
            span.in_scope(|| tracing::error!(err = %fault, "Reconciler error"));
        }
    })?;
    context.lock_failures().remove(name);
    let again = rest.again.unwrap_or(context.setting.flags.sync_period);
    context.echoes.rest(name, Instant::now(), again);
    Ok(again)
}

/// What is in every line about a config: it, its Cluster once that is known, and the run (book:
/// "Logging").
fn span(kind: ConfigKind, (namespace, name): &Name) -> tracing::Span {
    static RUNS: AtomicU64 = AtomicU64::new(1);
    let (controller, object) = (controller(kind), format!("{namespace}/{name}"));
    let run = RUNS.fetch_add(1, Ordering::Relaxed);
    // The names of fields are fixed when the program is built.
    match kind {
        ConfigKind::Windlass => tracing::error_span!(
            "reconcile",
            controller,
            WindlassConfig = object,
            reconcileID = run,
            Cluster = Empty
        ),
        ConfigKind::Kubeadm => tracing::error_span!(
            "reconcile",
            controller,
            KubeadmConfig = object,
            reconcileID = run,
            Cluster = Empty
        ),
    }
}

/// What the controller of a kind is called in logs and metrics, as controller-runtime calls it.
fn controller(kind: ConfigKind) -> String {
    kind.as_str().to_lowercase()
}

/// When a config that failed is looked at again.
pub(super) fn after_failure(config: &Config, failure: &Failure, context: &Context) -> Duration {
    let (first, longest) = match failure {
        Failure::Fault(_) => (FIRST_PAUSE, LONGEST_PAUSE),
        Failure::Overtaken => (SHORT_PAUSE, LONGEST_SHORT_PAUSE),
        Failure::NotLeading | Failure::Ending => return SHORT_PAUSE,
    };
    let mut failures = context.lock_failures();
    let count = failures.entry(config.name().clone()).or_insert(0);
    let pause = first.saturating_mul(1 << (*count).min(16)).min(longest);
    *count += 1;
    pause
}

async fn work(config: &Config, context: &Context, turn: &mut Turn) -> Result<Rest, Failure> {
    let token = keys::token().map_err(|fault| Failure::Fault(fault.to_string()))?;
    // Large, and handed on from step to step.
    let mut world = Box::new(World::new(config.value(), token));
    let mut is_cluster_told = false;
    for _ in 0..MOST_STEPS {
        if let Some(cluster) = world.cluster_name().filter(|_| !is_cluster_told) {
            tracing::Span::current().record("Cluster", format!("{}/{cluster}", config.namespace()));
            is_cluster_told = true;
        }
        let step;
        (world, step) = decided(world, context.settings()).await?;
        match step {
            Step::Rest(Rest {
                fault: Some(fault), ..
            }) => return Err(Failure::Fault(fault)),
            Step::Rest(rest) => return Ok(rest),
            Step::Read(keys) => {
                let read = join_all(keys.iter().map(|key| context.read(config, &world, key)));
                let waits = keys.iter().any(|key| key.realm == Realm::Workload);
                let observed = if waits {
                    turn.aside(read).await
                } else {
                    read.await
                };
                keys.into_iter()
                    .zip(observed)
                    .for_each(|(key, observation)| world.observe(key, observation));
            }
            Step::Confirm(key) => {
                let observation = observed(context.read_here(&key).await);
                world.confirm(key, observation);
            }
            Step::Write(write) if write.key.realm == Realm::Workload => {
                turn.aside(context.write(config, &mut world, write)).await?
            }
            Step::Write(write) => context.write(config, &mut world, write).await?,
        }
    }
    Err(Failure::Fault(
        "it takes more steps than it ever should".to_owned(),
    ))
}

/// Asks what to do, on a thread of its own where that may take long.
pub(super) async fn decided(
    world: Box<World>,
    settings: Settings,
) -> Result<(Box<World>, Step), Failure> {
    let takes_long = world.takes_long();
    let decide = move || {
        let step = reconcile::reconcile(&world, &settings, now());
        (world, step)
    };
    if !takes_long {
        return Ok(decide());
    }
    tokio::task::spawn_blocking(decide)
        .await
        .map_err(|ended| match ended.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Failure::Ending,
        })
}

/// Says in the object that the work on it panicked.
async fn tell_of_panic(config: &Config, context: &Context) {
    let mut world = World::new(config.value(), String::new());
    if let Step::Write(write) = reconcile::after_panic(&world, &context.settings(), now()) {
        // What cannot be reported here is in the log.
        drop(context.write(config, &mut world, write).await);
    }
}

impl Context {
    async fn read(&self, config: &Config, world: &World, key: &Key) -> Observation {
        if let Some(cached) = self.cached(key) {
            return Observation::shared(cached.shared_value());
        }
        if let Some(cluster) = self.cluster_of_shared(&config.name().0, world, key) {
            return match self
                .shared
                .read(&cluster, key, self.read_there(config, world, key))
                .await
            {
                Ok(Some(value)) => Observation::shared(value),
                Ok(None) => Observation::Absent,
                Err(rejection) => Observation::Failed(rejection.to_string()),
            };
        }
        observed(self.read_there(config, world, key).await)
    }

    async fn read_there(
        &self,
        config: &Config,
        world: &World,
        key: &Key,
    ) -> Result<Option<serde_json::Value>, Rejection> {
        match key.realm {
            Realm::Workload => match world.cluster_name() {
                Some(cluster) => {
                    let cluster = (config.name().0.clone(), cluster.into());
                    let answer = self
                        .workloads
                        .read(&cluster, &kubernetes(&key.kind), key)
                        .await;
                    self.leave(&cluster);
                    answer
                }
                None => Err(Rejection::Rejected("its Cluster is not known".to_owned())),
            },
            Realm::Management => self.read_here(key).await,
        }
    }

    /// The `metadata.uid` of the Cluster, if the object is one that all configs of the Cluster
    /// read, its CA or its control plane, or a token.
    fn cluster_of_shared(&self, namespace: &Arc<str>, world: &World, key: &Key) -> Option<String> {
        let name = world.cluster_name()?;
        let is_authority = key.group.is_empty()
            && key.kind == "Secret"
            && key.name.strip_suffix("-ca") == Some(name);
        let is_control_plane = !key.group.is_empty() && key.group != CORE_GROUP;
        let is_shared = key.realm == Realm::Workload || is_authority || is_control_plane;
        let cluster = self
            .caches
            .get("Cluster", &(namespace.clone(), name.into()))
            .filter(|_| is_shared)?;
        cluster.uid().map(str::to_owned)
    }

    /// What is watched is taken from the caches; what they do not have yet may be there
    /// nevertheless.
    fn cached(&self, key: &Key) -> Option<Arc<CoreObject>> {
        if key.group == CORE_GROUP {
            self.caches.get(
                &key.kind,
                &(key.namespace.as_str().into(), key.name.as_str().into()),
            )
        } else {
            None
        }
    }

    async fn read_here(&self, key: &Key) -> Result<Option<serde_json::Value>, Rejection> {
        let resource = match key.group.as_str() {
            "" => kubernetes(&key.kind),
            CORE_GROUP => {
                let known = self.core.of_kind(&key.kind).cloned();
                known.ok_or_else(|| {
                    Rejection::Rejected(format!("{} is not a kind that is known", key.kind))
                })?
            }
            _ => self.control_plane(key).await?,
        };
        requests::read(&self.setting.client, &resource, key).await
    }

    /// What the API server calls a kind of control plane.
    async fn control_plane(&self, key: &Key) -> Result<ApiResource, Rejection> {
        let name = (key.group.clone(), key.kind.clone());
        if let Some(known) = self.lock_control_planes().get(&name) {
            return Ok(known.clone());
        }
        let group = kube::discovery::group(&self.setting.client, &key.group)
            .await
            .map_err(|error| requests::rejection(&error))?;
        let found = group
            .recommended_kind(&key.kind)
            .map(|(resource, _)| resource);
        let found = found.ok_or_else(|| {
            Rejection::Rejected(format!(
                "the API server has no kind {} of {}",
                key.kind, key.group
            ))
        })?;
        self.lock_control_planes().insert(name, found.clone());
        Ok(found)
    }

    /// Does a write, tells the world, and publishes its event.
    ///
    /// # Errors
    /// Somebody else was first, or the config itself was not written. The world knows of any other
    /// object that was not written, and says so in the status of the config.
    pub(super) async fn write(
        &self,
        config: &Config,
        world: &mut World,
        write: Write,
    ) -> Result<(), Failure> {
        if !self.mandate.holds() {
            return Err(Failure::NotLeading);
        }
        let Write { key, action, event } = write;
        let is_own = key.group == self.resource.group && key.kind == self.resource.kind;
        let written = match key.realm {
            Realm::Workload => {
                let cluster = (
                    config.name().0.clone(),
                    world.cluster_name().unwrap_or_default().into(),
                );
                let written = self
                    .workloads
                    .write(
                        &cluster,
                        &kubernetes(&key.kind),
                        &key,
                        &action,
                        &self.mandate,
                    )
                    .await;
                self.leave(&cluster);
                if let Some(uid) = self.cluster_of_shared(&cluster.0, world, &key) {
                    self.shared
                        .wrote(&uid, &key, written.as_ref().ok().and_then(Option::as_ref))
                        .await;
                }
                written
            }
            Realm::Management => {
                let resource = if is_own {
                    self.resource.clone()
                } else {
                    kubernetes(&key.kind)
                };
                requests::write(
                    &self.setting.client,
                    &resource,
                    &key,
                    &action,
                    &self.mandate,
                )
                .await
            }
        };
        let written = match written {
            Ok(written) => written,
            Err(Rejection::Overtaken) => return Err(Failure::Overtaken),
            Err(Rejection::NotLeading) => return Err(Failure::NotLeading),
            Err(rejection) => {
                let fault = format!("cannot {} {key}: {rejection}", action.as_str());
                if is_own {
                    return Err(Failure::Fault(fault));
                }
                world.observe(key, Observation::Unwritten(fault));
                return Ok(());
            }
        };
        tracing::debug!(verb = action.as_str(), object = %key, "Wrote");
        if let Some(event) = event {
            // Seldom, and large.
            Box::pin(self.tell(config, event)).await;
        }
        match written {
            Some(value) if is_own => {
                self.echoes
                    .wrote(config.name(), State::of(&Config::of(value.clone())));
                world.observe_config(value);
            }
            value => world.wrote(key, value),
        }
        Ok(())
    }

    /// Publishes an event; people miss it when it fails, and nothing else does.
    async fn tell(&self, config: &Config, event: reconcile::Event) {
        let reference = ObjectReference {
            api_version: Some(self.resource.api_version.clone()),
            kind: Some(self.resource.kind.clone()),
            name: Some(config.name().1.to_string()),
            namespace: Some(config.namespace().to_owned()),
            uid: config.uid().map(str::to_owned),
            ..ObjectReference::default()
        };
        let reconcile::Event { reason, message } = event;
        let event = Event {
            type_: EventType::Warning,
            reason: reason.to_owned(),
            note: Some(message),
            action: "Reconcile".to_owned(),
            secondary: None,
        };
        if let Err(error) = self.recorder.publish(&event, &reference).await {
            tracing::warn!(err = %requests::rejection(&error), "An event was not written");
        }
    }

    fn lock_failures(&self) -> std::sync::MutexGuard<'_, BTreeMap<Name, u32>> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_control_planes(
        &self,
    ) -> std::sync::MutexGuard<'_, BTreeMap<(String, String), ApiResource>> {
        self.control_planes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of asking an API server for an object.
fn observed(answer: Result<Option<serde_json::Value>, Rejection>) -> Observation {
    match answer {
        Ok(Some(value)) => Observation::found(value),
        Ok(None) => Observation::Absent,
        Err(rejection) => Observation::Failed(rejection.to_string()),
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp::of_second(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
