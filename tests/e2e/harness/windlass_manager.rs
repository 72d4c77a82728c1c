//! Our manager, as its image would run it: as the service account of the release, in a folder that it cannot write to.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use super::control_plane::ControlPlane;
use super::managers::healthy;
use super::process::{Process, Start};
use super::shared::checkout;
use super::{ports, wait, windlass};

const START_LIMIT: Duration = Duration::from_secs(60);

/// The account that the release gives it.
pub(crate) const SERVICE_ACCOUNT: &str = "windlass-manager";

/// The program `windlass-manager`, built when it is not up to date.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "windlass-manager"]).current_dir(checkout());
        assert!(build.status().expect("cargo started us").success(), "windlass-manager does not build");
        let test = std::env::current_exe().expect("a running program has a path");
        let program = test.parent().and_then(Path::parent).expect("tests are in deps/").join("windlass-manager");
        assert!(program.is_file(), "{} is not there after the build", program.display());
        program
    })
}

/// A manager that runs.
pub(crate) struct Manager {
    pub(crate) process: Process,
    pub(crate) webhook_port: u16,
}

/// Starts it, and waits until it is ready. Its webhooks take the place of those that the harness plays.
pub(crate) fn start(plane: &ControlPlane, name: &str, arguments: &[&str]) -> Manager {
    let (_, kubeconfig) = plane.service_account(windlass::NAMESPACE, SERVICE_ACCOUNT);
    let (webhook_port, health_port, metrics_port) = (ports::free(), ports::free(), ports::free());
    let folder = plane.folder().join(name);
    std::fs::create_dir_all(&folder).expect("the folder of the control plane can be written");
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o555)).expect("it is ours");
    let mut all = vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--webhook-port={webhook_port}"),
        format!("--webhook-cert-dir={}", plane.certificates.folder().display()),
        format!("--health-addr=127.0.0.1:{health_port}"),
        format!("--diagnostics-address=127.0.0.1:{metrics_port}"),
        "--insecure-diagnostics".to_owned(),
        "--v=4".to_owned(),
    ];
    all.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    let environment = [("POD_NAMESPACE", windlass::NAMESPACE), ("POD_NAME", name)];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    // Its log stands beside its folder, which it cannot write to.
    let mut process = Start { name, program: program(), arguments: all, environment, folder: plane.folder() }.spawn_in(&folder);
    wait::until(&format!("the manager {name}"), START_LIMIT, || {
        process.assert_running();
        healthy(health_port)
    });
    windlass::redirect_webhooks(plane, windlass::NAMESPACE, webhook_port);
    Manager { process, webhook_port }
}
