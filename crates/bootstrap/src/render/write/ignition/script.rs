//! `/etc/kubeadm.sh`: the user's commands around kubeadm, in one shell that ends at the first
//! failure.

use crate::render::plan::node_plan::{Kubeadm, NodePlan};
use crate::render::write::failure;
use windlass_capi::api::boot::OnFailure;
use windlass_capi::api::secret::Sensitive;

/// The file on the node with the script that runs kubeadm and the user's commands.
pub const SCRIPT_FILE: &str = "/etc/kubeadm.sh";

/// The file on the node that kubeadm reads (`kubeadm --config`).
pub const KUBEADM_FILE: &str = "/etc/kubeadm.yml";

/// Lines of the script, and the command of the user that they are: its field and its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) command: Option<(&'static str, usize)>,
    pub(super) is_kubeadm: bool,
}

impl Lines {
    fn own(text: impl Into<String>) -> Self {
        Lines {
            text: text.into(),
            command: None,
            is_kubeadm: false,
        }
    }
}

/// The script in upstream's order, with its empty lines. With `onFailure` each step is announced,
/// and the one that fails is reported; that it ends the script is upstream's `set -e`, so `Report`
/// and `Abort` are the same here.
pub(super) fn script(plan: &NodePlan) -> Vec<Lines> {
    let is_watched = plan.on_failure != OnFailure::Continue;
    let mut lines = vec![Lines::own("#!/bin/bash"), Lines::own("set -e")];
    if is_watched {
        lines.extend(
            failure::prologue(OnFailure::Report).map(|prologue| Lines::own(prologue.trim_end())),
        );
    }
    lines.push(Lines::own(""));
    lines.extend(commands(
        "preKubeadmCommands",
        &plan.pre_kubeadm_commands,
        is_watched,
    ));
    lines.push(Lines::own(""));
    let on_failure = if is_watched {
        OnFailure::Abort
    } else {
        OnFailure::Continue
    };
    if is_watched {
        lines.push(Lines::own(failure::step(verb(&plan.kubeadm))));
    }
    lines.push(Lines {
        is_kubeadm: true,
        ..Lines::own(failure::guarded(on_failure, &kubeadm_command(plan)))
    });
    lines.push(Lines::own(
        "mkdir -p /run/cluster-api && echo success > /run/cluster-api/bootstrap-success.complete",
    ));
    lines.extend([Lines::own("mv /etc/kubeadm.yml /tmp/"), Lines::own("")]);
    lines.extend(commands(
        "postKubeadmCommands",
        &plan.post_kubeadm_commands,
        is_watched,
    ));
    lines.extend(failure::epilogue(on_failure).map(Lines::own));
    lines
}

pub(super) fn text(plan: &NodePlan) -> String {
    let lines: Vec<_> = script(plan).into_iter().map(|lines| lines.text).collect();
    format!("{}\n", lines.join("\n").trim_end_matches('\n'))
}

fn commands(field: &'static str, commands: &[Sensitive<String>], is_watched: bool) -> Vec<Lines> {
    let of_command = |(index, command): (usize, &Sensitive<String>)| {
        let step = is_watched.then(|| Lines::own(failure::step(&format!("{field}[{index}]"))));
        step.into_iter().chain([Lines {
            text: command.expose().clone(),
            command: Some((field, index)),
            is_kubeadm: false,
        }])
    };
    commands.iter().enumerate().flat_map(of_command).collect()
}

fn verb(kubeadm: &Kubeadm) -> &'static str {
    match kubeadm {
        Kubeadm::Init { .. } => "kubeadm init",
        Kubeadm::Join { .. } => "kubeadm join",
    }
}

/// The command that runs kubeadm; without verbosity a blank remains at the end.
pub(super) fn kubeadm_command(plan: &NodePlan) -> String {
    let verbosity = plan
        .verbosity
        .map(|level| format!("--v {level}"))
        .unwrap_or_default();
    format!(
        "{} --config {KUBEADM_FILE} {verbosity}",
        verb(&plan.kubeadm)
    )
}

/// kubeadm's documents, the first without its `---`.
pub(super) fn kubeadm_documents(kubeadm: &Kubeadm) -> String {
    match kubeadm {
        Kubeadm::Init { cluster, init } => format!("{}\n---\n{}", cluster.expose(), init.expose()),
        Kubeadm::Join { join, .. } => join.expose().clone(),
    }
}
