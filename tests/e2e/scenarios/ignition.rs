//! Ignition 3.4 before the validator of Ignition itself.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::process::{Finished, Start};
use crate::harness::runner::Context;
use crate::harness::{components, peers, shared, windlass};

const LIMIT: Duration = Duration::from_secs(60);
const VALIDATE: &str = "ignition-v2.20.0/ignition-validate";

/// The one thing that the validator may warn of: two of the inputs ask for a file system over a
/// whole disk that they also partition.
const ASKED_FOR: &str = "filesystem overwrites partitioned device";

/// Every input of the rendering vectors, as it is where its format is ignition, and all as a
/// WindlassConfig of that format: what we give for version 3.4 is accepted, and without a warning
/// but for what the input asks for.
pub(crate) fn version_3_4_is_accepted(context: &Context) {
    let vectors = shared::vectors("render");
    let index: Value =
        serde_json::from_slice(&std::fs::read(vectors.join("index.json")).unwrap()).unwrap();
    let mut faults = Vec::new();
    let (mut accepted, mut rejected) = ([0, 0], 0);
    for case in index["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case["expected"] != "expected.error.txt")
    {
        let name = case["name"].as_str().unwrap();
        let input = std::fs::read_to_string(vectors.join(name).join("input.yaml")).unwrap();
        let objects = components::documents(name, input);
        let ours = objects.iter().map(as_windlass).collect::<Vec<_>>();
        let as_it_is = (case["format"] == "ignition").then_some(objects);
        for (index, objects) in [as_it_is, Some(ours)].into_iter().enumerate() {
            let Some(objects) = objects else { continue };
            let rendered = render(context.folder(), &objects);
            if rendered.code != Some(0) {
                rejected += 1;
                continue;
            }
            accepted[index] += 1;
            assert!(
                rendered.stdout.contains("\"version\":\"3.4.0\""),
                "{name}: {}",
                rendered.stdout
            );
            faults.extend(
                complaint(context.folder(), &rendered.stdout)
                    .map(|complaint| format!("{name}: {complaint}\n{}", rendered.stdout)),
            );
        }
    }
    println!(
        "  {} as they are, {} as WindlassConfig; {rejected} that cannot be said in Ignition 3.4",
        accepted[0], accepted[1]
    );
    assert!(
        faults.is_empty(),
        "{} are not accepted:\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(
        accepted[0] > 50 && accepted[1] > 150,
        "too few were accepted"
    );
}

/// A KubeadmConfig as a WindlassConfig for Ignition 3.4, and what refers to one refers to that;
/// everything else as it is.
fn as_windlass(object: &Value) -> Value {
    let mut object = object.clone();
    for reference in [
        "/spec/bootstrap/configRef",
        "/spec/template/spec/bootstrap/configRef",
    ] {
        let Some(reference) = object
            .pointer_mut(reference)
            .filter(|reference| reference["kind"] == "KubeadmConfig")
        else {
            continue;
        };
        reference["kind"] = json!("WindlassConfig");
        for (field, written) in [
            ("apiGroup", "bootstrap.windlass.dev"),
            ("apiVersion", "bootstrap.windlass.dev/v1beta1"),
        ] {
            if reference.get(field).is_some() {
                reference[field] = json!(written);
            }
        }
    }
    if object["kind"] != "KubeadmConfig" {
        return object;
    }
    let version = object["apiVersion"]
        .as_str()
        .unwrap_or_default()
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .to_owned();
    object["apiVersion"] = json!(format!("bootstrap.windlass.dev/{version}"));
    object["kind"] = json!("WindlassConfig");
    object["spec"]["format"] = json!("ignition");
    object["spec"]["ignition"] = json!({"version": "3.4"});
    object
}

fn render(folder: &Path, objects: &[Value]) -> Finished {
    let file = folder.join("input.json");
    std::fs::write(
        &file,
        json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string(),
    )
    .unwrap();
    let file = file.display().to_string();
    let token = ["--token", "abcdef.0123456789abcdef"];
    let arguments = [
        "render",
        &file,
        "--no-placeholders",
        "--ignition",
        "3.4",
        "--feature-gates",
        "KubeadmBootstrapFormatIgnition=true",
    ];
    windlass::try_run(folder, &[&arguments[..], &token[..]].concat())
}

/// What the validator says; it ends with success when it only warns.
fn complaint(folder: &Path, config: &str) -> Option<String> {
    let file = folder.join("config.ign");
    std::fs::write(&file, config).unwrap();
    let program = peers::program(VALIDATE);
    let arguments = vec![file.display().to_string()];
    let said = Start {
        name: "ignition-validate",
        program: &program,
        arguments,
        environment: Vec::new(),
        folder,
    }
    .finish(LIMIT);
    let mut lines = said
        .stdout
        .lines()
        .chain(said.stderr.lines())
        .filter(|line| !line.is_empty());
    let is_clean = said.code == Some(0)
        && lines.all(|line| line.starts_with("warning at ") && line.ends_with(ASKED_FOR));
    (!is_clean).then(|| format!("{:?} {}{}", said.code, said.stdout, said.stderr))
}
