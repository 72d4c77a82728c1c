//! What a patch sees while it is rendered: variables and `builtin`, as `patches/variables` of
//! Cluster API computes them.

use std::cell::OnceCell;

use serde_json::{Map, Value, json};

use super::cluster::{Cluster, Values};
use windlass_go_text::value::Value as GoValue;
use windlass_objects::fields;

/// Annotations that `builtin` leaves out.
const LEFT_OUT: [&str; 2] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "cluster.x-k8s.io/conversion-data",
];

/// The variables of a Cluster by their names: as patches take them, and, once a template asks, as
/// templates see them.
#[derive(Debug)]
pub(super) struct Layer<'v> {
    values: &'v Values,
    shown: OnceCell<Vec<(String, GoValue)>>,
}

impl<'v> Layer<'v> {
    pub(super) fn of(values: &'v Values) -> Self {
        Layer {
            values,
            shown: OnceCell::new(),
        }
    }

    fn shown(&self) -> &[(String, GoValue)] {
        self.shown.get_or_init(|| shown(self.values))
    }
}

fn shown(values: &Values) -> Vec<(String, GoValue)> {
    values
        .iter()
        .map(|(name, value)| (name.clone(), GoValue::of_json(value)))
        .collect()
}

/// The variables that hold for one template: those of the Cluster, which all share, and over them
/// its own.
#[derive(Debug)]
pub(super) struct Scope<'v> {
    shared: &'v Layer<'v>,
    own: Values,
    data: OnceCell<GoValue>,
}

impl<'v> Scope<'v> {
    /// The values of the Cluster, with the overrides of a topology over them, and `builtin` of
    /// both.
    pub(super) fn new(
        shared: &'v Layer<'v>,
        overrides: &Values,
        cluster: &Value,
        own: Option<(&str, Value)>,
    ) -> Self {
        let mut builtin = Map::from_iter([("cluster".to_owned(), cluster.clone())]);
        builtin.extend(own.map(|(key, value)| (key.to_owned(), value)));
        let mut own = overrides.clone();
        own.insert("builtin".to_owned(), Value::Object(builtin));
        Scope {
            shared,
            own,
            data: OnceCell::new(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.own.get(name).or_else(|| self.shared.values.get(name))
    }

    /// The names of all variables, the shared ones first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.shared
            .values
            .keys()
            .chain(self.own.keys())
            .map(String::as_str)
    }

    /// How many variables there are, those with an override twice.
    pub(super) fn len(&self) -> usize {
        self.shared.values.len() + self.own.len()
    }

    /// What templates see.
    pub(super) fn data(&self) -> &GoValue {
        self.data.get_or_init(|| {
            GoValue::map(self.shared.shown().iter().cloned().chain(shown(&self.own)))
        })
    }
}

/// Without what is empty, as `omitempty` leaves it out.
fn filled<const N: usize>(entries: [(&str, Value); N]) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    };
    entries
        .into_iter()
        .filter(|(_, value)| !is_empty(value))
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// Labels and annotations of an object.
fn metadata(object: &Value) -> Value {
    let texts = |name: &str| fields::metadata_texts(object, name).unwrap_or_default();
    let mut annotations = texts("annotations");
    annotations.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
    filled([
        ("labels", Value::Object(texts("labels"))),
        ("annotations", Value::Object(annotations)),
    ])
}

/// `builtin.cluster`; `desired` is the Cluster with the labels that the topology controller adds.
pub(super) fn of_cluster(cluster: &Cluster<'_>, desired: &Value) -> Value {
    let (name, namespace) = (cluster.class.text(), cluster.class_namespace());
    let network = |path: &[&str]| {
        fields::field(desired, &[&["spec", "clusterNetwork"], path].concat())
            .cloned()
            .unwrap_or_default()
    };
    filled([
        ("name", cluster.name().into()),
        ("namespace", cluster.namespace().into()),
        ("metadata", metadata(desired)),
        (
            "topology",
            json!({
                "version": cluster.version, "class": name, "classNamespace": namespace,
                "classRef": {"name": name, "namespace": namespace},
            }),
        ),
        (
            "network",
            filled([
                ("serviceDomain", network(&["serviceDomain"])),
                ("services", network(&["services", "cidrBlocks"])),
                ("pods", network(&["pods", "cidrBlocks"])),
            ]),
        ),
    ])
}

/// `builtin.controlPlane`
pub(super) fn of_control_plane(
    cluster: &Cluster<'_>,
    object: &Value,
    machine: Option<&Value>,
) -> Value {
    let has_replicas = cluster.control_plane.field("replicas").is_there();
    filled([
        ("version", cluster.version.as_str().into()),
        ("metadata", metadata(object)),
        ("name", fields::name(object).into()),
        (
            "replicas",
            if has_replicas {
                object["spec"]["replicas"].clone()
            } else {
                Value::Null
            },
        ),
        (
            "machineTemplate",
            machine.map_or(
                Value::Null,
                |machine| json!({"infrastructureRef": {"name": fields::name(machine)}}),
            ),
        ),
    ])
}

/// `builtin.machineDeployment`, `builtin.machinePool`
pub(super) fn of_worker(
    cluster: &Cluster<'_>,
    class: &str,
    topology: &str,
    object: &Value,
    bootstrap: &Value,
    machine: &Value,
) -> Value {
    filled([
        ("version", cluster.version.as_str().into()),
        ("metadata", metadata(object)),
        ("class", class.into()),
        ("name", fields::name(object).into()),
        ("topologyName", topology.into()),
        ("replicas", object["spec"]["replicas"].clone()),
        (
            "bootstrap",
            json!({"configRef": {"name": fields::name(bootstrap)}}),
        ),
        ("infrastructureRef", json!({"name": fields::name(machine)})),
    ])
}
