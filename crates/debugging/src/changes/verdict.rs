//! What becomes of running machines when the objects change. The rules are those of the release
//! ([`windlass_capi::contract::rollout`]), by the kind that makes the machines.

use serde_json::Value;

use super::effect::{Effect, KEEPS, Machine, Verdict};
use super::{control_plane, deployment};
use windlass_bootstrap::render::Target;
use windlass_bootstrap::render::input::owner::Owner;
use windlass_capi::contract::CORE_GROUP;
use windlass_capi::contract::rollout::Machines;
use windlass_objects::{Object, Pool};

const SET_STAYS: &str = "book: Updating Infrastructure Machine Templates, MachineSets";
const OF_TEMPLATE_WEBHOOK: &str =
    "Cluster API v1.10 to v1.14, webhook of KubeadmControlPlaneTemplate, ValidateUpdate";

/// What makes machines of a config; `None` when nothing in the pool does.
pub(crate) fn maker<'a>(pool: &'a Pool, target: &Target<'a>) -> Option<&'a Object> {
    if target.is_control_plane_object() {
        return Some(target.config);
    }
    let of_core =
        |object: &&Object| object.group() == CORE_GROUP && object.kind().starts_with("Machine");
    target
        .set
        .or_else(|| pool.referrers(target.config).find(of_core))
}

/// Returns the effect of a change on the machines. `is_data_changed`: whether the data differs.
pub fn verdict(old: &Machine<'_>, new: &Machine<'_>, is_data_changed: bool) -> Verdict {
    let (before, after) = (maker(old.pool, &old.target), maker(new.pool, &new.target));
    let has_owner = Owner::reference(new.target.config, new.request.feature_gates).is_some();
    match (before, after) {
        (Some(before), Some(after)) if before.kind() == after.kind() => match after.kind() {
            "KubeadmControlPlane" => control_plane::verdict(old, new, is_data_changed),
            "KubeadmControlPlaneTemplate" => of_template(old, new),
            "MachineDeployment" => deployment::verdict(old, new, [before, after], is_data_changed),
            "MachinePool" => of_pool(old, new, [before, after], is_data_changed),
            "MachineSet" => Verdict::of(
                Effect::None,
                SET_STAYS,
                "a MachineSet replaces no machine: only those that it makes from now on are others",
            ),
            _ => keeps(),
        },
        _ if new.target.is_template() && !has_owner => {
            Verdict::of_edited_template(new.target.config)
        }
        _ => keeps(),
    }
}

fn keeps() -> Verdict {
    Verdict::of(
        Effect::None,
        KEEPS,
        "a machine keeps the data with which it was made",
    )
}

fn of_pool(
    old: &Machine<'_>,
    new: &Machine<'_>,
    [before, after]: [&Object; 2],
    is_data_changed: bool,
) -> Verdict {
    let is_changed = before.field(&["spec"]) != after.field(&["spec"]);
    if !is_changed && !is_data_changed {
        return Verdict::of(Effect::None, KEEPS, "nothing changes");
    }
    let (Some(_), Some(row)) = (old.row(Machines::Pool), new.row(Machines::Pool)) else {
        return Verdict::unknown(old, new);
    };
    Verdict::of(
        Effect::OfProvider,
        row.source,
        "the infrastructure provider decides whether the machines of a pool are replaced",
    )
}

fn of_template(old: &Machine<'_>, new: &Machine<'_>) -> Verdict {
    let spec = |machine: &Machine<'_>| -> Option<Value> {
        let config = machine.target.config;
        config.field(&["spec", "template", "spec"]).cloned()
    };
    match spec(old) == spec(new) {
        true => Verdict::of(Effect::None, OF_TEMPLATE_WEBHOOK, "nothing changes"),
        false => Verdict::of(
            Effect::Rejected,
            OF_TEMPLATE_WEBHOOK,
            "a KubeadmControlPlaneTemplate cannot be changed: make one of another name",
        ),
    }
}
