//! kubeadm joins only what has its own minor version (Kubernetes: "Creating a cluster with
//! kubeadm", "kubeadm's skew against kubeadm"). For the kubeadm provider's configs the core's
//! MachineSets look at that before they make a machine; for all others the provider has to
//! (checklist OP-33).

use super::outcome::{Observed, Outcome, reason};
use super::pass::{Pass, Walk, end};
use super::subject::Subject;
use super::world::Key;
use windlass_bootstrap::render::input::cluster::ClusterFacts;
use windlass_capi::contract::{labels, parse_tolerant};

/// The control plane that kubeadm makes; others have versions of their own.
const KUBEADM_CONTROL_PLANE: (&str, &str) =
    ("controlplane.cluster.x-k8s.io", "KubeadmControlPlane");

/// The check in the words of the core's annotation.
const CHECKS: [&str; 2] = ["KubeadmVersionSkew", "All"];

/// When a machine looks again that has a different version than its control plane, in seconds:
/// control planes are not watched.
const SKEW_AGAIN: i64 = 30;

impl Pass<'_> {
    /// Ends the pass while a worker has another minor version than its control plane. One that is
    /// not there yet, or has no version that can be read, holds nobody back, as in the core.
    pub(super) fn wait_for_version(&self, subject: Subject<'_>, facts: &ClusterFacts) -> Walk<()> {
        let Subject {
            config,
            owner,
            cluster,
        } = subject;
        if self.is_kubeadm() {
            return Ok(());
        }
        let skipped = config.text(&["metadata", "annotations", labels::SKIP_PREFLIGHT_CHECKS]);
        if owner.is_control_plane_machine()
            || skipped
                .split(',')
                .any(|check| CHECKS.contains(&check.trim()))
        {
            return Ok(());
        }
        let (group, kind) = KUBEADM_CONTROL_PLANE;
        let reference = facts.control_plane.as_ref().filter(|reference| {
            (reference.group.as_str(), reference.kind.as_str()) == (group, kind)
        });
        let Some(reference) = reference else {
            return Ok(());
        };
        let Some(control_plane) =
            self.look(&Key::of(group, kind, cluster.namespace(), &reference.name))?
        else {
            return Ok(());
        };
        let (of_machine, of_control_plane) = (
            owner.kubernetes_version(),
            control_plane.text(&["spec", "version"]),
        );
        let (Ok(machine), Ok(plane)) = (
            parse_tolerant(&of_machine),
            parse_tolerant(of_control_plane),
        ) else {
            return Ok(());
        };
        if machine.minor == plane.minor {
            return Ok(());
        }
        let message = format!(
            "{} {} has version {of_machine} and {kind} {} {of_control_plane}: kubeadm joins the minor version of its control plane only; give both the \
             same, or set the annotation {}: {} on this {}",
            owner.object.kind(),
            owner.object.name(),
            reference.name,
            labels::SKIP_PREFLIGHT_CHECKS,
            CHECKS[0],
            config.kind(),
        );
        let outcome =
            Outcome::without_data(Observed::waiting(reason::WAITING_FOR_VERSION, message));
        end(Outcome {
            again: Some(SKEW_AGAIN),
            ..outcome
        })
    }
}
