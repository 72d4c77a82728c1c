//! What becomes of the machines of a MachineDeployment.

use serde_json::Value;

use super::effect::{Effect, KEEPS, Machine, Verdict};
use super::infrastructure;
use windlass_capi::contract::rollout::{Machines, Rule, names_another, rollout_after};
use windlass_objects::Object;

const OF_WEBHOOK: &str = "Cluster API v1.10 to v1.14, webhook of MachineDeployment, validate";

const VERSION: &[&str] = &["spec", "template", "spec", "version"];
const REFERENCES: [(&str, &[&str]); 2] = [
    (
        "bootstrap",
        &["spec", "template", "spec", "bootstrap", "configRef"],
    ),
    (
        "infrastructure",
        &["spec", "template", "spec", "infrastructureRef"],
    ),
];
/// Further fields that are compared.
const COMPARED: [&[&str]; 2] = [
    &["spec", "template", "spec", "bootstrap", "dataSecretName"],
    &["spec", "template", "spec", "failureDomain"],
];

pub(super) fn verdict(
    old: &Machine<'_>,
    new: &Machine<'_>,
    makers: [&Object; 2],
    is_data_changed: bool,
) -> Verdict {
    let [before, after] = makers;
    // The same object in another version of the API is not a change.
    let is_changed = before.api_version() == after.api_version()
        && before.field(&["spec"]) != after.field(&["spec"]);
    let is_upgrade = old.request.profile != new.request.profile;
    let (Some(_), Some(row)) = (old.row(Machines::Workers), new.row(Machines::Workers)) else {
        let is_edited = infrastructure::edited(old, new, "").is_some();
        return match is_changed || is_data_changed || is_upgrade || is_edited {
            false => Verdict::of(Effect::None, KEEPS, "nothing changes"),
            true => Verdict::unknown(old, new),
        };
    };
    if is_downgrade(old, new) {
        return Verdict::unknown(old, new);
    }
    if before.text(&["spec", "clusterName"]) != after.text(&["spec", "clusterName"]) {
        return Verdict::of(
            Effect::Rejected,
            OF_WEBHOOK,
            "spec.clusterName cannot be changed",
        );
    }
    let Rule::Workers(fields) = row.rule else {
        return Verdict::unknown(old, new);
    };
    if let Some(reason) = replacing(old, new, makers, fields) {
        let reason = match is_on_delete(after) {
            true => format!(
                "{} {reason}; each machine is replaced when it is deleted (OnDelete)",
                after.title()
            ),
            false => format!("{} {reason}", after.title()),
        };
        return Verdict::of(Effect::Rollout, row.source, reason);
    }
    let (was, is) = (old.target.config, new.target.config);
    let is_other_template = old.target.spec() != new.target.spec()
        && (is_data_changed || was.api_version() == is.api_version());
    if new.is_planned && is_other_template {
        return infrastructure::rotated(old, new, &after.title(), is.kind());
    }
    let infrastructure = infrastructure::edited(old, new, &after.title());
    match (infrastructure, is_changed) {
        (Some(verdict), _) if verdict.effect == Effect::Rollout => verdict,
        (_, true) => Verdict::of(
            Effect::InPlace,
            row.source,
            format!("what changes of {} replaces no machine", after.title()),
        ),
        (Some(verdict), false) => verdict,
        (None, false) if !is_data_changed => {
            Verdict::of(Effect::None, row.source, "nothing changes")
        }
        _ if is_upgrade && !is_other_template => Verdict::of(
            Effect::None,
            row.source,
            "an upgrade of Cluster API replaces no machine: only those to come are others",
        ),
        _ => Verdict::of_edited_template(is),
    }
}

/// Whether the minor version of Cluster API is older on the new side.
fn is_downgrade(old: &Machine<'_>, new: &Machine<'_>) -> bool {
    let minor = |machine: &Machine<'_>| machine.request.profile.release().map(|release| release.0);
    minor(new) < minor(old)
}

/// The reason for which machines are replaced; `fields` are those that the release compares of a
/// reference.
fn replacing(
    old: &Machine<'_>,
    new: &Machine<'_>,
    [before, after]: [&Object; 2],
    fields: &[&str],
) -> Option<String> {
    let versions = [old.version(before, VERSION), new.version(after, VERSION)];
    if versions[0] != versions[1] {
        let [was, is] = versions;
        return Some(format!("goes from Kubernetes v{was} to v{is}"));
    }
    for (name, path) in REFERENCES {
        let [was, is] = [before, after].map(|object| object.field(path));
        if names_another(&["group", "kind", "name"], was, is) {
            let kind = is.or(was).map_or("", kind_of);
            return Some(format!("points to another {kind} ({name})"));
        }
        let revised = fields
            .iter()
            .find(|field| names_another(&[**field], was, is));
        if let Some(field) = revised {
            return Some(format!("has another {}.{field}", path.join(".")));
        }
    }
    if let Some(path) = COMPARED
        .into_iter()
        .find(|path| text(before.field(path)) != text(after.field(path)))
    {
        return Some(format!("has another {}", path.join(".")));
    }
    let [was, is] = [before, after].map(|object| object.field(&["spec"]).and_then(rollout_after));
    is.filter(|_| was != is)
        .map(|time| format!("replaces machines created before {time} from then on (rollout.after)"))
}

fn kind_of(reference: &Value) -> &str {
    reference
        .get("kind")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// A field that is missing is an empty one.
fn text(field: Option<&Value>) -> &str {
    field.and_then(Value::as_str).unwrap_or_default()
}

/// Whether machines are replaced only when somebody deletes them (`spec.rollout.strategy.type`, in
/// v1beta1 `spec.strategy.type`).
fn is_on_delete(deployment: &Object) -> bool {
    [
        &["spec", "rollout", "strategy", "type"][..],
        &["spec", "strategy", "type"],
    ]
    .iter()
    .any(|path| deployment.text(path) == "OnDelete")
}
