//! Taints of machines that Cluster API's webhooks reject in Clusters and ClusterClasses:
//! `internal/api/core/v1beta2/taints` and `core/webhooks/admission` of v1.14. Taints require the
//! feature gate MachineTaintPropagation, which may be on, so their presence is only a warning.

use super::TAINTS_GATED;
use super::class::Class;
use super::cluster::Cluster;
use super::part::Part;
use super::rejected::{Rejected, invalid};
use windlass_capi::admission::core::taints::{GATE_OFF, key_faults};
use windlass_go_text::quote;
use windlass_source::diag::Diagnostic;

/// What is rejected of the taints in a class.
pub(super) fn of_class<'o>(class: &Class<'o>) -> Vec<Rejected<'o>> {
    let mut rejected = taints(&class.control_plane.part, "spec.controlPlane");
    for (list, workers) in [
        ("machineDeployments", &class.deployments),
        ("machinePools", &class.pools),
    ] {
        let fields = workers.iter().map(|worker| {
            (
                &worker.part,
                format!("spec.workers.{list}[{}]", worker.class),
            )
        });
        rejected.extend(fields.flat_map(|(part, field)| taints(part, &field)));
    }
    rejected
}

/// What is rejected of the taints in a topology.
pub(super) fn of_cluster<'o>(cluster: &Cluster<'o>) -> Vec<Rejected<'o>> {
    let mut rejected = taints(&cluster.control_plane, "spec.topology.controlPlane");
    for (list, workers) in [
        ("machineDeployments", &cluster.deployments),
        ("machinePools", &cluster.pools),
    ] {
        let fields = workers.iter().map(|worker| {
            (
                &worker.part,
                format!("spec.topology.workers.{list}[{}]", worker.name),
            )
        });
        rejected.extend(fields.flat_map(|(part, field)| taints(part, &field)));
    }
    rejected
}

/// That there are taints, which are rejected while the feature gate is off, as it is unless somebody
/// turns it on.
pub(super) fn gated<'p, 'o: 'p>(parts: impl Iterator<Item = &'p Part<'o>>) -> Option<Diagnostic> {
    let taints = parts
        .map(|part| part.field("taints"))
        .find(|taints| taints.items().next().is_some())?;
    let message = "Cluster API rejects taints of machines unless its feature gate MachineTaintPropagation is on";
    let help = "install Cluster API's core with `EXP_MACHINE_TAINT_PROPAGATION=true`, or remove the taints";
    Some(
        Diagnostic::of(&TAINTS_GATED, message)
            .at(taints.place())
            .upstream(GATE_OFF)
            .help(help),
    )
}

/// `field` is the name that the webhook has for the part.
fn taints<'o>(part: &Part<'o>, field: &str) -> Vec<Rejected<'o>> {
    let mut rejected = Vec::new();
    for (index, taint) in part.field("taints").items().enumerate() {
        let (key, field) = (taint.field("key"), format!("{field}.taints[{index}].key"));
        let details = key_faults(key.text());
        rejected.extend(
            details
                .iter()
                .map(|detail| invalid(&key, &field, &quote(key.text()), detail)),
        );
    }
    rejected
}
