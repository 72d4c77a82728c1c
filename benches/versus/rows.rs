//! What is compared.

use std::path::{Path, PathBuf};

use super::clusterctl;
use super::measure::{Job, Step};
use super::sources::{checkout, cluster_api, copy, peer};

/// A comparison: for the program and an empty folder, our job and the peer's.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) prepare: fn(&Path, &Path) -> (Job, Job),
}

/// All comparisons.
pub(crate) const ALL: &[Row] = &[
    Row {
        name: "release",
        about: "release of a bootstrap provider: CRDs from types, RBAC, webhooks, components",
        prepare: release,
    },
    Row {
        name: "components",
        about: "components of the kubeadm bootstrap provider from its files",
        prepare: components,
    },
    Row {
        name: "start",
        about: "start of the process",
        prepare: clusterctl::start,
    },
    Row {
        name: "generate-cluster",
        about: "generate cluster from a small template",
        prepare: clusterctl::generate_cluster,
    },
    Row {
        name: "generate-provider",
        about: "generate provider of 1.4 MB of components",
        prepare: clusterctl::generate_provider,
    },
    Row {
        name: "generate-yaml",
        about: "generate yaml of a template of 1.5 MB with many $$",
        prepare: clusterctl::generate_yaml,
    },
    Row {
        name: "topology",
        about: "what 500 Clusters of a ClusterClass with patches are made of",
        prepare: topology,
    },
];

const CONTROLLER_GEN: &str = "controller-gen-v0.19.0/controller-gen";
const TOPOLOGY_ENGINE: &str = "topology-engine-v1.14.2/topology-engine";
const KUSTOMIZE: &str = "kustomize-v5.8.1/kustomize";

/// Ours from its Rust types; upstream's of the same size as its own Makefile makes it.
fn release(windlass: &Path, folder: &Path) -> (Job, Job) {
    let source = folder.join("cluster-api");
    cluster_api(&source);
    let config = "./bootstrap/kubeadm/config";
    let mut arguments: Vec<String> = [
        "./api/bootstrap/kubeadm/...",
        "./bootstrap/kubeadm",
        "./bootstrap/kubeadm/internal/controllers/...",
    ]
    .into_iter()
    .chain([
        "./bootstrap/kubeadm/internal/webhooks/...",
        "./internal/api/bootstrap/kubeadm/...",
    ])
    .map(|path| format!("paths={path}"))
    .collect();
    arguments.extend(
        [
            "crd:crdVersions=v1",
            "rbac:roleName=manager-role",
            "webhook",
        ]
        .map(str::to_owned),
    );
    arguments.extend(
        [
            ("crd", "crd/bases"),
            ("rbac", "rbac"),
            ("webhook", "webhook"),
        ]
        .map(|(of, to)| format!("output:{of}:dir={config}/{to}")),
    );
    let generate = Step {
        program: peer(CONTROLLER_GEN),
        arguments,
        folder: source.clone(),
        environment: Vec::new(),
    };
    let (build, made) = kustomize(&source);
    let theirs = Job {
        title: "controller-gen, kustomize",
        steps: vec![generate, build],
        made: Some(made),
    };
    let ours = Step {
        program: windlass.to_path_buf(),
        arguments: [
            "release",
            "build",
            "v0.1.0",
            "--to",
            "out",
            "--provider",
            "builtin",
            "-q",
        ]
        .map(str::to_owned)
        .to_vec(),
        folder: folder.to_path_buf(),
        environment: Vec::new(),
    };
    (
        Job {
            title: "windlass release build",
            steps: vec![ours],
            made: Some(folder.join("out")),
        },
        theirs,
    )
}

/// The same input on both sides: what controller-gen wrote, and one `provider.yaml` in place of the
/// kustomizations.
fn components(windlass: &Path, folder: &Path) -> (Job, Job) {
    let source = folder.join("cluster-api");
    cluster_api(&source);
    let (build, made) = kustomize(&source);
    let theirs = Job {
        title: "kustomize build",
        steps: vec![build],
        made: Some(made),
    };
    let provider = folder.join("provider");
    copy(
        &source.join("bootstrap/kubeadm/config"),
        &provider.join("config"),
    );
    let files = [
        (source.join("metadata.yaml"), "metadata.yaml"),
        (
            checkout().join("tests/it/kubeadm/provider.yaml"),
            "provider.yaml",
        ),
    ];
    for (from, name) in files {
        std::fs::write(
            provider.join(name),
            std::fs::read(from).expect("the file can be read"),
        )
        .expect("the folder can be written");
    }
    let ours = Step {
        program: windlass.to_path_buf(),
        arguments: ["release", "build", "v1.12.0", "--to", "out", "-q"]
            .map(str::to_owned)
            .to_vec(),
        folder: provider.clone(),
        environment: Vec::new(),
    };
    (
        Job {
            title: "windlass release build",
            steps: vec![ours],
            made: Some(provider.join("out")),
        },
        theirs,
    )
}

fn kustomize(source: &Path) -> (Step, PathBuf) {
    let made = source.join("bootstrap-components.yaml");
    let arguments = [
        "build",
        "bootstrap/kubeadm/config/default",
        "--output",
        "bootstrap-components.yaml",
    ]
    .map(str::to_owned)
    .to_vec();
    (
        Step {
            program: peer(KUSTOMIZE),
            arguments,
            folder: source.to_path_buf(),
            environment: Vec::new(),
        },
        made,
    )
}

/// The example's class with many Clusters: on both sides one file in and the objects out. The peer
/// says on its error output what its engine needs alone; `cargo bench --bench topology` says it of
/// ours.
fn topology(windlass: &Path, folder: &Path) -> (Job, Job) {
    let example = std::fs::read_to_string(checkout().join("examples/topology/harbour.yaml"))
        .expect("the example can be read");
    let (class, cluster) = example
        .rsplit_once("\n---\n")
        .expect("the Cluster is the last document");
    let clusters: String = (0..500)
        .map(|at| {
            format!(
                "\n---\n{}",
                cluster.replacen("name: pier", &format!("name: pier-{at}"), 1)
            )
        })
        .collect();
    let file = folder.join("clusters.yaml");
    std::fs::write(&file, format!("{class}{clusters}")).expect("the folder can be written");
    let file = file.display().to_string();
    let job = |title, program, arguments: &[&str]| {
        let arguments = arguments
            .iter()
            .map(|argument| (*argument).to_owned())
            .collect();
        Job {
            title,
            steps: vec![Step {
                program,
                arguments,
                folder: folder.to_path_buf(),
                environment: Vec::new(),
            }],
            made: None,
        }
    };
    let theirs = job("the engine of Cluster API", peer(TOPOLOGY_ENGINE), &[&file]);
    (
        job(
            "windlass topology plan",
            windlass.to_path_buf(),
            &["topology", "plan", &file],
        ),
        theirs,
    )
}
