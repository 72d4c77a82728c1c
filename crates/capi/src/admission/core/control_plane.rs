//! The validating webhooks of the kubeadm control plane:
//! `controlplane/kubeadm/webhooks/admission/kubeadmcontrolplane.go` and
//! `kubeadmcontrolplanetemplate.go` of Cluster API v1.14. The rules of the config within are those
//! of [`crate::admission::Judge`].

use serde_json::Value;

use super::{Release, defaulted, names, taints, text};
use crate::contract::parse_tolerant;
use windlass_schema::{Violation, validate_annotations, validate_labels};
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;

/// The days for which an authority is valid if the control plane does not say it.
const DEFAULT_CA_DAYS: i64 = 3650;

/// Checks a control plane, or its template, of v1beta2 that its schema accepts.
pub fn violations(object: &Value, release: &Release, budget: &Budget) -> Vec<Violation> {
    let is_template = text(object, "/kind") == "KubeadmControlPlaneTemplate";
    let object = &defaulted(object);
    let (at, spec) = match is_template {
        true => ("spec.template.spec", &object["spec"]["template"]["spec"]),
        false => ("spec", &object["spec"]),
    };
    let mut check = Check {
        spec,
        at: FieldPath::of_fields(at),
        release,
        budget,
        violations: Vec::new(),
    };
    if is_template {
        check.rollout(None);
        check.naming();
        check.taints();
        check.machine_metadata();
        check.cluster_configuration();
        let metadata = &object["spec"]["template"]["metadata"];
        check.metadata(metadata, &FieldPath::of_fields("spec.template.metadata"));
    } else {
        check.replicas();
        check.infrastructure();
        check.taints();
        check.machine_metadata();
        check.version();
        check.rollout(spec["replicas"].as_i64());
        check.naming();
        check.cluster_configuration();
    }
    check.violations
}

struct Check<'a> {
    spec: &'a Value,
    /// Where the spec of the control plane is.
    at: FieldPath,
    release: &'a Release,
    budget: &'a Budget,
    violations: Vec<Violation>,
}

impl<'a> Check<'a> {
    fn path(&self, dotted: &str) -> FieldPath {
        self.at.join(&FieldPath::of_fields(dotted))
    }

    fn forbid(&mut self, dotted: &str, detail: &str) {
        self.violations
            .push(Violation::forbidden(self.path(dotted), detail));
    }

    fn reject(&mut self, dotted: &str, value: &Value, detail: &str) {
        self.violations
            .push(Violation::invalid(self.path(dotted), value, detail));
    }

    fn demand(&mut self, dotted: &str, detail: &str) {
        self.violations
            .push(Violation::required(self.path(dotted), detail));
    }

    fn cluster(&self) -> &'a Value {
        &self.spec["kubeadmConfigSpec"]["clusterConfiguration"]
    }

    fn replicas(&mut self) {
        let replicas = self.spec["replicas"].as_i64().unwrap_or(1);
        if replicas <= 0 {
            self.forbid("replicas", "cannot be less than or equal to 0");
        }
        if replicas % 2 == 0 && !is_defined(&self.cluster()["etcd"]["external"]) {
            self.forbid("replicas", "cannot be an even number when etcd is stacked");
        }
    }

    /// The schema of v1beta2 requires all of it; that of v1beta1 does not. The webhook's field names
    /// are not those of the API.
    fn infrastructure(&mut self) {
        let reference = &self.spec["machineTemplate"]["spec"]["infrastructureRef"];
        // The schemas of both versions require the reference itself.
        if !reference.is_object() {
            return;
        }
        for name in ["apiGroup", "kind", "name"] {
            if reference[name].as_str().unwrap_or_default().is_empty() {
                let path = self
                    .path("machineTemplate.spec.infrastructureRef")
                    .field(name);
                let field = self.path("machineTemplate.infrastructure").field(name);
                let violation = Violation::invalid(path, &"".into(), "cannot be empty");
                self.violations.push(violation.spelt(field.to_string()));
            }
        }
    }

    fn taints(&mut self) {
        if self.release.checks_topology_taints {
            let taints = &self.spec["machineTemplate"]["spec"]["taints"];
            let path = self.path("machineTemplate.spec.taints");
            self.violations
                .extend(taints::violations(taints, &path, self.release));
        }
    }

    fn machine_metadata(&mut self) {
        let path = self.path("machineTemplate.metadata");
        let metadata = &self.spec["machineTemplate"]["metadata"];
        self.metadata(metadata, &path);
    }

    /// `ObjectMeta.Validate` of `api/core/v1beta2`.
    fn metadata(&mut self, metadata: &Value, path: &FieldPath) {
        let entries = |name: &str| metadata[name].as_object().cloned().unwrap_or_default();
        self.violations
            .extend(validate_labels(&entries("labels"), &path.field("labels")));
        let annotations = entries("annotations");
        self.violations.extend(validate_annotations(
            &annotations,
            &path.field("annotations"),
        ));
    }

    fn version(&mut self) {
        let version = &self.spec["version"];
        let text = version.as_str().unwrap_or_default();
        for fault in self
            .release
            .versions
            .faults(text, "must be a valid semantic version")
        {
            self.reject("version", version, fault);
        }
    }

    /// `validateRolloutAndCertValidityFields`, which looks no further without a strategy.
    fn rollout(&mut self, replicas: Option<i64>) {
        let strategy = &self.spec["rollout"]["strategy"];
        if !is_defined(strategy) {
            return;
        }
        // The schema of v1beta2 requires the type, and conversion from v1beta1 fills it in.
        let kind = strategy["type"].as_str();
        if kind.is_some_and(|kind| kind != "RollingUpdate") {
            self.demand("rollout.strategy.type", "only RollingUpdate is supported");
        }
        let surge = int_value(&strategy["rollingUpdate"]["maxSurge"]);
        if surge == Some(0) && replicas.is_some_and(|replicas| replicas < 3) {
            let detail = "when KubeadmControlPlane is configured to scale-in, replica count needs to be at least 3";
            self.demand("rollout.strategy.rollingUpdate", detail);
        }
        if surge.is_some_and(|surge| surge != 0 && surge != 1) {
            self.demand(
                "rollout.strategy.rollingUpdate.maxSurge",
                "value must be 1 or 0",
            );
        }
        self.certificates();
    }

    fn certificates(&mut self) {
        const VALIDITY: &str =
            "kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays";
        let days = |value: &Value| value.as_i64().filter(|days| *days != 0);
        let Some(validity) = days(&self.cluster()["certificateValidityPeriodDays"]) else {
            return;
        };
        let shown = Value::from(validity);
        match days(&self.cluster()["caCertificateValidityPeriodDays"]) {
            Some(most) if validity > most => {
                let detail = format!(
                    "must be less than or equal to caCertificateValidityPeriodDays ({most})"
                );
                self.reject(VALIDITY, &shown, &detail);
            }
            None if validity > DEFAULT_CA_DAYS => {
                let detail = format!(
                    "must be less than or equal to the default value of caCertificateValidityPeriodDays ({DEFAULT_CA_DAYS})"
                );
                self.reject(VALIDITY, &shown, &detail);
            }
            _ => {}
        }
        let before = days(&self.spec["rollout"]["before"]["certificatesExpiryDays"]);
        if let Some(before) = before.filter(|before| *before >= validity) {
            let detail = format!("must be less than certificateValidityPeriodDays ({validity})");
            self.reject(
                "rollout.before.certificatesExpiryDays",
                &before.into(),
                &detail,
            );
        }
    }

    fn naming(&mut self) {
        let template = &self.spec["machineNaming"]["template"];
        let text = template.as_str().unwrap_or_default();
        let owner = ("kubeadmControlPlane", "kubeadmcontrolplane");
        for fault in names::machine_name_faults(text, owner, self.budget) {
            self.reject("machineNaming.template", template, &fault);
        }
    }

    /// `validateClusterConfiguration`.
    fn cluster_configuration(&mut self) {
        const OF: &str = "kubeadmConfigSpec.clusterConfiguration";
        let cluster = self.cluster();
        let (local, external) = (&cluster["etcd"]["local"], &cluster["etcd"]["external"]);
        let (dns, etcd) = (&cluster["dns"]["imageTag"], &local["imageTag"]);
        let tags = [dns, etcd].map(|tag| tag.as_str().unwrap_or_default());
        let both = is_defined(local) && is_defined(external);
        if !is_tag(tags[0]) {
            self.forbid(
                &format!("{OF}.dns.imageTag"),
                &format!("tag {} is invalid", tags[0]),
            );
        }
        if !tags[0].is_empty()
            && let Err(error) = parse_tolerant(&tags[0].replace('_', "+"))
        {
            let path = self.path(&format!("{OF}.dns.imageTag"));
            let detail = format!("failed to parse CoreDNS version: {error}");
            self.violations
                .push(Violation::invalid(path, dns, &detail).spelt("dns.imageTag"));
        }
        if !is_tag(tags[1]) {
            self.forbid(
                &format!("{OF}.etcd.local.imageTag"),
                &format!("tag {} is invalid", tags[1]),
            );
        }
        if both {
            self.forbid(
                &format!("{OF}.etcd.local"),
                "cannot have both external and local etcd",
            );
        }
    }
}

/// `ImageTagIsValid` of `util/container`.
fn is_tag(tag: &str) -> bool {
    tag.chars()
        .all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char))
}

/// Whether a struct of Go differs from its zero value.
fn is_defined(value: &Value) -> bool {
    crate::admission::is_defined(Some(value))
}

/// A number, or a string that Go reads as one and else as 0 (`IntOrString.IntValue`).
fn int_value(value: &Value) -> Option<i64> {
    value
        .as_i64()
        .or_else(|| value.as_str().map(|text| text.parse().unwrap_or(0)))
}
