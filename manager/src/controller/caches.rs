//! What is watched. Of each object only the fields are kept that are read.

use std::borrow::Cow;
use std::sync::Arc;

use futures::future::join_all;
use futures::stream::{BoxStream, SelectAll};
use futures::{Stream, StreamExt, TryStreamExt};
use kube::Resource;
use kube::api::Api;
use kube::core::DynamicResourceScope;
use kube::discovery::ApiResource;
use kube::runtime::watcher::Event;
use kube::runtime::{WatchStreamExt, watcher};
use serde_json::{Map, Value, json};
use windlass_capi::contract::labels;

use super::Setting;
use super::kept::{Keeping, Kept, Read};
use super::resources::{Core, config};
use super::store::{Store, Told, Writer};
use super::workload::Name;
use crate::flags::ConfigKind;
use crate::reading::{FieldPath, Fields, MANAGED_FIELDS};

/// An object of the core: the fields of it that are read.
pub(super) type CoreObject = Kept<OfCore>;

pub(super) type Config = Kept<OfConfigs>;

pub(super) enum OfCore {}

pub(super) enum OfConfigs {}

impl Keeping for OfCore {
    type Kind = ApiResource;

    /// What is read of it names what belongs to each alone.
    const COMMON: Option<&str> = None;

    fn names(kind: &ApiResource) -> [Cow<'_, str>; 4] {
        [&kind.group, &kind.version, &kind.kind, &kind.plural].map(|name| name.as_str().into())
    }

    fn fields() -> Fields {
        Fields::only(
            IDENTITY
                .into_iter()
                .chain(FIELDS)
                .chain(LABELS)
                .chain(CONDITIONS),
        )
    }

    fn reduce(object: &mut Value) {
        let of_clusters_alone: &[&str] = match object["kind"].as_str() {
            Some("Machine" | "MachinePool") => &OF_CLUSTERS_ALONE,
            _ => &[],
        };
        if let Some(status) = object.get_mut("status").and_then(Value::as_object_mut) {
            of_clusters_alone
                .iter()
                .for_each(|field| drop(status.remove(*field)));
            reduce_conditions(status);
            if let Some(status) = status.get_mut("v1beta2").and_then(Value::as_object_mut) {
                reduce_conditions(status);
            }
        }
        drop_if_empty(object, &["status", "v1beta2"]);
        drop_if_empty(object, &["status"]);
    }

    fn cluster(object: &Value) -> Option<&str> {
        object.pointer("/spec/clusterName").and_then(Value::as_str)
    }
}

impl Keeping for OfConfigs {
    type Kind = ConfigKind;

    /// They come from the template, and are most of it; each has its own token elsewhere.
    const COMMON: Option<&str> = Some("files");

    fn names(kind: &ConfigKind) -> [Cow<'_, str>; 4] {
        let ApiResource {
            group,
            version,
            kind,
            plural,
            ..
        } = config(*kind);
        [group, version, kind, plural].map(Cow::Owned)
    }

    fn fields() -> Fields {
        Fields::without([MANAGED_FIELDS])
    }

    /// By the label that the core sets.
    fn cluster(object: &Value) -> Option<&str> {
        object["metadata"]["labels"][labels::CLUSTER_NAME].as_str()
    }
}

pub(super) type Watch = BoxStream<'static, Result<Arc<CoreObject>, watcher::Error>>;

const LABELS: [FieldPath; 2] = [
    &["metadata", "labels", labels::CLUSTER_NAME],
    &["metadata", "labels", labels::CONTROL_PLANE],
];

/// The maximum number of objects of one answer to a list.
const PAGE: u32 = 250;

/// What every object has. With the version a watch goes on.
const IDENTITY: [FieldPath; 7] = [
    &["apiVersion"],
    &["kind"],
    &["metadata", "name"],
    &["metadata", "namespace"],
    &["metadata", "uid"],
    &["metadata", "resourceVersion"],
    &["metadata", "deletionTimestamp"],
];

const CONDITION: &str = "ControlPlaneInitialized";

/// The fields that are read of the core's objects, whichever of them has them (checklist BC-73).
const FIELDS: [FieldPath; 16] = [
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

/// What is read of the status of Clusters alone. Machines have it too, and there it says how far
/// the core has come with them: whether a token is kept alive goes by their nodes.
const OF_CLUSTERS_ALONE: [&str; 4] = [
    "conditions",
    "infrastructureReady",
    "initialization",
    "v1beta2",
];

/// Where conditions stand, in either version of the core.
const CONDITIONS: [FieldPath; 2] = [
    &["status", "conditions"],
    &["status", "v1beta2", "conditions"],
];

pub(super) struct Caches {
    clusters: Cache,
    machines: Cache,
    machine_pools: Cache,
}

pub(super) struct Watches {
    pub(super) clusters: Watch,
    pub(super) machines: Watch,
    pub(super) machine_pools: Watch,
}

struct Cache {
    kind: String,
    /// One a namespace, or one for all.
    stores: Vec<Store<OfCore>>,
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
        let watches = Watches {
            clusters: of_clusters,
            machines: of_machines,
            machine_pools: of_machine_pools,
        };
        (
            Caches {
                clusters,
                machines,
                machine_pools,
            },
            watches,
        )
    }

    /// Waits until all that is there has been listed.
    pub(super) async fn filled(&self) {
        let stores = [&self.clusters, &self.machines, &self.machine_pools]
            .into_iter()
            .flat_map(|cache| &cache.stores);
        join_all(stores.map(Store::filled)).await;
    }

    pub(super) fn get(&self, kind: &str, name: &Name) -> Option<Arc<CoreObject>> {
        let cache = [&self.clusters, &self.machines, &self.machine_pools]
            .into_iter()
            .find(|cache| cache.kind == kind)?;
        cache.stores.iter().find_map(|store| store.get(name))
    }

    /// The Machines and MachinePools of a cluster.
    pub(super) fn machines_of(&self, namespace: &str, cluster: &str) -> Vec<Arc<CoreObject>> {
        let is_of = |object: &CoreObject| {
            object.namespace() == namespace && object.cluster().is_some_and(|own| **own == *cluster)
        };
        let stores = self
            .machines
            .stores
            .iter()
            .chain(&self.machine_pools.stores);
        stores.flat_map(|store| store.all(is_of)).collect()
    }
}

impl Cache {
    fn begin(setting: &Setting, resource: &ApiResource) -> (Self, SelectAll<Watch>) {
        let (mut stores, mut all) = (Vec::new(), SelectAll::new());
        for namespace in namespaces(setting) {
            let (writer, store) = Writer::new();
            stores.push(store);
            let events =
                watcher(api(setting, resource, namespace.as_deref()), paged()).default_backoff();
            all.push(news(events, writer).boxed());
        }
        (
            Cache {
                kind: resource.kind.clone(),
                stores,
            },
            all,
        )
    }
}

/// Objects of which a watch brings something that is read here, by when the store has it.
fn news<K: Keeping>(
    events: impl Stream<Item = Result<Event<Read<K>>, watcher::Error>>,
    writer: Writer<K>,
) -> impl Stream<Item = Result<Arc<Kept<K>>, watcher::Error>> {
    let news = taken(events, writer).try_filter(|told| std::future::ready(told.is_news()));
    news.try_filter_map(|told| std::future::ready(Ok(told.object())))
}

/// What a watch tells of, by when the store has it.
fn taken<K: Keeping>(
    events: impl Stream<Item = Result<Event<Read<K>>, watcher::Error>>,
    mut writer: Writer<K>,
) -> impl Stream<Item = Result<Told<K>, watcher::Error>> {
    events.flat_map(move |event| {
        futures::stream::iter(match event {
            Ok(event) => writer.take(event).into_iter().map(Ok).collect(),
            Err(fault) => vec![Err(fault)],
        })
    })
}

/// The configs of a kind in one namespace, or in all: which of them come, change and go, and the
/// store that has them by then.
pub(super) fn configs(
    setting: &Setting,
    kind: ConfigKind,
    namespace: Option<&str>,
) -> (
    impl Stream<Item = Result<Name, watcher::Error>> + Send + use<>,
    Store<OfConfigs>,
) {
    let mut config = paged();
    if let Some(value) = &setting.flags.watch_filter {
        config = config.labels(&format!("{}={value}", labels::WATCH_FILTER));
    }
    let (writer, store) = Writer::new();
    let events = watcher(api(setting, &kind, namespace), config).default_backoff();
    let changed =
        taken(events, writer).try_filter_map(|told| std::future::ready(Ok(told.object())));
    (changed.map_ok(|config| config.name().clone()), store)
}

/// The namespaces that are worked on; one `None` means all.
pub(super) fn namespaces(setting: &Setting) -> Vec<Option<String>> {
    match setting.flags.namespaces.is_empty() {
        true => vec![None],
        false => setting.flags.namespaces.iter().cloned().map(Some).collect(),
    }
}

/// Lists come in parts: each is in memory as a whole.
fn paged() -> watcher::Config {
    watcher::Config::default().page_size(PAGE)
}

fn api<K>(setting: &Setting, resource: &K::DynamicType, namespace: Option<&str>) -> Api<K>
where
    K: Resource<Scope = DynamicResourceScope>,
{
    match namespace {
        None => Api::all_with(setting.client.clone(), resource),
        Some(namespace) => Api::namespaced_with(setting.client.clone(), namespace, resource),
    }
}

/// Leaves of the conditions that one, without the time when it changed.
fn reduce_conditions(status: &mut Map<String, Value>) {
    let Some(Value::Array(mut conditions)) = status.remove("conditions") else {
        return;
    };
    conditions.retain(|condition| condition["type"] == CONDITION);
    conditions.iter_mut().for_each(|condition| {
        *condition = json!({"type": CONDITION, "status": condition["status"]})
    });
    if !conditions.is_empty() {
        status.insert("conditions".to_owned(), conditions.into());
    }
}

/// What is left of a field of which nothing else is kept says nothing.
fn drop_if_empty(object: &mut Value, path: FieldPath) {
    let Some((last, steps)) = path.split_last() else {
        return;
    };
    let parent = steps
        .iter()
        .try_fold(object, |value, step| value.get_mut(step))
        .and_then(Value::as_object_mut);
    if let Some(parent) = parent
        && parent
            .get(*last)
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty)
    {
        parent.remove(*last);
    }
}

#[cfg(test)]
mod tests {
    use kube::core::WatchEvent;

    use super::*;

    fn object(value: Value) -> CoreObject {
        serde_json::from_value(value).unwrap()
    }

    /// What is dropped is nothing that the contract lets a bootstrap provider read.
    #[test]
    fn only_what_is_read_is_kept() {
        let machine = object(json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
            "metadata": {
                "name": "m", "namespace": "n", "uid": "u", "resourceVersion": "7", "annotations": {"a": "b"}, "managedFields": [{"manager": "x"}],
                "labels": {"cluster.x-k8s.io/control-plane": "", "other": "x"},
            },
            "spec": {"clusterName": "c", "version": "v1.34.1", "providerID": "x", "bootstrap": {"dataSecretName": "d"}, "infrastructureRef": {"kind": "k"}},
            "status": {"nodeRef": {"name": "x"}, "conditions": [{"type": "Ready", "status": "True"}], "addresses": []},
        }));
        let kept = json!({
            "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Machine",
            "metadata": {
                "name": "m", "namespace": "n", "uid": "u", "resourceVersion": "7", "labels": {"cluster.x-k8s.io/control-plane": ""},
            },
            "spec": {"clusterName": "c", "version": "v1.34.1", "bootstrap": {"dataSecretName": "d"}, "infrastructureRef": {"kind": "k"}},
            "status": {"nodeRef": {"name": "x"}},
        });
        assert_eq!(machine.value(), kept);
        assert_eq!(
            (machine.name(), machine.uid(), machine.cluster()),
            (&("n".into(), "m".into()), Some("u"), Some(&"c".into()))
        );
        assert_eq!(machine.version(), "7");
    }

    #[test]
    fn changes_of_what_is_not_read_are_none() {
        let cluster = |ready: &str, initialized: &str| {
            let conditions = json!([
                {"type": "Available", "status": ready, "message": ready},
                {"type": "ControlPlaneInitialized", "status": initialized, "lastTransitionTime": ready},
            ]);
            let metadata = json!({"name": "c", "resourceVersion": ready});
            object(json!({"apiVersion": "a/b", "kind": "Cluster", "metadata": metadata, "status": {"conditions": conditions}})).content()
        };
        assert_eq!(cluster("True", "False"), cluster("False", "False"));
        assert_ne!(cluster("True", "False"), cluster("True", "True"));
        let with_status = |status: Value| {
            let cluster = json!({"apiVersion": "a/b", "kind": "Cluster", "metadata": {"name": "c"}, "status": status});
            object(cluster).value()["status"].take()
        };
        let [of_others, read] = [
            json!([{"type": "Available", "status": "True"}]),
            json!([{"type": "ControlPlaneInitialized", "status": "True"}]),
        ];
        assert_eq!(
            with_status(json!({"conditions": of_others, "v1beta2": {"conditions": of_others}})),
            Value::Null
        );
        for status in [
            json!({"conditions": read}),
            json!({"v1beta2": {"conditions": read}}),
        ] {
            assert_eq!(
                with_status(status.clone()),
                status,
                "either version of the core has it"
            );
        }
        let of_kind = |kind: &str, status: Value| {
            object(json!({"apiVersion": "a/b", "kind": kind, "metadata": {"name": "x"}, "status": status})).content()
        };
        for status in [
            json!({"initialization": {"infrastructureProvisioned": true}}),
            json!({"infrastructureReady": true}),
            json!({"v1beta2": {"conditions": read}}),
            json!({"conditions": read}),
        ] {
            assert_ne!(
                of_kind("Cluster", status.clone()),
                of_kind("Cluster", Value::Null),
                "{status}"
            );
            for kind in ["Machine", "MachinePool"] {
                let without =
                    object(json!({"apiVersion": "a/b", "kind": kind, "metadata": {"name": "x"}}))
                        .content();
                assert_eq!(
                    of_kind(kind, status.clone()),
                    without,
                    "how far the core has come with it: {status}"
                );
                assert_ne!(of_kind(kind, json!({"nodeRef": {"name": "x"}})), without);
            }
        }
    }

    /// The core writes into the status of each Machine over and over; what is not read of it makes
    /// nobody look.
    #[tokio::test]
    async fn objects_come_that_are_news_and_faults_of_the_watch() {
        let machine = |version: &str, node: &str| -> Read<OfCore> {
            let metadata = json!({"name": "m", "namespace": "n", "resourceVersion": version});
            let status = json!({"nodeRef": {"name": node}, "phase": version});
            serde_json::from_value(json!({"apiVersion": "a/b", "kind": "Machine", "metadata": metadata, "status": status})).unwrap()
        };
        let (writer, store) = Writer::new();
        let events = [
            Ok(Event::Init),
            Ok(Event::InitApply(machine("1", "x"))),
            Ok(Event::InitDone),
            Ok(Event::Apply(machine("2", "x"))),
            Err(watcher::Error::NoResourceVersion),
            Ok(Event::Apply(machine("3", "y"))),
            Ok(Event::Delete(machine("4", "y"))),
        ];
        let seen = news(futures::stream::iter(events), writer).map_ok(|object| {
            (
                object.version().to_owned(),
                store.get(object.name()).is_some(),
            )
        });
        let seen: Vec<_> = seen.map(|seen| seen.map_err(|_| ())).collect().await;
        let there = |version: &str| Ok((version.to_owned(), true));
        assert_eq!(
            seen,
            [there("1"), Err(()), there("3"), Ok(("4".to_owned(), false))]
        );
        assert!(store.get(&("n".into(), "m".into())).is_none());
    }

    /// The core writes who wrote what into each config, after it has made it and again later.
    #[test]
    fn who_wrote_what_is_no_part_of_a_config() {
        let config = |version: &str, labels: Value| -> Config {
            let metadata = json!({"name": "w", "resourceVersion": version, "labels": labels, "managedFields": [{"time": version}]});
            serde_json::from_value(json!({"kind": "WindlassConfig", "metadata": metadata})).unwrap()
        };
        let first = config("1", json!({"a": "b"}));
        assert_eq!(first.content(), config("2", json!({"a": "b"})).content());
        assert_ne!(first.content(), config("2", json!({"a": "c"})).content());
        let expected = json!({"name": "w", "resourceVersion": "1", "labels": {"a": "b"}});
        assert_eq!(first.value()["metadata"], expected);
    }

    /// As the API server sends them, and with the object before its type.
    #[test]
    fn events_of_watches_are_read() {
        let object = r#"{"apiVersion":"a/b","kind":"Machine","metadata":{"name":"m","resourceVersion":"7","managedFields":[{}]},"spec":{"version":"v"}}"#;
        for text in [
            format!(r#"{{"type":"ADDED","object":{object}}}"#),
            format!(r#"{{"object":{object},"type":"ADDED"}}"#),
        ] {
            let Ok(WatchEvent::Added(read)) =
                serde_json::from_str::<WatchEvent<Read<OfCore>>>(&text)
            else {
                panic!("{text}")
            };
            assert_eq!(
                read.meta().resource_version.as_deref(),
                Some("7"),
                "without it a watch begins anew with each event"
            );
            assert_eq!(*read.kept.name().1, *"m");
            assert_eq!(read.kept.value()["spec"], json!({"version": "v"}));
        }
        let bookmark = r#"{"type":"BOOKMARK","object":{"apiVersion":"a/b","kind":"Machine","metadata":{"resourceVersion":"8"}}}"#;
        let Ok(WatchEvent::Bookmark(read)) =
            serde_json::from_str::<WatchEvent<Read<OfCore>>>(bookmark)
        else {
            panic!("{bookmark}")
        };
        assert_eq!(read.metadata.resource_version, "8");
        let error = r#"{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}}"#;
        assert!(
            matches!(serde_json::from_str::<WatchEvent<Read<OfCore>>>(error), Ok(WatchEvent::Error(status)) if status.code == 410)
        );
    }
}
