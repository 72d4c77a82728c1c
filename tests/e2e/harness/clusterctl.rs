//! The real clusterctl, with a configuration of its own and without network.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::control_plane::ControlPlane;
use super::process::{Finished, Start};
use super::{peers, shared};

const LIMIT: Duration = Duration::from_secs(360);

/// What `clusterctl init` needs of cert-manager to be content: nothing runs, the objects are only kept.
const CERT_MANAGER: &str = include_str!("cert-manager.yaml");
const CERT_MANAGER_VERSION: &str = "v0.0.0-stand-in";

/// One clusterctl, whose configuration is a file that scenarios fill.
pub(crate) struct Clusterctl {
    program: PathBuf,
    folder: PathBuf,
    kubeconfig: PathBuf,
    config: Value,
}

/// The providers of a release of Cluster API in the corpus: name, type, folder in a repository, file.
const CLUSTER_API: &[(&str, &str, &str, &str)] = &[
    ("cluster-api", "CoreProvider", "cluster-api", "core-components.yaml"),
    ("kubeadm", "BootstrapProvider", "bootstrap-kubeadm", "bootstrap-components.yaml"),
    ("kubeadm", "ControlPlaneProvider", "control-plane-kubeadm", "control-plane-components.yaml"),
    ("docker", "InfrastructureProvider", "infrastructure-docker", "infrastructure-components-development.yaml"),
];

impl Clusterctl {
    /// The given version of clusterctl against a control plane. It knows Cluster API's own providers in the given version, and cert-manager.
    pub(crate) fn new(version: &str, plane: &ControlPlane, cluster_api: &str) -> Clusterctl {
        let folder = plane.folder().join(format!("clusterctl-{version}"));
        std::fs::create_dir_all(folder.join("config")).expect("the folder can be written");
        // clusterctl reads name and version off the path.
        let cert_manager = folder.join("repository/cert-manager").join(CERT_MANAGER_VERSION);
        std::fs::create_dir_all(&cert_manager).expect("the folder can be written");
        let cert_manager = cert_manager.join("cert-manager.yaml");
        std::fs::write(&cert_manager, CERT_MANAGER).expect("the folder can be written");
        let cert_manager = json!({"url": format!("file://{}", cert_manager.display()), "version": CERT_MANAGER_VERSION});
        let mut clusterctl = Clusterctl {
            program: peers::program(&format!("clusterctl-{version}/clusterctl")),
            kubeconfig: plane.kubeconfig.clone(),
            config: json!({"providers": [], "cert-manager": cert_manager}),
            folder,
        };
        for (name, kind, label, file) in CLUSTER_API {
            let target = clusterctl.folder.join("repository").join(label).join(cluster_api);
            std::fs::create_dir_all(&target).expect("the folder can be written");
            for file in [file, "metadata.yaml"] {
                let source = shared::cluster_api(cluster_api).join(file);
                let bytes = std::fs::read(&source).unwrap_or_else(|error| panic!("{}: {error}", source.display()));
                std::fs::write(target.join(file), bytes).expect("the folder can be written");
            }
            clusterctl.provider(name, kind, &target.join(file).display().to_string());
        }
        clusterctl
    }

    /// Adds a provider.
    pub(crate) fn provider(&mut self, name: &str, kind: &str, url: &str) {
        let provider = json!({"name": name, "type": kind, "url": url});
        self.config["providers"].as_array_mut().expect("we made the list").push(provider);
    }

    /// Runs it with our configuration and kubeconfig.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        let config = self.folder.join("clusterctl.yaml");
        std::fs::write(&config, self.config.to_string()).expect("the folder can be written");
        self.run_with(&config, arguments)
    }

    /// Runs it with a configuration file that is there already.
    pub(crate) fn run_with(&self, config: &Path, arguments: &[&str]) -> Finished {
        let mut all: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        all.extend(["--config".to_owned(), config.display().to_string()]);
        let environment = [
            ("XDG_CONFIG_HOME", self.folder.join("config").display().to_string()),
            ("CLUSTERCTL_DISABLE_VERSIONCHECK", "true".to_owned()),
            ("GOPROXY", "off".to_owned()),
            ("KUBECONFIG", self.kubeconfig.display().to_string()),
            ("EXP_MACHINE_POOL", "true".to_owned()),
            ("CLUSTER_TOPOLOGY", "true".to_owned()),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value)).to_vec();
        Start { name: "clusterctl", program: &self.program, arguments: all, environment, folder: &self.folder }.finish(LIMIT)
    }

    /// Runs it and panics unless it succeeds.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Finished {
        let finished = self.run(arguments);
        finished.assert_success(&format!("clusterctl {}", arguments.join(" ")));
        finished
    }
}
