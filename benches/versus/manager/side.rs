//! The two programs that are measured.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use super::options::{Limits, Options};
use super::site::Site;
use crate::harness::managers::{self, KUBEADM_BOOTSTRAP};
use crate::harness::process::Process;
use crate::harness::{ports, wait, windlass_manager};
use crate::sources::checkout;

/// The release of Cluster API that ours stands beside.
pub(super) const CLUSTER_API: &str = "v1.12.0";

const START_LIMIT: Duration = Duration::from_secs(60);

/// Whose manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Windlass,
    Kubeadm,
}

/// A manager that runs.
pub(super) struct Running {
    pub(super) process: Process,
    /// Seconds since 1970.
    pub(super) started: f64,
    /// Where its metrics are.
    pub(super) metrics: u16,
    health: u16,
}

impl Side {
    pub(super) const ALL: [Side; 2] = [Side::Windlass, Side::Kubeadm];

    pub(super) fn title(self) -> &'static str {
        match self {
            Side::Windlass => "windlass-manager",
            Side::Kubeadm => "kubeadm bootstrap provider v1.12.0",
        }
    }

    /// Group and kind of its configs.
    pub(super) fn config(self) -> [&'static str; 2] {
        match self {
            Side::Windlass => ["bootstrap.windlass.dev", "WindlassConfig"],
            Side::Kubeadm => ["bootstrap.cluster.x-k8s.io", "KubeadmConfig"],
        }
    }

    /// Group and kind of the templates of its configs.
    pub(super) fn templates(self) -> [&'static str; 2] {
        match self {
            Side::Windlass => ["bootstrap.windlass.dev", "WindlassConfigTemplate"],
            Side::Kubeadm => ["bootstrap.cluster.x-k8s.io", "KubeadmConfigTemplate"],
        }
    }

    /// Starts it as it is shipped, without leader election.
    pub(super) fn start(self, site: &Site, name: &str, options: &Options) -> Running {
        let started = super::account::now();
        let (webhooks, health, metrics) = (ports::free(), ports::free(), ports::free());
        let process = match self {
            Side::Windlass => {
                let mut arguments = vec![
                    format!("--webhook-port={webhooks}"),
                    format!(
                        "--webhook-cert-dir={}",
                        site.plane.certificates.folder().display()
                    ),
                    format!("--health-addr=127.0.0.1:{health}"),
                    format!("--diagnostics-address=127.0.0.1:{metrics}"),
                    "--insecure-diagnostics".to_owned(),
                    "--v=2".to_owned(),
                ];
                if options.limits == Limits::Raised {
                    arguments.extend(raised("windlassconfig"));
                }
                arguments.extend(options.flags.iter().cloned());
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let home = [
                    windlass_manager::SERVICE_ACCOUNT,
                    crate::harness::windlass::NAMESPACE,
                ];
                windlass_manager::spawn_program(windlass(), &site.plane, name, home, &arguments)
            }
            Side::Kubeadm => {
                let mut arguments = vec!["--leader-elect=false".to_owned(), "-v=2".to_owned()];
                arguments.push(format!("--diagnostics-address=127.0.0.1:{metrics}"));
                arguments.extend(match options.limits {
                    // The harness gives it others.
                    Limits::Default => vec![
                        "--kube-api-qps=20".to_owned(),
                        "--kube-api-burst=30".to_owned(),
                    ],
                    Limits::Raised => raised("kubeadmconfig"),
                });
                let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                let program = KUBEADM_BOOTSTRAP.program(CLUSTER_API);
                managers::spawn(
                    &site.plane,
                    CLUSTER_API,
                    &KUBEADM_BOOTSTRAP,
                    &program,
                    [webhooks, health],
                    &arguments,
                )
            }
        };
        Running {
            process,
            started,
            metrics,
            health,
        }
    }
}

impl Running {
    /// Waits until it says that it is ready.
    pub(super) fn wait_until_ready(&mut self) {
        wait::until("the manager to be ready", START_LIMIT, || {
            self.process.assert_running();
            managers::healthy(self.health)
        });
    }
}

fn raised(kind: &str) -> Vec<String> {
    let limits = ["kube-api", "clustercache-client"];
    let limits = limits.iter().flat_map(|client| {
        [
            format!("--{client}-qps=2000"),
            format!("--{client}-burst=4000"),
        ]
    });
    limits
        .chain([format!("--{kind}-concurrency=100")])
        .collect()
}

/// Ours: what `WINDLASS_MANAGER` names, or else as it is shipped (profile `dist`).
pub(super) fn windlass() -> &'static PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(given) = std::env::var_os("WINDLASS_MANAGER").map(PathBuf::from) {
            assert!(
                given.is_file(),
                "WINDLASS_MANAGER: {} is not a file",
                given.display()
            );
            return given;
        }
        let mut build = Command::new(env!("CARGO"));
        build
            .args([
                "build",
                "--profile",
                "dist",
                "--quiet",
                "--package",
                "windlass-manager",
            ])
            .current_dir(checkout());
        assert!(
            build.status().expect("cargo started us").success(),
            "windlass-manager does not build"
        );
        let versus = std::env::current_exe().expect("a running program has a path");
        versus
            .parent()
            .expect("programs are in a folder")
            .with_file_name("dist")
            .join("windlass-manager")
    })
}
