//! What was observed: the config, and what was read for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::outcome::Outcome;
use windlass_bootstrap::render::Rendered;
use windlass_capi::api::secret::Sensitive;
use windlass_capi::api::v1beta2::WindlassConfigSpec;
use windlass_capi::contract::CORE_GROUP;
use windlass_objects::{Object, Pool};

/// The cluster in which an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Realm {
    /// The cluster in which the controller runs.
    Management,
    /// The cluster whose machines the config is for.
    Workload,
}

/// Which object. The version is the reader's affair: one that has the fields of the newest contract
/// that it knows.
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
        Key {
            realm: Realm::Management,
            group,
            kind,
            namespace,
            name,
        }
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
        Key {
            realm: Realm::Workload,
            ..self
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.realm == Realm::Workload {
            " of the workload cluster"
        } else {
            ""
        };
        write!(
            formatter,
            "{} {}/{}{place}",
            self.kind, self.namespace, self.name
        )
    }
}

/// From how many bytes of text on rendering may take more than some milliseconds.
const LARGE: usize = 64 << 10;

/// What came of reading an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Observation {
    /// There is none.
    Absent,
    /// It is there.
    Found(Box<Object>),
    /// It could not be read, in words that hold nothing secret.
    Failed(String),
    /// It could not be written: a sentence that holds nothing secret. The pass ends with it, and
    /// the status says it.
    Unwritten(String),
}

impl Observation {
    /// An object that the API server has.
    pub fn found(value: Value) -> Self {
        Observation::Found(Box::new(Object::made(value)))
    }

    /// The same, of an object that others look at as well.
    pub fn shared(value: Arc<Value>) -> Self {
        Observation::Found(Box::new(Object::shared(value)))
    }
}

/// What was observed for one config.
#[derive(Clone)]
pub struct World {
    config: Object,
    seen: BTreeMap<Key, Observation>,
    /// What was read past every cache, or written.
    confirmed: BTreeSet<Key>,
    fresh_token: Sensitive<String>,
    made: Made,
}

/// What was made of the objects that are there: each step goes the whole way again, and most of
/// them change nothing of it.
#[derive(Clone, Default)]
struct Made {
    spec: OnceLock<Option<WindlassConfigSpec>>,
    /// The data, with a token that is not in the spec yet, and with what is there.
    rendered: [OnceLock<Rendering>; 2],
}

/// The data, or what keeps it from being made.
pub(super) type Rendering = Result<Rendered, Outcome>;

/// Secrets are among the objects, which print their names alone.
impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("World")
            .field("config", &self.config)
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}

impl World {
    /// The world of a config as the API server has it in v1beta2, before anything else was read.
    /// `fresh_token` is a bootstrap token that nobody has: it is used if one is needed.
    pub fn new(config: Value, fresh_token: String) -> Self {
        World {
            config: Object::made(config),
            seen: BTreeMap::new(),
            confirmed: BTreeSet::new(),
            fresh_token: Sensitive::new(fresh_token),
            made: Made::default(),
        }
    }

    /// Tells what came of reading or writing an object: what is there now.
    pub fn observe(&mut self, key: Key, observation: Observation) {
        // Nothing of the other cluster is rendered.
        if key.realm == Realm::Management {
            self.made.rendered = Default::default();
        }
        self.seen.insert(key, observation);
    }

    /// Tells what came of reading an object past every cache.
    pub fn confirm(&mut self, key: Key, observation: Observation) {
        self.observe(key.clone(), observation);
        self.confirmed.insert(key);
    }

    /// Tells what was written: what the API server has of the object now; `None`: nothing.
    pub fn wrote(&mut self, key: Key, value: Option<Value>) {
        self.confirm(key, value.map_or(Observation::Absent, Observation::found));
    }

    /// Tells what the API server has of an object now; `None`: it has none.
    pub fn observe_value(&mut self, key: Key, value: Option<Value>) {
        self.observe(key, value.map_or(Observation::Absent, Observation::found));
    }

    /// Tells what the API server has of the config now.
    pub fn observe_config(&mut self, config: Value) {
        let made = std::mem::take(&mut self.made);
        // What was rendered with the token is what is rendered of it once it is in the spec, and
        // nothing else there has changed.
        if is_given(&self.config, &self.fresh_token, &config) {
            let [with_token, _] = made.rendered;
            self.made.rendered = [OnceLock::new(), with_token];
        }
        self.config = Object::made(config);
    }

    /// The name of the Cluster whose workload cluster is meant, once the owner of the config is
    /// known.
    pub fn cluster_name(&self) -> Option<&str> {
        let cluster = self.seen.iter().find(|(key, observation)| {
            key.kind == "Cluster"
                && key.group == CORE_GROUP
                && matches!(observation, Observation::Found(_))
        });
        cluster.map(|(key, _)| key.name.as_str())
    }

    /// Whether the next step may take a processor for long: texts are large, templates run, or data
    /// is compressed. Then no other writer should have to wait for the thread that it takes.
    pub fn takes_long(&self) -> bool {
        let spec = self.config.field(&["spec"]).unwrap_or(&Value::Null);
        let is_template = |file: &Value| file["contentFormat"] == "Template";
        if spec["compression"] == "gzip"
            || spec["files"]
                .as_array()
                .is_some_and(|files| files.iter().any(is_template))
        {
            return true;
        }
        let data = self
            .seen
            .values()
            .filter_map(|observation| match observation {
                Observation::Found(object) => object.field(&["data"]),
                _ => None,
            });
        [spec]
            .into_iter()
            .chain(data)
            .map(text_bytes)
            .sum::<usize>()
            > LARGE
    }

    pub(super) fn config(&self) -> &Object {
        &self.config
    }

    pub(super) fn seen(&self, key: &Key) -> Option<&Observation> {
        self.seen.get(key)
    }

    pub(super) fn is_confirmed(&self, key: &Key) -> bool {
        self.confirmed.contains(key)
    }

    pub(super) fn fresh_token(&self) -> &Sensitive<String> {
        &self.fresh_token
    }

    /// The spec in its type; `None` when it does not fit, which the renderer says better.
    pub(super) fn spec(&self) -> Option<&WindlassConfigSpec> {
        let typed = || match self.config.field(&["spec"]) {
            Some(spec) => WindlassConfigSpec::deserialize(spec).ok(),
            None => Some(WindlassConfigSpec::default()),
        };
        self.made.spec.get_or_init(typed).as_ref()
    }

    /// What was rendered, or is rendered now.
    pub(super) fn rendered(
        &self,
        with_fresh_token: bool,
        render: impl FnOnce() -> Rendering,
    ) -> &Rendering {
        self.made.rendered[usize::from(!with_fresh_token)].get_or_init(render)
    }

    /// The objects of the management cluster, the config among them.
    pub(super) fn pool(&self) -> Pool {
        let found = self
            .seen
            .iter()
            .filter(|(key, _)| key.realm == Realm::Management)
            .filter_map(|(_, observation)| match observation {
                Observation::Found(object) => Some((**object).clone()),
                _ => None,
            });
        Pool::of([self.config.clone()].into_iter().chain(found).collect())
    }
}

/// Whether a config is another one with a token in its spec, as far as rendering looks.
fn is_given(before: &Object, token: &Sensitive<String>, after: &Value) -> bool {
    const PATH: [&str; 3] = ["joinConfiguration", "discovery", "bootstrapToken"];
    let mut expected = before
        .field(&["spec"])
        .cloned()
        .unwrap_or_else(|| json!({}));
    let mut at = &mut expected;
    for step in PATH {
        if !matches!(at.get(step), None | Some(Value::Object(_))) {
            return false;
        }
        at = &mut at[step];
    }
    at["token"] = json!(token.expose());
    // The parts that the API server changes with every write are not part of the data.
    let is_same =
        |field: &&str| before.value()["metadata"].get(field) == after["metadata"].get(field);
    let is_same_object = [
        "annotations",
        "labels",
        "name",
        "namespace",
        "ownerReferences",
        "uid",
    ]
    .iter()
    .all(is_same);
    is_same_object
        && after["spec"] == expected
        && before.api_version() == after["apiVersion"]
        && before.kind() == after["kind"]
}

/// The bytes of all texts in a value.
fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => fields.values().map(text_bytes).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}
