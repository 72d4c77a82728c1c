//! A site without a network: what `repository bundle` packs is laid out there, and the command that
//! is printed installs all of it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::clusterctl::{CERT_MANAGER_VERSION, Clusterctl};
use crate::harness::runner::Context;
use crate::harness::{shared, windlass};

const SCENARIO: &str = "air_gap::init_with_no_route_but_loopback";
const CLUSTER_API: &str = "v1.14.0";
const MIRROR: &str = "registry.site.example:5000/capi";

/// The whole scenario runs in a network namespace of its own, whose one device is loopback: API
/// server, etcd, kwok, clusterctl and windlass.
pub(crate) fn init_with_no_route_but_loopback(context: &Context) {
    if devices() == ["lo"] {
        return behind_the_gap(context);
    }
    // Built while there is a network.
    windlass::program();
    let test = std::env::current_exe().unwrap();
    // The API server asks for a default route; this one leads to loopback, where nobody answers.
    let enter = "ip link set lo up && ip address add 192.0.2.1/32 dev lo && ip route add default dev lo && exec \"$0\" \"$1\"";
    let mut inside = Command::new("unshare");
    inside
        .args(["--map-root-user", "--net", "--", "sh", "-c", enter])
        .arg(test)
        .arg(SCENARIO);
    let finished = inside.output().expect("unshare of util-linux is there");
    let [stdout, stderr] = [finished.stdout, finished.stderr]
        .map(|stream| String::from_utf8_lossy(&stream).into_owned());
    assert!(
        finished.status.success() && stdout.contains("\n1 passed, 0 failed\n"),
        "{stdout}\n{stderr}"
    );
}

/// The network devices of this process.
fn devices() -> Vec<String> {
    let table = std::fs::read_to_string("/proc/net/dev").expect("Linux lists its devices");
    table
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0.trim().to_owned()))
        .collect()
}

fn behind_the_gap(context: &Context) {
    let plane = context.control_plane();
    let clusterctl = Clusterctl::new("v1.14.2", &plane, CLUSTER_API);
    let folder = clusterctl.folder();
    pack(folder, &clusterctl.cert_manager());

    let added = windlass::run(
        folder,
        &[
            "repository",
            "add",
            "bundle.tar",
            "--to",
            "site",
            "--mirror",
            MIRROR,
        ],
    );
    let words: Vec<&str> = added.stdout.split_whitespace().collect();
    assert_eq!(
        words[..3],
        ["clusterctl", "init", "--config"],
        "{}",
        added.stdout
    );
    assert_no_url_leads_out(&std::fs::read_to_string(folder.join("site/clusterctl.yaml")).unwrap());
    let finished = clusterctl.run_as_given(&[&words[1..], &["--wait-providers"]].concat());
    finished.assert_success(&added.stdout);
    assert!(
        finished.stderr.contains("Installing cert-manager"),
        "{}",
        finished.stderr
    );

    let inventory = plane
        .api
        .list("clusterctl.cluster.x-k8s.io/v1alpha3", "Provider", None);
    let installed: BTreeSet<&str> = inventory
        .iter()
        .filter_map(|provider| provider["metadata"]["name"].as_str())
        .collect();
    let expected = [
        "cluster-api",
        "bootstrap-kubeadm",
        "control-plane-kubeadm",
        "infrastructure-docker",
        windlass::LABEL,
    ];
    assert_eq!(installed, expected.into());
    plane
        .api
        .get(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            None,
            "certificates.cert-manager.io",
        )
        .unwrap();
    assert_images_come_from_the_mirror(folder, &plane.api.list("apps/v1", "Deployment", None));
}

/// Packs Cluster API, cert-manager and our own release.
fn pack(folder: &Path, cert_manager: &Path) {
    let provider = shared::checkout()
        .join("provider.yaml")
        .canonicalize()
        .unwrap()
        .display()
        .to_string();
    windlass::run(
        folder,
        &[
            "release",
            "build",
            windlass::VERSION,
            "--to",
            "out",
            "--provider",
            &provider,
        ],
    );
    let cluster_api = shared::cluster_api(CLUSTER_API).display().to_string();
    let cert_manager = cert_manager.display().to_string();
    for (what, version) in [
        (cluster_api.as_str(), CLUSTER_API),
        (&cert_manager, CERT_MANAGER_VERSION),
        ("out", windlass::VERSION),
    ] {
        windlass::run(
            folder,
            &[
                "repository",
                "add",
                what,
                "--release",
                version,
                "--to",
                "packed",
            ],
        );
    }
    windlass::run(
        folder,
        &[
            "repository",
            "bundle",
            "packed",
            "--write-to",
            "bundle.tar",
            "--deny",
            "warnings",
        ],
    );
}

fn assert_no_url_leads_out(configuration: &str) {
    let configuration: Value = serde_yaml::from_str(configuration).unwrap();
    let urls = configuration["providers"]
        .as_array()
        .unwrap()
        .iter()
        .chain([&configuration["cert-manager"]])
        .map(|entry| &entry["url"]);
    for url in urls {
        assert!(
            url.as_str().is_some_and(|url| url.starts_with('/')),
            "{url}"
        );
    }
}

/// Every Deployment runs images of the mirror, each of which the script of the bundle copies there.
fn assert_images_come_from_the_mirror(folder: &Path, deployments: &[Value]) {
    let unpacked = Command::new("tar")
        .args(["-xOf", "bundle.tar", "mirror.sh"])
        .current_dir(folder)
        .output()
        .unwrap();
    let script = String::from_utf8(unpacked.stdout).unwrap();
    let containers = deployments.iter().flat_map(|deployment| {
        deployment["spec"]["template"]["spec"]["containers"]
            .as_array()
            .unwrap()
    });
    let images: BTreeSet<&str> = containers
        .map(|container| container["image"].as_str().unwrap())
        .collect();
    // The core, both of kubeadm, docker and ours.
    assert_eq!(images.len(), 5, "{images:?}");
    for image in images {
        let name = image
            .strip_prefix(MIRROR)
            .and_then(|rest| rest.strip_prefix('/'))
            .unwrap_or_else(|| panic!("{image}"));
        assert!(
            script.contains(&format!(" '{name}' ")),
            "{name} is not in {script}"
        );
    }
}
