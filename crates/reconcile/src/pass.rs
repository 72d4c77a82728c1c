//! What a pass over a config is on: it looks at the world, and stops at the first thing that it
//! has to ask or to write.

use super::foreign::{NOTE, fitting};
use super::outcome::Outcome;
use super::step::{Action, Event, Rest, Write};
use super::world::{Key, Observation, World};
use windlass_capi::api::names::KUBEADM_GROUP;
use windlass_capi::api::time::Timestamp;
use windlass_objects::Object;

/// What holds for all objects of a manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// How long a bootstrap token lives unless it is refreshed, in seconds
    /// (`--bootstrap-token-ttl`).
    pub token_ttl: i64,
    /// Whether MachinePools are served (the feature gate `MachinePool`).
    pub machine_pools: bool,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Pass<'a> {
    pub(super) world: &'a World,
    pub(super) settings: &'a Settings,
    pub(super) now: Timestamp,
}

pub(super) enum Stop {
    Read(Vec<Key>),
    Confirm(Key),
    Write(Write),
    End(Box<Outcome>),
    /// Without a word in the status: whether the object is paused is not known.
    Rest(Rest),
}

impl Stop {
    /// The same, with nothing said in the status.
    pub(super) fn unsaid(self) -> Self {
        match self {
            Stop::End(outcome) => Stop::Rest(Rest {
                again: None,
                fault: outcome.fault,
            }),
            other => other,
        }
    }
}

pub(super) type Walk<T> = Result<T, Stop>;

/// Ends the pass with what was found out.
pub(super) fn end<T>(outcome: Outcome) -> Walk<T> {
    Err(Stop::End(Box::new(outcome)))
}

impl<'a> Pass<'a> {
    /// What is known of an object; stops to read it.
    pub(super) fn look(&self, key: &Key) -> Walk<Option<&'a Object>> {
        match self.world.seen(key) {
            None => Err(Stop::Read(vec![key.clone()])),
            Some(Observation::Absent) => Ok(None),
            Some(Observation::Found(object)) => Ok(Some(object)),
            Some(Observation::Failed(cause)) => {
                end(Outcome::default().with_fault(format!("cannot read {key}: {cause}")))
            }
            Some(Observation::Unwritten(fault)) => {
                end(Outcome::default().with_fault(fault.as_str()))
            }
        }
    }

    /// What is known of an object that nobody can have made yet: it is not asked for before it is
    /// made. Should it be there nevertheless, making it is rejected, and the next pass looks.
    pub(super) fn look_at_new(&self, key: &Key) -> Walk<Option<&'a Object>> {
        if self.world.seen(key).is_none() {
            Ok(None)
        } else {
            self.look(key)
        }
    }

    /// Stops to read an object past every cache, unless that was done: what is known of it may lag
    /// behind.
    pub(super) fn confirm(&self, key: Key) -> Walk<()> {
        if self.world.is_confirmed(&key) {
            Ok(())
        } else {
            Err(Stop::Confirm(key))
        }
    }

    /// Stops to read all that is not known yet, at once.
    pub(super) fn look_at_all(&self, keys: impl IntoIterator<Item = Key>) -> Walk<()> {
        let unseen: Vec<Key> = keys
            .into_iter()
            .filter(|key| self.world.seen(key).is_none())
            .collect();
        if unseen.is_empty() {
            Ok(())
        } else {
            Err(Stop::Read(unseen))
        }
    }

    pub(super) fn write<T>(&self, key: Key, action: Action) -> Walk<T> {
        Err(Stop::Write(Write {
            key,
            action,
            event: None,
        }))
    }

    pub(super) fn write_and_tell<T>(&self, key: Key, action: Action, event: Event) -> Walk<T> {
        let event = Event {
            message: fitting(&event.message, NOTE, char::len_utf8),
            ..event
        };
        Err(Stop::Write(Write {
            key,
            action,
            event: Some(event),
        }))
    }

    pub(super) fn delete<T>(&self, key: Key, object: &Object) -> Walk<T> {
        let text = |field: &str| object.text(&["metadata", field]).to_owned();
        self.write(
            key,
            Action::Delete {
                uid: text("uid"),
                resource_version: text("resourceVersion"),
            },
        )
    }

    /// Whether the config is of the kubeadm bootstrap provider, which may have begun it, and may
    /// take it back at any time.
    pub(super) fn is_kubeadm(&self) -> bool {
        self.world.config().group() == KUBEADM_GROUP
    }

    /// The config itself.
    pub(super) fn own_key(&self) -> Key {
        let config = self.world.config();
        Key::of(
            config.group(),
            config.kind(),
            config.namespace(),
            config.name(),
        )
    }
}
