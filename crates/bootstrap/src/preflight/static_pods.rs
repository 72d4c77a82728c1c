//! Static pods in `files` that `kubeadm init` waits for: from Kubernetes v1.29 on, admin.conf has
//! no rights until kubeadm has bound its group, which takes a reachable API server
//! (kubernetes/kubernetes#121305, kube-vip/kube-vip#684). Only super-admin.conf, which
//! `kubeadm init` alone writes, has rights from the start.

use serde_json::Value;

use super::Subject;
use crate::render::Rendered;
use crate::render::plan::node_plan::{Kubeadm, NodePlan};
use crate::render::write::file_facts::{self, is_static_pod};
use windlass_go_yaml::yaml;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, rules};

rules! {
    /// a static pod uses admin.conf during `kubeadm init`, before it has rights
    pub(crate) ADMIN_CONF = warning("static-pod-admin-conf");
}

const ADMIN_CONF_FILE: &str = "/etc/kubernetes/admin.conf";

/// The first Kubernetes minor version with super-admin.conf.
const FIRST: u64 = 29;

pub(super) fn check(subject: &Subject<'_>, rendered: &Rendered) -> Vec<Diagnostic> {
    let is_init = matches!(rendered.plan.kubeadm, Kubeadm::Init { .. });
    if !is_init || subject.minor().is_none_or(|minor| minor < FIRST) {
        return Vec::new();
    }
    // Providers replace the path in a command before kubeadm, or in a script.
    if mentions(&rendered.plan, "super-admin.conf") {
        return Vec::new();
    }
    let found = rendered.plan.files.iter().filter_map(|file| {
        let origin = file.origin.as_ref().filter(|_| is_static_pod(&file.path))?;
        let content = file_facts::text(file)?;
        if !uses_admin_conf(subject, &content) {
            return None;
        }
        let message = format!(
            "the static pod of {} uses admin.conf, which has no rights while `kubeadm init` runs with Kubernetes v1.{FIRST} or later",
            file.path
        );
        let finding = Diagnostic::of(&ADMIN_CONF, message)
            .at(subject.place(origin))
            .note("a pod that provides the control plane endpoint, such as kube-vip, waits for kubeadm, and kubeadm waits for it; see https://github.com/kube-vip/kube-vip/issues/684");
        Some(finding.help(format!(
            "on the machine of `kubeadm init` alone, mount /etc/kubernetes/super-admin.conf: replace the path of the `hostPath` in {} with `sed` in `preKubeadmCommands` if /run/kubeadm/kubeadm.yaml exists",
            file.path
        )))
    });
    found.collect()
}

/// Whether the config runs a command or writes a file that contains a text.
fn mentions(plan: &NodePlan, text: &str) -> bool {
    let commands = plan
        .boot_commands
        .iter()
        .chain(&plan.pre_kubeadm_commands)
        .any(|command| command.expose().contains(text));
    commands
        || plan
            .files
            .iter()
            .any(|file| file_facts::text(file).is_some_and(|content| content.contains(text)))
}

fn uses_admin_conf(subject: &Subject<'_>, content: &str) -> bool {
    let mounts = |pod: &Value| {
        let volumes = pod.pointer("/spec/volumes").and_then(Value::as_array);
        volumes.into_iter().flatten().any(|volume| {
            let path = volume.pointer("/hostPath/path").and_then(Value::as_str);
            path == Some(ADMIN_CONF_FILE)
        })
    };
    content.contains(ADMIN_CONF_FILE)
        && yaml::values(&Source::new("", content), subject.budget)
            .documents
            .iter()
            .any(|document| document.value["kind"] == "Pod" && mounts(&document.value))
}
