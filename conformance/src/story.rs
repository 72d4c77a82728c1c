//! The base case of a role: a config that has everything it needs, observed until it is complete or
//! the patience is over.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::api::Rejection;
use crate::bench::Bench;
use crate::history::{self, Completion, History, Subject};
use crate::outcome::Evidence;
use crate::provider::Provider;
use crate::sample::Role;
use crate::world::{MACHINE, Plan, World};

/// What was observed of one base case.
pub(crate) struct Story {
    pub(crate) role: Role,
    pub(crate) provider: Provider,
    pub(crate) namespace: String,
    pub(crate) history: History,
    /// How long completion was waited for.
    pub(crate) waited: Duration,
    /// The provider's log, if this program runs it.
    pub(crate) log: Option<String>,
    /// Whether the machine joins a workload cluster without `--workload-kubeconfig`.
    pub(crate) lacks_workload: bool,
}

impl Story {
    /// Plays the base case of a role.
    pub(crate) async fn play(bench: &Arc<Bench>, role: Role) -> Result<Story, Rejection> {
        let world = World::begin(
            bench,
            &format!("base-{}", role.name()),
            Plan::complete(role),
        )
        .await?;
        world.until_done(MACHINE).await;
        // Writes that follow completion belong to the story.
        tokio::time::sleep(bench.times.quiet.min(Duration::from_secs(3))).await;
        let log = match &bench.process {
            Some(process) => Some(process.lock().await.0.log()),
            None => None,
        };
        let story = Story {
            role,
            provider: bench.provider.clone(),
            namespace: world.namespace.clone(),
            history: world.watching.history(),
            waited: bench.times.patience,
            log,
            lacks_workload: role != Role::Init && bench.workload.is_none(),
        };
        world.end().await;
        Ok(story)
    }

    pub(crate) fn completion(&self) -> Completion {
        self.provider.completion()
    }

    /// Versions of the config, oldest first.
    pub(crate) fn configs(&self) -> impl DoubleEndedIterator<Item = &Value> {
        self.history
            .of(Subject::Config, MACHINE)
            .map(|seen| &seen.object)
    }

    /// The newest version of the config.
    pub(crate) fn config(&self) -> &Value {
        self.configs().next_back().unwrap_or(&Value::Null)
    }

    pub(crate) fn secret_name(&self) -> Option<&str> {
        history::data_secret_name(self.config())
    }

    /// The Secret whose name is reported, else the one that the config controls.
    pub(crate) fn secret(&self) -> Option<&Value> {
        let reported = self
            .secret_name()
            .and_then(|name| self.history.newest(Subject::Secret, name));
        reported.or_else(|| {
            let uid = &self.config()["metadata"]["uid"];
            self.history.controlled_secrets(uid).into_iter().next()
        })
    }

    /// The bootstrap data.
    pub(crate) fn data(&self) -> Option<Vec<u8>> {
        history::secret_value(self.secret()?, "value").filter(|data| !data.is_empty())
    }

    /// Whether everything happened that other checks build on.
    pub(crate) fn is_complete(&self) -> bool {
        let reported = self
            .secret_name()
            .and_then(|name| self.history.newest(Subject::Secret, name));
        let data = reported.and_then(|secret| history::secret_value(secret, "value"));
        self.completion().is_reported(self.config()) && data.is_some_and(|data| !data.is_empty())
    }

    pub(crate) fn of_config(&self, field: Option<&str>, observed: impl Into<String>) -> Evidence {
        self.evidence(
            &format!("{} {}/{MACHINE}", self.provider.config.kind, self.namespace),
            field,
            observed,
        )
    }

    pub(crate) fn of_secret(
        &self,
        secret: &Value,
        field: Option<&str>,
        observed: impl Into<String>,
    ) -> Evidence {
        let name = secret["metadata"]["name"].as_str().unwrap_or_default();
        self.evidence(
            &format!("Secret {}/{name}", self.namespace),
            field,
            observed,
        )
    }

    fn evidence(&self, object: &str, field: Option<&str>, observed: impl Into<String>) -> Evidence {
        Evidence {
            object: object.to_owned(),
            field: field.map(str::to_owned),
            observed: observed.into(),
            history: self.history.timeline(self.completion()),
        }
    }
}
