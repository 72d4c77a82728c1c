//! One candidate: gets the Lease, renews it, gives it back.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::{ObjectMeta, PostParams};
use kube::{Api, Client};
use tokio::time::{Instant, sleep, timeout_at};

use super::Leadership;
use super::decision::{Action, Observation, decide};
use crate::fault::{Fault, told};
use crate::flags::LeaseTimes;
use crate::metrics::Metrics;
use crate::shutdown::Shutdown;

/// The name of our own Lease.
const OWN: &str = "windlass-manager-leader-election";

/// Which Lease is wanted, and by whom.
#[derive(Debug, Clone)]
pub(crate) struct Candidacy {
    pub(super) lease: &'static str,
    pub(super) namespace: String,
    pub(super) identity: String,
    /// What that means and what can be done, for who reads that another holds it.
    pub(super) waiting: &'static str,
}

impl Candidacy {
    /// Of one of several replicas of this manager.
    pub(crate) fn own(namespace: String, identity: String) -> Self {
        Candidacy {
            lease: OWN,
            namespace,
            identity,
            waiting: "this replica is on standby",
        }
    }
}

/// A candidate for a Lease.
pub(crate) struct Elector {
    leases: Api<Lease>,
    candidacy: Candidacy,
    times: LeaseTimes,
    leadership: Leadership,
    metrics: Metrics,
    seen: Option<Observation>,
    /// The holder that was told of last.
    told: Option<String>,
}

enum Attempt {
    /// The Lease is ours, until somebody else could take it.
    Held,
    /// It is another's, for so long.
    Another(Duration),
}

impl Elector {
    /// A candidate that has not tried yet. The client has no limit on its rate: a leader that waits
    /// for its turn loses the Lease.
    pub(crate) fn new(
        client: Client,
        candidacy: Candidacy,
        times: LeaseTimes,
        metrics: Metrics,
    ) -> Self {
        metrics.leads(candidacy.lease, false);
        Elector {
            leases: Api::namespaced(client, &candidacy.namespace),
            candidacy,
            times,
            leadership: Leadership::of_candidate(),
            metrics,
            seen: None,
            told: None,
        }
    }

    /// The same, for an answer that was given out before.
    pub(super) fn answering(self, leadership: Leadership) -> Self {
        Elector { leadership, ..self }
    }

    /// The answer to whether this candidate may write.
    pub(crate) fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Tries until the Lease is held; false when the shutdown begins before.
    pub(crate) async fn acquire(&mut self, shutdown: &Shutdown) -> bool {
        tracing::info!(Lease = %self.lease(), identity = %self.candidacy.identity, "Attempting to acquire leader lease");
        loop {
            let attempt = tokio::select! {
                attempt = self.attempt(self.patience()) => attempt,
                () = shutdown.begun() => return false,
            };
            let pause = match attempt {
                Ok(Attempt::Held) => {
                    tracing::info!(Lease = %self.lease(), identity = %self.candidacy.identity, "Successfully acquired lease");
                    self.metrics.leads(self.candidacy.lease, true);
                    return true;
                }
                Ok(Attempt::Another(left)) => {
                    self.tell_of_holder();
                    left.min(self.times.retry_period)
                }
                Err(fault) => {
                    tracing::error!(Lease = %self.lease(), err = %told(fault.as_ref()), "Failed to acquire lease");
                    self.times.retry_period
                }
            };
            tokio::select! {
                () = sleep(pause) => {}
                () = shutdown.begun() => return false,
            }
        }
    }

    /// Says once who holds it.
    fn tell_of_holder(&mut self) {
        let holder = self.seen.as_ref().map(|seen| seen.holder().to_owned());
        if self.told != holder {
            let hint = self.candidacy.waiting;
            tracing::info!(Lease = %self.lease(), holder = holder.as_deref().unwrap_or_default(), hint, "Another manager holds the lease");
            self.told = holder;
        }
    }

    /// Renews the Lease until the shutdown begins.
    ///
    /// # Errors
    /// When it is lost. From then on nothing may be written.
    pub(crate) async fn keep(&mut self, shutdown: &Shutdown) -> Result<(), Fault> {
        loop {
            tokio::select! {
                () = sleep(self.times.retry_period) => {}
                () = shutdown.begun() => return Ok(()),
            }
            let end = self.leadership.ends().unwrap_or_else(Instant::now);
            let attempt = tokio::select! {
                attempt = self.attempt(end.min(self.patience())) => attempt,
                () = shutdown.begun() => {
                    // Whether it was written nobody knows.
                    self.forget_version();
                    return Ok(());
                }
            };
            let failure = match attempt {
                Ok(Attempt::Held) => continue,
                Ok(Attempt::Another(_)) => return Err(self.lost("another manager holds it")),
                Err(fault) => fault,
            };
            let failure = told(failure.as_ref());
            tracing::error!(Lease = %self.lease(), err = %failure, "Failed to renew lease");
            if Instant::now() >= end {
                return Err(self.lost(&failure));
            }
        }
    }

    /// Gives the Lease back, so that another candidate need not wait; everything must have stopped
    /// writing before. What fails is logged: the Lease then runs out by itself.
    pub(crate) async fn release(&mut self) {
        self.step_down();
        let Some(seen) = self
            .seen
            .take()
            .filter(|seen| seen.holder() == self.candidacy.identity)
        else {
            return;
        };
        match timeout_at(
            Instant::now() + self.times.retry_period,
            self.give_back(seen),
        )
        .await
        {
            Ok(Ok(true)) => tracing::info!(Lease = %self.lease(), "Released lease"),
            Ok(Ok(false)) => {}
            Ok(Err(fault)) => {
                tracing::error!(Lease = %self.lease(), err = %told(&fault), "Failed to release lease")
            }
            Err(_) => {
                tracing::error!(Lease = %self.lease(), err = "no answer in time", "Failed to release lease")
            }
        }
    }

    /// Writes into the Lease that nobody holds it; false when it is another's meanwhile.
    async fn give_back(&self, seen: Observation) -> Result<bool, kube::Error> {
        let lease = match seen.has_version() {
            true => Some(seen.lease),
            false => self.leases.get_opt(self.candidacy.lease).await?,
        };
        let is_ours = |lease: &Lease| {
            lease
                .spec
                .as_ref()
                .and_then(|spec| spec.holder_identity.as_ref())
                == Some(&self.candidacy.identity)
        };
        let Some(lease) = lease.filter(is_ours) else {
            return Ok(false);
        };
        let spec = LeaseSpec {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            ..self.spec(lease.spec.unwrap_or_default(), Action::Renew)
        };
        self.replace(Lease {
            spec: Some(spec),
            ..lease
        })
        .await
        .map(|_| true)
    }

    /// Until when an attempt waits for answers: as for client-go half of the deadline, so that
    /// there is time for another.
    fn patience(&self) -> Instant {
        Instant::now() + self.times.renew_deadline / 2
    }

    /// Looks at the Lease and does what is to be done, until a deadline.
    async fn attempt(&mut self, deadline: Instant) -> Result<Attempt, Fault> {
        // The Lease counts from before it is written: others begin to count only when they see it.
        let started = Instant::now();
        match timeout_at(deadline, self.look_and_act()).await {
            Ok(Ok(Attempt::Held)) => {
                // Not the whole duration: what was sent at the last moment has the rest of it to
                // arrive.
                self.leadership.extend(started + self.times.renew_deadline);
                Ok(Attempt::Held)
            }
            Ok(other) => other,
            Err(_) => {
                self.forget_version();
                Err("no answer in time".into())
            }
        }
    }

    /// Looks and acts; again, when somebody else wrote in between.
    async fn look_and_act(&mut self) -> Result<Attempt, Fault> {
        loop {
            match self.look_and_act_once().await {
                Err(kube::Error::Api(status))
                    if status.is_conflict() || status.is_already_exists() => {}
                attempt => return attempt.map_err(Fault::from),
            }
        }
    }

    async fn look_and_act_once(&mut self) -> Result<Attempt, kube::Error> {
        // A Lease that is ours needs no look: the version tells whether somebody has changed it.
        if !self
            .seen
            .as_ref()
            .is_some_and(|seen| seen.holder() == self.candidacy.identity && seen.has_version())
        {
            let lease = self.leases.get_opt(self.candidacy.lease).await?;
            let before = self.seen.take();
            self.seen = lease.map(|lease| Observation::next(before, lease, Instant::now()));
        }
        let action = decide(&self.candidacy.identity, self.seen.as_ref(), Instant::now());
        let lease = self
            .seen
            .as_ref()
            .map(|seen| seen.lease.clone())
            .unwrap_or_default();
        let spec = Some(self.spec(lease.spec.clone().unwrap_or_default(), action));
        let written = match action {
            Action::Wait(left) => return Ok(Attempt::Another(left)),
            Action::Create => {
                let metadata = ObjectMeta {
                    name: Some(self.candidacy.lease.to_owned()),
                    ..ObjectMeta::default()
                };
                self.leases
                    .create(&PostParams::default(), &Lease { metadata, spec })
                    .await
            }
            Action::TakeOver | Action::Renew => self.replace(Lease { spec, ..lease }).await,
        };
        match written {
            Ok(lease) => {
                self.seen = Some(Observation {
                    lease,
                    since: Instant::now(),
                });
                Ok(Attempt::Held)
            }
            Err(fault) => {
                self.forget_version();
                Err(fault)
            }
        }
    }

    /// The next attempt looks before it writes.
    fn forget_version(&mut self) {
        if let Some(seen) = &mut self.seen {
            seen.lease.metadata.resource_version = None;
        }
    }

    async fn replace(&self, lease: Lease) -> Result<Lease, kube::Error> {
        self.leases
            .replace(self.candidacy.lease, &PostParams::default(), &lease)
            .await
    }

    /// What we write into the Lease; what others wrote there and we do not know stays.
    fn spec(&self, before: LeaseSpec, action: Action) -> LeaseSpec {
        let now = Some(MicroTime(Timestamp::now()));
        let (acquire_time, lease_transitions) = match action {
            Action::Renew => (before.acquire_time.clone(), before.lease_transitions),
            Action::TakeOver => (
                now.clone(),
                Some(
                    before
                        .lease_transitions
                        .unwrap_or_default()
                        .saturating_add(1),
                ),
            ),
            Action::Create | Action::Wait(_) => (now.clone(), Some(0)),
        };
        LeaseSpec {
            holder_identity: Some(self.candidacy.identity.clone()),
            // A part of a second counts as a whole one: others may wait longer, never shorter.
            lease_duration_seconds: Some(
                i32::try_from(self.times.duration.as_secs_f64().ceil() as i64).unwrap_or(i32::MAX),
            ),
            acquire_time,
            renew_time: now,
            lease_transitions,
            ..before
        }
    }

    fn step_down(&self) {
        self.leadership.end();
        self.metrics.leads(self.candidacy.lease, false);
    }

    fn lost(&self, why: &str) -> Fault {
        self.step_down();
        format!("the leader lease {} is lost: {why}", self.lease()).into()
    }

    fn lease(&self) -> String {
        format!("{}/{}", self.candidacy.namespace, self.candidacy.lease)
    }
}
