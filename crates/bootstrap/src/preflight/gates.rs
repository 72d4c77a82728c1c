//! Feature gates of kubeadm (`InitFeatureGates` in `cmd/kubeadm/app/features`, each minor version
//! from v1.22.0 to v1.37.2): one that it does not know ends `kubeadm init`.

use super::Subject;
use windlass_objects::fields;
use windlass_source::diag::{Diagnostic, rules};
use windlass_source::nearest::nearest;

rules! {
    /// kubeadm of this Kubernetes version does not have the feature gate
    pub(crate) GATE_UNKNOWN = error("kubeadm-gate-unknown");
}

/// A gate, the first Kubernetes minor version 1 with it, and the first without it again.
const GATES: [(&str, u64, Option<u64>); 9] = [
    ("IPv6DualStack", 16, Some(24)),
    ("PublicKeysECDSA", 19, Some(37)),
    ("RootlessControlPlane", 22, None),
    ("UnversionedKubeletConfigMap", 23, Some(26)),
    ("EtcdLearnerMode", 27, Some(33)),
    ("UpgradeAddonsBeforeControlPlane", 28, Some(31)),
    ("WaitForAllControlPlaneComponents", 30, Some(35)),
    ("ControlPlaneKubeletLocalMode", 31, Some(36)),
    ("NodeLocalCRISocket", 32, Some(37)),
];

/// The versions whose gates are all known.
const KNOWN: std::ops::RangeInclusive<u64> = 22..=37;

/// The first Kubernetes minor version 1 whose kubeadm lost a gate.
pub fn lost_in(name: &str) -> Option<u64> {
    let (_, _, gone) = GATES.iter().find(|(known, ..)| *known == name)?;
    *gone
}

pub(super) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let Some(minor) = subject.minor() else {
        return Vec::new();
    };
    let steps = ["clusterConfiguration", "featureGates"];
    let gates = fields::field(subject.spec, &steps).and_then(serde_json::Value::as_object);
    let path = subject.spec_path.field(steps[0]).field(steps[1]);
    let unknown = gates
        .into_iter()
        .flat_map(|gates| gates.keys())
        .filter_map(|name| Some((name, missing(name, minor)?)));
    unknown
        .map(|(name, help)| {
            let path = path.field(name);
            let message = format!(
                "{path} is not a feature gate of kubeadm v1.{minor}, which ends with an error"
            );
            let finding =
                Diagnostic::of(&GATE_UNKNOWN, message).at(subject.config.key_place(&path));
            finding
                .help(help)
                .upstream(format!("{name} is not a valid feature name."))
        })
        .collect()
}

/// What to do about a gate that kubeadm does not have.
fn missing(name: &str, minor: u64) -> Option<String> {
    let is_there = |(_, first, gone): &&(&str, u64, Option<u64>)| {
        minor >= *first && gone.is_none_or(|gone| minor < gone)
    };
    match GATES.iter().find(|(known, ..)| *known == name) {
        Some(gate) if is_there(&gate) => None,
        Some((_, _, Some(gone))) if minor >= *gone => {
            Some(format!("remove it: kubeadm has none since v1.{gone}"))
        }
        Some((_, first, _)) => Some(format!("remove it, or use Kubernetes v1.{first} or newer")),
        None if !KNOWN.contains(&minor) => None,
        None => {
            let known = GATES.iter().filter(is_there).map(|(known, ..)| *known);
            Some(match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "give gates of Kubernetes to its components: `feature-gates` in `extraArgs` or `kubeletExtraArgs`".to_owned(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gates_are_those_of_the_version() {
        let check = |name: &str, minor: u64, is_known: bool| {
            assert_eq!(missing(name, minor).is_none(), is_known, "{name} 1.{minor}")
        };
        check("ControlPlaneKubeletLocalMode", 30, false);
        check("ControlPlaneKubeletLocalMode", 31, true);
        check("ControlPlaneKubeletLocalMode", 35, true);
        check("ControlPlaneKubeletLocalMode", 36, false);
        check("EtcdLearnerMode", 27, true);
        check("EtcdLearnerMode", 33, false);
        check("SidecarContainers", 30, false);
        check("NodeLocalCRISocket", 36, true);
        check("NodeLocalCRISocket", 37, false);
        check("PublicKeysECDSA", 36, true);
        check("PublicKeysECDSA", 37, false);
        // Nobody knows the gates of a version to come.
        check("SidecarContainers", 38, true);
        check("EtcdLearnerMode", 38, false);
    }
}
