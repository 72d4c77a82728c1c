//! `windlass render`: its JSON report and the files that it writes. Messages are in
//! `tests/cases/render`.

use serde_json::Value;

use super::{WORKER, render_text};

#[test]
fn prints_json_of_findings_too() {
    let (code, text, _) = render_text(WORKER, &["render", "-", "-o", "json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &report["kind"]), (0, &Value::from("Render")));
    assert_eq!(
        report["machines"][0]["plan"]["files"][0]["from"],
        "spec.files[0]"
    );
    let (code, text, _) = render_text(
        &WORKER.replace("content", "contnt"),
        &["render", "-", "-o", "json"],
    );
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &report["machines"][0]["data"]), (1, &Value::Null));
    assert_eq!(report["findings"][0]["rule"], "config-field-unknown");
}

/// Bootstrap data has tokens and keys.
#[cfg(unix)]
#[test]
fn writes_data_readable_by_its_owner_alone() {
    let template = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/templates/cluster-template-ignition.yaml"
    );
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("nodes");
    let variables = [
        "CLUSTER_NAME=c",
        "NAMESPACE=n",
        "KUBERNETES_VERSION=v1.34.0",
        "CONTROL_PLANE_MACHINE_COUNT=1",
        "WORKER_MACHINE_COUNT=1",
    ];
    let mut arguments = vec![
        "render",
        template,
        "--template",
        "--all",
        "--to",
        to.to_str().unwrap(),
    ];
    arguments.extend(variables.iter().flat_map(|variable| ["--var", variable]));
    let (code, _, talk) = render_text("", &arguments);
    assert_eq!(code, 0, "{talk}");
    let names: Vec<_> = std::fs::read_dir(&to)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in &names {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            std::fs::metadata(to.join(name))
                .unwrap()
                .permissions()
                .mode()
                & 0o777,
            0o600,
            "{name}"
        );
    }
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn reports_written_files() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("nodes").to_str().unwrap().to_owned();
    let (code, text, talk) = render_text(
        WORKER,
        &[
            "render",
            "-",
            "-o",
            "json",
            "--show-secrets",
            "--all",
            "--to",
            &to,
        ],
    );
    assert_eq!(code, 0, "{talk}");
    let report: Value = serde_json::from_str(&text).unwrap();
    let machine = &report["machines"][0];
    let path = machine["path"].as_str().unwrap();
    assert!(path.starts_with(&format!("{to}/")), "{path}");
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        machine["data"].as_str().unwrap()
    );

    let other = folder.path().join("none").to_str().unwrap().to_owned();
    let broken = WORKER.replace("content", "contnt");
    let (code, text, _) = render_text(
        &broken,
        &["render", "-", "-o", "json", "--all", "--to", &other],
    );
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &report["machines"][0]["path"]), (1, &Value::Null));
    assert!(!std::path::Path::new(&other).exists());
}

#[test]
fn renders_examples_without_findings() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let files: Vec<_> = files
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    assert!(files.len() >= 4, "{files:?}");
    for file in files {
        let (code, report, talk) = render_text(
            "",
            &[
                "render",
                "--all",
                file.to_str().unwrap(),
                "-o",
                "json",
                "--deny",
                "warnings",
            ],
        );
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(
            (code, &report["findings"]),
            (0, &serde_json::json!([])),
            "{}: {talk}",
            file.display()
        );
    }
}
