//! CAPI's real kubeadm bootstrap manager, alone: the scenario does the work of the core manager, so that nothing else changes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{Role, Subject};
use crate::harness::api_server::Refusal;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{components, managers, shared, wait};

/// The release whose manager runs.
pub(super) const RELEASE: &str = "v1.12.0";
const CORE: &str = "cluster.x-k8s.io/v1beta2";
const GROUP: &str = "bootstrap.cluster.x-k8s.io";
const NAMESPACE: &str = "default";
const SOON: Duration = Duration::from_secs(60);
/// When no data has come for so long, none comes any more.
const QUIET: Duration = Duration::from_secs(12);
/// The purposes of a cluster's certificates.
const PURPOSES: [&str; 5] = ["ca", "etcd", "proxy", "sa", "apiserver-etcd-client"];
/// The cluster that all joining machines join.
const JOINED: &str = "joined";

/// The manager and its API server.
pub(super) struct Provider {
    plane: ControlPlane,
    /// Data of the Secrets of a cluster's certificates by purpose, as the manager made them.
    certificates: BTreeMap<&'static str, Value>,
    clusters: usize,
}

/// A config that was given to the server, with the objects around it.
pub(super) struct Submitted {
    pub(super) subject: Subject,
    pub(super) name: String,
    cluster: String,
    owner: &'static str,
    /// The config as it was sent, and the Secrets that it names.
    sent: Value,
    secrets: Vec<String>,
    /// As the server stored it before the manager saw it, or why it did not.
    pub(super) created: Result<Value, Refusal>,
}

impl Provider {
    /// Starts everything; a first machine makes the certificates.
    pub(super) fn start(context: &Context) -> Provider {
        let plane = context.control_plane();
        for file in ["core-components.yaml", "bootstrap-components.yaml"] {
            components::apply(&plane, &shared::cluster_api(RELEASE).join(file));
        }
        for kind in ["Validating", "Mutating"] {
            let name = format!("capi-{}-webhook-configuration", kind.to_lowercase());
            let configuration = json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}WebhookConfiguration"), "metadata": {"name": name},
            });
            plane.api.delete(&configuration).unwrap_or_else(|refusal| panic!("{refusal}"));
        }
        managers::start(&plane, RELEASE, &[managers::KUBEADM_BOOTSTRAP]);
        let mut provider = Provider { plane, certificates: BTreeMap::new(), clusters: 0 };
        provider.make_certificates();
        // First: when it is not there, the manager looks again after half a minute only.
        let kubeconfig = std::fs::read(&provider.plane.kubeconfig).expect("the harness wrote it");
        provider.create_secret(&format!("{JOINED}-kubeconfig"), Some(JOINED), &json!({"value": STANDARD.encode(kubeconfig)}));
        provider.create_cluster(JOINED, true);
        provider
    }

    /// The schema of `spec` of KubeadmConfig in a version.
    pub(super) fn schema(&self, version: &str) -> Value {
        let name = format!("kubeadmconfigs.{GROUP}");
        let crd =
            self.plane.api.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", None, &name).expect("the provider is installed");
        let versions = crd["spec"]["versions"].as_array().expect("a CRD has versions");
        let of_version = versions.iter().find(|entry| entry["name"] == version).expect("the provider has the version");
        of_version["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
    }

    /// What the manager has logged.
    pub(super) fn log(&self) -> String {
        let file = self.plane.folder().join(format!("manager-kubeadm-bootstrap-{RELEASE}.log"));
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// A folder for files that belong to it.
    pub(super) fn folder(&self) -> &std::path::Path {
        self.plane.folder()
    }

    /// A first machine of a cluster without certificates; those that it gets are used for all other clusters.
    fn make_certificates(&mut self) {
        let subject = Subject::new("the first machine", "v1beta2", &json!({"verbosity": 1}), Role::Init, "v1.34.1");
        let first = self.submit(subject);
        wait::until("the first machine's data", SOON, || {
            self.data(&first).ok_or_else(|| self.config(&first)["status"].to_string())
        });
        for purpose in PURPOSES {
            // etcd's client is known by any certificate of an authority; nobody checks it.
            let made = if purpose == "apiserver-etcd-client" { "etcd" } else { purpose };
            self.certificates
                .insert(purpose, self.secret(&format!("{}-{made}", first.cluster)).expect("the manager made it")["data"].clone());
        }
    }

    /// Gives a config to the server, with the machine that it is for.
    pub(super) fn submit(&mut self, subject: Subject) -> Submitted {
        self.clusters += 1;
        let name = format!("m{}", self.clusters);
        let cluster = if subject.role == Role::Init { format!("c{}", self.clusters) } else { JOINED.to_owned() };
        if subject.role == Role::Init {
            self.create_cluster(&cluster, false);
        }
        let secrets = self.create_secrets_of(&subject.spec);
        let owner = self.create_owner(&name, &cluster, &subject);
        let owner_reference = json!({
            "apiVersion": CORE, "kind": owner["kind"], "name": name, "uid": owner["metadata"]["uid"], "controller": true,
        });
        let sent = json!({
            "apiVersion": format!("{GROUP}/{}", subject.version), "kind": "KubeadmConfig",
            "metadata": {
                "name": name, "namespace": NAMESPACE, "labels": {"cluster.x-k8s.io/cluster-name": cluster},
                "ownerReferences": [owner_reference],
            },
            "spec": subject.spec,
        });
        // The API server may not have heard yet where the webhooks are.
        let created = wait::until("the webhooks to answer", SOON, || match self.plane.api.create(&sent) {
            Err(refusal) if refusal.passes() => Err(refusal.to_string()),
            answer => Ok(answer),
        });
        let owner = if subject.role == Role::MachinePool { "MachinePool" } else { "Machine" };
        Submitted { subject, name, cluster, owner, sent, secrets, created }
    }

    /// Waits until the manager has made all data that it is going to make.
    pub(super) fn wait_for_data(&self, submitted: &[Submitted]) {
        let expected = submitted.iter().filter(|one| one.created.is_ok()).count();
        let mut last = (Instant::now(), 0);
        loop {
            self.plane.assert_running();
            let done = self.plane.api.list(&format!("{GROUP}/v1beta2"), "KubeadmConfig", Some(NAMESPACE));
            let done = done.iter().filter(|config| config["status"]["initialization"]["dataSecretCreated"] == true).count();
            if done != last.1 {
                last = (Instant::now(), done);
            }
            // The first machine is there too.
            if done > expected || last.0.elapsed() > QUIET {
                return;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    }

    /// The Secret of the bootstrap data.
    pub(super) fn data(&self, submitted: &Submitted) -> Option<Value> {
        let created = self.config(submitted)["status"]["initialization"]["dataSecretCreated"] == true;
        created.then(|| self.secret(&submitted.name)).flatten()
    }

    /// The config as it is now, in the version that the server prefers.
    pub(super) fn config(&self, submitted: &Submitted) -> Value {
        self.plane.api.get(&format!("{GROUP}/v1beta2"), "KubeadmConfig", Some(NAMESPACE), &submitted.name).unwrap_or_default()
    }

    /// What a person would read back, as `kubectl get -o json` prints it: the config, and all that it stands on.
    pub(super) fn surroundings(&self, submitted: &Submitted, config: Option<&Value>) -> Value {
        let get =
            |kind: &str, name: &str| self.plane.api.get(CORE, kind, Some(NAMESPACE), name).unwrap_or_else(|refusal| panic!("{refusal}"));
        let cluster = &submitted.cluster;
        let certificates = PURPOSES.iter().filter_map(|purpose| self.secret(&format!("{cluster}-{purpose}")));
        let named = submitted.secrets.iter().filter_map(|name| self.secret(name));
        let config = config.unwrap_or(&submitted.sent).clone();
        let items: Vec<Value> =
            [get("Cluster", cluster), get(submitted.owner, &submitted.name), config].into_iter().chain(certificates).chain(named).collect();
        json!({"apiVersion": "v1", "kind": "List", "items": items})
    }

    fn secret(&self, name: &str) -> Option<Value> {
        self.plane.api.get("v1", "Secret", Some(NAMESPACE), name).ok()
    }

    fn create(&self, object: &Value) -> Value {
        self.plane.api.create(object).unwrap_or_else(|refusal| panic!("{refusal}\n{object}"))
    }

    /// A cluster with infrastructure; one that is initialized can be joined.
    fn create_cluster(&self, name: &str, initialized: bool) {
        let network = json!({
            "services": {"cidrBlocks": ["10.128.0.0/12"]}, "pods": {"cidrBlocks": ["192.168.0.0/16", "fd00:100::/48"]},
            "serviceDomain": "cluster.local",
        });
        let cluster = self.create(&json!({
            "apiVersion": CORE, "kind": "Cluster", "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {
                "clusterNetwork": network, "controlPlaneEndpoint": {"host": "fd00::7", "port": 6443},
                "infrastructureRef": {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "DockerCluster", "name": name},
            },
        }));
        for (purpose, data) in &self.certificates {
            self.create_secret(&format!("{name}-{purpose}"), Some(name), data);
        }
        let condition = json!({
            "type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized", "message": "",
            "lastTransitionTime": "2026-01-02T03:04:05Z",
        });
        let status = match initialized {
            true => json!({
                "initialization": {"infrastructureProvisioned": true, "controlPlaneInitialized": true}, "conditions": [condition],
            }),
            false => json!({"initialization": {"infrastructureProvisioned": true}}),
        };
        self.plane.api.merge_status(&cluster, &status).unwrap_or_else(|refusal| panic!("{refusal}"));
    }

    fn create_owner(&self, name: &str, cluster: &str, subject: &Subject) -> Value {
        let mut labels = json!({"cluster.x-k8s.io/cluster-name": cluster});
        if matches!(subject.role, Role::Init | Role::ControlPlaneJoin) {
            labels["cluster.x-k8s.io/control-plane"] = json!("");
        }
        let metadata = json!({"name": name, "namespace": NAMESPACE, "labels": labels});
        let reference = |group: &str, kind: &str| json!({"apiGroup": group, "kind": kind, "name": name});
        let spec = json!({
            "clusterName": cluster, "version": subject.kubernetes, "bootstrap": {"configRef": reference(GROUP, "KubeadmConfig")},
            "infrastructureRef": reference("infrastructure.cluster.x-k8s.io", "DockerMachine"),
        });
        match subject.role {
            Role::MachinePool => {
                let spec = json!({"clusterName": cluster, "replicas": 1, "template": {"spec": spec}});
                self.create(&json!({"apiVersion": CORE, "kind": "MachinePool", "metadata": metadata, "spec": spec}))
            }
            _ => self.create(&json!({"apiVersion": CORE, "kind": "Machine", "metadata": metadata, "spec": spec})),
        }
    }

    /// The Secrets that files and passwords come from, with some content of more than one line.
    fn create_secrets_of(&self, spec: &Value) -> Vec<String> {
        let sources = |list: &str, field: &str| {
            let items = spec[list].as_array().cloned().unwrap_or_default();
            items.into_iter().map(|item| item[field]["secret"].clone()).filter(|source| source["name"].is_string()).collect::<Vec<_>>()
        };
        let mut wanted: BTreeMap<String, Value> = BTreeMap::new();
        for source in sources("files", "contentFrom").iter().chain(&sources("users", "passwdFrom")) {
            let (name, key) = (source["name"].as_str().unwrap_or_default(), source["key"].as_str().unwrap_or_default());
            let content = format!("{key} of {name}: 1\n  # and more");
            wanted.entry(name.to_owned()).or_insert_with(|| json!({}))[key] = json!(STANDARD.encode(content));
        }
        for (name, data) in &wanted {
            let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE}});
            match self.secret(name) {
                // A name or key that no Secret can have is a case of its own: the manager finds nothing.
                None => drop(self.plane.api.create(&with(secret, "data", data))),
                Some(_) => drop(self.plane.api.merge(&secret, &json!({ "data": data }))),
            }
        }
        wanted.into_keys().collect()
    }

    fn create_secret(&self, name: &str, cluster: Option<&str>, data: &Value) {
        let mut metadata = json!({"name": name, "namespace": NAMESPACE});
        if let Some(cluster) = cluster {
            metadata["labels"] = json!({"cluster.x-k8s.io/cluster-name": cluster});
        }
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "cluster.x-k8s.io/secret", "metadata": metadata});
        self.create(&with(secret, "data", data));
    }
}

fn with(mut object: Value, field: &str, value: &Value) -> Value {
    object[field] = value.clone();
    object
}
