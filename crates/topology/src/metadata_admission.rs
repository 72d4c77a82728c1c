//! Labels and annotations of machines that Cluster API's webhooks reject of Clusters and
//! ClusterClasses: `ObjectMeta.Validate` of `api/core/v1beta2` and `core/webhooks/admission` of
//! v1.14.

use super::class::Class;
use super::cluster::Cluster;
use super::part::Part;
use super::rejected::Rejected;
use windlass_schema::{validate_annotations, validate_labels};
use windlass_source::diag::FieldPath;

/// What is rejected of the metadata in a topology.
pub(super) fn of_cluster<'o>(cluster: &Cluster<'o>) -> Vec<Rejected<'o>> {
    let mut rejected = metadata(
        &cluster.control_plane.field("metadata"),
        "spec.topology.controlPlane.metadata",
    );
    for (list, workers) in [
        ("machineDeployments", &cluster.deployments),
        ("machinePools", &cluster.pools),
    ] {
        for worker in workers {
            let field = format!("spec.topology.workers.{list}[{}].metadata", worker.name);
            rejected.extend(metadata(&worker.part.field("metadata"), &field));
        }
    }
    rejected
}

/// What is rejected of the metadata in a class.
pub(super) fn of_class<'o>(class: &Class<'o>) -> Vec<Rejected<'o>> {
    let mut rejected = metadata(
        &class.control_plane.part.field("metadata"),
        "spec.controlPlane.metadata",
    );
    for (list, workers) in [
        ("machineDeployments", &class.deployments),
        ("machinePools", &class.pools),
    ] {
        for worker in workers {
            let field = format!("spec.workers.{list}[{}].template.metadata", worker.class);
            rejected.extend(metadata(
                &worker.part.either(&["metadata", "template.metadata"]),
                &field,
            ));
        }
    }
    rejected
}

/// `field` is the name that the webhook has for the part.
fn metadata<'o>(part: &Part<'o>, field: &str) -> Vec<Rejected<'o>> {
    let root = FieldPath::root();
    let mut rejected = Vec::new();
    for (kind, judge) in [
        ("labels", validate_labels as fn(&_, &_) -> _),
        ("annotations", validate_annotations),
    ] {
        let entries = part.field(kind);
        let violations = entries
            .value
            .as_object()
            .map(|entries| judge(entries, &root))
            .unwrap_or_default();
        let text =
            |violation: windlass_schema::Violation| format!("{field}.{kind}: {}", violation.body());
        rejected.extend(
            violations
                .into_iter()
                .map(|violation| Rejected::new(entries.clone(), text(violation))),
        );
    }
    rejected
}
