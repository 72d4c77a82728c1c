//! A management cluster and a workload cluster in memory, and a controller for them that can be
//! ended at any of its requests.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_capi::api::time::Timestamp;
use windlass_reconcile::{
    Action, Key, KeyRequest, Observation, Realm, Settings, Step, World, Write, reconcile,
};

/// The lifetime of tokens, in seconds.
pub(super) const TTL: i64 = 900;
pub(super) const NAMESPACE: &str = "n";
const CONFIG_GROUP: &str = "bootstrap.windlass.dev";

/// How a pass ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    /// The controller has nothing to do: when it looks again, in seconds, and what keeps it from
    /// its goal.
    Rest(Option<u64>, Option<String>),
    /// Somebody else wrote first.
    Conflict,
    /// It was ended before or after this request.
    Killed,
    /// There is no such config.
    Gone,
}

/// Clusters and Machines as they were; `None`: there was none.
pub(super) type Cached = BTreeMap<Key, Option<Value>>;

/// Two clusters, and the time.
#[derive(Debug, Clone)]
pub(super) struct Site {
    objects: BTreeMap<Key, Value>,
    pub(super) now: i64,
    /// By how many seconds the controller's clock differs.
    pub(super) clock_off: i64,
    /// By how many it was ahead at most.
    pub(super) clock_ahead: i64,
    /// What the caches of Clusters and Machines have that lag behind; `None`: they follow.
    pub(super) cached: Option<Cached>,
    /// What they had at a time.
    pub(super) remembered: Option<Cached>,
    /// What a controller that was ended had sent, where it goes, and the config that it is for: it
    /// may arrive later.
    sent: Option<(Write, Key, Value)>,
    /// Whether the workload cluster answers.
    pub(super) reachable: bool,
    /// What is observed where it does not.
    pub(super) rejection: String,
    pub(super) machine_pools: bool,
    /// Whether configs are KubeadmConfigs.
    pub(super) kubeadm: bool,
    pub(super) events: Vec<&'static str>,
    /// What was written, in order: verb and object.
    pub(super) writes: Vec<String>,
    /// What was read.
    pub(super) reads: Vec<String>,
    /// The key pairs that were asked for, by the name of their Secret.
    pub(super) key_requests: Vec<(String, KeyRequest)>,
    /// The Secrets of tokens that were made, each with the `metadata.uid` of its config.
    pub(super) tokens: Vec<(Value, Key)>,
    counter: u64,
}

/// More steps than one config ever takes at a time.
const MOST_STEPS: usize = 100;

impl Site {
    pub(super) fn new() -> Self {
        Site {
            objects: BTreeMap::new(),
            now: 1_800_000_000,
            clock_off: 0,
            clock_ahead: 0,
            cached: None,
            remembered: None,
            sent: None,
            reachable: true,
            rejection: "no answer".to_owned(),
            machine_pools: true,
            kubeadm: false,
            events: Vec::new(),
            writes: Vec::new(),
            reads: Vec::new(),
            key_requests: Vec::new(),
            tokens: Vec::new(),
            counter: 0,
        }
    }

    /// Under which a config is found here, whatever its kind.
    pub(super) fn config_key(name: &str) -> Key {
        key(CONFIG_GROUP, "WindlassConfig", name)
    }

    /// Puts an object of the management cluster there, as people do.
    pub(super) fn put(&mut self, mut object: Value) -> Key {
        object["metadata"]["namespace"] = json!(NAMESPACE);
        let group = object["apiVersion"]
            .as_str()
            .unwrap()
            .split_once('/')
            .map_or("", |(group, _)| group)
            .to_owned();
        let key = key(
            &group,
            object["kind"].as_str().unwrap(),
            object["metadata"]["name"].as_str().unwrap(),
        );
        self.insert(&key, object);
        key
    }

    pub(super) fn insert(&mut self, key: &Key, mut object: Value) -> Value {
        self.counter += 1;
        let old = self.objects.get(key);
        let uid = old.map_or_else(
            || json!(format!("uid-{}", self.counter)),
            |old| old["metadata"]["uid"].clone(),
        );
        let generation = old.map_or(1, |old| {
            old["metadata"]["generation"].as_i64().unwrap()
                + i64::from(old["spec"] != object["spec"])
        });
        object["metadata"]["uid"] = uid;
        object["metadata"]["generation"] = json!(generation);
        object["metadata"]["resourceVersion"] = json!(self.counter.to_string());
        self.objects.insert(key.clone(), object.clone());
        object
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Value> {
        self.objects.get(key)
    }

    pub(super) fn remove(&mut self, key: &Key) {
        self.objects.remove(key).expect("it was there");
    }

    /// Changes an object, as people and other controllers do.
    pub(super) fn merge(&mut self, key: &Key, patch: &Value) {
        let mut object = self.objects[key].clone();
        merge(&mut object, patch);
        self.insert(key, object);
    }

    pub(super) fn of_kind(&self, realm: Realm, kind: &str) -> impl Iterator<Item = (&Key, &Value)> {
        self.objects
            .iter()
            .filter(move |(key, _)| key.realm == realm && key.kind == kind)
    }

    /// Works on a config until there is nothing to do.
    pub(super) fn pass(&mut self, name: &str) -> Ended {
        self.pass_until(name, usize::MAX)
    }

    /// Works on a config; the controller is ended as it sends its request of that number, which
    /// arrives when [`Site::arrive`] says so.
    pub(super) fn pass_until(&mut self, name: &str, requests: usize) -> Ended {
        let Some(config) = self.get(&Site::config_key(name)).cloned() else {
            return Ended::Gone;
        };
        let own = match self.kubeadm {
            true => key("bootstrap.cluster.x-k8s.io", "KubeadmConfig", name),
            false => Site::config_key(name),
        };
        self.counter += 1;
        let uid = config["metadata"]["uid"].clone();
        let mut world = World::new(config, format!("t{:05}.0123456789abcdef", self.counter));
        for request in 0..MOST_STEPS {
            let settings = Settings {
                token_ttl: TTL,
                machine_pools: self.machine_pools,
            };
            let step = reconcile(
                &world,
                &settings,
                Timestamp::of_second(self.now + self.clock_off),
            );
            if request == requests {
                if let Step::Write(write) = step {
                    let stored = if write.key == own {
                        Site::config_key(name)
                    } else {
                        write.key.clone()
                    };
                    self.sent = Some((write, stored, uid));
                }
                return Ended::Killed;
            }
            match step {
                Step::Rest(rest) => {
                    return Ended::Rest(rest.again.map(|again| again.as_secs()), rest.fault);
                }
                Step::Read(keys) => keys.into_iter().for_each(|key| self.read(&mut world, key)),
                Step::Confirm(key) => {
                    self.reads.push(format!("{key}, confirmed"));
                    let observation = self
                        .get(&key)
                        .cloned()
                        .map_or(Observation::Absent, Observation::found);
                    world.confirm(key, observation);
                }
                Step::Write(write) if write.key.realm == Realm::Workload && !self.reachable => {
                    let fault = format!(
                        "cannot {} {}: {}",
                        write.action.as_str(),
                        write.key,
                        self.rejection
                    );
                    world.observe(write.key, Observation::Unwritten(fault));
                }
                Step::Write(write) => {
                    let is_own = write.key == own;
                    let stored = if is_own {
                        Site::config_key(name)
                    } else {
                        write.key.clone()
                    };
                    match self.write(&write, &stored, &uid) {
                        Err(()) => return Ended::Conflict,
                        Ok(written) if is_own => {
                            world.observe_config(written.expect("a config is not deleted"))
                        }
                        Ok(written) => world.wrote(write.key, written),
                    }
                }
            }
        }
        panic!(
            "{name}: it goes on for ever: {:?}",
            &self.writes[self.writes.len() - 3..]
        )
    }

    /// What a controller that was ended had sent last arrives.
    pub(super) fn arrive(&mut self) {
        if let Some((write, stored, config)) = self.sent.take() {
            // Nobody hears the answer.
            drop(self.write(&write, &stored, &config));
        }
    }

    fn read(&mut self, world: &mut World, key: Key) {
        self.reads.push(key.to_string());
        match key.realm {
            Realm::Workload if !self.reachable => {
                world.observe(key, Observation::Failed(self.rejection.clone()))
            }
            _ => {
                let known = self.cached.as_ref().and_then(|cached| cached.get(&key));
                let value = known
                    .map_or_else(|| self.get(&key), Option::as_ref)
                    .cloned();
                world.observe_value(key, value);
            }
        }
    }

    /// Keeps what the caches have now.
    pub(super) fn remember(&mut self) {
        let core = |(key, _): &(&Key, &Value)| key.group == "cluster.x-k8s.io";
        self.remembered = Some(
            self.objects
                .iter()
                .filter(core)
                .map(|(key, object)| (key.clone(), Some(object.clone())))
                .collect(),
        );
    }

    /// Works on a config with what the caches had then; what they did not have is asked for.
    pub(super) fn pass_behind(&mut self, name: &str, requests: usize) -> Ended {
        self.cached = self.remembered.clone();
        let ended = self.pass_until(name, requests);
        self.cached = None;
        ended
    }

    /// `stored`: where the object is here; `config`: whose it is.
    fn write(&mut self, write: &Write, stored: &Key, config: &Value) -> Result<Option<Value>, ()> {
        let old = self.get(stored).cloned();
        let is_read = |version: &Value| {
            old.as_ref()
                .is_some_and(|old| old["metadata"]["resourceVersion"] == *version)
        };
        let written = match &write.action {
            Action::Create(_) | Action::CreateWithKeys(..) if old.is_some() => return Err(()),
            Action::Create(object) => {
                if write.key.realm == Realm::Workload {
                    self.tokens.push((config.clone(), write.key.clone()));
                }
                Some(self.insert(stored, object.clone()))
            }
            Action::CreateWithKeys(object, request) => {
                self.key_requests.push((write.key.name.clone(), *request));
                let mut object = object.clone();
                object["data"] = super::key_pair();
                Some(self.insert(stored, object))
            }
            Action::Replace(object) if is_read(&object["metadata"]["resourceVersion"]) => {
                Some(self.insert(stored, object.clone()))
            }
            Action::Merge(patch) | Action::MergeStatus(patch)
                if is_read(&patch["metadata"]["resourceVersion"]) =>
            {
                let mut object = old.clone().unwrap();
                merge(&mut object, patch);
                Some(self.insert(stored, object))
            }
            Action::Delete {
                uid,
                resource_version,
            } => {
                let old = old
                    .filter(|old| old["metadata"]["uid"] == **uid)
                    .ok_or(())?;
                if old["metadata"]["resourceVersion"] != **resource_version {
                    return Err(());
                }
                self.objects.remove(stored);
                None
            }
            _ => return Err(()),
        };
        self.writes
            .push(format!("{} {}", write.action.as_str(), write.key));
        self.events
            .extend(write.event.as_ref().map(|event| event.reason));
        Ok(written)
    }
}

pub(super) fn key(group: &str, kind: &str, name: &str) -> Key {
    let [group, kind, namespace, name] = [group, kind, NAMESPACE, name].map(str::to_owned);
    Key {
        realm: Realm::Management,
        group,
        kind,
        namespace,
        name,
    }
}

/// The Secret of a token in the workload cluster.
pub(super) fn token_key(id: &str) -> Key {
    Key {
        realm: Realm::Workload,
        namespace: "kube-system".to_owned(),
        ..key("", "Secret", &format!("bootstrap-token-{id}"))
    }
}

/// RFC 7386.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (field, value) in patch {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(field);
        } else {
            merge(&mut target[field], value);
        }
    }
}
