//! Where in a spec the two versions differ, and how to get there.

use serde_json::{Map, Value};

/// Argument lists of v1beta2 that are maps in v1beta1.
pub(super) const EXTRA_ARGS: [&str; 6] = [
    "clusterConfiguration.apiServer.extraArgs",
    "clusterConfiguration.controllerManager.extraArgs",
    "clusterConfiguration.scheduler.extraArgs",
    "clusterConfiguration.etcd.local.extraArgs",
    "initConfiguration.nodeRegistration.kubeletExtraArgs",
    "joinConfiguration.nodeRegistration.kubeletExtraArgs",
];

/// Booleans that v1beta1 cannot leave unset: `false` and absence mean the same there.
pub(super) const FALSE_IS_ABSENT: [&str; 8] = [
    "clusterConfiguration.apiServer.extraVolumes[].readOnly",
    "clusterConfiguration.controllerManager.extraVolumes[].readOnly",
    "clusterConfiguration.scheduler.extraVolumes[].readOnly",
    "joinConfiguration.discovery.bootstrapToken.unsafeSkipCAVerification",
    "joinConfiguration.discovery.file.kubeConfig.cluster.insecureSkipTLSVerify",
    "joinConfiguration.discovery.file.kubeConfig.user.exec.provideClusterInfo",
    "files[].append",
    "ignition.containerLinuxConfig.strict",
];

/// Fields of v1beta1 that v1beta2 does not have.
pub(super) const V1BETA1_ONLY: [&str; 10] = [
    "useExperimentalRetryJoin",
    "clusterConfiguration.apiVersion",
    "clusterConfiguration.kind",
    "clusterConfiguration.networking",
    "clusterConfiguration.kubernetesVersion",
    "clusterConfiguration.clusterName",
    "initConfiguration.apiVersion",
    "initConfiguration.kind",
    "joinConfiguration.apiVersion",
    "joinConfiguration.kind",
];

/// Calls `edit` with the object that holds the last step of a path, and that step; once for each
/// item of a list on the way (`name[]`).
pub(super) fn each_parent(
    value: &mut Value,
    path: &str,
    edit: &mut dyn FnMut(&mut Map<String, Value>, &str),
) {
    let Some((step, rest)) = path.split_once('.') else {
        if let Value::Object(parent) = value {
            edit(parent, path);
        }
        return;
    };
    match step.strip_suffix("[]") {
        Some(list) => {
            let items = value.get_mut(list).and_then(Value::as_array_mut);
            items
                .into_iter()
                .flatten()
                .for_each(|item| each_parent(item, rest, edit));
        }
        None => {
            if let Some(inner) = value.get_mut(step) {
                each_parent(inner, rest, edit);
            }
        }
    }
}

/// The object at a path of fields, made if it is not there; `None` when something else is in the
/// way.
pub(super) fn make_object<'a>(
    value: &'a mut Value,
    path: &[&str],
) -> Option<&'a mut Map<String, Value>> {
    let object = path.iter().try_fold(value, |value, step| {
        Some(
            value
                .as_object_mut()?
                .entry(*step)
                .or_insert_with(|| Value::Object(Map::new())),
        )
    })?;
    object.as_object_mut()
}

/// Drops `false` where it means the same as absence.
pub(super) fn drop_false(spec: &mut Value) {
    for path in FALSE_IS_ABSENT {
        each_parent(spec, path, &mut |parent, field| {
            if parent.get(field) == Some(&Value::Bool(false)) {
                parent.remove(field);
            }
        });
    }
}
