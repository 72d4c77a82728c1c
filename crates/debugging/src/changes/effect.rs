//! The effect of a change on running machines, and what a verdict is about.

use windlass_bootstrap::render::{Request, Target};
use windlass_capi::contract::rollout::{Machines, Row, row};
use windlass_objects::{Object, Pool};

/// What a change does to machines that run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing; machines to come may be others.
    None,
    /// The machines stay; only the objects that describe them change.
    InPlace,
    /// New machines replace those that run.
    Rollout,
    /// The infrastructure provider decides.
    OfProvider,
    /// Cluster API rejects the change.
    Rejected,
    /// The rules of the release are not known.
    Unknown,
}

impl Effect {
    /// The value in reports, such as `rollout`.
    pub fn as_str(self) -> &'static str {
        match self {
            Effect::None => "none",
            Effect::InPlace => "in place",
            Effect::Rollout => "rollout",
            Effect::OfProvider => "provider decides",
            Effect::Rejected => "rejected",
            Effect::Unknown => "not known for this release",
        }
    }
}

/// The effect of a change, and the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The effect on machines that run.
    pub effect: Effect,
    /// The explanation in reports: a clause without a capital letter or a full stop.
    pub reason: String,
    /// Releases, file and function of the rule, or the page of the book.
    pub source: &'static str,
}

impl Verdict {
    pub(super) fn of(effect: Effect, source: &'static str, reason: impl Into<String>) -> Self {
        Verdict {
            effect,
            reason: reason.into(),
            source,
        }
    }

    /// A bootstrap template that is edited and keeps its name.
    pub(super) fn of_edited_template(template: &Object) -> Self {
        let reason = format!(
            "a {} that is edited in place replaces no machine: only those to come are others",
            template.kind()
        );
        Verdict::of(Effect::None, "book: Updating Bootstrap Templates", reason)
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
/// A machine before or after a change, with the objects and options that it was rendered from.
#[derive(Debug, Clone, Copy)]
pub struct Machine<'a> {
    /// The objects of this side of the comparison, in which owners are looked up.
    pub pool: &'a Pool,
    /// The bootstrap config of the machine, with its role.
    pub target: Target<'a>,
    /// The options of the rendering, such as the CAPI release and the Kubernetes version.
    pub request: &'a Request,
    /// Whether a topology makes its objects.
    pub is_planned: bool,
    /// The infrastructure template that its maker names, if it was read.
    pub infrastructure: Option<&'a Object>,
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
