//! What the history of a world says about a config.

use std::time::Duration;

use serde_json::Value;

use super::World;
use crate::history::{self, History, Subject};
use crate::outcome::{Evidence, Outcome};

/// A config whose completion is reported, and its Secret.
pub(crate) struct Done {
    pub(crate) config: Value,
    pub(crate) secret: Value,
}

impl Done {
    /// The bootstrap data.
    pub(crate) fn data(&self) -> Vec<u8> {
        history::secret_value(&self.secret, "value").unwrap_or_default()
    }
}

impl World {
    /// What a history says about a config whose completion is reported and whose Secret exists.
    fn done(&self, history: &History, name: &str) -> Option<Done> {
        let config = history.newest(Subject::Config, name)?;
        let secret_name = history::data_secret_name(config)?;
        if !self.bench.provider.completion().is_reported(config) {
            return None;
        }
        let secret = history.newest(Subject::Secret, secret_name)?;
        history::secret_value(secret, "value").filter(|value| !value.is_empty())?;
        Some(Done {
            config: config.clone(),
            secret: secret.clone(),
        })
    }

    /// Waits until completion is reported and the Secret has data.
    pub(crate) async fn until_done(&self, name: &str) -> Option<Done> {
        self.until_done_within(name, self.bench.times.patience)
            .await
    }

    pub(crate) async fn until_done_within(&self, name: &str, limit: Duration) -> Option<Done> {
        self.watching
            .until(limit, |history| self.done(history, name))
            .await
    }

    /// The first sign of data in a history: a Secret that the config controls, its name, or
    /// completion.
    pub(crate) fn sign_of_data(&self, history: &History, name: &str) -> Option<String> {
        let completion = self.bench.provider.completion();
        let configs: Vec<&Value> = history
            .of(Subject::Config, name)
            .map(|seen| &seen.object)
            .collect();
        for config in &configs {
            if completion.is_reported(config) {
                return Some(format!("{} is true", completion.field()));
            }
            if let Some(secret) = history::data_secret_name(config) {
                return Some(format!("status.dataSecretName is {secret}"));
            }
        }
        let uids: Vec<&Value> = configs
            .iter()
            .map(|config| &config["metadata"]["uid"])
            .collect();
        let secret = history.all(Subject::Secret).find(|seen| {
            uids.iter()
                .any(|uid| history::is_controlled_by(&seen.object, uid))
        });
        secret.map(|seen| {
            format!(
                "the Secret {} exists, controlled by the config",
                seen.name()
            )
        })
    }

    /// Waits for the quiet time; returns the sign of data that must not have appeared.
    pub(crate) async fn quiet_sign_of_data(&self, name: &str) -> Option<String> {
        self.watching
            .until(self.bench.times.quiet, |history| {
                self.sign_of_data(history, name)
            })
            .await
    }

    /// Evidence about the config of a machine, with the history so far.
    pub(crate) fn evidence(
        &self,
        name: &str,
        field: Option<&str>,
        observed: impl Into<String>,
    ) -> Evidence {
        Evidence {
            object: format!(
                "{} {}/{name}",
                self.bench.provider.config.kind, self.namespace
            ),
            field: field.map(str::to_owned),
            observed: observed.into(),
            history: self
                .watching
                .with(|history| history.timeline(self.bench.provider.completion())),
        }
    }

    /// The outcome of a check whose second half did not happen.
    pub(crate) fn never_done(&self, name: &str, after: &str) -> Outcome {
        let seconds = self.bench.times.patience.as_secs();
        Outcome::fail(
            format!("no completed config {after}"),
            self.evidence(
                name,
                Some(self.bench.provider.completion().field()),
                format!("not true within {seconds} s"),
            ),
        )
    }
}
