//! The configs of real templates.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use windlass_envsubst as envsubst;
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::budget::Budget;

use super::{KUBERNETES, Role, Subject};
use crate::harness::shared;

/// Every config of the corpus once, in each role that it is for. Says what was left out, and why.
pub(crate) fn subjects() -> Vec<Subject> {
    let (mut subjects, mut seen) = (Vec::new(), BTreeSet::new());
    let (mut same, mut older, mut unreadable, mut files) = (0, 0, 0, 0);
    let root = shared::path("corpus");
    for path in shared::yaml_files(&root) {
        let Some(documents) = documents(&path) else {
            unreadable += 1;
            continue;
        };
        let before = subjects.len();
        for document in documents {
            let Some((spec, roles)) = config(&document) else {
                continue;
            };
            let version = match text(&document["apiVersion"]).rsplit('/').next() {
                Some("v1beta1") => "v1beta1",
                Some("v1beta2") => "v1beta2",
                _ => {
                    older += 1;
                    continue;
                }
            };
            if !seen.insert(format!("{version} {roles:?} {spec}")) {
                same += 1;
                continue;
            }
            let title = format!(
                "{} {}",
                path.strip_prefix(&root).unwrap_or(&path).display(),
                text(&document["metadata"]["name"])
            );
            subjects.extend(roles.iter().map(|role| {
                Subject::new(
                    &title,
                    version,
                    spec,
                    *role,
                    KUBERNETES[seen.len() % KUBERNETES.len()],
                )
            }));
        }
        files += usize::from(subjects.len() > before);
    }
    println!("  {} configs of {files} files", subjects.len());
    println!(
        "  left out: {same} that are the same, {older} of older versions, {unreadable} files that are not YAML or no template"
    );
    subjects
}

/// Where the spec of a config is, and whom it is for.
fn config(document: &Value) -> Option<(&Value, &'static [Role])> {
    let spec = &document["spec"];
    let is_of = |group: &str| text(&document["apiVersion"]).starts_with(group);
    let of_control_plane: &[Role] = &[Role::Init, Role::ControlPlaneJoin];
    let (spec, roles): (&Value, &[Role]) = match text(&document["kind"]) {
        "KubeadmConfig" => (spec, &[Role::WorkerJoin, Role::MachinePool]),
        "KubeadmConfigTemplate" => (
            &spec["template"]["spec"],
            &[Role::WorkerJoin, Role::MachinePool],
        ),
        "KubeadmControlPlane" => (&spec["kubeadmConfigSpec"], of_control_plane),
        "KubeadmControlPlaneTemplate" => (
            &spec["template"]["spec"]["kubeadmConfigSpec"],
            of_control_plane,
        ),
        _ => return None,
    };
    let known = is_of("bootstrap.cluster.x-k8s.io/") || is_of("controlplane.cluster.x-k8s.io/");
    (known && spec.is_object()).then_some((spec, roles))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The documents of a file with its variables replaced; `None` when that is not a template, or no
/// YAML.
fn documents(path: &Path) -> Option<Vec<Value>> {
    let read = std::fs::read_to_string(path).ok()?;
    if !read.contains("kind: Kubeadm") {
        return Some(Vec::new());
    }
    let template = envsubst::parse(&read).ok()?;
    let defaults = template.variables();
    let value = |name: &str| {
        if defaults.get(name).is_some_and(Option::is_some) {
            None
        } else {
            Some(value_of(name))
        }
    };
    let substituted = template.substitute(value, &Budget::default()).ok()?;
    let parsed = yaml::parse(
        &Source::new(
            path.display().to_string(),
            substituted.text().ok()?.to_owned(),
        ),
        &Budget::default(),
    );
    (!parsed.report.has_errors()).then(|| {
        parsed
            .documents
            .iter()
            .map(|document| document.root.to_json())
            .collect()
    })
}

/// A plausible value of a variable.
fn value_of(name: &str) -> &'static str {
    match name {
        _ if name.ends_with("VERSION") => "v1.34.1",
        _ if name.ends_with("COUNT") || name.ends_with("PORT") || name.ends_with("SIZE") => "3",
        _ if name.ends_with("B64") => "dmFsdWU=",
        _ => "value",
    }
}
