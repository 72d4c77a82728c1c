//! A control plane on loopback: etcd, API server, controller manager, scheduler, and kwok in place
//! of kubelets.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Handle;

use super::api_server::ApiServer;
use super::certificates::Certificates;
use super::fault_proxy::FaultProxy;
use super::process::{Process, Start};
use super::webhook_server::{Routes, WebhookServer};
use super::{audit, kubeconfig, kwok, peers, ports, wait};

const API_SERVER: &str = "kube-apiserver";
const STORAGE: &str = "etcd";
const START_LIMIT: Duration = Duration::from_secs(60);

/// A running control plane, with all that scenarios started beside it. Dropping it ends everything,
/// the last started first; so the API server ends before etcd.
pub(crate) struct ControlPlane {
    pub(crate) api: ApiServer,
    pub(crate) certificates: Certificates,
    pub(crate) url: String,
    /// The administrator's.
    pub(crate) kubeconfig: PathBuf,
    folder: PathBuf,
    runtime: Handle,
    servers: Mutex<Vec<WebhookServer>>,
    processes: Mutex<Vec<Process>>,
}

impl ControlPlane {
    /// Starts one whose files, logs included, are in a folder that exists and is empty. Returns
    /// when pods can run.
    pub(crate) fn start(folder: &Path, runtime: &Handle) -> ControlPlane {
        ControlPlane::start_with(folder, runtime, &[])
    }

    /// The same, with further arguments of the API server.
    pub(crate) fn start_with(folder: &Path, runtime: &Handle, arguments: &[&str]) -> ControlPlane {
        let plane = ControlPlane::start_servers(folder, runtime, &audit::ours(), arguments);
        plane.adopt(start_controller_manager(
            folder,
            &plane.certificates,
            &plane.kubeconfig,
        ));
        plane.adopt(start_scheduler(folder, &plane.kubeconfig));
        plane.adopt(start_kwok(folder, &plane.kubeconfig));
        plane.add_node("worker");
        plane
    }

    /// Etcd and the API server alone, with further arguments: nobody works there. The accounts of a
    /// group are in the audit log.
    pub(crate) fn start_servers(
        folder: &Path,
        runtime: &Handle,
        audited: &str,
        arguments: &[&str],
    ) -> ControlPlane {
        let certificates = Certificates::make(folder);
        let url = format!("https://127.0.0.1:{}", ports::free());
        let kubeconfig = folder.join("kubeconfig");
        let admin = kubeconfig::User::Certificate(&certificates.client);
        kubeconfig::write(&kubeconfig, &url, &certificates.authority, &admin);

        let etcd_url = format!("http://127.0.0.1:{}", ports::free());
        let etcd = start_etcd(folder, &etcd_url);
        let mut started = vec![
            etcd,
            start_api_server(folder, &certificates, [&etcd_url, &url], audited, arguments),
        ];
        let api = ApiServer::of_kubeconfig(runtime, &kubeconfig);
        wait::until("the API server", START_LIMIT, || {
            started.iter_mut().for_each(Process::assert_running);
            api.read("/readyz")
                .map_err(|rejection| rejection.to_string())
        });
        ControlPlane {
            api,
            certificates,
            url,
            kubeconfig,
            folder: folder.to_path_buf(),
            runtime: runtime.clone(),
            servers: Mutex::default(),
            processes: Mutex::new(started),
        }
    }

    /// An address of this machine that no other control plane has.
    pub(crate) fn loopback_address(&self) -> String {
        let port = self
            .url
            .rsplit(':')
            .next()
            .and_then(|port| port.parse::<u16>().ok())
            .expect("the URL ends with the port");
        let [high, low] = port.to_be_bytes();
        format!("127.{high}.{low}.1")
    }

    /// Its folder: files that belong to this control plane go here.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps a process as long as the control plane.
    pub(crate) fn adopt(&self, process: Process) {
        lock(&self.processes).push(process);
    }

    /// Panics when one of the programs has ended.
    pub(crate) fn assert_running(&self) {
        lock(&self.processes)
            .iter_mut()
            .for_each(Process::assert_running);
    }

    /// The API server and etcd end where they stand, something is done meanwhile, and both come
    /// back.
    pub(crate) fn outage(&self, meanwhile: impl FnOnce()) {
        let mut processes = lock(&self.processes);
        let mut each = |name: &str, act: fn(&mut Process)| {
            processes
                .iter_mut()
                .filter(|process| process.name() == name)
                .for_each(act);
        };
        each(API_SERVER, Process::kill);
        each(STORAGE, Process::kill);
        meanwhile();
        each(STORAGE, Process::start_again);
        each(API_SERVER, Process::start_again);
        drop(processes);
        wait::until("the API server", START_LIMIT, || {
            self.api
                .read("/readyz")
                .map_err(|rejection| rejection.to_string())
        });
    }

    /// Serves functions over TLS with this control plane's serving certificate; gives the port.
    pub(crate) fn serve(&self, routes: Routes) -> u16 {
        let server = WebhookServer::start(&self.runtime, &self.certificates.serving, routes);
        let port = server.port();
        lock(&self.servers).push(server);
        port
    }

    /// A client that is a service account, and the kubeconfig of the same.
    pub(crate) fn service_account(&self, namespace: &str, name: &str) -> (ApiServer, PathBuf) {
        let file = self.service_account_at(&self.url, namespace, name);
        (ApiServer::of_kubeconfig(&self.runtime, &file), file)
    }

    /// Stands between a manager and this API server.
    pub(crate) fn fault_proxy(&self) -> FaultProxy {
        FaultProxy::start(&self.runtime, &self.certificates, &self.url)
    }

    /// The kubeconfig of a service account that asks this API server at another place.
    pub(crate) fn service_account_at(&self, url: &str, namespace: &str, name: &str) -> PathBuf {
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}});
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
        let answer = self
            .api
            .request("POST", &path, "application/json", Some(&request));
        let answer = answer
            .unwrap_or_else(|rejection| panic!("no token for {namespace}/{name}: {rejection}"));
        let token = answer["status"]["token"]
            .as_str()
            .expect("a TokenRequest is answered with a token");
        let port = url.rsplit(':').next().expect("a URL has a port");
        let file = self
            .folder
            .join(format!("kubeconfig-{namespace}-{name}-{port}"));
        kubeconfig::write(
            &file,
            url,
            &self.certificates.authority,
            &kubeconfig::User::Token(token),
        );
        file
    }

    /// A client of a kubeconfig.
    pub(crate) fn client(&self, kubeconfig: &Path) -> ApiServer {
        ApiServer::of_kubeconfig(&self.runtime, kubeconfig)
    }

    /// A Node, which kwok makes ready.
    pub(crate) fn add_node(&self, name: &str) {
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"}}});
        self.api
            .create(&node)
            .unwrap_or_else(|rejection| panic!("cannot create a Node: {rejection}"));
        wait::until("the Node to be ready", START_LIMIT, || {
            self.assert_running();
            let node = self
                .api
                .get("v1", "Node", None, name)
                .map_err(|rejection| rejection.to_string())?;
            let conditions = node["status"]["conditions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            let ready = conditions
                .iter()
                .any(|c| c["type"] == "Ready" && c["status"] == "True");
            if ready {
                Ok(())
            } else {
                Err(node["status"].to_string())
            }
        });
    }

    /// For people: says where everything is, and waits for Enter, or without a terminal for the end
    /// of this process.
    fn keep(&self) {
        let kubectl = peers::program(peers::KUBECTL);
        eprintln!(
            "kept: {}\n  {} --kubeconfig {} get pods -A\nEnter ends it",
            self.folder.display(),
            kubectl.display(),
            self.kubeconfig.display()
        );
        if !matches!(std::io::stdin().read_line(&mut String::new()), Ok(length) if length > 0) {
            eprintln!(
                "(stdin is closed: ends when this process, {}, is ended)",
                std::process::id()
            );
            loop {
                std::thread::park();
            }
        }
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        if std::env::var_os("WINDLASS_KEEP").is_some_and(|value| !value.is_empty()) {
            self.keep();
        }
        let mut processes = lock(&self.processes);
        while let Some(process) = processes.pop() {
            drop(process);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn start(folder: &Path, name: &str, program: &str, arguments: &[String]) -> Process {
    let program = peers::program(program);
    Start {
        name,
        program: &program,
        arguments: arguments.to_vec(),
        environment: Vec::new(),
        folder,
    }
    .spawn()
}

fn start_etcd(folder: &Path, url: &str) -> Process {
    let peer_url = format!("http://127.0.0.1:{}", ports::free());
    let arguments = [
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={url}"),
        format!("--advertise-client-urls={url}"),
        format!("--listen-peer-urls={peer_url}"),
        format!("--initial-advertise-peer-urls={peer_url}"),
        format!("--initial-cluster=default={peer_url}"),
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
    ];
    start(folder, STORAGE, peers::ETCD, &arguments)
}

fn start_api_server(
    folder: &Path,
    certificates: &Certificates,
    [etcd_url, url]: [&str; 2],
    audited: &str,
    more: &[&str],
) -> Process {
    let port = url.rsplit(':').next().expect("the URL ends with the port");
    let mut arguments = vec![
        format!("--etcd-servers={etcd_url}"),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={port}"),
        format!("--tls-cert-file={}", certificates.file("tls.crt")),
        format!("--tls-private-key-file={}", certificates.file("tls.key")),
        format!("--client-ca-file={}", certificates.file("ca.crt")),
        format!(
            "--service-account-key-file={}",
            certificates.file("service-account.pub")
        ),
        format!(
            "--service-account-signing-key-file={}",
            certificates.file("service-account.key")
        ),
        "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--allow-privileged=true".to_owned(),
    ];
    arguments.extend(audit::arguments(folder, audited));
    arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
    start(folder, API_SERVER, peers::KUBE_APISERVER, &arguments)
}

fn start_controller_manager(
    folder: &Path,
    certificates: &Certificates,
    kubeconfig: &Path,
) -> Process {
    let mut arguments = component_arguments(kubeconfig);
    arguments.push(format!(
        "--service-account-private-key-file={}",
        certificates.file("service-account.key")
    ));
    arguments.push(format!("--root-ca-file={}", certificates.file("ca.crt")));
    start(
        folder,
        "kube-controller-manager",
        peers::KUBE_CONTROLLER_MANAGER,
        &arguments,
    )
}

fn start_scheduler(folder: &Path, kubeconfig: &Path) -> Process {
    start(
        folder,
        "kube-scheduler",
        peers::KUBE_SCHEDULER,
        &component_arguments(kubeconfig),
    )
}

fn component_arguments(kubeconfig: &Path) -> Vec<String> {
    let kubeconfig = kubeconfig.display();
    vec![
        format!("--kubeconfig={kubeconfig}"),
        format!("--authentication-kubeconfig={kubeconfig}"),
        format!("--authorization-kubeconfig={kubeconfig}"),
        "--leader-elect=false".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--secure-port={}", ports::free()),
    ]
}

fn start_kwok(folder: &Path, kubeconfig: &Path) -> Process {
    let stages = folder.join("kwok.yaml");
    std::fs::write(&stages, kwok::STAGES).expect("the folder can be written");
    let arguments = [
        format!("--kubeconfig={}", kubeconfig.display()),
        "--manage-all-nodes".to_owned(),
        format!("--config={}", stages.display()),
        "--cidr=10.1.0.0/16".to_owned(),
        // Else the controller manager takes the Node for dead after 50 s.
        "--node-lease-duration-seconds=40".to_owned(),
    ];
    start(folder, "kwok", peers::KWOK, &arguments)
}
