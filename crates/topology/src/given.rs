//! Where the value of a variable is written, as the patches of one part of a topology see it, and a
//! label of its machines.

use serde_json::Value;

use super::class::Class;
use super::cluster::Cluster;
use super::part::Part;
use super::plan::class_of;
use windlass_objects::{Object, Pool, Stand};
use windlass_source::diag::Place;

/// The source of a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenBy {
    /// The overrides of this part of the topology.
    Override,
    /// The variables of the topology.
    Topology,
    /// The default in the schema of the class.
    Default,
    /// Cluster API computes it: `builtin`.
    Computed,
    /// Nobody: the class defines it without a default.
    Nobody,
    /// Nobody: the class has no such variable.
    Undefined,
}

/// The value of a variable, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The source of the value.
    pub by: GivenBy,
    /// What is written there, without defaults of the schema below it. May be secret.
    pub value: Option<Value>,
    /// Location; without a value where the variable is defined, if it is.
    pub stand: Option<Stand>,
}

impl Given {
    fn at(by: GivenBy, part: &Part<'_>) -> Self {
        Given {
            by,
            value: Some(part.value.clone()),
            stand: Some(part.stand()),
        }
    }
}

/// Where a variable has its value for a part of a Cluster's topology (`controlPlane`, `md/NAME`,
/// `mp/NAME`): an override counts before the topology's own, and that before the default of the
/// class (`patches/variables` of Cluster API: `MergeVariableMaps`).
pub fn given(pool: &Pool, cluster: &Object, part_of: &str, variable: &str) -> Given {
    if variable == "builtin" {
        return Given {
            by: GivenBy::Computed,
            value: None,
            stand: None,
        };
    }
    let cluster_parts = Cluster::of(cluster, true);
    let class = class_of(pool, cluster).map(Class::of);
    let definition = class
        .iter()
        .flat_map(|class| &class.variables)
        .find(|definition| definition.name == variable);
    let Some(definition) = definition else {
        return Given {
            by: GivenBy::Undefined,
            value: None,
            stand: None,
        };
    };
    let overrides = part(&cluster_parts, part_of)
        .and_then(|part| written(&part.at("variables.overrides"), variable));
    if let Some(value) = overrides {
        return Given::at(GivenBy::Override, &value);
    }
    if let Some(value) = written(&cluster_parts.topology.field("variables"), variable) {
        return Given::at(GivenBy::Topology, &value);
    }
    let default = definition.part.at("schema.openAPIV3Schema.default");
    match default.is_there() {
        true => Given::at(GivenBy::Default, &default),
        false => Given {
            by: GivenBy::Nobody,
            value: None,
            stand: Some(definition.part.field("name").stand()),
        },
    }
}

/// The place of a label that a part of a Cluster's topology (`controlPlane`, `md/NAME`, `mp/NAME`)
/// gives its machines: that of the topology counts before that of the class
/// (`computeMachineDeployment` and `computeControlPlane` of Cluster API). `None` when neither has
/// it.
pub fn label_place(pool: &Pool, cluster: &Object, part_of: &str, key: &str) -> Option<Place> {
    let cluster_parts = Cluster::of(cluster, true);
    let class = class_of(pool, cluster).map(Class::of);
    let in_topology = part(&cluster_parts, part_of).map(|part| part.at("metadata.labels"));
    let of_class = class
        .as_ref()
        .and_then(|class| class_part(class, &cluster_parts, part_of));
    let in_class = of_class.map(|part| {
        part.either(&["metadata", "template.metadata"])
            .field("labels")
    });
    let labels = [in_topology, in_class]
        .into_iter()
        .flatten()
        .find(|labels| labels.value.get(key).is_some())?;
    Some(labels.object.key_place(&labels.path().key(key)))
}

/// The part of a class that a part of a topology is of.
fn class_part<'o>(class: &Class<'o>, cluster: &Cluster<'o>, part_of: &str) -> Option<Part<'o>> {
    let (workers, classes, name) = match part_of.split_once('/') {
        Some(("md", name)) => (&cluster.deployments, &class.deployments, name),
        Some(("mp", name)) => (&cluster.pools, &class.pools, name),
        _ => return (part_of == "controlPlane").then(|| class.control_plane.part.clone()),
    };
    let worker = workers.iter().find(|worker| worker.name == name)?;
    classes
        .iter()
        .find(|class| class.class == worker.class)
        .map(|class| class.part.clone())
}

/// The value of a variable in a list of values.
fn written<'o>(list: &Part<'o>, variable: &str) -> Option<Part<'o>> {
    list.items()
        .find(|item| item.field("name").text() == variable)
        .map(|item| item.field("value"))
}

/// The part of a topology of that name.
fn part<'o>(cluster: &Cluster<'o>, part_of: &str) -> Option<Part<'o>> {
    let (workers, name) = match part_of.split_once('/') {
        Some(("md", name)) => (&cluster.deployments, name),
        Some(("mp", name)) => (&cluster.pools, name),
        _ => return (part_of == "controlPlane").then(|| cluster.control_plane.clone()),
    };
    workers
        .iter()
        .find(|worker| worker.name == name)
        .map(|worker| worker.part.clone())
}
