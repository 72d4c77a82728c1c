//! The calls about real files.

use std::path::{Path, PathBuf};

use super::sides::Call;
use crate::harness::shared;

/// Names of files, or parts of them, that are templates for clusterctl.
const TEMPLATES: [&str; 4] = [
    "cluster-template",
    "clusterclass",
    "cluster-class",
    "cluster-template-development",
];

/// Calls for each template of the corpus.
pub(super) fn templates(folder: &Path) -> Vec<Call> {
    let root = shared::path("corpus");
    let overlays = root.join("rendered-overlays");
    let is_template = |path: &PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        path.starts_with(&overlays) || TEMPLATES.iter().any(|part| name.starts_with(part))
    };
    let found: Vec<PathBuf> = shared::yaml_files(&root)
        .into_iter()
        .filter(is_template)
        .collect();
    println!("  {} templates", found.len());
    found
        .iter()
        .flat_map(|path| of_template(folder, &root, path))
        .collect()
}

fn of_template(folder: &Path, root: &Path, path: &Path) -> Vec<Call> {
    let title = path
        .strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string();
    let file = path.display().to_string();
    let text =
        String::from_utf8_lossy(&std::fs::read(path).expect("the corpus can be read")).into_owned();
    let call = |arguments: &[&str], environment: Vec<(String, String)>| Call {
        title: title.clone(),
        folder: folder.to_path_buf(),
        arguments: arguments
            .iter()
            .map(|argument| (*argument).to_owned())
            .collect(),
        environment,
    };
    let cluster = [
        "generate",
        "cluster",
        "prod",
        "--target-namespace",
        "elsewhere",
        "--from",
        &file,
    ];
    let machines = [
        "--kubernetes-version",
        "v1.34.1",
        "--control-plane-machine-count",
        "3",
        "--worker-machine-count",
        "2",
    ];
    vec![
        call(&["generate", "yaml", "--from", &file], values(&text)),
        call(&["generate", "yaml", "--from", &file], Vec::new()),
        call(
            &["generate", "yaml", "--list-variables", "--from", &file],
            Vec::new(),
        ),
        call(&[&cluster[..], &machines[..]].concat(), values(&text)),
        call(&[&cluster[..], &["--list-variables"]].concat(), Vec::new()),
    ]
}

/// A value for each name that stands behind `${`.
fn values(text: &str) -> Vec<(String, String)> {
    let names = text.split("${").skip(1).map(|rest| {
        rest.trim_start()
            .split(|c: char| c != '_' && !c.is_ascii_alphanumeric())
            .next()
    });
    let mut names: Vec<&str> = names.flatten().filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    names
        .into_iter()
        .map(|name| {
            (
                name.to_owned(),
                format!("{}-1", name.to_lowercase().replace('_', "-")),
            )
        })
        .collect()
}

/// Calls for each components file of the corpus, each laid out as a repository of its own.
pub(super) fn components(folder: &Path) -> Vec<Call> {
    let root = shared::path("corpus");
    let mut calls = Vec::new();
    for path in ["rendered", "published"]
        .iter()
        .flat_map(|below| shared::yaml_files(&root.join(below)))
    {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let kind = [
            "core",
            "bootstrap",
            "control-plane",
            "infrastructure",
            "ipam",
            "runtime-extension",
            "addon",
        ];
        // The published installation of k0smotron is a bootstrap provider under another name.
        let kind = kind
            .into_iter()
            .find(|kind| name.starts_with(&format!("{kind}-components")))
            .or((name == "install.yaml").then_some("bootstrap"));
        let Some(kind) = kind else { continue };
        let case = folder.join(format!("components-{}", calls.len()));
        calls.extend(of_components(
            &case,
            kind,
            &path,
            path.strip_prefix(&root).unwrap_or(&path),
        ));
    }
    calls
}

fn of_components(folder: &Path, kind: &str, path: &Path, title: &Path) -> Vec<Call> {
    let (label, kind_name) = match kind {
        "core" => ("cluster-api".to_owned(), "CoreProvider"),
        "bootstrap" => ("bootstrap-x".to_owned(), "BootstrapProvider"),
        "control-plane" => ("control-plane-x".to_owned(), "ControlPlaneProvider"),
        "infrastructure" => ("infrastructure-x".to_owned(), "InfrastructureProvider"),
        "ipam" => ("ipam-x".to_owned(), "IPAMProvider"),
        "runtime-extension" => ("runtime-extension-x".to_owned(), "RuntimeExtensionProvider"),
        _ => ("addon-x".to_owned(), "AddonProvider"),
    };
    let name = if kind == "core" { "cluster-api" } else { "x" };
    let release = folder.join(&label).join("v1.2.3");
    std::fs::create_dir_all(&release).expect("the folder can be written");
    let text = std::fs::read(path).expect("the corpus can be read");
    std::fs::write(release.join("components.yaml"), &text).expect("the folder can be written");
    let metadata = "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 1, minor: 2, contract: v1beta2}\n";
    std::fs::write(release.join("metadata.yaml"), metadata).expect("the folder can be written");
    let url = release.join("components.yaml").display().to_string();
    let images = serde_json::json!({"all": {"repository": "registry.example.com/mirror"}, &label: {"tag": "v9"}});
    for (file, images) in [
        ("plain.yaml", serde_json::json!({})),
        ("images.yaml", images),
    ] {
        let config = serde_json::json!({"providers": [{"name": name, "type": kind_name, "url": url}], "images": images});
        std::fs::write(folder.join(file), config.to_string()).expect("the folder can be written");
    }
    let environment = values(&String::from_utf8_lossy(&text));
    let variants: [&[&str]; 5] = [
        &["--config", "plain.yaml"],
        &["--config", "images.yaml", "--target-namespace", "elsewhere"],
        &["--config", "plain.yaml", "--raw"],
        &["--config", "plain.yaml", "--describe"],
        &["--config", "images.yaml", "--describe"],
    ];
    let call = |variant: &[&str], environment: Vec<(String, String)>| {
        let flag = format!("--{kind}");
        let provider = format!("{name}:v1.2.3");
        let arguments = [&["generate", "provider", &flag, &provider], variant].concat();
        let arguments = arguments.into_iter().map(str::to_owned).collect();
        Call {
            title: title.display().to_string(),
            folder: folder.to_path_buf(),
            arguments,
            environment,
        }
    };
    let without_values = call(variants[0], Vec::new());
    variants
        .into_iter()
        .map(|variant| call(variant, environment.clone()))
        .chain([without_values])
        .collect()
}
