//! What was observed: the config, and what was read for it.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::api::secret::Sensitive;
use crate::contract::CORE_GROUP;
use crate::objects::{Object, Pool};

/// The cluster in which an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Realm {
    /// The cluster in which the controller runs.
    Management,
    /// The cluster whose machines the config is for.
    Workload,
}

/// Which object. The version is the reader's affair: one that has the fields of the newest contract that it knows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Where it is.
    pub realm: Realm,
    /// API group; empty for the core group.
    pub group: String,
    /// Kind.
    pub kind: String,
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Key {
    pub(super) fn of(group: &str, kind: &str, namespace: &str, name: &str) -> Self {
        let [group, kind, namespace, name] = [group, kind, namespace, name].map(str::to_owned);
        Key { realm: Realm::Management, group, kind, namespace, name }
    }

    /// An object of the core group.
    pub(super) fn core(kind: &str, namespace: &str, name: &str) -> Self {
        Key::of("", kind, namespace, name)
    }

    /// The Cluster of that name.
    pub fn cluster(namespace: &str, name: &str) -> Self {
        Key::of(CORE_GROUP, "Cluster", namespace, name)
    }

    pub(super) fn in_workload(self) -> Self {
        Key { realm: Realm::Workload, ..self }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.realm == Realm::Workload { " of the workload cluster" } else { "" };
        write!(formatter, "{} {}/{}{place}", self.kind, self.namespace, self.name)
    }
}

/// What came of reading an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// There is none.
    Absent,
    /// It is there.
    Found(Box<Object>),
    /// It could not be read, in words that hold nothing secret.
    Failed(String),
}

impl Observation {
    /// An object that the API server has.
    pub fn found(value: Value) -> Self {
        Observation::Found(Box::new(Object::made(value)))
    }
}

/// What was observed for one config.
#[derive(Clone)]
pub struct World {
    config: Object,
    seen: BTreeMap<Key, Observation>,
    fresh_token: Sensitive<String>,
}

/// Secrets are among the objects, which print their names alone.
impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("World").field("config", &self.config).field("seen", &self.seen).finish_non_exhaustive()
    }
}

impl World {
    /// The world of a config as the API server has it in v1beta2, before anything else was read. `fresh_token` is a bootstrap token that
    /// nobody has: it is used if one is needed.
    pub fn new(config: Value, fresh_token: String) -> Self {
        World { config: Object::made(config), seen: BTreeMap::new(), fresh_token: Sensitive::new(fresh_token) }
    }

    /// Tells what came of reading or writing an object: what is there now.
    pub fn observe(&mut self, key: Key, observation: Observation) {
        self.seen.insert(key, observation);
    }

    /// Tells what the API server has of an object now; `None`: it has none.
    pub fn observe_value(&mut self, key: Key, value: Option<Value>) {
        self.observe(key, value.map_or(Observation::Absent, Observation::found));
    }

    /// Tells what the API server has of the config now.
    pub fn observe_config(&mut self, config: Value) {
        self.config = Object::made(config);
    }

    /// The name of the Cluster whose workload cluster is meant, once the owner of the config is known.
    pub fn cluster_name(&self) -> Option<&str> {
        let cluster = self
            .seen
            .iter()
            .find(|(key, observation)| key.kind == "Cluster" && key.group == CORE_GROUP && matches!(observation, Observation::Found(_)));
        cluster.map(|(key, _)| key.name.as_str())
    }

    pub(super) fn config(&self) -> &Object {
        &self.config
    }

    pub(super) fn seen(&self, key: &Key) -> Option<&Observation> {
        self.seen.get(key)
    }

    pub(super) fn fresh_token(&self) -> &Sensitive<String> {
        &self.fresh_token
    }

    /// The objects of the management cluster, the config among them.
    pub(super) fn pool(&self) -> Pool {
        let found = self.seen.iter().filter(|(key, _)| key.realm == Realm::Management).filter_map(|(_, observation)| match observation {
            Observation::Found(object) => Some((**object).clone()),
            _ => None,
        });
        Pool::of([self.config.clone()].into_iter().chain(found).collect())
    }
}
