//! The way of a config: from its owner to its Secret.

use super::data_secret::SecretState;
use super::outcome::{Observed, Outcome, Pause, reason};
use super::pass::{Pass, Stop, Walk, end};
use super::subject::{Subject, has_file_discovery, is_created, token_of};
use super::world::{Key, Rendering};
use windlass_bootstrap::render::Rendered;
use windlass_bootstrap::render::input::cluster::ClusterFacts;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::contract::labels;
use windlass_objects::Object;

/// When a machine that does not hold the lock looks again, in seconds.
const LOCK_AGAIN: i64 = 30;

/// What all machines but the first wait for.
const FIRST: &str = "Waiting for Cluster control plane to be initialized";

impl<'a> Pass<'a> {
    /// The whole way; `None` for a config that nothing is done for (book: "Bootstrap provider
    /// contract: Behavior").
    pub(super) fn walk(&self) -> Walk<Option<Outcome>> {
        let Some(subject) = self.subject().map_err(Stop::unsaid)? else {
            return Ok(None);
        };
        let Subject {
            config,
            owner,
            cluster,
        } = subject;
        let facts = ClusterFacts::read(cluster, false);
        if let Some(paused) = paused(config, &facts) {
            return Ok(Some(Outcome {
                pause: Pause::Yes(paused),
                ..Outcome::default()
            }));
        }
        let secret = self.adopted_secret(subject)?;
        if !facts.infrastructure_provisioned {
            let message = "Waiting for Cluster status.infrastructureReady to be true";
            return Ok(Some(Outcome::without_data(Observed::waiting(
                reason::WAITING_FOR_INFRASTRUCTURE,
                message,
            ))));
        }
        let given = owner.data_secret_name();
        if !is_created(config) && !given.is_empty() {
            // After a move or a restore the status is empty, and the machine has its data.
            return Ok(Some(Outcome::available(given)));
        }
        // Data that nobody has read yet and that is gone is made again.
        let is_lost = secret == SecretState::Absent
            && !owner.has_joined()
            && config.text(&["status", "dataSecretName"]) == config.name();
        if is_created(config) && !is_lost {
            self.release_after_init(subject, &facts)?;
            return self.keep_token(subject).map(Some);
        }
        if secret == SecretState::Complete && self.is_of_use(subject, &facts)? {
            // Written before the status could be: whoever wrote it ended in between.
            return Ok(Some(Outcome::available(config.name())));
        }
        if facts.control_plane_initialized {
            self.join(subject, &facts, secret)?
        } else {
            self.init(subject, &facts)?
        }
        Ok(None)
    }

    /// Whether data of which the status says nothing yet may be given out. Nobody has read it, but
    /// when it was written is not known: the write of a controller that was ended may have
    /// arrived long after it was sent. The kubeadm bootstrap provider writes it before it writes
    /// its token into the spec, and a token that the spec does not name is kept alive by
    /// nobody.
    fn is_of_use(&self, subject: Subject<'_>, facts: &ClusterFacts) -> Walk<bool> {
        if !facts.control_plane_initialized {
            return self.may_begin(subject);
        }
        let spec = self.world.spec();
        // That of a control-plane machine may have been made to begin a cluster which another one
        // has begun since: it is compared with what is rendered.
        let is_of_use = !subject.owner.is_control_plane_machine()
            && (!self.is_kubeadm()
                || has_file_discovery(spec)
                || token_of(spec).map_or(Ok(false), |token| self.data_has_token(&token))?);
        if !is_of_use && token_of(spec).is_none() && !has_file_discovery(spec) {
            // No token is made for a machine that was given its data, and the cached Machine may
            // not say so yet.
            self.confirm(subject.owner_key())?;
        }
        Ok(is_of_use)
    }

    /// Whether data that is there may begin a cluster: only that of the machine which holds the
    /// lock. Of a worker's it follows that the cluster has begun.
    fn may_begin(&self, subject: Subject<'_>) -> Walk<bool> {
        if !subject.owner.is_control_plane_machine() {
            self.confirm(subject.cluster_key())?;
            return Ok(false);
        }
        self.wait_for_lock(subject)?;
        self.hold_lock(subject)?;
        Ok(true)
    }

    /// The first machine's lock is of no use any more.
    fn release_after_init(&self, subject: Subject<'_>, facts: &ClusterFacts) -> Walk<()> {
        if subject.owner.is_control_plane_machine() && facts.control_plane_initialized {
            self.release_lock(subject.cluster, subject.owner.object.name())?;
        }
        Ok(())
    }

    /// A cluster without a control plane: the first control-plane machine that can is told to init,
    /// and all others wait.
    fn init(&self, subject: Subject<'_>, facts: &ClusterFacts) -> Walk<()> {
        let Subject {
            config,
            owner,
            cluster,
        } = subject;
        if !owner.is_control_plane_machine() {
            return end(Outcome::without_data(Observed::waiting(
                reason::WAITING_FOR_CONTROL_PLANE,
                FIRST,
            )));
        }
        self.wait_for_lock(subject)?;
        let rendered = match self.init_data(subject, facts) {
            // Every outcome without data gives the lock back; but who had its data may have begun.
            Err(Stop::End(outcome)) if !is_created(config) => {
                self.release_lock(cluster, owner.object.name())?;
                return Err(Stop::End(outcome));
            }
            rendered => rendered?,
        };
        self.hold_lock(subject)?;
        self.store(subject, rendered, None)
    }

    /// Goes on only while no other machine holds the lock.
    fn wait_for_lock(&self, subject: Subject<'_>) -> Walk<()> {
        let Some(holder) = self.other_holder(subject.cluster, subject.owner.object.name())? else {
            return Ok(());
        };
        let message = format!("{FIRST}: {holder}");
        let outcome = Outcome::without_data(Observed::waiting(
            reason::WAITING_FOR_CONTROL_PLANE,
            message,
        ));
        // The machine may go without anything here changing.
        end(Outcome {
            again: Some(LOCK_AGAIN),
            ..outcome
        })
    }

    /// Takes the lock, and looks then whether the cluster is still to begin: the lock is free again
    /// once it has, and the cached Cluster may not say so yet.
    fn hold_lock(&self, subject: Subject<'_>) -> Walk<()> {
        self.take_lock(
            subject.cluster,
            subject.owner.object.name(),
            is_created(subject.config),
        )?;
        self.confirm(subject.cluster_key())
    }

    /// The data with which a machine begins its cluster, once the certificates are there.
    fn init_data(&self, subject: Subject<'_>, facts: &ClusterFacts) -> Walk<&'a Rendered> {
        let configuration = self
            .world
            .spec()
            .and_then(|spec| spec.cluster_configuration.as_ref());
        self.ensure_certificates(
            subject.cluster,
            configuration,
            facts.control_plane.is_none(),
        )?;
        with_certificates(self.rendered(facts, false).and_then(done))
    }

    /// A cluster with a control plane: the machine is told to join.
    fn join(&self, subject: Subject<'_>, facts: &ClusterFacts, secret: SecretState) -> Walk<()> {
        let Subject { owner, cluster, .. } = subject;
        self.release_needless_lock(cluster, owner.object.name())?;
        self.wait_for_version(subject, facts)?;
        let is_there = if owner.is_control_plane_machine() {
            self.ensure_certificates(
                cluster,
                self.world
                    .spec()
                    .and_then(|spec| spec.cluster_configuration.as_ref()),
                false,
            )?;
            true
        } else {
            self.look(&Key::core(
                "Secret",
                cluster.namespace(),
                &format!("{}-ca", cluster.name()),
            ))?
            .is_some()
        };
        let joined = self.join_data(subject, facts);
        let (rendered, token) = if is_there {
            with_certificates(joined)
        } else {
            joined
        }?;
        if secret == SecretState::Complete && self.has_data(subject, rendered)? {
            return end(Outcome::available(subject.config.name()));
        }
        if secret != SecretState::Absent {
            // Data that the machine was given is not made again either.
            self.confirm(subject.owner_key())?;
        }
        self.store(subject, rendered, token.as_ref())
    }

    /// The data with which a machine joins, and the token in it.
    fn join_data(
        &self,
        subject: Subject<'_>,
        facts: &ClusterFacts,
    ) -> Walk<(&'a Rendered, Option<Sensitive<String>>)> {
        let has_token = token_of(self.world.spec()).is_some();
        self.rendered(facts, !has_token).and_then(done)?;
        let token = self.token(subject)?;
        Ok((self.rendered(facts, false).and_then(done)?, token))
    }
}

/// What keeps the data from being made ends the pass.
fn done(rendering: &Rendering) -> Walk<&Rendered> {
    rendering.as_ref().or_else(|outcome| end(outcome.clone()))
}

/// The same, once the certificates are there: what keeps the data from being made is something
/// else, unless it says so itself.
fn with_certificates<T>(walk: Walk<T>) -> Walk<T> {
    walk.map_err(|stop| match stop {
        Stop::End(outcome) => {
            let certificates = outcome
                .certificates
                .clone()
                .or_else(|| Some(Observed::available()));
            Stop::End(Box::new(Outcome {
                certificates,
                ..*outcome
            }))
        }
        other => other,
    })
}

/// Why nothing is done for now, in upstream's words (`util/paused` of Cluster API).
fn paused(config: &Object, facts: &ClusterFacts) -> Option<String> {
    let is_annotated = config
        .field(&["metadata", "annotations", labels::PAUSED])
        .is_some();
    let annotated = || format!("{} has the {} annotation", config.kind(), labels::PAUSED);
    let reasons = [
        facts
            .paused
            .then(|| "Cluster spec.paused is set to true".to_owned()),
        is_annotated.then(annotated),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| reasons.join(", "))
}
