//! CAPI's real kubeadm bootstrap manager, alone: the scenario does the work of the core manager, so
//! that nothing else changes.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::objects::{self, GROUP, NAMESPACE};
use super::{Role, Subject};
use crate::harness::api_server::Rejection;
use crate::harness::control_plane::ControlPlane;
use crate::harness::runner::Context;
use crate::harness::{components, managers, shared, wait};

/// The release whose manager runs where a scenario does not name one.
pub(crate) const RELEASE: &str = "v1.12.0";
const CORE: &str = "cluster.x-k8s.io/v1beta2";
const SOON: Duration = Duration::from_secs(60);
/// When no data has come for so long, none comes any more.
const QUIET: Duration = Duration::from_secs(12);
/// The purposes of a cluster's certificates.
pub(super) const PURPOSES: [&str; 5] = ["ca", "etcd", "proxy", "sa", "apiserver-etcd-client"];
/// The cluster that all joining machines join.
const JOINED: &str = "joined";

/// The manager and its API server.
pub(crate) struct Provider {
    pub(crate) plane: ControlPlane,
    release: &'static str,
    /// Data of the Secrets of a cluster's certificates by purpose, as the manager made them.
    certificates: BTreeMap<&'static str, Value>,
    clusters: usize,
}

/// A config that was given to the server, with the objects around it.
pub(crate) struct Submitted {
    pub(crate) subject: Subject,
    pub(crate) name: String,
    cluster: String,
    owner: &'static str,
    /// The config as it was sent, and the Secrets that it names.
    sent: Value,
    secrets: Vec<String>,
    /// As the server stored it before the manager saw it, or why it did not.
    pub(crate) created: Result<Value, Rejection>,
}

impl Provider {
    /// Starts everything; a first machine makes the certificates.
    pub(super) fn start(context: &Context) -> Provider {
        Provider::start_with(context, RELEASE, |plane| {
            managers::start(plane, RELEASE, &[managers::KUBEADM_BOOTSTRAP])
        })
    }

    /// The same with a manager that is started in another way.
    pub(crate) fn start_with(
        context: &Context,
        release: &'static str,
        manager: impl FnOnce(&ControlPlane),
    ) -> Provider {
        let plane = context.control_plane();
        for file in ["core-components.yaml", "bootstrap-components.yaml"] {
            components::apply(&plane, &shared::cluster_api(release).join(file));
        }
        for kind in ["Validating", "Mutating"] {
            let name = format!("capi-{}-webhook-configuration", kind.to_lowercase());
            let configuration = json!({
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}WebhookConfiguration"), "metadata": {"name": name},
            });
            plane
                .api
                .delete(&configuration)
                .unwrap_or_else(|rejection| panic!("{rejection}"));
        }
        manager(&plane);
        let mut provider = Provider {
            plane,
            release,
            certificates: BTreeMap::new(),
            clusters: 0,
        };
        provider.make_certificates();
        // First: when it is not there, the manager looks again after half a minute only.
        let kubeconfig = std::fs::read(&provider.plane.kubeconfig).expect("the harness wrote it");
        provider.create_secret(
            &format!("{JOINED}-kubeconfig"),
            Some(JOINED),
            &json!({"value": STANDARD.encode(kubeconfig)}),
        );
        provider.create_cluster(JOINED, true);
        provider
    }

    /// The schema of `spec` of KubeadmConfig in a version.
    pub(crate) fn schema(&self, version: &str) -> Value {
        let name = format!("kubeadmconfigs.{GROUP}");
        let crd = self
            .plane
            .api
            .get(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                None,
                &name,
            )
            .expect("the provider is installed");
        let versions = crd["spec"]["versions"]
            .as_array()
            .expect("a CRD has versions");
        let of_version = versions
            .iter()
            .find(|entry| entry["name"] == version)
            .expect("the provider has the version");
        of_version["schema"]["openAPIV3Schema"]["properties"]["spec"].clone()
    }

    /// What the manager has logged.
    pub(super) fn log(&self) -> String {
        let file = self
            .plane
            .folder()
            .join(format!("manager-kubeadm-bootstrap-{}.log", self.release));
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    }

    /// A folder for files that belong to it.
    pub(super) fn folder(&self) -> &std::path::Path {
        self.plane.folder()
    }

    /// A first machine of a cluster without certificates; those that it gets are used for all other
    /// clusters.
    fn make_certificates(&mut self) {
        let subject = Subject::new(
            "the first machine",
            "v1beta2",
            &json!({"verbosity": 1}),
            Role::Init,
            "v1.34.1",
        );
        let first = self.submit(subject);
        wait::until("the first machine's data", SOON, || {
            self.data(&first)
                .ok_or_else(|| self.config(&first)["status"].to_string())
        });
        for purpose in PURPOSES {
            // etcd's client is known by any certificate of an authority; nobody checks it.
            let made = if purpose == "apiserver-etcd-client" {
                "etcd"
            } else {
                purpose
            };
            self.certificates.insert(
                purpose,
                self.secret(&format!("{}-{made}", first.cluster))
                    .expect("the manager made it")["data"]
                    .clone(),
            );
        }
    }

    /// Gives a config to the server, with the machine that it is for.
    pub(crate) fn submit(&mut self, subject: Subject) -> Submitted {
        self.clusters += 1;
        let name = format!("m{}", self.clusters);
        let cluster = if subject.role == Role::Init {
            format!("c{}", self.clusters)
        } else {
            JOINED.to_owned()
        };
        if subject.role == Role::Init {
            self.create_cluster(&cluster, false);
        }
        let secrets = self.create_secrets_of(&subject.spec);
        let owner = self.create(&objects::owner(CORE, &name, &cluster, &subject));
        let sent = objects::config(&name, &cluster, &subject, &owner);
        // The API server may not have heard yet where the webhooks are.
        let created = self.give(&sent);
        Submitted {
            owner: subject.role.owner(),
            subject,
            name,
            cluster,
            sent,
            secrets,
            created,
        }
    }

    /// Takes a config and its data away, and gives it to the server once more.
    pub(crate) fn submit_again(&self, submitted: &Submitted) {
        self.plane
            .api
            .delete(&submitted.sent)
            .unwrap_or_else(|rejection| panic!("{rejection}"));
        // The garbage collector may have been quicker.
        drop(
            self.plane
                .api
                .delete(&objects::secret(&submitted.name, &json!({}))),
        );
        self.give(&submitted.sent)
            .unwrap_or_else(|rejection| panic!("{}: {rejection}", submitted.name));
    }

    fn give(&self, config: &Value) -> Result<Value, Rejection> {
        wait::until("the webhooks to answer", SOON, || {
            match self.plane.api.create(config) {
                Err(rejection) if rejection.passes() => Err(rejection.to_string()),
                answer => Ok(answer),
            }
        })
    }

    /// Waits until the manager has made all data that it is going to make.
    pub(crate) fn wait_for_data(&self, submitted: &[Submitted]) {
        let expected = submitted.iter().filter(|one| one.created.is_ok()).count();
        let mut last = (Instant::now(), 0);
        loop {
            self.plane.assert_running();
            let done = self.plane.api.list(
                &format!("{GROUP}/v1beta2"),
                "KubeadmConfig",
                Some(NAMESPACE),
            );
            let done = done
                .iter()
                .filter(|config| config["status"]["initialization"]["dataSecretCreated"] == true)
                .count();
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
    pub(crate) fn data(&self, submitted: &Submitted) -> Option<Value> {
        let created =
            self.config(submitted)["status"]["initialization"]["dataSecretCreated"] == true;
        created.then(|| self.secret(&submitted.name)).flatten()
    }

    /// The config as it is now, in the version that the server prefers.
    pub(crate) fn config(&self, submitted: &Submitted) -> Value {
        self.plane
            .api
            .get(
                &format!("{GROUP}/v1beta2"),
                "KubeadmConfig",
                Some(NAMESPACE),
                &submitted.name,
            )
            .unwrap_or_default()
    }

    /// What a person would read back, as `kubectl get -o json` prints it: the config, and all that
    /// it stands on.
    pub(super) fn render_context(&self, submitted: &Submitted, config: Option<&Value>) -> Value {
        let get = |kind: &str, name: &str| {
            self.plane
                .api
                .get(CORE, kind, Some(NAMESPACE), name)
                .unwrap_or_else(|rejection| panic!("{rejection}"))
        };
        let cluster = &submitted.cluster;
        let certificates = PURPOSES
            .iter()
            .filter_map(|purpose| self.secret(&format!("{cluster}-{purpose}")));
        let named = submitted
            .secrets
            .iter()
            .filter_map(|name| self.secret(name));
        let config = config.unwrap_or(&submitted.sent).clone();
        let items: Vec<Value> = [
            get("Cluster", cluster),
            get(submitted.owner, &submitted.name),
            config,
        ]
        .into_iter()
        .chain(certificates)
        .chain(named)
        .collect();
        json!({"apiVersion": "v1", "kind": "List", "items": items})
    }

    fn secret(&self, name: &str) -> Option<Value> {
        self.plane
            .api
            .get("v1", "Secret", Some(NAMESPACE), name)
            .ok()
    }

    fn create(&self, object: &Value) -> Value {
        self.plane
            .api
            .create(object)
            .unwrap_or_else(|rejection| panic!("{rejection}\n{object}"))
    }

    /// A cluster with infrastructure; one that is initialized can be joined.
    fn create_cluster(&self, name: &str, initialized: bool) {
        let cluster = self.create(&objects::cluster(CORE, name));
        for (purpose, data) in &self.certificates {
            self.create_secret(&format!("{name}-{purpose}"), Some(name), data);
        }
        self.plane
            .api
            .merge_status(&cluster, &objects::status_of_cluster(CORE, initialized))
            .unwrap_or_else(|rejection| panic!("{rejection}"));
    }

    /// The Secrets that files and passwords come from.
    fn create_secrets_of(&self, spec: &Value) -> Vec<String> {
        let wanted = objects::contents(spec);
        for (name, data) in &wanted {
            let secret = objects::secret(name, data);
            match self.secret(name) {
                // A name or key that no Secret can have is a case of its own: the manager finds
                // nothing.
                None => drop(self.plane.api.create(&secret)),
                Some(_) => drop(self.plane.api.merge(&secret, &json!({ "data": data }))),
            }
        }
        wanted.into_keys().collect()
    }

    fn create_secret(&self, name: &str, cluster: Option<&str>, data: &Value) {
        self.create(&objects::secret_of_cluster(name, cluster, data));
    }
}
