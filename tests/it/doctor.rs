//! `repository doctor` with releases of real providers.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{METADATA, files_below, run, shared};

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn configuration(folder: &Path, provider_type: &str, label: &str, file: &str) -> String {
    let name = "foo";
    format!(
        "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\nproviders:\n- name: {name}\n  url: {}/{label}/latest/{file}\n  type: {provider_type}\n",
        folder.display()
    )
}

fn doctor(folder: &Path, code: i32) -> Value {
    let run = run(folder, "repository doctor . -o json");
    assert_eq!(run.code, code, "{run:?}");
    run.json()
}

fn rules(report: &Value) -> BTreeSet<&str> {
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["rule"].as_str().unwrap())
        .collect()
}

#[test]
fn accepts_releases_of_windlass() {
    let folder = tempfile::tempdir().unwrap();
    let build = "release build v0.2.0 --provider builtin --to out";
    run(folder.path(), build).ok();
    run(folder.path(), "repository add out --to repository").ok();
    let report = doctor(&folder.path().join("repository"), 0);
    assert_eq!(report["findings"], serde_json::json!([]));
    assert_eq!(report["providers"][0]["picked"], "v0.2.0");
}

/// What clusterctl installs every day: the releases of the corpus are not said to be rejected.
#[test]
fn published_releases_are_not_rejected() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let release = |file: &str, label: &str, provider_type: &str| {
        let folder = tempfile::tempdir().unwrap();
        let published = corpus.join("published/kubernetes-sigs+cluster-api@v1.12.0");
        let text = fs::read_to_string(published.join(file)).unwrap();
        let metadata = fs::read_to_string(published.join("metadata.yaml")).unwrap();
        let name = if label == "cluster-api" {
            label
        } else {
            "kubeadm"
        };
        let config = configuration(folder.path(), provider_type, label, file)
            .replace("name: foo", &format!("name: {name}"));
        write(folder.path(), "clusterctl.yaml", &config);
        write(folder.path(), &format!("{label}/v1.12.0/{file}"), &text);
        write(
            folder.path(),
            &format!("{label}/v1.12.0/metadata.yaml"),
            &metadata,
        );
        let report = doctor(folder.path(), 0);
        rules(&report)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        release("core-components.yaml", "cluster-api", "CoreProvider"),
        ["components-role-left-behind"]
    );
    let found = release(
        "bootstrap-components.yaml",
        "bootstrap-kubeadm",
        "BootstrapProvider",
    );
    assert_eq!(
        found,
        ["components-role-left-behind", "crd-text-substituted"]
    );
}

/// The components of real providers without their CRDs, as kustomize built them; `keep` says which
/// of the other objects stay.
fn without_definitions(corpus: &Path, keep: &dyn Fn(&str) -> bool) -> Vec<String> {
    let files = files_below(&corpus.join("rendered")).into_iter();
    let components = files.filter(|file| {
        file.file_name()
            .is_some_and(|name| name.to_string_lossy().contains("components"))
    });
    let kept = |file: std::path::PathBuf| {
        let text = fs::read_to_string(file).unwrap();
        let is_kept = |document: &&str| {
            !document.contains("kind: CustomResourceDefinition\n") && keep(document)
        };
        text.split("\n---\n")
            .filter(is_kept)
            .collect::<Vec<_>>()
            .join("\n---\n")
    };
    components
        .map(kept)
        .filter(|text| text.contains("kind: Deployment\n"))
        .collect()
}

/// What the pods of these components need and lack: one `doctor` over a repository of all of them.
fn needs(components: &[String]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let mut config = "CLUSTERCTL_DISABLE_VERSIONCHECK: \"true\"\nproviders:\n".to_owned();
    for (at, text) in components.iter().enumerate() {
        let release = format!("infrastructure-p{at}/v0.1.0");
        write(
            folder.path(),
            &format!("{release}/infrastructure-components.yaml"),
            text,
        );
        write(folder.path(), &format!("{release}/metadata.yaml"), METADATA);
        let url = format!(
            "{}/{release}/infrastructure-components.yaml",
            folder.path().display()
        );
        config.push_str(&format!(
            "- {{name: p{at}, type: InfrastructureProvider, url: {url}}}\n"
        ));
    }
    write(folder.path(), "clusterctl.yaml", &config);
    let report = run(folder.path(), "repository doctor . -o json").json();
    let findings = report["findings"].as_array().unwrap().iter();
    let missing = findings.filter(|finding| finding["rule"] == "components-pod-need-missing");
    missing
        .map(|finding| finding["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn pods_of_real_providers_lack_nothing() {
    let Some(corpus) = shared("corpus") else {
        return;
    };
    let all = without_definitions(&corpus, &|_| true);
    assert!(all.len() > 25, "{}", all.len());
    assert_eq!(needs(&all), Vec::<String>::new());
    // Each of them serves webhooks or runs as an account of its own: nothing is found only because
    // nothing is looked at.
    let bare = without_definitions(&corpus, &|document| {
        !["Certificate", "ServiceAccount"]
            .iter()
            .any(|kind| document.contains(&format!("kind: {kind}\nmetadata:")))
    });
    let missing = needs(&bare);
    let of_kind = |kind: &str| {
        missing
            .iter()
            .filter(|message| message.contains(&format!(" needs {kind} ")))
            .count()
    };
    assert!(
        of_kind("Secret") >= 20 && of_kind("ServiceAccount") >= 20,
        "{missing:#?}"
    );
}
