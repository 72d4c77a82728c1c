//! Data that must stay as it is.

use std::time::Duration;

use crate::api::Rejection;
use crate::history::Subject;
use crate::outcome::Outcome;
use crate::world::{Done, World};

/// The Secret of a completed config, as it must stay.
pub(super) struct Kept {
    name: String,
    data: Vec<u8>,
    version: String,
}

impl Kept {
    /// Lets writes settle that follow completion, and remembers the Secret.
    pub(super) async fn of(world: &World, done: &Done) -> Result<Kept, Rejection> {
        tokio::time::sleep(Duration::from_secs(2)).await;
        let name = done.secret["metadata"]["name"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let secret = world.api().read(&world.secret_path(&name)).await?;
        let version = secret["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let data = crate::history::secret_value(&secret, "value").unwrap_or_default();
        Ok(Kept {
            name,
            data,
            version,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The failure, if the data has changed or is gone.
    pub(super) fn violated(&self, world: &World, machine: &str, after: &str) -> Option<Outcome> {
        let found = world.watching.with(|history| {
            let secret = history.newest(Subject::Secret, &self.name)?;
            Some(crate::history::secret_value(secret, "value").unwrap_or_default())
        });
        let observed = match found {
            None => "the Secret is gone".to_owned(),
            Some(data) if data != self.data => format!(
                "the data changed: {} bytes before, {} bytes now",
                self.data.len(),
                data.len()
            ),
            Some(_) => return None,
        };
        Some(Outcome::fail(
            format!("existing data is not kept {after}"),
            world.evidence(machine, Some("data.value of the Secret"), observed),
        ))
    }

    /// The failure, if the Secret was written although its data is the same.
    pub(super) fn rewritten(&self, world: &World, machine: &str, after: &str) -> Option<Outcome> {
        if let Some(violated) = self.violated(world, machine, after) {
            return Some(violated);
        }
        let now = world.watching.with(|history| {
            let secret = history.newest(Subject::Secret, &self.name)?;
            secret["metadata"]["resourceVersion"]
                .as_str()
                .map(str::to_owned)
        })?;
        (now != self.version).then(|| {
            Outcome::fail(
                format!("the data Secret is written again {after}"),
                world.evidence(
                    machine,
                    None,
                    format!("its resourceVersion was {}, and is {now}", self.version),
                ),
            )
        })
    }
}
