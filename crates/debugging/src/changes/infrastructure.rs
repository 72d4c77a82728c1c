//! Infrastructure templates: another one replaces machines, an edited one does not, unless a
//! topology owns it.

use super::effect::{Effect, Machine, Verdict};
use windlass_capi::contract::rollout::Machines;

const STAYS: &str = "book: Updating Infrastructure Machine Templates";

/// The verdict about a template of the same name with another spec; `None` when it is the same, or
/// was not read on both sides.
pub(super) fn edited(old: &Machine<'_>, new: &Machine<'_>, maker: &str) -> Option<Verdict> {
    let (before, after) = old.infrastructure.zip(new.infrastructure)?;
    let spec = ["spec"];
    if before.api_version() != after.api_version() || before.field(&spec) == after.field(&spec) {
        return None;
    }
    if new.is_planned {
        return Some(rotated(old, new, maker, after.kind()));
    }
    let reason = format!(
        "{} is edited in place, which replaces no machine: only those to come are others",
        after.title()
    );
    Some(Verdict::of(Effect::None, STAYS, reason))
}

/// The topology controller replaces a template of that kind.
pub(super) fn rotated(old: &Machine<'_>, new: &Machine<'_>, maker: &str, kind: &str) -> Verdict {
    let Some(row) = new.row(Machines::Topology) else {
        return Verdict::unknown(old, new);
    };
    let reason = format!("the topology controller gives {maker} a new {kind}");
    Verdict::of(Effect::Rollout, row.source, reason)
}
