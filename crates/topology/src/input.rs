//! What the steps of a plan work with, and what they pass on.

use serde_json::Value;

use super::blueprint::Blueprint;
use super::class::Class;
use super::cluster::{Cluster, Worker};
use super::made::{DEPLOYMENT_NAME, POOL_NAME};
use windlass_objects::Object;
use windlass_source::budget::Budget;

pub(super) struct Input<'t> {
    pub(super) cluster: &'t Cluster<'t>,
    pub(super) class: &'t Class<'t>,
    pub(super) blueprint: &'t Blueprint<'t>,
    pub(super) budget: &'t Budget,
}

/// A MachineDeployment or MachinePool with what it refers to.
pub(super) struct Machines<'t> {
    pub(super) worker: &'t Worker<'t>,
    pub(super) is_pool: bool,
    pub(super) templates: (&'t Object, &'t Object),
    pub(super) object: Value,
    pub(super) bootstrap: Value,
    pub(super) infrastructure: Value,
    /// The MachineHealthCheck, if there is one.
    pub(super) check: Option<Value>,
}

/// The timeouts of nodes: as core v1beta2 and as old contracts call them.
pub(super) const TIMEOUTS: [(&str, &str); 3] = [
    ("nodeDrainTimeoutSeconds", "nodeDrainTimeout"),
    ("nodeVolumeDetachTimeoutSeconds", "nodeVolumeDetachTimeout"),
    ("nodeDeletionTimeoutSeconds", "nodeDeletionTimeout"),
];

/// The label that names a MachineDeployment or MachinePool in its topology.
pub(super) fn name_label(is_pool: bool) -> &'static str {
    if is_pool { POOL_NAME } else { DEPLOYMENT_NAME }
}
