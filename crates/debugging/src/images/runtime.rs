//! The image of pod sandboxes, in the settings of containerd, CRI-O and the kubelet.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::files::FileText;
use super::findings::Spot;
use super::kubeadm::first_document;
use super::workloads::line_of;
use super::{Found, Machine, Puller, items};
use windlass_bootstrap::render::plan::node_plan::Kubeadm;

/// `sandbox_image` of containerd's configuration version 2, `pause_image` of CRI-O.
static SETTING: LazyLock<Regex> = LazyLock::new(|| {
    // A setting that `sed` writes is one, too; one in a comment is not.
    let line = r"(?m)^(?:[ \t]*[^#\s][^\n]*?)?[ \t]*\b";
    Regex::new(&format!(
        r#"{line}(?:sandbox_image|pause_image)[ \t]*=[ \t]*\\?["']([^"'\\\s]+)"#
    ))
    .expect("internal error: the expression is valid")
});

/// `sandbox` of containerd's configuration version 3, in its table `pinned_images`.
static PINNED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^\s*sandbox\s*=\s*["']([^"'\s]+)["']"#)
        .expect("internal error: the expression is valid")
});

/// The kubelet's flag, in a drop-in of its unit or a file of its environment.
static FLAG: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^(?:[ \t]*[^#\s][^\n]*?)?--pod-infra-container-image[= ]["']?([^"'\s\[]+)"#)
        .expect("internal error: the expression is valid")
});

/// The name of that flag.
const FLAG_NAME: &str = "pod-infra-container-image";

/// The images in a text.
pub(super) fn sandbox_images(text: &str) -> impl Iterator<Item = &str> {
    let pinned = text.contains("pinned_images").then_some(&*PINNED);
    [Some(&*SETTING), Some(&*FLAG), pinned]
        .into_iter()
        .flatten()
        .flat_map(|expression| expression.captures_iter(text))
        .filter_map(|captures| captures.get(1))
        .map(|image| image.as_str())
}

/// The images in the settings of a file. Those of a script are read with its commands.
pub(super) fn collect(machine: &Machine<'_>, file: &FileText, found: &mut Found) {
    if file.is_shell() {
        return;
    }
    for image in sandbox_images(&file.text) {
        let spot = file.spot(line_of(&file.text, image));
        let path = Some(file.path.as_str());
        machine.add(
            found,
            image,
            Puller::ContainerRuntime,
            (&file.field, path),
            &spot,
        );
    }
}

/// The flag in `nodeRegistration.kubeletExtraArgs`: a map before kubeadm's v1beta4, then a list.
pub(super) fn collect_kubelet_arguments(machine: &Machine<'_>, found: &mut Found) {
    let (text, field) = match &machine.rendered.plan.kubeadm {
        Kubeadm::Init { init, .. } => (init.expose(), "initConfiguration"),
        Kubeadm::Join { join, .. } => (join.expose(), "joinConfiguration"),
    };
    let document = first_document(text, machine.budget);
    let arguments = &document["nodeRegistration"]["kubeletExtraArgs"];
    let of_list = items(Some(arguments))
        .filter(|argument| argument["name"] == FLAG_NAME)
        .map(|argument| &argument["value"]);
    let of_map = arguments.get(FLAG_NAME).into_iter();
    for image in of_list.chain(of_map).filter_map(Value::as_str) {
        let field = machine.field(field).field("nodeRegistration");
        let field = field.field("kubeletExtraArgs");
        let spot = Spot {
            field: field.clone(),
            line: None,
        };
        machine.add(
            found,
            image,
            Puller::ContainerRuntime,
            (&field, None),
            &spot,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_runtimes_are_read() {
        for (text, expected) in [
            (
                "[a]\n  sandbox_image = \"r/pause:3.9\"\n",
                vec!["r/pause:3.9"],
            ),
            ("  # sandbox_image = \"r/pause:3.9\"\n", vec![]),
            (
                "sed -i 's#sandbox_image = .*#sandbox_image = \"r/pause:3.9\"#' /a\n",
                vec!["r/pause:3.9"],
            ),
            ("pause_image='r/pause:1'\n", vec!["r/pause:1"]),
            (
                "[x.pinned_images]\nsandbox = 'r/pause:3.10'\n",
                vec!["r/pause:3.10"],
            ),
            ("sandbox = 'r/pause:3.10'\n", vec![]),
            (
                "KUBELET_EXTRA_ARGS=--pod-infra-container-image=r/pause:2 --v=1\n",
                vec!["r/pause:2"],
            ),
            (
                "sed -i 's/--pod-infra-container-image=[^ ]*//g' /a\n",
                vec![],
            ),
        ] {
            assert_eq!(sandbox_images(text).collect::<Vec<_>>(), expected, "{text}");
        }
    }
}
