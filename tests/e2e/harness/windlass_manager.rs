//! Our manager, as its image would run it: as the service account of the release, in a folder that
//! it cannot write to.

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

/// What it holds while it leads.
pub(crate) const LEASE: &str = "windlass-manager-leader-election";

/// The variable that names another program to run: what is shipped, as it came out of its image.
const SHIPPED: &str = "WINDLASS_MANAGER";

/// The program `windlass-manager`: that which [`SHIPPED`] names, or the one of this checkout, built
/// when it is not up to date.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(shipped) = std::env::var_os(SHIPPED).map(PathBuf::from) {
            assert!(
                shipped.is_absolute() && shipped.is_file(),
                "{SHIPPED}: {} is not a file with an absolute path",
                shipped.display()
            );
            return shipped;
        }
        let mut build = Command::new(env!("CARGO"));
        build
            .args(["build", "--quiet", "--package", "windlass-manager"])
            .current_dir(checkout());
        assert!(
            build.status().expect("cargo started us").success(),
            "windlass-manager does not build"
        );
        let test = std::env::current_exe().expect("a running program has a path");
        let program = test
            .parent()
            .and_then(Path::parent)
            .expect("tests are in deps/")
            .join("windlass-manager");
        assert!(
            program.is_file(),
            "{} is not there after the build",
            program.display()
        );
        program
    })
}

/// A manager that runs.
pub(crate) struct Manager {
    pub(crate) process: Process,
    pub(crate) webhook_port: u16,
}

/// Starts [`program`], and waits until it is ready. Its webhooks take the place of those that the
/// harness plays.
pub(crate) fn start(plane: &ControlPlane, name: &str, arguments: &[&str]) -> Manager {
    start_program(program(), plane, name, arguments)
}

/// The same with the program of another place.
pub(crate) fn start_program(
    program: &Path,
    plane: &ControlPlane,
    name: &str,
    arguments: &[&str],
) -> Manager {
    let (webhook_port, health_port) = (ports::free(), ports::free());
    let own = [
        format!("--webhook-port={webhook_port}"),
        format!(
            "--webhook-cert-dir={}",
            plane.certificates.folder().display()
        ),
        format!("--health-addr=127.0.0.1:{health_port}"),
        format!("--diagnostics-address=127.0.0.1:{}", ports::free()),
        "--insecure-diagnostics".to_owned(),
    ];
    let arguments: Vec<&str> = own
        .iter()
        .map(String::as_str)
        .chain(arguments.iter().copied())
        .collect();
    let mut process = spawn_program(
        program,
        plane,
        name,
        [SERVICE_ACCOUNT, windlass::NAMESPACE],
        &arguments,
    );
    wait::until(&format!("the manager {name}"), START_LIMIT, || {
        process.assert_running();
        healthy(health_port)
    });
    windlass::redirect_webhooks(plane, windlass::NAMESPACE, webhook_port);
    Manager {
        process,
        webhook_port,
    }
}

/// Starts it as a service account of our namespace, with its home, where its Lease is, in that or
/// in another one.
pub(crate) fn spawn(
    plane: &ControlPlane,
    name: &str,
    account: &str,
    home: &str,
    arguments: &[&str],
) -> Process {
    spawn_program(program(), plane, name, [account, home], arguments)
}

/// The same with the program of another place.
pub(crate) fn spawn_program(
    program: &Path,
    plane: &ControlPlane,
    name: &str,
    [account, home]: [&str; 2],
    arguments: &[&str],
) -> Process {
    let (_, kubeconfig) = plane.service_account(windlass::NAMESPACE, account);
    spawn_with(program, plane, &kubeconfig, [name, home], &[], arguments)
}

/// Starts [`program`] with a kubeconfig that may lead through a proxy, and with more in its
/// environment. It serves nothing and leads nobody, unless the arguments say so.
pub(crate) fn spawn_alone(
    plane: &ControlPlane,
    kubeconfig: &Path,
    name: &str,
    environment: &[(&str, &str)],
    arguments: &[&str],
) -> Process {
    let alone = [
        "--webhook-port=0",
        "--health-addr=",
        "--diagnostics-address=",
    ];
    let arguments = [&alone[..], arguments].concat();
    spawn_with(
        program(),
        plane,
        kubeconfig,
        [name, windlass::NAMESPACE],
        environment,
        &arguments,
    )
}

fn spawn_with(
    program: &Path,
    plane: &ControlPlane,
    kubeconfig: &Path,
    [name, home]: [&str; 2],
    environment: &[(&str, &str)],
    arguments: &[&str],
) -> Process {
    let folder = plane.folder().join(name);
    std::fs::create_dir_all(&folder).expect("the folder of the control plane can be written");
    std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o555)).expect("it is ours");
    let own = [
        format!("--kubeconfig={}", kubeconfig.display()),
        "--v=4".to_owned(),
    ];
    let arguments = own
        .into_iter()
        .chain(arguments.iter().map(|argument| (*argument).to_owned()))
        .collect();
    let environment = [&[("POD_NAMESPACE", home), ("POD_NAME", name)], environment].concat();
    let environment = environment
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    // Its log stands beside its folder, which it cannot write to.
    Start {
        name,
        program,
        arguments,
        environment,
        folder: plane.folder(),
    }
    .spawn_in(&folder)
}
