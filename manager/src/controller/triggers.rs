//! Whose config is looked at when something of the core changes: that of the Machine or
//! MachinePool, those of all machines of a Cluster, and those that waited for a Machine of the
//! control plane that is gone.

use std::sync::Arc;

use futures::channel::mpsc;
use futures::{Stream, StreamExt};
use serde_json::Value;
use windlass_capi::contract::labels;

use super::Setting;
use super::caches::{Caches, CoreObject, Watches};
use super::echoes::Echoes;
use super::workload::{Name, Workloads};
use crate::election::Mandate;
use crate::flags::ConfigKind;

/// The configs that are to be looked at.
pub(super) type Triggers = mpsc::UnboundedReceiver<Name>;

/// Who looks at the configs of a kind.
pub(super) struct Part {
    pub(super) kind: ConfigKind,
    /// While it does not hold, nobody looks; who begins looks at all.
    pub(super) mandate: Mandate,
    /// Of this namespace; of all when `None`.
    pub(super) namespace: Option<String>,
    /// Where it is noted that more has changed than what was written here.
    pub(super) echoes: Arc<Echoes>,
    pub(super) sender: mpsc::UnboundedSender<Name>,
}

pub(super) enum Change {
    Cluster(Arc<CoreObject>),
    Machine(Arc<CoreObject>),
}

/// Polls the watches, and tells each part which of its configs to look at.
pub(super) fn spread(
    setting: &Setting,
    caches: &Arc<Caches>,
    workloads: &Arc<Workloads>,
    watches: Watches,
    parts: Vec<Part>,
) {
    let (caches, workloads, shutdown) =
        (caches.clone(), workloads.clone(), setting.shutdown.clone());
    let mut changes = changes(watches).boxed();
    tokio::spawn(async move {
        loop {
            let change = tokio::select! {
                () = shutdown.begun() => return,
                change = changes.next() => change,
            };
            let Some(change) = change else { return };
            told(&change, &caches, &workloads, &parts);
        }
    });
}

/// Tells each part which of its configs a change is for; a Cluster that is gone needs no client any
/// more.
pub(super) fn told(change: &Change, caches: &Caches, workloads: &Workloads, parts: &[Part]) {
    if let Change::Cluster(cluster) = change
        && caches.get("Cluster", cluster.name()).is_none()
    {
        workloads.forget(cluster.name());
    }
    for Part {
        kind,
        namespace,
        echoes,
        sender,
        ..
    } in parts.iter().filter(|part| part.mandate.holds())
    {
        let all = configs(*kind, caches, change).into_iter();
        let is_meant = |config: &Name| namespace.as_ref().is_none_or(|own| **own == *config.0);
        for config in all.filter(is_meant) {
            echoes.tell(&config);
            // A part that has ended looks at nothing any more.
            drop(sender.unbounded_send(config));
        }
    }
}

fn changes(watches: Watches) -> impl Stream<Item = Change> {
    let Watches {
        clusters,
        machines,
        machine_pools,
    } = watches;
    let logged = |what: &'static str,
                  result: Result<Arc<CoreObject>, kube::runtime::watcher::Error>| async move {
        result.map_err(|cause| tracing::warn!(err = %cause, kind = what, "A watch failed and begins again")).ok()
    };
    let clusters = clusters
        .filter_map(move |result| logged("Cluster", result))
        .map(Change::Cluster);
    let machines = machines
        .filter_map(move |result| logged("Machine", result))
        .map(Change::Machine);
    let machine_pools = machine_pools
        .filter_map(move |result| logged("MachinePool", result))
        .map(Change::Machine);
    futures::stream::select(clusters, futures::stream::select(machines, machine_pools))
}

fn configs(kind: ConfigKind, caches: &Caches, change: &Change) -> Vec<Name> {
    match change {
        Change::Machine(machine) => {
            let others = match (caches.get("Machine", machine.name()), machine.cluster()) {
                (None, Some(cluster)) if is_of_control_plane(machine) => {
                    waiting(caches.machines_of(machine.namespace(), cluster))
                }
                _ => Vec::new(),
            };
            others
                .iter()
                .chain([machine])
                .filter_map(|machine| config(kind, machine))
                .collect()
        }
        Change::Cluster(cluster) => {
            let (namespace, name) = cluster.name();
            let machines = caches.machines_of(namespace, name);
            machines
                .iter()
                .filter_map(|machine| config(kind, machine))
                .collect()
        }
    }
}

/// Of the machines of a cluster those that may have waited for the lock of one that is gone.
fn waiting(machines: Vec<Arc<CoreObject>>) -> Vec<Arc<CoreObject>> {
    machines
        .into_iter()
        .filter(|machine| is_of_control_plane(machine))
        .collect()
}

fn is_of_control_plane(machine: &CoreObject) -> bool {
    machine.value()["metadata"]["labels"]
        .get(labels::CONTROL_PLANE)
        .is_some()
}

/// The config of a Machine or MachinePool, if it is of that kind; the reference names the group in
/// v1beta2 and the version in v1beta1.
fn config(kind: ConfigKind, machine: &CoreObject) -> Option<Name> {
    let object = machine.value();
    let reference = object
        .pointer("/spec/bootstrap/configRef")
        .or_else(|| object.pointer("/spec/template/spec/bootstrap/configRef"))?;
    let text = |field: &str| reference.get(field).and_then(Value::as_str);
    let group =
        text("apiGroup").or_else(|| text("apiVersion")?.split_once('/').map(|(group, _)| group))?;
    if group != kind.group() || text("kind") != Some(kind.as_str()) {
        return None;
    }
    Some((machine.name().0.clone(), text("name")?.into()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn machines_lead_to_their_config() {
        let machine = |reference: Value| -> CoreObject {
            serde_json::from_value(json!({
                "apiVersion": "x/y", "kind": "Machine", "metadata": {"name": "m", "namespace": "n"},
                "spec": {"bootstrap": {"configRef": reference}},
            }))
            .unwrap()
        };
        let found_of = |kind, reference: Value| config(kind, &machine(reference));
        let found = |reference: Value| found_of(ConfigKind::Windlass, reference);
        let expected = Some(("n".into(), "w".into()));
        assert_eq!(
            found(
                json!({"apiGroup": "bootstrap.windlass.dev", "kind": "WindlassConfig", "name": "w"})
            ),
            expected
        );
        assert_eq!(
            found(
                json!({"apiVersion": "bootstrap.windlass.dev/v1beta1", "kind": "WindlassConfig", "name": "w"})
            ),
            expected
        );
        let of_kubeadm =
            json!({"apiGroup": "bootstrap.cluster.x-k8s.io", "kind": "KubeadmConfig", "name": "w"});
        assert_eq!(found(of_kubeadm.clone()), None);
        assert_eq!(found_of(ConfigKind::Kubeadm, of_kubeadm), expected);
        assert_eq!(
            found_of(
                ConfigKind::Kubeadm,
                json!({"apiGroup": "bootstrap.windlass.dev", "kind": "WindlassConfig", "name": "w"})
            ),
            None
        );
        assert_eq!(
            found(json!({"apiGroup": "bootstrap.windlass.dev", "kind": "Other", "name": "w"})),
            None
        );
        let reference =
            json!({"apiGroup": "bootstrap.windlass.dev", "kind": "WindlassConfig", "name": "w"});
        let pool = json!({"metadata": {"name": "m", "namespace": "n"}, "spec": {"template": {"spec": {"bootstrap": {"configRef": reference}}}}});
        let pool: CoreObject = serde_json::from_value(pool).unwrap();
        assert!(
            config(ConfigKind::Windlass, &pool).is_some(),
            "that of a MachinePool stands deeper"
        );
    }
}
