//! Cluster API's own managers as processes of this machine, each as the service account that its
//! release gives it.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::control_plane::ControlPlane;
use super::process::{Process, Start};
use super::{peers, ports, redirect, wait};

const START_LIMIT: Duration = Duration::from_secs(60);

/// A manager of an installed provider: what `clusterctl init` created for it, and the program that
/// plays its Deployment.
pub(crate) struct Manager {
    /// For logs.
    name: &'static str,
    /// `PEER-VERSION/BINARY`, where the version is put in for `{}`.
    program: &'static str,
    pub(crate) namespace: &'static str,
    service_account: &'static str,
    pub(crate) service: &'static str,
    feature_gates: &'static str,
}

/// Core: Cluster, Machine, MachineDeployment, MachinePool, ClusterClass.
pub(crate) const CORE: Manager = Manager {
    name: "core",
    program: "cluster-api-{}/core",
    namespace: "capi-system",
    service_account: "capi-manager",
    service: "capi-webhook-service",
    feature_gates: "MachinePool=true,ClusterTopology=true",
};

/// The kubeadm bootstrap provider.
pub(crate) const KUBEADM_BOOTSTRAP: Manager = Manager {
    name: "kubeadm-bootstrap",
    program: "cluster-api-{}/kubeadm-bootstrap",
    namespace: "capi-kubeadm-bootstrap-system",
    service_account: "capi-kubeadm-bootstrap-manager",
    service: "capi-kubeadm-bootstrap-webhook-service",
    feature_gates: "MachinePool=true,KubeadmBootstrapFormatIgnition=true",
};

/// The kubeadm control plane provider.
pub(crate) const KUBEADM_CONTROL_PLANE: Manager = Manager {
    name: "kubeadm-control-plane",
    program: "cluster-api-{}/kubeadm-control-plane",
    namespace: "capi-kubeadm-control-plane-system",
    service_account: "capi-kubeadm-control-plane-manager",
    service: "capi-kubeadm-control-plane-webhook-service",
    feature_gates: "MachinePool=true,ClusterTopology=true,KubeadmBootstrapFormatIgnition=true",
};

/// The docker provider, whose in-memory backend needs no docker.
pub(crate) const DOCKER: Manager = Manager {
    name: "docker",
    program: "cluster-api-docker-{}/docker",
    namespace: "capd-system",
    service_account: "capd-manager",
    service: "capd-webhook-service",
    feature_gates: "MachinePool=true,ClusterTopology=true",
};

/// Starts the managers of a version, waits until they are ready, and points their webhooks and
/// conversions to them.
pub(crate) fn start(plane: &ControlPlane, version: &str, managers: &[Manager]) {
    wait::until("the kinds of all CRDs", START_LIMIT, || unserved(plane));
    let started: Vec<(&Manager, u16, u16)> = managers
        .iter()
        .map(|manager| {
            let (webhook_port, health_port) = (ports::free(), ports::free());
            let program = manager.program(version);
            plane.adopt(spawn(
                plane,
                version,
                manager,
                &program,
                [webhook_port, health_port],
                &["--leader-elect=false"],
            ));
            (manager, webhook_port, health_port)
        })
        .collect();
    for (manager, _, health_port) in &started {
        wait::until(
            &format!("the manager {}", manager.name),
            START_LIMIT,
            || {
                plane.assert_running();
                healthy(*health_port)
            },
        );
    }
    redirect(
        plane,
        &started
            .iter()
            .map(|(manager, webhook_port, _)| (*manager, *webhook_port))
            .collect::<Vec<_>>(),
    );
}

/// Names a version of a CRD that discovery does not have yet: managers end when they do not find
/// their kinds, and a cluster would start them again.
fn unserved(plane: &ControlPlane) -> Result<(), String> {
    let read = |path: &str| {
        plane
            .api
            .read(path)
            .map_err(|rejection| rejection.to_string())
    };
    let all = read("/apis/apiextensions.k8s.io/v1/customresourcedefinitions")?;
    for crd in all["items"].as_array().into_iter().flatten() {
        let spec = &crd["spec"];
        let served = spec["versions"].as_array().into_iter().flatten();
        for version in served.filter(|version| version["served"] == true) {
            let name = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let (group, version) = (name(&spec["group"]), name(&version["name"]));
            let found = read(&format!("/apis/{group}/{version}"))?;
            let mut resources = found["resources"].as_array().into_iter().flatten();
            if !resources.any(|resource| resource["name"] == spec["names"]["plural"]) {
                return Err(format!(
                    "{} {version} is not served",
                    crd["metadata"]["name"]
                ));
            }
        }
    }
    Ok(())
}

/// Points the webhooks and conversions of managers to ports.
pub(crate) fn redirect(plane: &ControlPlane, managers: &[(&Manager, u16)]) {
    let service = |manager: &Manager| (manager.namespace.to_owned(), manager.service.to_owned());
    let ports: BTreeMap<_, _> = managers
        .iter()
        .map(|(manager, port)| (service(manager), *port))
        .collect();
    let count = redirect::services(plane, &ports);
    assert!(
        count >= managers.len(),
        "only {count} webhooks and conversions of {} managers were redirected",
        managers.len()
    );
}

impl Manager {
    /// The program of a version.
    pub(crate) fn program(&self, version: &str) -> PathBuf {
        peers::program(&self.program.replace("{}", version))
    }
}

/// Starts a program that plays a manager, with ports for its webhooks and its health probe.
pub(crate) fn spawn(
    plane: &ControlPlane,
    version: &str,
    manager: &Manager,
    program: &Path,
    [webhook_port, health_port]: [u16; 2],
    more: &[&str],
) -> Process {
    let (_, kubeconfig) = plane.service_account(manager.namespace, manager.service_account);
    let mut arguments = vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--webhook-port={webhook_port}"),
        format!(
            "--webhook-cert-dir={}",
            plane.certificates.folder().display()
        ),
        format!("--health-addr=127.0.0.1:{health_port}"),
        format!("--diagnostics-address=127.0.0.1:{}", ports::free()),
        "--insecure-diagnostics".to_owned(),
        format!("--feature-gates={}", manager.feature_gates),
        "--kube-api-qps=200".to_owned(),
        "--kube-api-burst=400".to_owned(),
        "-v=4".to_owned(),
    ];
    arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
    // As the downward API gives them; the in-memory API servers of the docker provider listen on
    // POD_IP, at ports that are always the same.
    let address = plane.loopback_address();
    let environment = [
        ("POD_IP", address.as_str()),
        ("POD_NAMESPACE", manager.namespace),
        ("POD_NAME", manager.name),
        ("POD_UID", "e2e"),
    ];
    let environment = environment
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    let name = format!("manager-{}-{version}", manager.name);
    Start {
        name: &name,
        program,
        arguments,
        environment,
        folder: plane.folder(),
    }
    .spawn()
}

/// Asks `/readyz`, which says ok when the webhook server listens.
pub(crate) fn healthy(port: u16) -> Result<(), String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .map_err(|error| error.to_string())?;
    stream
        .write_all(b"GET /readyz HTTP/1.0\r\n\r\n")
        .map_err(|error| error.to_string())?;
    let mut answer = String::new();
    stream
        .read_to_string(&mut answer)
        .map_err(|error| error.to_string())?;
    if answer.starts_with("HTTP/1.0 200") {
        Ok(())
    } else {
        Err(answer)
    }
}
