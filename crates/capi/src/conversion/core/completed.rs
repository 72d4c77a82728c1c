//! Fields that v1beta2 requires and v1beta1 leaves to a webhook, where the value is certain.
//!
//! Source: `Convert_v1beta1_KubeadmControlPlaneTemplateResourceSpec_To_v1beta2_…` in
//! `api/controlplane/kubeadm/v1beta1/conversion.go`, and the default of MachineDeployments in
//! `core/webhooks/machinedeployment.go`, which also those of a topology get.

use serde_json::{Map, Value, json};

use super::relocate::{at, insert, places};
use super::{Conversion, Loss, Lost};
use windlass_source::diag::FieldPath;

/// The only strategy of control planes, and the default of MachineDeployments.
const ROLLING_UPDATE: &str = "RollingUpdate";

/// The place of the rollout strategy of a kind in v1beta2. The webhook of KubeadmControlPlane
/// completes it before the schema is checked.
fn strategy(kind: &str) -> Option<&'static str> {
    match kind {
        "Cluster" => Some("spec.topology.workers.machineDeployments[].rollout.strategy"),
        "ClusterClass" => Some("spec.workers.machineDeployments[].rollout.strategy"),
        "MachineDeployment" => Some("spec.rollout.strategy"),
        "KubeadmControlPlaneTemplate" => Some("spec.template.spec.rollout.strategy"),
        _ => None,
    }
}

/// Whether Go reads a value as absent.
fn is_unset(value: &Value) -> bool {
    value.is_null() || value.as_str() == Some("")
}

impl Conversion {
    /// Writes the type of a rollout strategy that lacks it.
    pub(super) fn complete_strategy(&mut self, kind: &str) {
        let Some(strategy) = strategy(kind) else {
            return;
        };
        for (path, _) in places(&self.value, strategy, strategy) {
            let lacks_type = at(&self.value, &path)
                .and_then(Value::as_object)
                .is_some_and(|fields| fields.get("type").is_none_or(is_unset));
            if lacks_type {
                self.complete(&path.field("type"), ROLLING_UPDATE.into());
            }
        }
    }

    /// Writes the default format into a template that is left without content, which v1beta2
    /// rejects.
    pub(super) fn complete_template(&mut self, config: &str) {
        let template = FieldPath::of_fields("spec.template");
        let is_empty = at(&self.value, &template)
            .and_then(Value::as_object)
            .is_some_and(Map::is_empty);
        if config.starts_with("spec.template") && is_empty {
            let config = FieldPath::of_fields(config);
            insert(&mut self.value, &config, json!({}));
            let place = self.origins.of(&config);
            self.lost
                .retain(|lost| !place.segments().starts_with(lost.place.segments()));
            self.complete(&config.field("format"), "cloud-config".into());
        }
    }

    fn complete(&mut self, path: &FieldPath, value: Value) {
        insert(&mut self.value, path, value);
        let place = self.origins.of(path);
        self.lost.push(Lost {
            place,
            loss: Loss::Default,
        });
    }
}
