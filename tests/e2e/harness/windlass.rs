//! Our own program and our own provider, as users have them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use windlass_capi::api::names::{GROUP, Kind, Version};
use windlass_capi::contract::manager::{CONVERSION_PATH, admission_path};

use super::control_plane::ControlPlane;
use super::process::{Finished, Start};
use super::redirect;
use super::shared::checkout;
use super::webhook_server::Routes;

const LIMIT: Duration = Duration::from_secs(60);

/// The version that `releases/` has.
pub(crate) const VERSION: &str = "v0.2.0";
/// The namespace that the release has.
pub(crate) const NAMESPACE: &str = "windlass-system";
/// The provider's label, and the folder in a repository.
pub(crate) const LABEL: &str = "bootstrap-windlass";
/// The Service that webhooks and conversions go through.
pub(crate) const WEBHOOK_SERVICE: &str = "windlass-webhook-service";

/// The program `windlass`, built when it is not up to date.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let mut build = Command::new(env!("CARGO"));
        build
            .args([
                "build",
                "--quiet",
                "--package",
                "windlass",
                "--bin",
                "windlass",
                "--features",
                "signatures",
            ])
            .current_dir(checkout());
        assert!(
            build.status().expect("cargo started us").success(),
            "windlass does not build"
        );
        // This test is target/debug/deps/e2e-…
        let test = std::env::current_exe().expect("a running program has a path");
        let program = test
            .parent()
            .and_then(Path::parent)
            .expect("tests are in deps/")
            .join("windlass");
        assert!(
            program.is_file(),
            "{} is not there after the build",
            program.display()
        );
        program
    })
}

/// Runs `windlass` in a folder.
pub(crate) fn try_run(folder: &Path, arguments: &[&str]) -> Finished {
    let all = arguments
        .iter()
        .map(|argument| (*argument).to_owned())
        .collect();
    Start {
        name: "windlass",
        program: program(),
        arguments: all,
        environment: Vec::new(),
        folder,
    }
    .finish(LIMIT)
}

/// Runs `windlass` in a folder and panics unless it succeeds.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Finished {
    let finished = try_run(folder, arguments);
    finished.assert_success(&format!("windlass {}", arguments.join(" ")));
    finished
}

/// Serves what our manager will serve, and points the webhooks and conversions of the installed
/// provider there.
pub(crate) fn serve_webhooks(plane: &ControlPlane, namespace: &str) {
    let port = plane.serve(routes());
    redirect_webhooks(plane, namespace, port);
}

/// Points them to a port once more, after clusterctl has applied the components again.
pub(crate) fn redirect_webhooks(plane: &ControlPlane, namespace: &str, port: u16) {
    let count = redirect::services(
        plane,
        &[((namespace.to_owned(), WEBHOOK_SERVICE.to_owned()), port)].into(),
    );
    assert!(
        count >= 4,
        "two CRDs and two webhooks name our Service, {count} were redirected"
    );
}

/// Undoes that, before clusterctl applies the components again.
pub(crate) fn restore_webhooks(plane: &ControlPlane, namespace: &str, port: u16) {
    let count = redirect::back_to_service(plane, port, namespace, WEBHOOK_SERVICE);
    assert!(
        count >= 4,
        "two CRDs and two webhooks were redirected, {count} were restored"
    );
}

/// The functions of the library by the path under which the release calls them.
pub(crate) fn routes() -> Routes {
    let mut routes: Routes = [(
        CONVERSION_PATH.to_owned(),
        Arc::new(windlass_capi::conversion::review) as _,
    )]
    .into();
    for kind in Kind::ALL {
        let path = admission_path("validate", GROUP, Version::V1Beta2.as_str(), kind.as_str());
        routes.insert(path, Arc::new(windlass_capi::admission::review));
    }
    routes
}
