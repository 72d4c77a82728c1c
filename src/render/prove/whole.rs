//! The rest of an object: what stands beside the spec of the config. Nothing of it reaches the node, and a fault in it keeps the API server
//! from taking the object at all.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::config::{ADMISSION_REFUSED, WORDING};
use crate::api::names::{Kind, Version};
use crate::api::openapi;
use crate::contract::parse_semantic;
use crate::diag::{Diagnostic, FieldPath, Remedy, Segment};
use crate::render::input::outcome::Notes;
use crate::render::input::target::{ConfigKind, Target};
use crate::schema::Schema;
use crate::schema::document::{self, Part};

/// Judges what stands beside the spec of the config; nothing, when the version is not known.
pub(crate) fn check(target: &Target<'_>, notes: &mut Notes) -> Option<()> {
    let version = target.version()?;
    let config = target.config;
    let at = |path: &FieldPath, part| if part == Part::Key { config.key_place(path) } else { config.place(path) };
    let found = document::check_at(config.value(), schema(target.kind, version), &WORDING, &at).into_findings();
    let spec_path = target.spec_path();
    let beside: Vec<_> = found.into_iter().filter(|finding| !finding.place.path.segments().starts_with(spec_path.segments())).collect();
    let is_right = beside.is_empty();
    for mut finding in beside {
        if finding.rule == WORDING.unknown && version == Version::V1Beta2 {
            finding.help = renamed(&finding.place.path).map(Remedy::from).or(finding.help);
        }
        notes.report.push(finding);
    }
    let findings = if target.kind == (ConfigKind::ControlPlane { template: false }) { control_plane(target) } else { Vec::new() };
    let is_admitted = findings.is_empty();
    findings.into_iter().for_each(|finding| notes.report.push(finding));
    (is_right && is_admitted).then_some(())
}

/// What to write for a field of a KubeadmControlPlane of v1beta1 that has another name in v1beta2.
fn renamed(path: &FieldPath) -> Option<String> {
    const RENAMED: [(&str, &str); 5] = [
        ("rolloutStrategy", "rollout: {strategy: …}"),
        ("rolloutBefore", "rollout: {before: …}"),
        ("rolloutAfter", "rollout: {after: …}"),
        ("remediationStrategy", "remediation: …"),
        ("machineNamingStrategy", "machineNaming: …"),
    ];
    let Some(Segment::Field(name)) = path.segments().last() else { return None };
    RENAMED.iter().find(|(old, _)| old == name).map(|(_, new)| format!("write `{new}`, with what stands there"))
}

/// What the webhook of KubeadmControlPlane says of version and replicas (`controlplane/kubeadm/webhooks/admission` of Cluster API v1.14).
fn control_plane(target: &Target<'_>) -> Vec<Diagnostic> {
    let config = target.config;
    let spec = &config.value()["spec"];
    let finding = |field: &str, detail: &str, help: &str| {
        let path = FieldPath::root().field("spec").field(field);
        Diagnostic::of(&ADMISSION_REFUSED, format!("{path}: {detail}")).at(config.place(&path)).help(help)
    };
    let mut findings = Vec::new();
    if spec["version"].as_str().is_some_and(|version| parse_semantic(version).is_err()) {
        findings.push(finding("version", "must be a valid semantic version", "write three numbers, such as v1.34.1"));
    }
    let is_stacked = spec.pointer("/kubeadmConfigSpec/clusterConfiguration/etcd/external").is_none();
    match spec["replicas"].as_i64() {
        Some(0) => findings.push(finding("replicas", "cannot be 0", "write an odd number, such as 3")),
        Some(replicas) if replicas % 2 == 0 && is_stacked => {
            findings.push(finding("replicas", "cannot be an even number when etcd is stacked", "write an odd number, such as 3"));
        }
        _ => {}
    }
    findings
}

/// The schema of an object; within the spec of the config it need not be that of the release. Each is compiled once.
fn schema(kind: ConfigKind, version: Version) -> &'static Schema {
    static SCHEMAS: [OnceLock<Schema>; 12] = [const { OnceLock::new() }; 12];
    let row = match kind {
        ConfigKind::Kubeadm(Kind::Config) => 0,
        ConfigKind::Kubeadm(Kind::Template) => 1,
        ConfigKind::Windlass(Kind::Config) => 2,
        ConfigKind::Windlass(Kind::Template) => 3,
        ConfigKind::ControlPlane { template: false } => 4,
        ConfigKind::ControlPlane { template: true } => 5,
    };
    SCHEMAS[row * 2 + usize::from(version == Version::V1Beta2)].get_or_init(|| {
        document::compiled(&match kind {
            ConfigKind::Kubeadm(kind) => openapi::kubeadm_schema(kind, version),
            ConfigKind::Windlass(kind) => openapi::schema(kind, version),
            ConfigKind::ControlPlane { template } => control_plane_schema(template, version),
        })
    })
}

/// The schema of KubeadmControlPlane or its template, as deep as its own fields are named here.
fn control_plane_schema(template: bool, version: Version) -> Value {
    let open = || json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut spec = json!({"type": "object", "properties": {"kubeadmConfigSpec": open(), "machineTemplate": open()}, "required": []});
    let objects: &[&str] = match version {
        Version::V1Beta1 => &["rolloutBefore", "rolloutStrategy", "remediationStrategy", "machineNamingStrategy"],
        Version::V1Beta2 => &["rollout", "remediation", "machineNaming"],
    };
    for name in objects {
        spec["properties"][name] = open();
    }
    if version == Version::V1Beta1 {
        spec["properties"]["rolloutAfter"] = json!({"type": "string", "format": "date-time"});
        spec["required"] = json!(["kubeadmConfigSpec"]);
    }
    if template {
        spec = json!({"type": "object", "properties": {"template": {"type": "object", "properties": {"metadata": open(), "spec": spec}, "required": ["spec"]}}, "required": ["template"]});
    } else {
        spec["properties"]["replicas"] = json!({"type": "integer", "format": "int32"});
        spec["properties"]["version"] = json!({"type": "string", "minLength": 1});
        let required: Vec<&str> =
            ["machineTemplate", "version"].into_iter().chain((version == Version::V1Beta1).then_some("kubeadmConfigSpec")).collect();
        spec["required"] = json!(required);
    }
    let text = json!({"type": "string"});
    json!({"type": "object", "properties": {"apiVersion": text, "kind": text, "metadata": {"type": "object"}, "spec": spec, "status": open()}})
}
