//! The manager is killed before and after each write of the bring-up of a cluster.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::site::{Site, Ways};
use super::{history, sized};
use crate::harness::control_plane::ControlPlane;
use crate::harness::fault_proxy::{Asked, Fate, FaultProxy, NoFault, Plan};
use crate::harness::runner::Context;
use crate::harness::{audit, installation};
use crate::scenarios::manager::parity;
use crate::scenarios::manager::uncontrolled::{ConfigKind, KUBEADM_CONFIG, WINDLASS_CONFIG};

const LONG: Duration = Duration::from_secs(60);

/// Stops everything at a write.
pub(super) struct StopAt {
    pub(super) write: usize,
    pub(super) fate: Fate,
}

impl Plan for StopAt {
    fn request(&mut self, asked: &Asked) -> Fate {
        if asked.write == Some(self.write) {
            self.fate
        } else {
            Fate::Pass
        }
    }
}

/// A cluster of two control plane machines and workers comes up, and the manager is killed
/// (SIGKILL) before the n-th of its writes is done, and once more after it, for each n there is.
/// The next manager makes the same objects as one that nobody disturbs; history and data are sound.
pub(crate) fn kills_at_every_write(context: &Context) {
    kill_at_every_write(context, WINDLASS_CONFIG, [2, sized(1, 3)]);
}

/// The same with KubeadmConfigs, for which the manager holds a second Lease.
pub(crate) fn kills_at_every_write_for_kubeadm_configs(context: &Context) {
    installation::kubeadm_kinds(&context.kinds());
    kill_at_every_write(context, KUBEADM_CONFIG, [sized(1, 2), sized(1, 3)]);
}

fn kill_at_every_write(context: &Context, kind: ConfigKind, machines: [usize; 2]) {
    let plane = context.kinds();
    let proxy = plane.fault_proxy();
    let ways = Ways::by(&plane, &proxy.url);
    let setting = Setting {
        plane: &plane,
        proxy: &proxy,
        ways: &ways,
        kind,
        machines,
    };
    let undisturbed = setting.bring_up(&format!("undisturbed-{}", kind.resource), None);
    println!("  {} writes", undisturbed.writes);
    let mut kills = 0;
    for write in 1.. {
        let mut is_reached = false;
        for fate in [Fate::StopBefore, Fate::StopAfter] {
            let name = format!(
                "{}-kill-{write}-{}",
                kind.resource,
                if fate == Fate::StopBefore {
                    "before"
                } else {
                    "after"
                }
            );
            let ended = setting.bring_up(&name, Some(StopAt { write, fate }));
            assert_eq!(ended.objects, undisturbed.objects, "{name}");
            is_reached |= ended.is_killed;
            kills += usize::from(ended.is_killed);
        }
        if !is_reached {
            break;
        }
    }
    println!("  killed {kills} times");
    assert!(
        kills >= 2 * (undisturbed.writes - 2),
        "{kills} kills at {} writes",
        undisturbed.writes
    );
    let name = format!("{}-kill-1-after", kind.resource);
    parity::assert_data_of_kind_is_rendered(
        kind,
        &plane,
        context.folder(),
        &name,
        machines.iter().sum(),
    );
}

struct Setting<'a> {
    plane: &'a ControlPlane,
    proxy: &'a FaultProxy,
    ways: &'a Ways,
    kind: ConfigKind,
    /// Of the control plane, and workers.
    machines: [usize; 2],
}

/// What a bring-up came to.
struct Ended {
    objects: BTreeMap<String, Value>,
    writes: usize,
    is_killed: bool,
}

impl Setting<'_> {
    /// Brings a cluster up, and kills the manager where the plan stops it.
    fn bring_up(&self, name: &str, plan: Option<StopAt>) -> Ended {
        let since = audit::mark(self.plane);
        let site = Site::begin_with(self.kind, self.plane, self.ways, name, self.machines);
        let stopped = match plan {
            Some(plan) => self.proxy.follow(plan),
            None => self.proxy.follow(NoFault),
        };
        let mut manager = site.manager(self.ways, &[]);
        let mut is_killed = false;
        let deadline = Instant::now() + LONG;
        loop {
            if stopped.recv_timeout(Duration::from_millis(20)).is_ok() {
                manager.kill();
                is_killed = true;
                self.proxy.follow(NoFault);
                manager = site.manager(self.ways, &[]);
            }
            manager.assert_running();
            site.play();
            match site.done() {
                Ok(()) => break,
                Err(missing) => assert!(
                    Instant::now() < deadline,
                    "{name}: {missing}; {}",
                    manager.last_words()
                ),
            }
        }
        let writes = self.proxy.writes();
        manager.stop();
        // Of a KubeadmConfig the token is first in the cluster and then in the spec: of each that
        // was worked on when the manager was killed one may be left, which expires.
        let left = if is_killed && self.kind == KUBEADM_CONFIG {
            site.count() - 1
        } else {
            0
        };
        history::assert_sound_but(&site, since, left);
        let objects = site.objects();
        site.leave();
        Ended {
            objects,
            writes,
            is_killed,
        }
    }
}
