//! Arguments of a config that a Kubernetes version no longer takes, whatever version the config
//! is for.

use serde_json::Value;

use super::arguments::{Argument, Component, arguments, is_filled_in_later};
use super::component_flags::{loss, rejection};
use super::etcd;
use windlass_objects::fields;
use windlass_source::diag::FieldPath;

/// A flag that a component loses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostFlag {
    /// The name of the flag, without `--`.
    pub flag: String,
    /// The program: `kubelet`.
    pub component: &'static str,
    /// The first Kubernetes minor version 1 without the flag.
    pub since: u64,
    /// The help: the flag to write instead, or to remove this one.
    pub help: String,
    /// The message with which the component exits.
    pub upstream: String,
    /// The field with the name.
    pub path: FieldPath,
    /// Whether the name is the key of the field, as in a map of v1beta1.
    pub is_key: bool,
}

/// The flags in a spec that its components lose, in their order.
pub fn flags(spec: &Value, spec_path: &FieldPath) -> Vec<LostFlag> {
    let has_own_etcd =
        !fields::text(spec, &["clusterConfiguration", "etcd", "local", "imageTag"]).is_empty();
    arguments(spec, spec_path)
        .iter()
        .filter(|argument| !is_filled_in_later(argument.name))
        // Which etcd runs says the tag of its image then.
        .filter(|argument| argument.component != Component::Etcd || !has_own_etcd)
        .filter_map(lost)
        .collect()
}

fn lost(argument: &Argument<'_>) -> Option<LostFlag> {
    let (component, flag) = (argument.component, argument.flag());
    let (since, help) = loss(component, &flag)?;
    Some(LostFlag {
        component: component.as_str(),
        since: in_kubernetes(component, since)?,
        help,
        upstream: rejection(component, &flag),
        path: argument.path.clone(),
        is_key: argument.path == argument.value_path,
        flag,
    })
}

/// The Kubernetes minor version with which that of a component comes.
fn in_kubernetes(component: Component, minor: u64) -> Option<u64> {
    if component == Component::Etcd {
        etcd::comes_with(minor)
    } else {
        Some(minor)
    }
}

/// The first Kubernetes minor version 1 whose kubelet lost a flag, and what to do.
pub fn of_kubelet(flag: &str) -> Option<(u64, String)> {
    loss(Component::Kubelet, flag)
}

/// The values of `feature-gates` in a spec: the component, the value and the field with it.
pub fn component_gates<'a>(
    spec: &'a Value,
    spec_path: &FieldPath,
) -> Vec<(&'static str, &'a str, FieldPath)> {
    arguments(spec, spec_path)
        .into_iter()
        // etcd has gates of its own.
        .filter(|argument| argument.component != Component::Etcd)
        .filter(|argument| argument.flag() == "feature-gates")
        .map(|argument| {
            (
                argument.component.as_str(),
                argument.value,
                argument.value_path,
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `cmd/kubelet/app/options` of v1.35 and v1.37; `server/etcdmain` of v3.6, which kubeadm v1.34
    /// runs.
    #[test]
    fn flags_are_lost_with_a_version_of_kubernetes() {
        let spec = json!({
            "clusterConfiguration": {
                "apiServer": {"extraArgs": {"cloud-provider": "external", "profiling": "false"}},
                "etcd": {"local": {"extraArgs": [{"name": "enable-v2", "value": "true"}]}},
            },
            "joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": [
                {"name": "pod-infra-container-image", "value": "x"},
                {"name": "containerd", "value": "x"},
                {"name": "node-ip", "value": "x"},
            ]}},
        });
        let lost: Vec<_> = flags(&spec, &FieldPath::root().field("spec"))
            .into_iter()
            .map(|lost| (lost.component, lost.flag, lost.since, lost.is_key))
            .collect();
        let expected = [
            ("kube-apiserver", "cloud-provider", 33, true),
            ("etcd", "enable-v2", 34, false),
            ("kubelet", "pod-infra-container-image", 35, false),
            ("kubelet", "containerd", 37, false),
        ];
        assert_eq!(
            lost,
            expected.map(|(component, flag, since, is_key)| (
                component,
                flag.to_owned(),
                since,
                is_key
            ))
        );
        let mut tagged = spec.clone();
        tagged["clusterConfiguration"]["etcd"]["local"]["imageTag"] = json!("3.5.24-0");
        let of_etcd = flags(&tagged, &FieldPath::root())
            .iter()
            .any(|lost| lost.component == "etcd");
        assert!(!of_etcd);
    }
}
