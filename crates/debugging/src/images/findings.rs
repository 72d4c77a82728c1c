//! Findings about images of machines that cannot be listed.

use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Place, Quoted, Remedy, Setting, rules};
use windlass_source::url::without_credentials;

rules! {
    /// the Kubernetes version of a machine is unknown, so kubeadm's images are not listed
    pub VERSION_UNKNOWN = error("images-version-unknown");
    /// kubeadm's images are not known for the Kubernetes version
    pub(crate) VERSION_UNCOVERED = error("images-version-uncovered");
    /// the sources of this Kubernetes patch version were not read, so its images are assumed
    pub(crate) VERSION_ASSUMED = warning("images-version-assumed");
    /// the control plane of a machine is not in the input, so kubeadm's default images are assumed
    pub(crate) CONTROL_PLANE_ABSENT = warning("images-control-plane-absent");
    /// the name of an image is computed when the machine boots
    pub(crate) NAME_COMPUTED = warning("images-name-computed");
    /// a machine applies or runs something at boot whose images are unknown
    pub(crate) SOURCE_UNKNOWN = warning("images-source-unknown");
    /// the name of an image is not a valid image reference
    pub(crate) NAME_INVALID = warning("images-name-invalid");
}

/// The position of something in the user's object: a field, and a line of its text from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) field: FieldPath,
    pub(super) line: Option<u32>,
}

impl Spot {
    pub(super) fn place(&self, config: &Object) -> Place {
        match self.line {
            Some(line) => config.line_place(&self.field, line),
            None => config.place(&self.field),
        }
    }
}

pub(super) fn name_computed(config: &Object, spot: &Spot, name: &str) -> Diagnostic {
    let message = format!(
        "the image name `{}` is computed when the machine boots, so it is not listed",
        Quoted(without_credentials(name))
    );
    Diagnostic::of(&NAME_COMPUTED, message)
        .at(spot.place(config))
        .help("write the full name, or copy the image yourself")
}

/// `what` is the start of the message: the source, and when it is read.
pub(super) fn source_unknown(config: &Object, spot: &Spot, what: &str) -> Diagnostic {
    let message = format!("{what}, so the images that it pulls are not listed");
    Diagnostic::of(&SOURCE_UNKNOWN, message)
        .at(spot.place(config))
        .help("put the content into `files`, or copy its images yourself")
}

pub(super) fn name_invalid(config: &Object, spot: &Spot, name: &str) -> Diagnostic {
    let message = format!(
        "`{}` is not an image name, so it is not listed",
        Quoted(without_credentials(name))
    );
    Diagnostic::of(&NAME_INVALID, message)
        .at(spot.place(config))
        .help("write REGISTRY/NAME:TAG or REGISTRY/NAME@DIGEST")
}

/// The finding for a machine without a Kubernetes version, and `others` like it.
pub fn version_unknown(place: Place, first: &str, others: usize) -> Diagnostic {
    let named = match others {
        0 => first.to_owned(),
        others => format!("{first} and {others} more"),
    };
    let message =
        format!("no Kubernetes version is known for {named}, so kubeadm's images are not listed");
    Diagnostic::of(&VERSION_UNKNOWN, message)
        .at(place)
        .help(Remedy::new("add ").set(Setting::KubernetesVersion, "v1.34.1"))
}

/// The finding for a Kubernetes version outside of the table; `missing` are the components whose
/// image is not listed.
pub(crate) fn version_uncovered(version: &str, missing: &[&str]) -> Diagnostic {
    let (first, last) = super::covered();
    let message = format!(
        "kubeadm's tags are known for Kubernetes {first} to {last}, not for {}; not listed: {}",
        Quoted(version),
        missing.join(", ")
    );
    let help = "run `kubeadm config images list` of that version, copy the images that are missing here, and pass ";
    let help = Remedy::new(help).set(Setting::Allow, VERSION_UNCOVERED.id);
    Diagnostic::of(&VERSION_UNCOVERED, message).help(help)
}

/// The finding for a patch version whose sources were not read.
pub(crate) fn version_assumed(version: &str, from: &str) -> Diagnostic {
    let message = format!(
        "the tags of coredns, etcd and pause of Kubernetes {} were not verified: those of {from} are listed",
        Quoted(version)
    );
    Diagnostic::of(&VERSION_ASSUMED, message).help(
        "compare with `kubeadm config images list` of that version before you copy the images",
    )
}

/// The finding for machines of a cluster whose control plane is not in the input.
///
/// Where the input has one that could not be rendered, it may be that of these machines.
pub fn control_plane_absent(place: Place, title: &str, has_rejected: bool) -> Diagnostic {
    let (state, help) = match has_rejected {
        true => (
            "is not in the input, or has errors",
            "correct the errors of the control plane, or add its file to the input",
        ),
        false => (
            "is not in the input",
            "add the file with its control plane to the input",
        ),
    };
    let message = format!(
        "the control plane of {title} {state}: kubeadm's default `imageRepository` is assumed"
    );
    Diagnostic::of(&CONTROL_PLANE_ABSENT, message)
        .at(place)
        .help(help)
}
