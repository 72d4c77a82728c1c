//! What is not bootstrap data at all: what it seems to be instead, and what to do.

use super::findings::DATA_UNREADABLE;
use windlass_go_text::base64;
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Place};

/// How kubectl begins when it prints no object.
const KUBECTL: [&str; 5] = [
    "Error from server",
    "error: ",
    "Unable to connect to the server",
    "The connection to the server",
    "No resources found",
];

const WHERE: &str = "inspect what `kubectl get secret NAME -o yaml` prints; NAME is `spec.bootstrap.dataSecretName` of the Machine";

/// Kinds that become bootstrap data.
const RENDERED: [&str; 4] = [
    "KubeadmConfig",
    "KubeadmControlPlane",
    "WindlassConfig",
    "ClusterClass",
];

/// Data of other operating systems and programs, by a line that only they have.
const OTHERS: [(&str, &str); 4] = [
    (
        "version: v1alpha1",
        "a machine configuration of Talos Linux",
    ),
    ("[settings.", "the settings of Bottlerocket"),
    ("[settings]", "the settings of Bottlerocket"),
    (
        "apiVersion: node.eks.aws/",
        "a NodeConfig for nodeadm of Amazon EKS",
    ),
];

/// What is said of a text that neither cloud-init nor Ignition reads.
pub(super) fn finding(source: &Source) -> Diagnostic {
    let text = source.text();
    let said = |message: String, help: String| {
        Diagnostic::of(&DATA_UNREADABLE, message)
            .at(source.place())
            .help(help)
    };
    if text.trim().is_empty() {
        return said("it is empty".to_owned(), WHERE.to_owned());
    }
    if text.starts_with('\u{feff}') {
        return said(
            "it begins with a byte order mark, after which cloud-init recognizes nothing"
                .to_owned(),
            "save it as UTF-8 without byte order mark".to_owned(),
        );
    }
    if is_of_kubectl(text) {
        return said(
            "it is a message of kubectl, and not the object that was requested".to_owned(),
            WHERE.to_owned(),
        );
    }
    if super::log::is_log(text) {
        return said(
            "it is a log, and a second log is given".to_owned(),
            "inspect each log alone, or give the bootstrap data of the machine with one log"
                .to_owned(),
        );
    }
    let is_line = |begin: &str| text.lines().any(|line| line.starts_with(begin));
    if let Some((_, what)) = OTHERS.iter().find(|(begin, _)| is_line(begin)) {
        return said(
            format!("it is {what}, which neither cloud-init nor Ignition reads"),
            "inspect data of Cluster API's kubeadm provider, of one for cloud-init, or of one for Ignition".to_owned(),
        );
    }
    if let Some(kind) = kind(text) {
        let help = match RENDERED.iter().any(|rendered| kind.starts_with(rendered)) {
            true => "`windlass render FILE` prints the data that it becomes, and `windlass validate FILE` checks it".to_owned(),
            false => WHERE.to_owned(),
        };
        return said(
            format!("it is a manifest of kind {kind}, and no bootstrap data"),
            help,
        );
    }
    if let Some(count) = broken_base64(text) {
        return said(
            format!(
                "it begins as bootstrap data in base64 and breaks off: {count} characters are not whole number of groups of four"
            ),
            "copy it again, to its end".to_owned(),
        );
    }
    said(
        "it begins as nothing that cloud-init or Ignition reads".to_owned(),
        "begin cloud-config with the line `#cloud-config`, scripts with `#!`, and Ignition with `{`".to_owned(),
    )
}

/// Whether a text is a message of kubectl; klog's form is also that of the kubelet.
pub(super) fn is_of_kubectl(text: &str) -> bool {
    KUBECTL.iter().any(|begin| text.starts_with(begin))
        || text.starts_with('E')
            && text
                .lines()
                .next()
                .is_some_and(|line| line.contains(" memcache.go:"))
}

/// Returns the finding for a folder that is given in place of a file; `name` is its path.
pub fn of_folder(name: &str) -> Diagnostic {
    let finding = Diagnostic::of(
        &DATA_UNREADABLE,
        "it is a folder: the data of one machine is a file",
    )
    .at(Place::file(name));
    finding.help("name a file of it: below /var/lib/cloud/instance that is user-data.txt, and user-data.txt.i has its parts")
}

/// The kind of a Kubernetes object; of several one that becomes bootstrap data.
fn kind(text: &str) -> Option<&str> {
    let is_name = |kind: &&str| {
        !kind.is_empty()
            && kind.len() <= 63
            && kind.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let kinds = || {
        text.lines()
            .filter_map(|line| Some(line.strip_prefix("kind:")?.trim().trim_matches(['"', '\''])))
            .filter(is_name)
    };
    text.lines().find(|line| line.starts_with("apiVersion:"))?;
    kinds()
        .find(|kind| RENDERED.iter().any(|rendered| kind.starts_with(rendered)))
        .or_else(|| kinds().next())
}

/// How many characters of base64 there are, when their whole groups hold what bootstrap data begins
/// with.
fn broken_base64(text: &str) -> Option<usize> {
    let compact: String = text.split_ascii_whitespace().collect();
    let is_base64 = compact
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    let whole = compact
        .get(..compact.len() / 4 * 4)
        .filter(|whole| is_base64 && whole.len() < compact.len())?;
    let bytes = base64::decode(whole).ok()?;
    super::layers::begins_as_data(&bytes).then_some(compact.len())
}
