//! The API server's validation and the webhooks of a release of Cluster API, as the program that
//! `tests/peers/object-admission` makes of its modules.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::process::Start;
use crate::harness::{components, peers};

/// The files of the CRDs, by the kinds in them.
pub(super) const DEFINITIONS: [(&str, &str); 11] = [
    ("Cluster", "clusters.yaml"),
    ("ClusterClass", "clusterclasses.yaml"),
    ("Machine", "machines.yaml"),
    ("MachineDeployment", "machinedeployments.yaml"),
    ("MachineHealthCheck", "machinehealthchecks.yaml"),
    ("MachinePool", "machinepools.yaml"),
    ("MachineSet", "machinesets.yaml"),
    ("KubeadmConfig", "kubeadmconfigs.yaml"),
    ("KubeadmConfigTemplate", "kubeadmconfigtemplates.yaml"),
    ("KubeadmControlPlane", "kubeadmcontrolplanes.yaml"),
    (
        "KubeadmControlPlaneTemplate",
        "kubeadmcontrolplanetemplates.yaml",
    ),
];
const LIMIT: Duration = Duration::from_secs(1200);

/// A release by its version, such as `v1.14.2`.
#[derive(Clone, Copy)]
pub(super) struct Release(pub(super) &'static str);

/// The answer of the release to the creation of an object.
pub(super) struct Answer {
    /// `decoding`, `conversion`, `mutation`, `schema`, `rules` or `webhook`; empty if the object is
    /// accepted.
    pub(super) rejected_by: String,
    pub(super) message: String,
    /// The field and the detail of each reason.
    pub(super) causes: Vec<(String, String)>,
}

impl Answer {
    /// Each reason as a message has it.
    pub(super) fn reasons(&self) -> Vec<String> {
        if self.causes.is_empty() {
            return vec![self.message.clone()];
        }
        let causes = self.causes.iter();
        causes
            .map(|(field, detail)| format!("{field}: {detail}"))
            .collect()
    }
}

impl Release {
    fn file(self, name: &str) -> PathBuf {
        peers::program(&format!("object-admission-{}/{name}", self.0))
    }

    /// The schemas of the versions of a kind.
    pub(super) fn schemas(self, kind: &str) -> Vec<(String, Value)> {
        let (_, name) = DEFINITIONS
            .iter()
            .find(|(known, _)| *known == kind)
            .expect("the kind has a definition");
        let file = self.file(name);
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let definition = components::documents(name, text).remove(0);
        let versions = definition["spec"]["versions"]
            .as_array()
            .expect("a CRD has versions");
        let served = versions.iter().filter(|version| {
            version["served"] == true
                && ["v1beta1", "v1beta2"].contains(&super::text(&version["name"]))
        });
        served
            .map(|version| {
                (
                    super::text(&version["name"]).to_owned(),
                    version["schema"]["openAPIV3Schema"].clone(),
                )
            })
            .collect()
    }

    /// The answers to the creation of objects, beside ClusterClasses that are there already.
    pub(super) fn run(self, folder: &Path, objects: &[Value], classes: &[Value]) -> Vec<Answer> {
        let write = |name: &str, lines: Vec<String>| {
            let file = folder.join(name);
            std::fs::write(&file, lines.join("\n")).expect("the folder can be written");
            file
        };
        let cases = objects.iter().enumerate().map(|(number, object)| {
            json!({"name": number.to_string(), "object": object}).to_string()
        });
        let cases = write("cases.jsonl", cases.collect());
        let classes = write(
            "classes.jsonl",
            classes.iter().map(Value::to_string).collect(),
        );
        let definitions = DEFINITIONS.iter().map(|(_, name)| self.file(name));
        let finished = Start {
            name: "object-admission",
            program: &self.file("object-admission"),
            arguments: [cases, classes]
                .into_iter()
                .chain(definitions)
                .map(|path| path.display().to_string())
                .collect(),
            environment: Vec::new(),
            folder,
        }
        .finish(LIMIT);
        finished.assert_success("object-admission");
        finished.stdout.lines().map(Answer::read).collect()
    }
}

impl Answer {
    fn read(line: &str) -> Answer {
        let result: Value = serde_json::from_str(line).expect("a result a line");
        let causes = result["causes"].as_array().map(Vec::as_slice);
        let owned = |value: &Value| super::text(value).to_owned();
        Answer {
            rejected_by: owned(&result["rejectedBy"]),
            message: owned(&result["message"]),
            causes: causes
                .unwrap_or_default()
                .iter()
                .map(|cause| (owned(&cause["field"]), owned(&cause["detail"])))
                .collect(),
        }
    }
}
