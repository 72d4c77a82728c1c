//! `diff`: what changes on the nodes between two inputs, or between two versions of one.

mod html;
mod nodes;
mod parts;
pub mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

pub use html::page;
pub use nodes::Side;

use crate::changes::{Effect, SAID, Verdict, verdict};
use crate::diag::{Diagnostic, Place, Report, rules};
use crate::text::budget::Budget;
use nodes::Node;

rules! {
    /// the input contains nothing whose bootstrap data could be compared
    pub(crate) NOTHING = error("diff-machine-missing");
}

/// What became of something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Only the new side has it.
    Added,
    /// Only the old side has it.
    Removed,
    /// Both have it, and it differs.
    Changed,
    /// Both have the same.
    Same,
}

/// A machine of either side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MachineChange {
    /// `Kind/name` of what makes the machine: the control plane, a MachineDeployment, or the config or Secret itself.
    pub object: String,
    /// `init`, `control-plane-join`, `worker-join` or `machinepool`; null for data that was made already.
    pub role: Option<&'static str>,
    /// What became of its bootstrap data.
    pub change: Change,
    /// `none`, `in place`, `rollout`, `provider decides` or `refused`: what happens to machines that run; null when only one side has the machine,
    /// or the data was made already.
    pub verdict: Option<&'static str>,
    /// Why.
    pub reason: Option<String>,
    /// Where the rule stands.
    pub source: Option<&'static str>,
    /// SHA-256 of the old data without what is new in every machine; null when there is none.
    pub old_digest: Option<String>,
    /// The same of the new data.
    pub new_digest: Option<String>,
    /// The parts that differ.
    pub parts: Vec<PartChange>,
}

/// A part of bootstrap data that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartChange {
    /// `file`, `commands`, `user` or `section`.
    pub kind: &'static str,
    /// The path of a file, the name of a user, the key of a section.
    pub name: String,
    /// What became of it.
    pub change: Change,
    /// The field that it comes from, on the side that has it; null when none does.
    pub from: Option<String>,
    /// Owner, permissions and the like that differ.
    pub attributes: Vec<AttributeChange>,
    /// The lines that differ, as `diff -u` writes them. What is secret is not shown.
    pub lines: Vec<String>,
}

/// An attribute of a part that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttributeChange {
    /// `owner`, `permissions`, `append` and the like.
    pub name: &'static str,
    /// The old value.
    pub old: Option<String>,
    /// The new value.
    pub new: Option<String>,
}

/// Everything that changes.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The machines, in the order of the new side, then those that are gone.
    pub machines: Vec<MachineChange>,
    /// What cannot be compared, and what is wrong.
    pub report: Report,
    /// What is not compared, in words.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Whether something changes: data, or what happens to machines.
    pub fn differs(&self) -> bool {
        self.machines
            .iter()
            .any(|machine| machine.change != Change::Same || machine.verdict.is_some_and(|verdict| verdict != Effect::None.as_str()))
    }
}

/// Compares two sides.
pub fn run(old: &Side, new: &Side, show_secrets: bool, budget: &Arc<Budget>) -> Comparison {
    let mut comparison = Comparison::default();
    let mut filled_in = BTreeSet::new();
    let (before, after) = (old.nodes(&mut comparison.report, &mut filled_in), new.nodes(&mut comparison.report, &mut filled_in));
    for (side, nodes) in [(old, &before), (new, &after)] {
        if nodes.is_empty() && !comparison.report.has_errors() {
            comparison.report.push(nothing(side));
        }
    }
    // Both sides may be one file.
    comparison.report.sort(&[]);
    if comparison.report.has_errors() {
        return comparison;
    }
    let mut is_made_same = false;
    let mut compared = parts::Compared { show_secrets, budget, is_made_same: &mut is_made_same };
    for (was, is) in pairs(&before, &after) {
        comparison.machines.push(machine(was, is, &mut compared));
    }
    comparison.notes.extend(is_made_same.then(|| SAID.to_owned()));
    let filled_in: Vec<&str> = filled_in.into_iter().collect();
    comparison.notes.extend((!filled_in.is_empty()).then(|| format!("filled in alike on both sides: {}", filled_in.join(", "))));
    comparison
}

fn nothing(side: &Side) -> Diagnostic {
    let message = format!("{} holds no machine: no config that can be rendered, no bootstrap data", side.shown);
    let finding = Diagnostic::of(&NOTHING, message).at(Place::file(side.shown.as_str()));
    finding
        .help("name a file or folder with a KubeadmConfig, WindlassConfig, KubeadmControlPlane, one of their templates, or a data Secret")
}

/// The machines of both sides that belong together; one each is compared whatever its name.
fn pairs<'n, 's>(before: &'n [Node<'s>], after: &'n [Node<'s>]) -> Vec<(Option<&'n Node<'s>>, Option<&'n Node<'s>>)> {
    if let ([was], [is]) = (before, after) {
        return vec![(Some(was), Some(is))];
    }
    let known: BTreeMap<_, _> = before.iter().map(|node| (node.key(), node)).collect();
    let mut pairs: Vec<_> = after.iter().map(|node| (known.get(&node.key()).copied(), Some(node))).collect();
    let kept: BTreeSet<_> = after.iter().map(Node::key).collect();
    pairs.extend(before.iter().filter(|node| !kept.contains(&node.key())).map(|node| (Some(node), None)));
    pairs
}

fn machine(was: Option<&Node<'_>>, is: Option<&Node<'_>>, compared: &mut parts::Compared<'_>) -> MachineChange {
    let (changed, digests) = compared.parts(was, is);
    let change = match (was, is) {
        (None, _) => Change::Added,
        (_, None) => Change::Removed,
        _ if changed.is_empty() => Change::Same,
        _ => Change::Changed,
    };
    let judged = was.and_then(|node| node.machine).zip(is.and_then(|node| node.machine));
    let judged = judged.map(|(was, is)| verdict(&was, &is, change == Change::Changed));
    let shown = is.or(was);
    MachineChange {
        object: shown.map(|node| node.title.clone()).unwrap_or_default(),
        role: shown.and_then(|node| node.role),
        change,
        verdict: judged.as_ref().map(|verdict: &Verdict| verdict.effect.as_str()),
        source: judged.as_ref().map(|verdict| verdict.source),
        reason: judged.map(|verdict| verdict.reason),
        old_digest: digests.0,
        new_digest: digests.1,
        parts: changed,
    }
}
