//! What becomes of running machines when the objects change. The rules are those of the release
//! ([`crate::contract::rollout`]), by the kind that makes the machines.

use serde_json::Value;

use super::{control_plane, deployment};
use crate::contract::CORE_GROUP;
use crate::contract::rollout::{Machines, Row, row};
use crate::objects::{Object, Pool};
use crate::render::input::owner::Owner;
use crate::render::{Request, Target};

/// What a change does to machines that run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing; machines to come may be others.
    None,
    /// They stay, and what describes them changes.
    InPlace,
    Rollout,
    /// The infrastructure provider decides.
    OfProvider,
    /// Cluster API refuses the change.
    Refused,
    /// The rules of the release are not known.
    Unknown,
}

impl Effect {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Effect::None => "none",
            Effect::InPlace => "in place",
            Effect::Rollout => "rollout",
            Effect::OfProvider => "provider decides",
            Effect::Refused => "refused",
            Effect::Unknown => "not known for this release",
        }
    }
}

/// The effect of a change, and the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) effect: Effect,
    pub(crate) reason: String,
    /// Releases, file and function of the rule, or the page of the book.
    pub(crate) source: &'static str,
}

impl Verdict {
    pub(super) fn of(effect: Effect, source: &'static str, reason: impl Into<String>) -> Self {
        Verdict {
            effect,
            reason: reason.into(),
            source,
        }
    }

    /// No verdict: one of the two releases has no row, or the new one is older.
    pub(super) fn unknown(old: &Machine<'_>, new: &Machine<'_>) -> Self {
        let [was, is] = [old, new].map(|machine| machine.request.profile.version());
        let reason = match was == is {
            true => format!("the rules of Cluster API {is} are not known"),
            false => format!("no rules are known for a change from Cluster API {was} to {is}"),
        };
        let source = "known are upgrades between the releases v1.10.0 to v1.14.2 of Cluster API";
        Verdict::of(Effect::Unknown, source, reason)
    }
}

pub(super) const KEEPS: &str = "book: BootstrapConfig contract, the data of a machine is made once";
const TEMPLATE_STAYS: &str = "book: Updating Bootstrap Templates";
const SET_STAYS: &str = "book: Updating Infrastructure Machine Templates, MachineSets";
const OF_TEMPLATE_WEBHOOK: &str =
    "Cluster API v1.10 to v1.14, webhook of KubeadmControlPlaneTemplate, ValidateUpdate";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) target: Target<'a>,
    pub(crate) request: &'a Request,
    /// Whether a topology makes its objects.
    pub(crate) is_planned: bool,
    /// The infrastructure template that its maker names, if it was read.
    pub(crate) infrastructure: Option<&'a Object>,
}

impl Machine<'_> {
    /// The row of its release; `None` when its rules are not known.
    pub(super) fn row(&self, machines: Machines) -> Option<&'static Row> {
        row(self.request.profile.release()?, machines)
    }

    /// The Kubernetes version without `v`: that of the flags, or else of this field.
    pub(super) fn version(&self, object: &Object, path: &[&str]) -> String {
        let version = self
            .request
            .kubernetes_version
            .as_deref()
            .unwrap_or_else(|| object.text(path));
        version.trim_start_matches('v').to_owned()
    }
}

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

pub(crate) fn verdict(old: &Machine<'_>, new: &Machine<'_>, is_data_changed: bool) -> Verdict {
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
        _ if new.target.is_template() && !has_owner => edited(new.target.config),
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

/// A bootstrap template that is edited and keeps its name.
pub(super) fn edited(template: &Object) -> Verdict {
    let message = format!(
        "a {} that is edited in place replaces no machine: only those to come are others",
        template.kind()
    );
    Verdict::of(Effect::None, TEMPLATE_STAYS, message)
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
            Effect::Refused,
            OF_TEMPLATE_WEBHOOK,
            "a KubeadmControlPlaneTemplate cannot be changed: make one of another name",
        ),
    }
}
