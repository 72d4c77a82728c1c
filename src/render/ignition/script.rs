//! `/etc/kubeadm.sh`: the user's commands around kubeadm, in one shell that ends at the first failure.

use crate::render::plan::{Kubeadm, NodePlan};

/// The script.
pub(super) const SCRIPT_FILE: &str = "/etc/kubeadm.sh";

/// The documents that kubeadm reads.
pub(super) const KUBEADM_FILE: &str = "/etc/kubeadm.yml";

/// Lines of the script, and the command of the user that they are: its field and its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) command: Option<(&'static str, usize)>,
}

impl From<&str> for Lines {
    fn from(text: &str) -> Self {
        Lines { text: text.to_owned(), command: None }
    }
}

/// The script in upstream's order, with its empty lines.
pub(super) fn script(plan: &NodePlan) -> Vec<Lines> {
    let command = |field| {
        move |(index, command): (usize, &crate::api::secret::Sensitive<String>)| Lines {
            text: command.expose().clone(),
            command: Some((field, index)),
        }
    };
    let mut lines: Vec<Lines> = vec!["#!/bin/bash".into(), "set -e".into(), "".into()];
    lines.extend(plan.pre_kubeadm_commands.iter().enumerate().map(command("preKubeadmCommands")));
    lines.extend([Lines::from(""), Lines { text: kubeadm_command(plan), command: None }]);
    lines.push("mkdir -p /run/cluster-api && echo success > /run/cluster-api/bootstrap-success.complete".into());
    lines.extend([Lines::from("mv /etc/kubeadm.yml /tmp/"), "".into()]);
    lines.extend(plan.post_kubeadm_commands.iter().enumerate().map(command("postKubeadmCommands")));
    lines
}

/// The command that runs kubeadm; without verbosity a blank remains at the end.
pub(super) fn kubeadm_command(plan: &NodePlan) -> String {
    let verbosity = plan.verbosity.map(|level| format!("--v {level}")).unwrap_or_default();
    let verb = if matches!(plan.kubeadm, Kubeadm::Init { .. }) { "init" } else { "join" };
    format!("kubeadm {verb} --config {KUBEADM_FILE} {verbosity}")
}

/// kubeadm's documents, the first without its `---`.
pub(super) fn kubeadm_documents(kubeadm: &Kubeadm) -> String {
    match kubeadm {
        Kubeadm::Init { cluster, init } => format!("{}\n---\n{}", cluster.expose(), init.expose()),
        Kubeadm::Join { join, .. } => join.expose().clone(),
    }
}
