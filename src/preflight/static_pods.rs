//! Static pods in `files` that `kubeadm init` waits for: from Kubernetes v1.29 on, admin.conf has
//! no rights until kubeadm has bound its group, which takes a reachable API server
//! (kubernetes/kubernetes#121305, kube-vip/kube-vip#684). Only super-admin.conf, which
//! `kubeadm init` alone writes, has rights from the start.

use std::borrow::Cow;

use serde_json::Value;

use super::Subject;
use crate::diag::{Diagnostic, rules};
use crate::render::Rendered;
use crate::render::plan::node_plan::{Kubeadm, NodePlan, PlannedFile};
use crate::render::write::gzip;
use crate::text::go::base64;
use crate::text::source::Source;
use crate::text::yaml;

rules! {
    /// a static pod uses admin.conf during `kubeadm init`, before it has rights
    pub(crate) ADMIN_CONF = warning("static-pod-admin-conf");
}

/// The folder that kubeadm has the kubelet read (`cmd/kubeadm/app/constants`).
const MANIFESTS: &str = "/etc/kubernetes/manifests/";
const ADMIN_CONF_FILE: &str = "/etc/kubernetes/admin.conf";

/// The first minor version of Kubernetes with super-admin.conf.
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
        let origin = file.origin.as_ref().filter(|_| is_manifest(&file.path))?;
        let content = content(file)?;
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

fn is_manifest(path: &str) -> bool {
    let path = format!(
        "/{}",
        crate::text::glob::plain(path.trim_start_matches('/'))
    );
    path.strip_prefix(MANIFESTS)
        .is_some_and(|name| !name.contains('/') && !name.starts_with('.'))
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
            .any(|file| content(file).is_some_and(|content| content.contains(text)))
}

/// The content of a file as the node has it.
fn content(file: &PlannedFile) -> Option<Cow<'_, str>> {
    const LARGEST: usize = 4 << 20;
    let written = file.content.expose().as_slice();
    let from_base64 = || {
        let text = std::str::from_utf8(written).ok()?;
        base64::decode(text.trim()).ok()
    };
    let unpacked = |bytes: &[u8]| gzip::decompress(bytes, LARGEST);
    let bytes: Cow<'_, [u8]> = match file.encoding {
        "base64" => from_base64()?.into(),
        "gzip" => unpacked(written)?.into(),
        "gzip+base64" => unpacked(&from_base64()?)?.into(),
        _ => written.into(),
    };
    match bytes {
        Cow::Borrowed(bytes) => Some(std::str::from_utf8(bytes).ok()?.into()),
        Cow::Owned(bytes) => Some(String::from_utf8(bytes).ok()?.into()),
    }
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
