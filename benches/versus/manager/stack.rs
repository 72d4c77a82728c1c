//! The whole stack with machines in memory: a Cluster goes from 5 to 205 workers, and the bootstrap
//! provider's part of it is measured.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Runtime;

use super::options::{Limits, Options};
use super::side::{CLUSTER_API, Side};
use super::usage;
use crate::harness::control_plane::ControlPlane;
use crate::harness::in_memory::{self, CORE};
use crate::harness::managers::{self, KUBEADM_BOOTSTRAP};
use crate::harness::process::Process;
use crate::harness::{installation, ports, wait, windlass_manager};

const NAME: &str = "stack";
const FIRST: u32 = 5;
const LIMIT: Duration = Duration::from_secs(900);

pub(super) fn run(options: &Options) {
    let more = options.machines.unwrap_or(200);
    println!(
        "whole stack in memory, {FIRST} workers and {more} more, {}",
        options.limits.as_str()
    );
    let runtime = Runtime::new().expect("threads can be started");
    for side in &options.sides {
        one(
            *side,
            &runtime,
            u32::try_from(more).expect("it is no more than an API server holds"),
            options,
        );
    }
}

fn one(side: Side, runtime: &Runtime, more: u32, options: &Options) {
    let folder = tempfile::tempdir().expect("the system has a folder for temporary files");
    let plane = ControlPlane::start(folder.path(), runtime.handle());
    installation::init(&plane);
    managers::start(
        &plane,
        CLUSTER_API,
        &[
            managers::CORE,
            managers::KUBEADM_CONTROL_PLANE,
            managers::DOCKER,
        ],
    );
    // Whoever is measured: the control plane has KubeadmConfigs.
    let provider = start_provider(&plane, options);
    let ours = windlass_manager::start_program(
        super::side::windlass(),
        &plane,
        "windlass-manager",
        &["--v=2"],
    )
    .process;
    in_memory::create(&plane, NAME, [1, FIRST], &side.templates());
    in_memory::expect_nodes(&plane, NAME, FIRST as usize + 1);
    let measured = if side == Side::Windlass {
        &ours
    } else {
        &provider
    };
    usage::wait_until_quiet(measured);

    let (cpu, begun) = (usage::cpu(measured), Instant::now());
    let deployment = plane
        .api
        .get(CORE, "MachineDeployment", Some(NAME), "md")
        .expect("it was made");
    plane
        .api
        .merge(&deployment, &json!({"spec": {"replicas": FIRST + more}}))
        .expect("it may be scaled");
    let all = (FIRST + more) as usize + 1;
    wait::until(&format!("{all} nodes"), LIMIT, || {
        plane.assert_running();
        let machines = plane.api.list(CORE, "Machine", Some(NAME));
        let nodes = machines
            .iter()
            .filter(|machine| machine["status"]["nodeRef"]["name"].is_string())
            .count();
        if nodes == all {
            Ok(())
        } else {
            Err(format!("{nodes}"))
        }
    });
    let took = begun.elapsed().as_secs_f64();
    usage::wait_until_quiet(measured);
    let [most, _] = usage::memory(measured);
    println!(
        "  {}: {:.2} s of a processor, {most:.0} MB at most, all nodes after {took:.0} s",
        side.title(),
        usage::cpu(measured) - cpu
    );
}

/// The kubeadm bootstrap provider, with the limits that are asked for.
fn start_provider(plane: &ControlPlane, options: &Options) -> Process {
    let [webhooks, health] = [ports::free(), ports::free()];
    let limits = match options.limits {
        Limits::Default => ["--kube-api-qps=20", "--kube-api-burst=30"],
        Limits::Raised => ["--kube-api-qps=2000", "--kube-api-burst=4000"],
    };
    let arguments = ["--leader-elect=false", "-v=2", limits[0], limits[1]];
    let program = KUBEADM_BOOTSTRAP.program(CLUSTER_API);
    let mut provider = managers::spawn(
        plane,
        CLUSTER_API,
        &KUBEADM_BOOTSTRAP,
        &program,
        [webhooks, health],
        &arguments,
    );
    wait::until(
        "the kubeadm bootstrap provider",
        Duration::from_secs(60),
        || {
            provider.assert_running();
            managers::healthy(health)
        },
    );
    managers::redirect(plane, &[(&KUBEADM_BOOTSTRAP, webhooks)]);
    provider
}
