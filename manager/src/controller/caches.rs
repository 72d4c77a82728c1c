//! What is watched. Of each object only the fields are kept that are read.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use futures::future::join_all;
use futures::stream::{BoxStream, SelectAll};
use futures::{Stream, StreamExt};
use kube::ResourceExt;
use kube::api::{Api, DynamicObject};
use kube::discovery::ApiResource;
use kube::runtime::reflector::{ObjectRef, Store, store::Writer};
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use serde_json::Value;
use windlass::contract::labels;

use super::Setting;
use super::resources::Core;

/// Objects of a watch, as they come and go.
pub(super) type Watch = BoxStream<'static, Result<DynamicObject, watcher::Error>>;

/// The labels that are read of the core's objects.
const LABELS: [&str; 2] = [labels::CLUSTER_NAME, labels::CONTROL_PLANE];

/// The condition of a Cluster that is read.
const CONDITION: &str = "ControlPlaneInitialized";

/// The fields that are read of the core's objects, whichever of them has them (checklist BC-73).
const FIELDS: [&[&str]; 16] = [
    &["spec", "paused"],
    &["spec", "controlPlaneEndpoint"],
    &["spec", "controlPlaneRef"],
    &["spec", "clusterNetwork"],
    &["spec", "clusterName"],
    &["spec", "version"],
    &["spec", "bootstrap"],
    &["spec", "infrastructureRef"],
    &["spec", "replicas"],
    &["spec", "template", "spec", "version"],
    &["spec", "template", "spec", "bootstrap"],
    &["spec", "template", "spec", "infrastructureRef"],
    &["status", "initialization"],
    &["status", "infrastructureReady"],
    &["status", "nodeRef"],
    &["status", "nodeRefs"],
];

/// Where conditions stand, in either version of the core.
const CONDITIONS: [&[&str]; 2] = [&["status", "conditions"], &["status", "v1beta2", "conditions"]];

/// The objects of the core.
pub(super) struct Caches {
    clusters: Cache,
    machines: Cache,
    machine_pools: Cache,
}

/// What changes in them.
pub(super) struct Watches {
    pub(super) clusters: Watch,
    pub(super) machines: Watch,
    pub(super) machine_pools: Watch,
}

/// The objects of one kind.
struct Cache {
    resource: ApiResource,
    /// One a namespace, or one for all.
    stores: Vec<Store<DynamicObject>>,
}

impl Caches {
    /// Begins to watch. The caches are filled as the watches are polled.
    pub(super) fn begin(setting: &Setting, core: &Core) -> (Self, Watches) {
        let begin = |resource: &ApiResource| {
            let (cache, watch) = Cache::begin(setting, resource);
            (cache, watch.boxed())
        };
        let (clusters, of_clusters) = begin(&core.cluster);
        let (machines, of_machines) = begin(&core.machine);
        let (machine_pools, of_machine_pools) = begin(&core.machine_pool);
        let watches = Watches { clusters: of_clusters, machines: of_machines, machine_pools: of_machine_pools };
        (Caches { clusters, machines, machine_pools }, watches)
    }

    /// Waits until all that is there has been listed.
    pub(super) async fn filled(&self) {
        let stores = [&self.clusters, &self.machines, &self.machine_pools].into_iter().flat_map(|cache| &cache.stores);
        // Writers live as long as their streams; without them nothing is asked any more.
        join_all(stores.map(|store| async move { drop(store.wait_until_ready().await) })).await;
    }

    /// The object of that kind and name.
    pub(super) fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<Arc<DynamicObject>> {
        let cache = [&self.clusters, &self.machines, &self.machine_pools].into_iter().find(|cache| cache.resource.kind == kind)?;
        let reference = ObjectRef::new_with(name, cache.resource.clone()).within(namespace);
        cache.stores.iter().find_map(|store| store.get(&reference))
    }

    /// The Machines and MachinePools of a cluster.
    pub(super) fn machines_of(&self, namespace: &str, cluster: &str) -> Vec<Arc<DynamicObject>> {
        let is_of = |object: &DynamicObject| {
            object.namespace().as_deref() == Some(namespace)
                && object.data.pointer("/spec/clusterName").and_then(Value::as_str) == Some(cluster)
        };
        let stores = self.machines.stores.iter().chain(&self.machine_pools.stores);
        stores.flat_map(|store| store.state_filter(is_of)).collect()
    }
}

impl Cache {
    fn begin(setting: &Setting, resource: &ApiResource) -> (Self, SelectAll<Watch>) {
        let (mut stores, mut all) = (Vec::new(), SelectAll::new());
        for namespace in namespaces(setting) {
            let writer = Writer::new(resource.clone());
            stores.push(writer.as_reader());
            let api = api(setting, resource, namespace.as_deref());
            let events = watcher(api, watcher::Config::default()).default_backoff().modify(keep_fields).reflect(writer);
            let mut changes = Changes::default();
            let changed = events.filter_map(move |event| std::future::ready(changes.of(event).transpose()));
            all.push(changed.boxed());
        }
        (Cache { resource: resource.clone(), stores }, all)
    }
}

/// The configs of a kind, of one namespace or of all: as they come, and the store that has them.
pub(super) fn configs(
    setting: &Setting,
    resource: &ApiResource,
    namespace: Option<&str>,
) -> (impl Stream<Item = Result<DynamicObject, watcher::Error>> + Send + use<>, Store<DynamicObject>) {
    let mut config = watcher::Config::default();
    if let Some(value) = &setting.flags.watch_filter {
        config = config.labels(&format!("{}={value}", labels::WATCH_FILTER));
    }
    let writer = Writer::new(resource.clone());
    let store = writer.as_reader();
    let events = watcher(api(setting, resource, namespace), config).default_backoff();
    (events.modify(|object| object.managed_fields_mut().clear()).reflect(writer).applied_objects(), store)
}

/// The namespaces that are worked on; one `None` means all.
pub(super) fn namespaces(setting: &Setting) -> Vec<Option<String>> {
    match setting.flags.namespaces.is_empty() {
        true => vec![None],
        false => setting.flags.namespaces.iter().cloned().map(Some).collect(),
    }
}

fn api(setting: &Setting, resource: &ApiResource, namespace: Option<&str>) -> Api<DynamicObject> {
    match namespace {
        None => Api::all_with(setting.client.clone(), resource),
        Some(namespace) => Api::namespaced_with(setting.client.clone(), namespace, resource),
    }
}

/// Drops what is not read.
fn keep_fields(object: &mut DynamicObject) {
    let metadata = &mut object.metadata;
    metadata.managed_fields = None;
    metadata.annotations = None;
    metadata.owner_references = None;
    metadata.finalizers = None;
    if let Some(all) = &mut metadata.labels {
        all.retain(|label, _| LABELS.contains(&label.as_str()));
    }
    let mut kept = Value::Null;
    for path in FIELDS {
        if let Some(value) = path.iter().try_fold(&object.data, |value, step| value.get(step)) {
            put(&mut kept, path, value.clone());
        }
    }
    for path in CONDITIONS {
        let conditions = path.iter().try_fold(&object.data, |value, step| value.get(step)).and_then(Value::as_array);
        if let Some(found) = conditions.and_then(|all| all.iter().find(|condition| condition["type"] == CONDITION)) {
            put(&mut kept, path, Value::Array(vec![serde_json::json!({"type": CONDITION, "status": found["status"]})]));
        }
    }
    object.data = if kept.is_null() { serde_json::json!({}) } else { kept };
}

fn put(target: &mut Value, path: &[&str], value: Value) {
    *path.iter().fold(target, |target, step| &mut target[*step]) = value;
}

/// What was read of each object, so that only changes of it make anybody look. What goes always does.
#[derive(Default)]
struct Changes {
    known: BTreeMap<(String, String), u64>,
    /// While all objects are listed anew: those that were.
    listed: BTreeMap<(String, String), u64>,
}

impl Changes {
    fn of(&mut self, event: Result<Event<DynamicObject>, watcher::Error>) -> Result<Option<DynamicObject>, watcher::Error> {
        let name = |object: &DynamicObject| (object.namespace().unwrap_or_default(), object.name_any());
        Ok(match event? {
            Event::Apply(object) => {
                let read = read_fields(&object);
                (self.known.insert(name(&object), read) != Some(read)).then_some(object)
            }
            Event::InitApply(object) => {
                let read = read_fields(&object);
                self.listed.insert(name(&object), read);
                (self.known.get(&name(&object)) != Some(&read)).then_some(object)
            }
            Event::Delete(object) => {
                self.known.remove(&name(&object));
                Some(object)
            }
            Event::Init => {
                self.listed.clear();
                None
            }
            Event::InitDone => {
                self.known = std::mem::take(&mut self.listed);
                None
            }
        })
    }
}

/// What is read of an object, as a number that changes with it.
fn read_fields(object: &DynamicObject) -> u64 {
    let mut hasher = DefaultHasher::new();
    object.data.to_string().hash(&mut hasher);
    object.metadata.labels.hash(&mut hasher);
    object.metadata.uid.hash(&mut hasher);
    object.metadata.deletion_timestamp.is_some().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> DynamicObject {
        serde_json::from_value(value).unwrap()
    }

    /// What is dropped is nothing that the contract lets a bootstrap provider read.
    #[test]
    fn only_what_is_read_is_kept() {
        let mut machine = object(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
            "metadata": {
                "name": "m", "namespace": "n", "uid": "u", "annotations": {"a": "b"}, "managedFields": [{"manager": "x"}],
                "labels": {"cluster.x-k8s.io/control-plane": "", "other": "x"},
            },
            "spec": {"clusterName": "c", "version": "v1.34.1", "providerID": "x", "bootstrap": {"dataSecretName": "d"}, "infrastructureRef": {"kind": "k"}},
            "status": {"nodeRef": {"name": "x"}, "conditions": [{"type": "Ready", "status": "True"}], "addresses": []},
        }));
        keep_fields(&mut machine);
        let kept = json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
            "metadata": {"name": "m", "namespace": "n", "uid": "u", "labels": {"cluster.x-k8s.io/control-plane": ""}},
            "spec": {"clusterName": "c", "version": "v1.34.1", "bootstrap": {"dataSecretName": "d"}, "infrastructureRef": {"kind": "k"}},
            "status": {"nodeRef": {"name": "x"}},
        });
        assert_eq!(serde_json::to_value(&machine).unwrap(), kept);
    }

    #[test]
    fn changes_of_what_is_not_read_are_none() {
        let cluster = |ready: &str, initialized: &str| {
            let conditions = json!([
                {"type": "Available", "status": ready, "message": ready},
                {"type": "ControlPlaneInitialized", "status": initialized, "lastTransitionTime": ready},
            ]);
            let mut cluster =
                object(json!({"apiVersion": "a/b", "kind": "Cluster", "metadata": {"name": "c"}, "status": {"conditions": conditions}}));
            keep_fields(&mut cluster);
            read_fields(&cluster)
        };
        assert_eq!(cluster("True", "False"), cluster("False", "False"));
        assert_ne!(cluster("True", "False"), cluster("True", "True"));
    }

    /// The last event of an object that goes is as its last change was.
    #[test]
    fn what_goes_and_what_is_new_is_told_once() {
        let machine = |version: &str| {
            object(json!({"apiVersion": "a/b", "kind": "Machine", "metadata": {"name": "m"}, "spec": {"version": version}}))
        };
        let mut changes = Changes::default();
        let mut is_told = |event| changes.of(Ok(event)).unwrap().is_some();
        assert!(!is_told(Event::Init));
        assert!(is_told(Event::InitApply(machine("1"))));
        assert!(!is_told(Event::InitDone));
        assert!(!is_told(Event::Apply(machine("1"))));
        assert!(is_told(Event::Apply(machine("2"))));
        assert!(!is_told(Event::Init));
        assert!(!is_told(Event::InitApply(machine("2"))), "listed anew and the same");
        assert!(!is_told(Event::InitDone));
        assert!(is_told(Event::Delete(machine("2"))));
        assert!(is_told(Event::Apply(machine("2"))), "made again");
        let mut going = machine("2");
        going.metadata.deletion_timestamp =
            Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(k8s_openapi::jiff::Timestamp::UNIX_EPOCH));
        assert!(is_told(Event::Apply(going)), "it goes");
    }
}
