//! What Ignition cannot do, and what belongs to it alone.

use serde_json::Value;

use super::wording::REDACTED;
use super::{Judge, Rules, ignition_version, items, text};
use windlass_schema::{Fault, Violation, ViolationKind};
use windlass_source::diag::FieldPath;

const NOT_WITH_IGNITION: &str = "not supported when spec.format is set to: \"ignition\"";

/// The feature gate without which upstream rejects Ignition.
const GATE: &str = "KubeadmBootstrapFormatIgnition";

/// The versions of Ignition configs that a reader of 3.4 merges.
const MERGEABLE: [&str; 5] = ["3.0.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0"];

impl Judge {
    pub(super) fn ignition(&self, spec: &Value, out: &mut Vec<Violation>) {
        let is_ignition = text(spec, "format") == "ignition";
        let has_section = self.is_set(spec.get("ignition"));
        if self.is_windlass() {
            out.extend(self.additional_config(spec));
        }
        if let Rules::Kubeadm {
            ignition_gate: false,
        }
        | Rules::KubeadmV1Beta1 {
            ignition_gate: false,
        }
        | Rules::KubeadmControlPlane {
            ignition_gate: false,
        } = self.rules
        {
            let set = [("format", is_ignition), ("ignition", has_section)]
                .into_iter()
                .filter(|(_, set)| *set);
            out.extend(set.map(|(field, _)| {
                Violation::forbidden(self.path.field(field), Fault::GateClosed(GATE))
            }));
        } else if is_ignition {
            self.not_with_ignition(spec, out);
        } else if has_section {
            let detail = "must be set to \"ignition\" if spec.ignition is set";
            out.push(Violation::invalid(
                self.path.field("format"),
                &Value::from(text(spec, "format")),
                detail,
            ));
        }
    }

    fn not_with_ignition(&self, spec: &Value, out: &mut Vec<Violation>) {
        let is_3 = self.is_windlass() && ignition_version(spec) != "2.3";
        let reject = |path: FieldPath| Violation::forbidden(path, NOT_WITH_IGNITION);
        for (index, user) in items(spec, "users").iter().enumerate() {
            if user.get("inactive") == Some(&Value::Bool(true)) {
                out.push(reject(
                    self.path.field("users").index(index).field("inactive"),
                ));
            }
        }
        if matches!(self.rules, Rules::KubeadmV1Beta1 { .. })
            && spec["useExperimentalRetryJoin"] == true
        {
            out.push(reject(self.path.field("useExperimentalRetryJoin")));
        }
        for (index, file) in items(spec, "files").iter().enumerate() {
            let at = self.path.field("files").index(index);
            if matches!(text(file, "encoding"), "gzip" | "gzip+base64")
                && !(is_3 && text(file, "encoding") == "gzip+base64")
            {
                out.push(reject(at.field("encoding")));
            }
            if self.is_windlass() && !is_3 && text(file, "transferEncoding") == "gzip+base64" {
                let detail =
                    "\"gzip+base64\" is not supported when spec.ignition.version is \"2.3\"";
                out.push(Violation::forbidden(at.field("transferEncoding"), detail));
            }
        }
        if spec
            .get("bootCommands")
            .is_some_and(|commands| !commands.is_null())
        {
            out.push(reject(self.path.field("bootCommands")));
        }
        let empty = Value::Null;
        let disks = spec.get("diskSetup").unwrap_or(&empty);
        let disks_at = self.path.field("diskSetup");
        for (index, partition) in items(disks, "partitions").iter().enumerate() {
            let at = disks_at.field("partitions").index(index);
            let table = text(partition, "tableType");
            if self.is_set(partition.get("tableType")) && table != "gpt" {
                let detail = "only partition type \"gpt\" is supported when spec.format is set to \"ignition\"";
                out.push(Violation::invalid(
                    at.field("tableType"),
                    &Value::from(table),
                    detail,
                ));
            }
            if is_3 && !items(partition, "diskLayout").is_empty() {
                out.push(reject(at.field("diskLayout")));
            }
        }
        for (index, filesystem) in items(disks, "filesystems").iter().enumerate() {
            let at = disks_at.field("filesystems").index(index);
            let set = ["replaceFS", "partition"]
                .into_iter()
                .filter(|field| self.is_set(filesystem.get(*field)));
            out.extend(set.map(|field| reject(at.field(field))));
        }
        let mounts = items(spec, "mounts").iter().enumerate();
        for (index, mount) in
            mounts.filter(|(_, mount)| is_3 && mount.as_array().is_none_or(|parts| parts.len() < 2))
        {
            out.push(Violation::invalid(
                self.path.field("mounts").index(index),
                mount,
                "must name a device and a mount point",
            ));
        }
    }

    /// `ignition.additionalConfig` is what Ignition itself can merge.
    fn additional_config(&self, spec: &Value) -> Option<Violation> {
        let config = spec.pointer("/ignition/additionalConfig")?.as_str()?;
        let parsed: Option<Value> = serde_json::from_str(config).ok();
        let version = parsed
            .as_ref()
            .and_then(|config| config.pointer("/ignition/version"))
            .and_then(Value::as_str);
        if version.is_some_and(|version| MERGEABLE.contains(&version)) {
            return None;
        }
        let detail = "must be a JSON object with ignition.version 3.0.0 to 3.4.0";
        let at = self.path.field("ignition").field("additionalConfig");
        Some(Violation::new(
            ViolationKind::Invalid,
            at,
            Some(REDACTED),
            detail,
        ))
    }
}
