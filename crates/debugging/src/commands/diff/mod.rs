//! `diff`: what changes on the nodes between two inputs, or between two versions of one.

mod html;
pub mod markdown;
mod nodes;
mod pairs;
mod parts;
pub mod text;

use std::collections::BTreeSet;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

pub use html::page;
pub use nodes::{Side, documents};

use crate::changes::{Effect, SAID, Verdict, verdict};
use nodes::Node;
use pairs::{Pair, is_named, pairs};
use windlass_objects::secrets::Words;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Place, Remedy, Report, Setting, rules};

rules! {
    /// the input contains no machine whose bootstrap data can be compared
    pub NOTHING = error("diff-machine-missing");
}

const MOST_NAMED: usize = 10;

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
    /// `Kind/name` of what makes the machine: the control plane, a MachineDeployment, or the
    /// config or Secret itself.
    pub object: String,
    /// `init`, `control-plane-join`, `worker-join` or `machinepool`; null for data that was made
    /// already.
    pub role: Option<&'static str>,
    /// What became of its bootstrap data.
    pub change: Change,
    /// `none`, `in place`, `rollout`, `provider decides`, `rejected` or `not known for this
    /// release`: what happens to machines that run; null when only one side has the machine, or the
    /// data was made already.
    pub verdict: Option<&'static str>,
    /// Why.
    pub reason: Option<String>,
    /// Where the rule stands.
    pub source: Option<&'static str>,
    /// SHA-256 of the old data without what is new in every machine; null when there is none.
    pub old_digest: Option<String>,
    /// The same of the new data.
    pub new_digest: Option<String>,
    /// Whether the infrastructure template that it names is another one, or has a different spec;
    /// null when it was not read on both sides.
    pub infrastructure_change: Option<Change>,
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
        self.machines.iter().any(|machine| {
            machine.change != Change::Same
                || machine.infrastructure_change == Some(Change::Changed)
                || machine
                    .verdict
                    .is_some_and(|verdict| verdict != Effect::None.as_str())
        })
    }
}

/// What is compared, and how it is shown.
#[derive(Debug, Default)]
pub struct Comparing<'c> {
    /// Whether values of secrets are shown.
    pub show_secrets: bool,
    /// The secrets of the input, which are not shown wherever they come out.
    pub words: Words,
    /// The one machine that is meant, as `NAME`, `Kind/NAME`, or either with `:ROLE`.
    pub select: Option<&'c str>,
}

/// Compares two sides.
pub fn run(old: &Side, new: &Side, comparing: Comparing<'_>, budget: &Arc<Budget>) -> Comparison {
    let mut comparison = Comparison::default();
    let (mut of_old, mut of_new) = (BTreeSet::new(), BTreeSet::new());
    let (before, after) = (
        old.nodes(&mut comparison.report, &mut of_old),
        new.nodes(&mut comparison.report, &mut of_new),
    );
    for (side, nodes) in [(old, &before), (new, &after)] {
        if nodes.is_empty() && !comparison.report.has_errors() {
            comparison.report.push(nothing(side));
        }
    }
    let pairs = pairs(&before, &after);
    let selected = pairs
        .iter()
        .filter(|pair| comparing.select.is_none_or(|name| is_named(pair, name)))
        .copied()
        .collect::<Vec<_>>();
    if let Some(name) = comparing
        .select
        .filter(|_| selected.is_empty() && !comparison.report.has_errors())
    {
        comparison.report.push(not_found(name, &pairs));
    }
    // Both sides may be one file.
    comparison.report.sort(&[]);
    if comparison.report.has_errors() {
        return comparison;
    }
    let mut is_made_same = false;
    let mut compared = parts::Compared {
        show_secrets: comparing.show_secrets,
        words: &comparing.words,
        budget,
        is_made_same: &mut is_made_same,
    };
    for (was, is) in selected {
        comparison.machines.push(machine(was, is, &mut compared));
    }
    comparison
        .notes
        .extend(is_made_same.then(|| SAID.to_owned()));
    let filled_in = [
        (
            "alike on both sides",
            of_old.intersection(&of_new).copied().collect::<Vec<_>>(),
        ),
        (
            "on the old side alone",
            of_old.difference(&of_new).copied().collect(),
        ),
        (
            "on the new side alone",
            of_new.difference(&of_old).copied().collect(),
        ),
    ];
    let filled_in = filled_in.into_iter().filter(|(_, names)| !names.is_empty());
    comparison.notes.extend(
        filled_in.map(|(where_, names)| format!("placeholders {where_}: {}", names.join(", "))),
    );
    comparison
}

fn nothing(side: &Side) -> Diagnostic {
    let message = format!(
        "{} holds no machine: no config that can be rendered, no bootstrap data",
        side.shown
    );
    let finding = Diagnostic::of(&NOTHING, message).at(Place::file(side.shown.as_str()));
    finding
        .help("name a file or folder with a KubeadmConfig, WindlassConfig, KubeadmControlPlane, one of their templates, or a data Secret")
}

fn not_found(name: &str, pairs: &[Pair<'_, '_>]) -> Diagnostic {
    let known: BTreeSet<String> = pairs
        .iter()
        .filter_map(|(was, is)| is.or(*was))
        .map(|node| node.title.clone())
        .collect();
    let known: Vec<String> = known.into_iter().take(MOST_NAMED).collect();
    let finding = Diagnostic::of(&NOTHING, format!("neither side has a machine `{name}`"));
    finding.help(
        Remedy::new("name one of them with ")
            .setting(Setting::Select)
            .then(format!(": {}", known.join(", "))),
    )
}

fn infrastructure_change(was: Option<&Node<'_>>, is: Option<&Node<'_>>) -> Option<Change> {
    let template = |node: Option<&Node<'_>>| node?.machine?.infrastructure.cloned();
    let (was, is) = template(was).zip(template(is))?;
    let is_same = was.title() == is.title() && was.field(&["spec"]) == is.field(&["spec"]);
    Some(match is_same {
        true => Change::Same,
        false => Change::Changed,
    })
}

fn machine(
    was: Option<&Node<'_>>,
    is: Option<&Node<'_>>,
    compared: &mut parts::Compared<'_>,
) -> MachineChange {
    let (changed, digests) = compared.parts(was, is);
    let change = match (was, is) {
        (None, _) => Change::Added,
        (_, None) => Change::Removed,
        _ if changed.is_empty() => Change::Same,
        _ => Change::Changed,
    };
    let judged = was
        .and_then(|node| node.machine)
        .zip(is.and_then(|node| node.machine));
    let judged = judged.map(|(was, is)| verdict(&was, &is, change == Change::Changed));
    let shown = is.or(was);
    MachineChange {
        object: shown.map(|node| node.title.clone()).unwrap_or_default(),
        role: shown.and_then(|node| node.role),
        change,
        verdict: judged
            .as_ref()
            .map(|verdict: &Verdict| verdict.effect.as_str()),
        source: judged.as_ref().map(|verdict| verdict.source),
        reason: judged.map(|verdict| verdict.reason),
        old_digest: digests.0,
        new_digest: digests.1,
        infrastructure_change: infrastructure_change(was, is),
        parts: changed,
    }
}
