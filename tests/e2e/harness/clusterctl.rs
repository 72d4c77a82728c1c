//! The real clusterctl, with a configuration of its own and without network.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::control_plane::ControlPlane;
use super::process::{Finished, Start};
use super::{peers, shared, wait};

const LIMIT: Duration = Duration::from_secs(360);

/// What `clusterctl init` needs of cert-manager to be content: nothing runs, the objects are only
/// kept.
pub(crate) const CERT_MANAGER: &str = include_str!("cert-manager.yaml");
pub(crate) const CERT_MANAGER_VERSION: &str = "v0.0.0-placeholder";

/// One clusterctl, whose configuration is a file that scenarios fill.
pub(crate) struct Clusterctl<'a> {
    plane: &'a ControlPlane,
    program: PathBuf,
    folder: PathBuf,
    config: Value,
}

/// The providers of a release of Cluster API in the corpus: name, type, folder in a repository,
/// file.
const CLUSTER_API: &[(&str, &str, &str, &str)] = &[
    (
        "cluster-api",
        "CoreProvider",
        "cluster-api",
        "core-components.yaml",
    ),
    (
        "kubeadm",
        "BootstrapProvider",
        "bootstrap-kubeadm",
        "bootstrap-components.yaml",
    ),
    (
        "kubeadm",
        "ControlPlaneProvider",
        "control-plane-kubeadm",
        "control-plane-components.yaml",
    ),
    (
        "docker",
        "InfrastructureProvider",
        "infrastructure-docker",
        "infrastructure-components-development.yaml",
    ),
];

impl<'a> Clusterctl<'a> {
    /// The given version of clusterctl against a control plane. It knows Cluster API's own
    /// providers in the given version, windlass, and cert-manager.
    pub(crate) fn new(version: &str, plane: &'a ControlPlane, cluster_api: &str) -> Clusterctl<'a> {
        let folder = plane.folder().join(format!("clusterctl-{version}"));
        std::fs::create_dir_all(folder.join("config")).expect("the folder can be written");
        // clusterctl reads name and version off the path.
        let cert_manager = folder
            .join("repository/cert-manager")
            .join(CERT_MANAGER_VERSION);
        std::fs::create_dir_all(&cert_manager).expect("the folder can be written");
        let cert_manager = cert_manager.join("cert-manager.yaml");
        std::fs::write(&cert_manager, CERT_MANAGER).expect("the folder can be written");
        let cert_manager = json!({"url": format!("file://{}", cert_manager.display()), "version": CERT_MANAGER_VERSION});
        let mut clusterctl = Clusterctl {
            program: peers::program(&format!("clusterctl-{version}/clusterctl")),
            plane,
            config: json!({"providers": [], "cert-manager": cert_manager}),
            folder,
        };
        for (name, kind, label, file) in CLUSTER_API {
            let target = clusterctl
                .folder
                .join("repository")
                .join(label)
                .join(cluster_api);
            std::fs::create_dir_all(&target).expect("the folder can be written");
            for file in [file, "metadata.yaml"] {
                let source = shared::cluster_api(cluster_api).join(file);
                let bytes = std::fs::read(&source)
                    .unwrap_or_else(|error| panic!("{}: {error}", source.display()));
                std::fs::write(target.join(file), bytes).expect("the folder can be written");
            }
            clusterctl.provider(name, kind, &target.join(file).display().to_string());
        }
        clusterctl.add_windlass();
        clusterctl
    }

    /// Adds the provider windlass as the configuration in `releases/` does.
    fn add_windlass(&mut self) {
        let path = shared::checkout().join("releases/clusterctl.yaml");
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let ours: Value = serde_yaml::from_str(&text).expect("releases/clusterctl.yaml is YAML");
        let providers = ours["providers"]
            .as_array()
            .expect("releases/clusterctl.yaml has providers");
        self.config["providers"]
            .as_array_mut()
            .expect("we made the list")
            .extend(providers.iter().cloned());
    }

    /// Sets another entry of the configuration, for example `images`.
    pub(crate) fn set(&mut self, key: &str, value: Value) {
        self.config[key] = value;
    }

    /// Adds a provider.
    pub(crate) fn provider(&mut self, name: &str, kind: &str, url: &str) {
        let provider = json!({"name": name, "type": kind, "url": url});
        self.config["providers"]
            .as_array_mut()
            .expect("we made the list")
            .push(provider);
    }

    /// The manifest that stands for cert-manager's.
    pub(crate) fn cert_manager(&self) -> PathBuf {
        self.folder
            .join("repository/cert-manager")
            .join(CERT_MANAGER_VERSION)
            .join("cert-manager.yaml")
    }

    /// A folder for files that belong to it.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs it with our configuration.
    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        let config = self.folder.join("clusterctl.yaml");
        std::fs::write(&config, self.config.to_string()).expect("the folder can be written");
        self.run_as_given(&[arguments, &["--config", &config.display().to_string()]].concat())
    }

    /// Runs it with exactly these arguments, against our control plane.
    pub(crate) fn run_as_given(&self, arguments: &[&str]) -> Finished {
        self.wait_for_the_test_of_cert_manager_to_end();
        let arguments = arguments
            .iter()
            .map(|argument| (*argument).to_owned())
            .collect();
        let releases = shared::checkout()
            .join("releases")
            .canonicalize()
            .expect("releases/ is in the checkout");
        let environment = [
            (
                "XDG_CONFIG_HOME",
                self.folder.join("config").display().to_string(),
            ),
            ("CLUSTERCTL_DISABLE_VERSIONCHECK", "true".to_owned()),
            ("GOPROXY", "off".to_owned()),
            ("KUBECONFIG", self.plane.kubeconfig.display().to_string()),
            ("WINDLASS_REPOSITORY", releases.display().to_string()),
            ("EXP_MACHINE_POOL", "true".to_owned()),
            ("CLUSTER_TOPOLOGY", "true".to_owned()),
        ];
        let environment = environment
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec();
        Start {
            name: "clusterctl",
            program: &self.program,
            arguments,
            environment,
            folder: &self.folder,
        }
        .finish(LIMIT)
    }

    /// clusterctl makes a namespace to try cert-manager in, and deletes it without waiting. A next
    /// clusterctl that meets it half deleted updates it, and then waits for ten minutes for
    /// objects that it cannot create any more.
    fn wait_for_the_test_of_cert_manager_to_end(&self) {
        wait::until(
            "the namespace cert-manager-test to be gone",
            LIMIT,
            || match self
                .plane
                .api
                .get("v1", "Namespace", None, "cert-manager-test")
            {
                Err(rejection) if rejection.code == 404 => Ok(()),
                other => Err(format!("{other:?}")),
            },
        );
    }

    /// Runs it and panics unless it succeeds.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Finished {
        let finished = self.run(arguments);
        finished.assert_success(&format!("clusterctl {}", arguments.join(" ")));
        finished
    }
}
