//! What to do next.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::world::Key;
use windlass_capi::api::node::EncryptionAlgorithm;

/// The next thing to do for a config.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Read these objects, tell the world, and ask again.
    Read(Vec<Key>),
    /// Read this object again, past every cache, tell the world, and ask again: what was known of
    /// it may be of yesterday.
    Confirm(Key),
    /// Write this, tell the world what is there then, and ask again. Somebody else was there first
    /// (code 409): start afresh.
    Write(Write),
    /// Nothing, for now.
    Rest(Rest),
}

/// One request to an API server, and what to tell people once it succeeded.
#[derive(Debug, Clone, PartialEq)]
pub struct Write {
    /// The object.
    pub key: Key,
    /// What happens to it.
    pub action: Action,
    /// The event on the config.
    pub event: Option<Event>,
}

/// What happens to an object.
#[derive(Clone, PartialEq)]
pub enum Action {
    /// It is made, and no other writer has made it yet.
    Create(Value),
    /// It is made with a key pair that is generated now: `data` gets `tls.crt` and `tls.key`.
    CreateWithKeys(Value, KeyRequest),
    /// It is written anew; the value has the `resourceVersion` that was read.
    Replace(Value),
    /// Fields of it are written (RFC 7386); the patch has the `resourceVersion` that was read,
    /// where others write too.
    Merge(Value),
    /// Its status is written (RFC 7386); the patch has the `resourceVersion` that was read.
    MergeStatus(Value),
    /// It is deleted, if it still is the one that was read.
    Delete {
        /// `metadata.uid`.
        uid: String,
        /// `metadata.resourceVersion`.
        resource_version: String,
    },
}

impl Action {
    /// The word of logs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Action::Create(_) | Action::CreateWithKeys(..) => "create",
            Action::Replace(_) => "update",
            Action::Merge(_) => "patch",
            Action::MergeStatus(_) => "patch status",
            Action::Delete { .. } => "delete",
        }
    }
}

/// The values may be Secrets.
impl fmt::Debug for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A key pair that is to be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRequest {
    /// The kind of the key.
    pub algorithm: EncryptionAlgorithm,
    /// When the certificate begins and ends, in seconds since 1970; `None`: no certificate but the
    /// public key alone, which signs tokens of service accounts.
    pub validity: Option<(i64, i64)>,
}

/// An event on the config, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Why, in CamelCase.
    pub reason: &'static str,
    /// What happened.
    pub message: String,
}

/// Nothing to do, for now. What is watched wakes the controller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rest {
    /// When to look again, whatever happens.
    pub again: Option<Duration>,
    /// What keeps the object from its data and may pass by itself: look again, later each time.
    pub fault: Option<String>,
}
