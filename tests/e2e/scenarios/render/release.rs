//! A release of Cluster API's kubeadm bootstrap provider as the program that
//! `tests/peers/bootstrap-data` makes of its modules.

use std::path::{Path, PathBuf};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::harness::process::Start;
use crate::harness::{components, peers};

/// The file of its CustomResourceDefinition.
const DEFINITION: &str = "kubeadmconfigs.yaml";
const LIMIT: Duration = Duration::from_secs(600);

/// A config with the objects around it.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) objects: Vec<Value>,
}

/// What the release made of a case.
pub(super) struct Theirs {
    pub(super) data: Option<(String, Vec<u8>)>,
    pub(super) rejected_by: String,
    pub(super) reasons: Vec<String>,
    pub(super) fields: Vec<String>,
}

/// A release by its version, such as `v1.14.2`.
#[derive(Clone, Copy)]
pub(super) struct Release(pub(super) &'static str);

impl Release {
    fn file(self, name: &str) -> PathBuf {
        peers::program(&format!("bootstrap-data-{}/{name}", self.0))
    }

    /// The schemas of `spec` in the versions that it serves, the newest first.
    pub(super) fn schemas(self) -> Vec<(&'static str, Value)> {
        let file = self.file(DEFINITION);
        let text = std::fs::read_to_string(&file)
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let definition = components::documents(DEFINITION, text).remove(0);
        let of = |name: &str| {
            let versions = definition["spec"]["versions"]
                .as_array()
                .expect("a CRD has versions");
            let version = versions
                .iter()
                .find(|version| version["name"] == name && version["served"] == true)?;
            Some(version["schema"]["openAPIV3Schema"]["properties"]["spec"].clone())
        };
        ["v1beta2", "v1beta1"]
            .into_iter()
            .filter_map(|name| Some((name, of(name)?)))
            .collect()
    }

    /// What it makes of each case.
    pub(super) fn run(self, folder: &Path, cases: &[Case]) -> Vec<Theirs> {
        let lines: Vec<String> = cases
            .iter()
            .map(|case| json!({"name": case.name, "objects": case.objects}).to_string())
            .collect();
        let file = folder.join("cases.jsonl");
        std::fs::write(&file, lines.join("\n")).expect("the folder can be written");
        let finished = Start {
            name: "bootstrap-data",
            program: &self.file("bootstrap-data"),
            arguments: [self.file(DEFINITION), file]
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            environment: Vec::new(),
            folder,
        }
        .finish(LIMIT);
        finished.assert_success("bootstrap-data");
        finished.stdout.lines().map(Theirs::read).collect()
    }
}

impl Theirs {
    fn read(line: &str) -> Theirs {
        let result: Value = serde_json::from_str(line).expect("a result a line");
        let texts = |list: &Value| {
            list.as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let data = result["data"]
            .as_str()
            .map(|data| STANDARD.decode(data).expect("data in base64"));
        Theirs {
            data: data.map(|data| {
                (
                    result["format"].as_str().unwrap_or_default().to_owned(),
                    data,
                )
            }),
            rejected_by: result["rejectedBy"].as_str().unwrap_or_default().to_owned(),
            reasons: texts(&result["reasons"]),
            fields: texts(&result["fields"]),
        }
    }

    /// In which way, for counting.
    pub(super) fn ended(&self) -> String {
        match &self.data {
            Some((format, _)) => format.clone(),
            None => format!("rejected by {}", self.rejected_by),
        }
    }
}
