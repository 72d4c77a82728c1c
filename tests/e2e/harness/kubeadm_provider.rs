//! The kubeadm bootstrap provider with leader election, as its release runs it, so that it can
//! stand by.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::control_plane::ControlPlane;
use super::managers::{self, KUBEADM_BOOTSTRAP};
use super::process::Process;
use super::{components, ports, shared, wait};

const START_LIMIT: Duration = Duration::from_secs(60);

/// Where its Lease is, and its name.
pub(crate) const LEASE: [&str; 2] = [
    "capi-kubeadm-bootstrap-system",
    "kubeadm-bootstrap-manager-leader-election-capi",
];

/// Leader election that hands over in seconds.
pub(crate) const QUICK: [&str; 4] = [
    "--leader-elect",
    "--leader-elect-lease-duration=4s",
    "--leader-elect-renew-deadline=3s",
    "--leader-elect-retry-period=500ms",
];

/// Where controller-runtime reads the namespace of the Lease; no flag says it.
const NAMESPACE_FILE: &str = "/var/run/secrets/kubernetes.io/serviceaccount/namespace";

/// The provider, which runs or not. Its webhooks are always called at the same port.
pub(crate) struct KubeadmProvider {
    version: &'static str,
    program: PathBuf,
    ports: [u16; 2],
    process: Option<Process>,
}

impl KubeadmProvider {
    /// Starts it, and points its webhooks and conversions to it.
    pub(crate) fn start(plane: &ControlPlane, version: &'static str) -> Self {
        let program = with_namespace(plane.folder(), &KUBEADM_BOOTSTRAP.program(version));
        let mut provider = KubeadmProvider {
            version,
            program,
            ports: [ports::free(), ports::free()],
            process: None,
        };
        provider.start_again(plane);
        managers::redirect(plane, &[(&KUBEADM_BOOTSTRAP, provider.ports[0])]);
        provider
    }

    /// Starts it once more: it stands by while another holds its Lease. Its webhooks answer then.
    pub(crate) fn start_again(&mut self, plane: &ControlPlane) {
        let process = managers::spawn(
            plane,
            self.version,
            &KUBEADM_BOOTSTRAP,
            &self.program,
            self.ports,
            &QUICK,
        );
        self.process = Some(process);
        wait::until("the kubeadm bootstrap provider", START_LIMIT, || {
            self.assert_running();
            managers::healthy(self.ports[1])
        });
    }

    /// Panics when it has ended.
    pub(crate) fn assert_running(&mut self) {
        self.process
            .as_mut()
            .expect("it was started")
            .assert_running();
    }

    /// Ends it as the kubelet does.
    pub(crate) fn stop(&mut self) {
        self.process.take().expect("it was started").stop();
    }

    /// Ends it where it stands.
    pub(crate) fn kill(&mut self) {
        self.process.take().expect("it was started").kill();
    }
}

/// Waits until a Lease of the provider's name has a holder that is wanted.
pub(crate) fn expect_holder(plane: &ControlPlane, who: &str, is_wanted: impl Fn(&str) -> bool) {
    wait::until(&format!("{who} to hold the Lease"), START_LIMIT, || {
        let lease = plane
            .api
            .get("coordination.k8s.io/v1", "Lease", Some(LEASE[0]), LEASE[1])
            .map_err(|rejection| rejection.to_string())?;
        let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
        if is_wanted(holder) {
            Ok(())
        } else {
            Err(format!("{holder:?} holds it"))
        }
    });
}

/// What the book says that our manager needs besides its release to work on KubeadmConfigs.
pub(crate) fn grant_rights(plane: &ControlPlane) {
    components::apply(
        plane,
        &shared::checkout().join("examples/kubeadm-configs/rbac.yaml"),
    );
}

/// The program, with another path to the file with its namespace, of the same length: processes of
/// this machine have none there.
fn with_namespace(folder: &Path, program: &Path) -> PathBuf {
    const NAME: &str = "kubeadm-provider-namespace";
    std::fs::write(folder.join(NAME), KUBEADM_BOOTSTRAP.namespace)
        .expect("the folder can be written");
    // It runs in that folder.
    let path = format!(
        ".{}{NAME}",
        "/".repeat(NAMESPACE_FILE.len() - 1 - NAME.len())
    );
    let mut bytes =
        std::fs::read(program).unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let found = bytes
        .windows(NAMESPACE_FILE.len())
        .position(|part| part == NAMESPACE_FILE.as_bytes());
    let at = found.unwrap_or_else(|| panic!("{} reads its namespace elsewhere", program.display()));
    bytes[at..at + path.len()].copy_from_slice(path.as_bytes());
    let copy = folder.join("kubeadm-provider");
    std::fs::write(&copy, bytes).expect("the folder can be written");
    std::fs::set_permissions(&copy, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("it is ours");
    copy
}
