//! The lock for `kubeadm init`: one machine of a cluster is given init data (checklist BC-60). Name
//! and content are those of the kubeadm bootstrap provider (`bootstrap/kubeadm/pkg/locking` of
//! Cluster API), so that both in one cluster still run one init.

use serde_json::{Value, json};

use super::pass::{Pass, Walk};
use super::step::Action;
use super::subject::cluster_reference;
use super::world::Key;
use windlass_capi::contract::{CORE_GROUP, labels};
use windlass_objects::Object;

const INFORMATION: &str = "lock-information";

/// Bytes of the longest name of an object (DNS subdomain of RFC 1123).
const LONGEST_NAME: usize = 253;

/// Who holds the lock of a cluster.
enum Holder<'a> {
    Nobody,
    /// The machine that asks.
    Us(&'a Object),
    Machine(&'a Object, String),
    /// Somebody; the lock does not say who.
    Somebody,
    /// Somebody of an earlier Cluster of that name: the lock goes with it.
    Earlier,
}

fn key(namespace: &str, cluster: &str) -> Key {
    Key::core("ConfigMap", namespace, &format!("{cluster}-lock"))
}

impl<'a> Pass<'a> {
    fn lock_holder(&self, cluster: &Object, machine: &str) -> Walk<Holder<'a>> {
        let Some(lock) = self.look(&key(cluster.namespace(), cluster.name()))? else {
            return Ok(Holder::Nobody);
        };
        if is_of_another(lock, cluster) {
            return Ok(Holder::Earlier);
        }
        let holder =
            serde_json::from_str::<Value>(lock.text(&["data", INFORMATION])).unwrap_or_default();
        Ok(
            match holder["machineName"]
                .as_str()
                .filter(|name| (1..=LONGEST_NAME).contains(&name.len()))
            {
                Some(name) if name == machine => Holder::Us(lock),
                Some(name) => Holder::Machine(lock, name.to_owned()),
                None => Holder::Somebody,
            },
        )
    }

    /// Who else holds the lock, in words for people. A machine that is gone holds it no longer;
    /// nobody takes a lock away that does not say whose it is.
    pub(super) fn other_holder(&self, cluster: &Object, machine: &str) -> Walk<Option<String>> {
        let key = key(cluster.namespace(), cluster.name());
        let (lock, name) = match self.lock_holder(cluster, machine)? {
            Holder::Us(_) | Holder::Nobody => return Ok(None),
            Holder::Somebody => {
                return Ok(Some(format!(
                    "{key} names no Machine in `{INFORMATION}`; delete it if no machine runs `kubeadm init`"
                )));
            }
            Holder::Earlier => {
                return Ok(Some(format!(
                    "{key} is of an earlier Cluster of that name; delete it if it does not go by itself"
                )));
            }
            Holder::Machine(lock, name) => (lock, name),
        };
        let holder = Key::of(CORE_GROUP, "Machine", cluster.namespace(), &name);
        if self.look(&holder)?.is_some() {
            return Ok(Some(format!("Machine {name} initializes it")));
        }
        // A cache that lags behind does not have it yet.
        self.confirm(holder)?;
        self.delete(key, lock)
    }

    /// Takes the lock, which no other machine holds. One that is ours from an earlier pass is made
    /// anew, unless the machine was told to init under it: the request with which a controller
    /// that was ended gave it back may be on the way still, and names the object that was there
    /// then.
    pub(super) fn take_lock(&self, cluster: &Object, machine: &str, is_told: bool) -> Walk<()> {
        let key = key(cluster.namespace(), cluster.name());
        match self.lock_holder(cluster, machine)? {
            Holder::Us(_) if is_told || self.world.is_confirmed(&key) => Ok(()),
            Holder::Us(lock) => {
                // The cached Machine may not say yet that it was given its data, after a move.
                self.confirm(Key::of(CORE_GROUP, "Machine", cluster.namespace(), machine))?;
                self.delete(key, lock)
            }
            Holder::Nobody | Holder::Machine(..) | Holder::Somebody | Holder::Earlier => {
                self.write(key, Action::Create(lock(cluster, machine)))
            }
        }
    }

    /// Gives the lock back, if it is ours.
    pub(super) fn release_lock(&self, cluster: &Object, machine: &str) -> Walk<()> {
        match self.lock_holder(cluster, machine)? {
            Holder::Us(lock) => self.delete(key(cluster.namespace(), cluster.name()), lock),
            Holder::Nobody | Holder::Machine(..) | Holder::Somebody | Holder::Earlier => Ok(()),
        }
    }

    /// Gives back the lock of a machine that took it, and saw only then that its cluster has begun.
    /// One that was not looked at was not taken.
    pub(super) fn release_needless_lock(&self, cluster: &Object, machine: &str) -> Walk<()> {
        let was_looked_at = self
            .world
            .seen(&key(cluster.namespace(), cluster.name()))
            .is_some();
        if was_looked_at {
            self.release_lock(cluster, machine)
        } else {
            Ok(())
        }
    }
}

/// Whether a lock belongs to another Cluster than this one, which has its name. One that belongs to
/// nobody may be of any.
fn is_of_another(lock: &Object, cluster: &Object) -> bool {
    let owners = lock.items(&["metadata", "ownerReferences"]).iter();
    let mut uids = owners
        .filter(|owner| owner["kind"] == "Cluster")
        .filter_map(|owner| owner["uid"].as_str())
        .peekable();
    let own = cluster.text(&["metadata", "uid"]);
    uids.peek().is_some() && uids.all(|uid| uid != own)
}

/// The lock as the kubeadm bootstrap provider writes it.
fn lock(cluster: &Object, machine: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": format!("{}-lock", cluster.name()),
            "namespace": cluster.namespace(),
            "labels": {labels::CLUSTER_NAME: cluster.name()},
            "ownerReferences": [cluster_reference(cluster)],
        },
        "data": {INFORMATION: json!({"machineName": machine}).to_string()},
    })
}
