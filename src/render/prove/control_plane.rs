//! What the webhooks of KubeadmControlPlane and KubeadmControlPlaneTemplate refuse when the object
//! is created, the config's own rules apart (`controlplane/kubeadm/webhooks/admission` of Cluster
//! API v1.14).

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::config::ADMISSION_REFUSED;
use crate::api::names::Version;
use crate::contract::{parse_semantic, parse_tolerant};
use crate::diag::{Diagnostic, FieldPath, Remedy, Setting};
use crate::objects::fields;
use crate::render::input::request::Request;
use crate::render::input::target::{ConfigKind, Target};
use crate::schema::{name, validate_annotations, validate_labels};
use crate::text::go::template;
use crate::text::go::value::Value as GoValue;

/// The longest name of a machine; a longer one is cut, and its end is random.
const LONGEST_NAME: usize = 63;
const RANDOM: &str = "abcde";

/// What the webhooks refuse of a control plane; of other kinds nothing.
pub(super) fn refusals(
    target: &Target<'_>,
    version: Version,
    request: &Request,
) -> Vec<Diagnostic> {
    let ConfigKind::ControlPlane { template } = target.kind else {
        return Vec::new();
    };
    let above: &[&str] = if template {
        &["spec", "template", "spec"]
    } else {
        &["spec"]
    };
    let mut judge = Judge {
        target,
        above,
        version,
        request,
        findings: Vec::new(),
    };
    if template {
        judge.metadata(&["spec", "template", "metadata"]);
    } else {
        judge.replicas();
        judge.version();
        judge.infrastructure();
    }
    judge.metadata(&[above, &["machineTemplate", "metadata"]].concat());
    judge.taints();
    judge.rollout(template);
    judge.naming();
    judge.cluster_configuration();
    judge.findings
}

/// The object as the schema meets it: before that the webhook has written the strategy of the
/// rollout into a control plane of v1beta2.
pub(super) fn defaulted<'a>(target: &Target<'a>, version: Version) -> Cow<'a, Value> {
    let object = target.config.value();
    let is_filled =
        target.kind == ConfigKind::ControlPlane { template: false } && version == Version::V1Beta2;
    let rollout = object
        .pointer("/spec/rollout")
        .filter(|rollout| is_filled && rollout.is_object());
    if !rollout
        .is_some_and(|rollout| rollout["strategy"].is_null() || rollout["strategy"].is_object())
    {
        return Cow::Borrowed(object);
    }
    let mut object = object.clone();
    let strategy = &mut object["spec"]["rollout"]["strategy"];
    let missing = [
        ("type", json!("RollingUpdate")),
        ("rollingUpdate", json!({"maxSurge": 1})),
    ];
    for (field, value) in missing
        .into_iter()
        .filter(|(field, _)| strategy[*field].is_null())
        .collect::<Vec<_>>()
    {
        strategy[field] = value;
    }
    if strategy["rollingUpdate"]
        .as_object()
        .is_some_and(Map::is_empty)
    {
        strategy["rollingUpdate"] = json!({"maxSurge": 1});
    }
    Cow::Owned(object)
}

struct Judge<'a> {
    target: &'a Target<'a>,
    /// Where the spec of the control plane is.
    above: &'static [&'static str],
    version: Version,
    request: &'a Request,
    findings: Vec<Diagnostic>,
}

impl Judge<'_> {
    fn field(&self, steps: &[&str]) -> &Value {
        static NULL: Value = Value::Null;
        self.target
            .config
            .field(&[self.above, steps].concat())
            .unwrap_or(&NULL)
    }

    /// The steps to a field that has another place in each version.
    fn steps<'s>(&self, v1beta1: &'s [&'s str], v1beta2: &'s [&'s str]) -> &'s [&'s str] {
        if self.version == Version::V1Beta1 {
            v1beta1
        } else {
            v1beta2
        }
    }

    fn refuse(&mut self, steps: &[&str], detail: &str, help: impl Into<Remedy>) {
        let path = [self.above, steps]
            .concat()
            .iter()
            .fold(FieldPath::root(), |path, step| path.field(*step));
        self.refuse_at(&path, detail, help);
    }

    fn refuse_at(&mut self, path: &FieldPath, detail: &str, help: impl Into<Remedy>) {
        let finding = Diagnostic::of(&ADMISSION_REFUSED, format!("{path}: {detail}"))
            .at(self.target.config.place(path));
        self.findings.push(finding.help(help));
    }

    fn replicas(&mut self) {
        let is_stacked = self
            .field(&[
                "kubeadmConfigSpec",
                "clusterConfiguration",
                "etcd",
                "external",
            ])
            .is_null();
        let help = "write an odd number, such as 3";
        match self.field(&["replicas"]).as_i64() {
            Some(replicas) if replicas <= 0 => {
                self.refuse(&["replicas"], "cannot be less than or equal to 0", help)
            }
            Some(replicas) if replicas % 2 == 0 && is_stacked => {
                self.refuse(
                    &["replicas"],
                    "cannot be an even number when etcd is stacked",
                    help,
                );
            }
            _ => {}
        }
    }

    fn version(&mut self) {
        let Some(version) = self.field(&["version"]).as_str() else {
            return;
        };
        if parse_semantic(version).is_err() {
            self.refuse(
                &["version"],
                "must be a valid semantic version",
                "write three numbers, such as v1.34.1",
            );
        }
    }

    /// In v1beta2 the schema demands all of it.
    fn infrastructure(&mut self) {
        if self.version == Version::V1Beta2 {
            return;
        }
        let reference = self
            .field(&["machineTemplate", "infrastructureRef"])
            .clone();
        if !reference.is_object() {
            return;
        }
        let (group, _) = fields::group_version(&reference);
        let missing = [
            (
                "apiVersion",
                group.is_empty(),
                "write group and version, such as infrastructure.cluster.x-k8s.io/v1beta1",
            ),
            (
                "kind",
                fields::text(&reference, &["kind"]).is_empty(),
                "write the kind of the machine template",
            ),
            (
                "name",
                fields::text(&reference, &["name"]).is_empty(),
                "write the name of the machine template",
            ),
        ];
        for (field, _, help) in missing.into_iter().filter(|(_, is_missing, _)| *is_missing) {
            self.refuse(
                &["machineTemplate", "infrastructureRef", field],
                "cannot be empty",
                help,
            );
        }
    }

    /// Labels and annotations that the machines get.
    fn metadata(&mut self, steps: &[&str]) {
        let at = steps
            .iter()
            .fold(FieldPath::root(), |path, step| path.field(*step));
        let of = |kind: &str| {
            self.target
                .config
                .field(&[steps, &[kind]].concat())
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default()
        };
        let labels = validate_labels(&of("labels"), &at.field("labels"));
        let annotations = validate_annotations(&of("annotations"), &at.field("annotations"));
        for violation in labels.into_iter().chain(annotations) {
            self.refuse_at(
                &violation.path,
                &violation.fault.to_string(),
                "change the key or the value",
            );
        }
    }

    /// A release without taints of machines finds an unknown field.
    fn taints(&mut self) {
        let steps = self.steps(
            &["machineTemplate", "taints"],
            &["machineTemplate", "spec", "taints"],
        );
        let taints = self.field(steps).as_array().cloned().unwrap_or_default();
        if taints.is_empty() || !self.request.profile.machine_taints {
            return;
        }
        if !self.request.feature_gates.machine_taints {
            let gate = Remedy::new("add ")
                .set(Setting::FeatureGates, "MachineTaintPropagation=true")
                .then(" if the provider runs with it");
            self.refuse(steps, "taints are not allowed to be set when the feature gate MachineTaintPropagation is disabled", gate);
        }
        let list = [self.above, steps]
            .concat()
            .iter()
            .fold(FieldPath::root(), |path, step| path.field(*step));
        for (index, taint) in taints.iter().enumerate() {
            let key = fields::text(taint, &["key"]);
            if let Some(reason) = reserved(key) {
                self.refuse_at(
                    &list.index(index).field("key"),
                    reason,
                    "remove the taint, or set it with kubelet's own means",
                );
            }
        }
    }

    fn rollout(&mut self, template: bool) {
        let strategy = self.steps(&["rolloutStrategy"], &["rollout", "strategy"]);
        // The API server or the webhook writes the strategy but into a template of v1beta2, and
        // without one the webhook looks no further.
        if template && self.version == Version::V1Beta2 && self.field(strategy).is_null() {
            return;
        }
        let surge = [strategy, &["rollingUpdate", "maxSurge"]].concat();
        let replicas =
            self.field(&["replicas"])
                .as_i64()
                .unwrap_or(if template { i64::MAX } else { 1 });
        match int_value(self.field(&surge)) {
            Some(0) if replicas < 3 => {
                let detail = "when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3";
                self.refuse(&surge, detail, "write `maxSurge: 1`, or three replicas");
            }
            None | Some(0 | 1) => {}
            Some(_) => self.refuse(&surge, "value must be 1 or 0", "write `maxSurge: 1`"),
        }
        self.certificates();
    }

    fn certificates(&mut self) {
        const OF: [&str; 2] = ["kubeadmConfigSpec", "clusterConfiguration"];
        let days = |name: &str| {
            self.field(&[&OF[..], &[name]].concat())
                .as_i64()
                .filter(|days| *days != 0)
        };
        let Some(validity) = days("certificateValidityPeriodDays") else {
            return;
        };
        // The ten years of an authority where nothing is said are more than the schema allows.
        if let Some(most) = days("caCertificateValidityPeriodDays").filter(|most| validity > *most)
        {
            let detail =
                format!("must be less than or equal to caCertificateValidityPeriodDays ({most})");
            let steps = [&OF[..], &["certificateValidityPeriodDays"]].concat();
            self.refuse(&steps, &detail, format!("write at most {most}"));
        }
        let before = self.steps(
            &["rolloutBefore", "certificatesExpiryDays"],
            &["rollout", "before", "certificatesExpiryDays"],
        );
        if self
            .field(before)
            .as_i64()
            .is_some_and(|before| before != 0 && before >= validity)
        {
            let detail = format!("must be less than certificateValidityPeriodDays ({validity})");
            self.refuse(before, &detail, "write fewer days");
        }
    }

    fn naming(&mut self) {
        let steps = self.steps(
            &["machineNamingStrategy", "template"],
            &["machineNaming", "template"],
        );
        let text = fields::text(self.field(steps), &[]).to_owned();
        if text.is_empty() {
            return;
        }
        let example = "write a template such as `{{ .cluster.name }}-{{ .random }}`";
        if !text.contains("{{ .random }}") {
            self.refuse(steps, "invalid template, {{ .random }} is missing", example);
        }
        let data = json!({"cluster": {"name": "cluster"}, "kubeadmControlPlane": {"name": "kubeadmcontrolplane"}, "random": RANDOM});
        match template::render(
            "template name generator",
            &text,
            &GoValue::of_json(&data),
            &self.request.budget,
        ) {
            Err(fault) => self.refuse(steps, &format!("invalid template: {fault}"), example),
            Ok(name) => {
                let name = String::from_utf8_lossy(&name).into_owned();
                let is_long = name.len() > LONGEST_NAME;
                let name = if is_long {
                    name.chars()
                        .take(LONGEST_NAME - RANDOM.len())
                        .collect::<String>()
                        + RANDOM
                } else {
                    name
                };
                for error in name::subdomain_errors(&name) {
                    let detail = format!(
                        "invalid template, generated names would not be valid Kubernetes object names: {error}"
                    );
                    self.refuse(steps, &detail, example);
                }
            }
        }
    }

    /// What only the control plane asks of a config that is also a KubeadmConfig's.
    fn cluster_configuration(&mut self) {
        const OF: [&str; 2] = ["kubeadmConfigSpec", "clusterConfiguration"];
        let of = |steps: &[&'static str]| [&OF[..], steps].concat();
        for steps in [of(&["dns", "imageTag"]), of(&["etcd", "local", "imageTag"])] {
            let tag = fields::text(self.field(&steps), &[]).to_owned();
            if tag.contains(|char: char| !(char.is_ascii_alphanumeric() || "-_.".contains(char))) {
                self.refuse(
                    &steps,
                    &format!("tag {tag} is invalid"),
                    "write letters, digits, `-`, `_` and `.`",
                );
            } else if let Some(error) = parse_tolerant(&tag.replace('_', "+"))
                .err()
                .filter(|_| steps[2] == "dns" && !tag.is_empty())
            {
                self.refuse(
                    &steps,
                    &format!("failed to parse CoreDNS version: {error}"),
                    "write a version, such as v1.12.1",
                );
            }
        }
        let both = ["local", "external"].map(|kind| {
            self.field(&of(&["etcd", kind]))
                .as_object()
                .is_some_and(|object| !object.is_empty())
        });
        if both == [true, true] {
            self.refuse(
                &of(&["etcd", "local"]),
                "cannot have both external and local etcd",
                "remove one of `local` and `external`",
            );
        }
    }
}

/// Why a taint of machines may not have that key.
fn reserved(key: &str) -> Option<&'static str> {
    match key {
        "node.cluster.x-k8s.io/uninitialized" | "node.cluster.x-k8s.io/outdated-revision" => {
            Some("taint key is not allowed")
        }
        "node.kubernetes.io/out-of-service" => None,
        "node-role.kubernetes.io/master" => {
            Some("taint is deprecated since 1.24 and should not be used anymore")
        }
        _ if key.starts_with("node.kubernetes.io/") => Some(
            "taint key must not have the prefix node.kubernetes.io/, except for node.kubernetes.io/out-of-service",
        ),
        _ if key.starts_with("node.cloudprovider.kubernetes.io/") => {
            Some("taint key must not have the prefix node.cloudprovider.kubernetes.io/")
        }
        _ => None,
    }
}

/// A number, or a text that Go reads as one and else as 0 (`IntOrString.IntValue`).
fn int_value(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_str().map(|text| text.parse().unwrap_or(0)))
}
