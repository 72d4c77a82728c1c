//! `size`: what is measured, and of what it is a part.

use std::process::Output;

use serde_json::Value;

use crate::support::{root, windlass};

fn size(arguments: &[&str]) -> Output {
    windlass(root()).arg("size").args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = size(&[arguments, &["-o", "json"]].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// A folder with a file.
fn input(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("c.yaml"), text).unwrap();
    folder
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What `render` prints is what is measured.
#[test]
fn sizes_are_those_of_the_rendered_data() {
    for example in ["examples/worker.yaml", "examples/flatcar.yaml", "examples/windows.yaml"] {
        let data = windlass(root()).args(["render", example]).output().unwrap().stdout;
        let machine = &json(&[example])["machines"][0];
        assert_eq!(machine["raw"], data.len(), "{example}");
        assert_eq!(machine["base64"], data.len().div_ceil(3) * 4, "{example}");
    }
}

#[test]
fn parts_add_up_and_the_largest_comes_first() {
    let report = json(&[
        "examples/control-plane.yaml",
        "examples/worker.yaml",
        "examples/flatcar.yaml",
        "examples/windows.yaml",
        "examples/topology",
    ]);
    let machines = report["machines"].as_array().unwrap();
    assert!(machines.len() > 5, "{}", machines.len());
    for machine in machines {
        let bytes: Vec<u64> = machine["parts"].as_array().unwrap().iter().map(|part| part["bytes"].as_u64().unwrap()).collect();
        assert_eq!(bytes.iter().sum::<u64>(), machine["raw"].as_u64().unwrap(), "{}", machine["name"]);
        assert!(bytes.is_sorted_by(|a, b| a >= b), "{bytes:?}");
    }
}

/// Whoever reads the list knows which line of the config to change.
#[test]
fn a_file_of_the_user_is_named_with_its_field() {
    let report = json(&["examples/worker.yaml"]);
    let part = report["machines"][0]["parts"].as_array().unwrap().iter().find(|part| part["name"] == "/etc/sysctl.d/90-gpu.conf").unwrap();
    assert_eq!((part["kind"].as_str(), part["from"].as_str()), (Some("file"), Some("spec.files[0]")));
}

/// Keys do not compress: base64 keeps three quarters of its bytes. Dummies of one line repeated would vanish.
#[test]
fn certificates_that_stand_in_are_measured_as_real_ones() {
    let machine = &json(&["examples/control-plane.yaml"])["machines"][0];
    assert!(machine["standIns"].as_array().unwrap().contains(&"certificates".into()));
    let (raw, gzip) = (machine["raw"].as_u64().unwrap(), machine["gzip"].as_u64().unwrap());
    assert!(gzip > raw / 2 && gzip < raw, "{gzip} of {raw}");
}

#[test]
fn the_infrastructure_is_that_of_the_input() {
    let names = |kind: &str| -> Vec<String> {
        let text = format!(
            "{{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: {kind}, metadata: {{name: t}}}}\n---\n{}",
            std::fs::read_to_string(root().join("examples/worker.yaml")).unwrap()
        );
        let folder = input(&text);
        let file = folder.path().join("c.yaml");
        let report = json(&[file.to_str().unwrap()]);
        let limits = report["machines"][0]["limits"].as_array().unwrap();
        limits.iter().map(|limit| limit["infrastructure"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("OpenStackMachineTemplate"), ["openstack"]);
    assert_eq!(names("AWSMachineTemplate"), ["aws"]);
    assert!(names("DevMachineTemplate").len() > 10, "all, when none is known");
}

/// Nova counts base64: three quarters of 65,535 bytes are what fits.
#[test]
fn a_limit_after_base64_counts_base64() {
    let report = json(&["examples/worker.yaml", "--infra", "openstack"]);
    let (machine, fit) = (&report["machines"][0], &report["machines"][0]["limits"][0]);
    assert_eq!((fit["bytes"].clone(), fit["limit"].clone()), (machine["base64"].clone(), 65_535.into()));
}

#[test]
fn over_the_budget_is_an_error_and_within_it_is_none() {
    let failing = size(&["examples/control-plane.yaml", "--infra", "hetzner", "--fail-over", "40%"]);
    assert_eq!(failing.status.code(), Some(1));
    let shown = text(&failing);
    assert!(
        shown.contains("error[user-data-over-budget]: example-control-plane init is over 40 % of what hetzner takes"),
        "{shown}"
    );
    assert!(shown.contains("--> examples/control-plane.yaml:"), "{shown}");
    assert_eq!(size(&["examples/control-plane.yaml", "--infra", "hetzner", "--fail-over", "90%"]).status.code(), Some(0));
}

#[test]
fn a_percentage_that_is_none_is_refused() {
    for wrong in ["0%", "101", "x", "-1", "90%%", ""] {
        let output = size(&["examples/worker.yaml", &format!("--fail-over={wrong}")]);
        assert_eq!(output.status.code(), Some(2), "{wrong}");
    }
}

/// The content of a Secret is in the data already: `contentFrom` does not make it smaller.
#[test]
fn what_saves_nothing_is_said() {
    let report = json(&["examples/worker.yaml"]);
    let savings = report["machines"][0]["savings"].as_array().unwrap();
    let saved = |field: &str| savings.iter().find(|saving| saving["field"] == field).map(|saving| saving["bytes"].as_u64().unwrap());
    assert_eq!(saved("files[].contentFrom"), Some(0));
    let machine = &report["machines"][0];
    assert!(saved("compression: gzip").unwrap() > 300 && machine["compressed"] == false);
}

#[test]
fn what_stands_in_is_told() {
    let output = size(&["examples/worker.yaml"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("stand-in: token abcdef.0123456789abcdef (--token)"));
}

#[test]
fn a_config_that_cannot_be_rendered_is_a_finding_and_the_others_are_measured() {
    let worker = std::fs::read_to_string(root().join("examples/worker.yaml")).unwrap();
    let folder = input(&format!("{worker}---\n{}", worker.replace("gpu-worker", "other").replace("files:", "filez:")));
    let file = folder.path().join("c.yaml");
    let output = size(&[file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output);
    assert!(shown.contains("gpu-worker") && shown.contains("error[config-field-unknown]"), "{shown}");
}

/// A template is filled in with `--template`, and told without.
#[test]
fn templates_are_measured_when_they_are_said_to_be() {
    let worker = std::fs::read_to_string(root().join("examples/worker.yaml")).unwrap();
    let folder = input(&worker.replace("name: gpu-worker", "name: \"${CLUSTER_NAME}-gpu-worker\""));
    let file = folder.path().join("c.yaml");
    let output = size(&[file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("error[template-not-declared]"), "{}", text(&output));
    let output = size(&["--template", "--var", "CLUSTER_NAME=prod", file.to_str().unwrap()]);
    assert!(output.status.success() && text(&output).contains("prod-gpu-worker"), "{}", text(&output));
}
