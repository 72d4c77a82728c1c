//! Which Kubernetes versions a release of Cluster API is made for (book: "Cluster API release
//! support and Kubernetes versions support", the tables of v1.10.10, v1.11.7, v1.12.10, v1.13.6 and
//! v1.14.2; "Troubleshooting", on versions whose nodes do not join).

use semver::Version;

use super::Subject;
use windlass_source::diag::{Diagnostic, Remedy, Setting, rules};

rules! {
    /// the Cluster API release does not support this Kubernetes version
    pub(crate) UNTESTED = warning("capi-kubernetes-untested");
    /// upgraded control plane machines of this Kubernetes version do not join with this Cluster API
    /// release
    pub(crate) JOIN_STUCK = error("capi-kubernetes-join-stuck");
}

/// Of a release: the first and the last Kubernetes minor version 1 of workload clusters, and
/// from which patch version of its own on the latest are supported, by their minor version.
struct Support {
    release: &'static str,
    first: u64,
    last: u64,
    from_patch: &'static [(u64, u64)],
}

const SUPPORTED: [Support; 5] = [
    Support {
        release: "v1.10",
        first: 27,
        last: 33,
        from_patch: &[(33, 1)],
    },
    Support {
        release: "v1.11",
        first: 28,
        last: 34,
        from_patch: &[(34, 1)],
    },
    Support {
        release: "v1.12",
        first: 29,
        last: 36,
        from_patch: &[(35, 1), (36, 8)],
    },
    Support {
        release: "v1.13",
        first: 30,
        last: 37,
        from_patch: &[(36, 1), (37, 6)],
    },
    Support {
        release: "v1.14",
        first: 31,
        last: 37,
        from_patch: &[(37, 1)],
    },
];

/// Kubernetes Patch versions from which on kubeadm gives the API server fewer rights, by their
/// minor version.
const WITH_FEWER_RIGHTS: [(u64, u64); 4] = [(36, 1), (35, 5), (34, 8), (33, 12)];

/// The patch versions of Cluster API that give them back, by release; older releases never do,
/// newer ones always.
const GIVES_RIGHTS: [(&str, u64); 3] = [("v1.11", 11), ("v1.12", 8), ("v1.13", 2)];

pub(super) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let (Some(kubernetes), Some(minor)) = (&subject.kubernetes, subject.minor()) else {
        return Vec::new();
    };
    let is_control_plane = subject.config.kind().starts_with("KubeadmControlPlane");
    let stuck = is_control_plane
        .then(|| stuck(subject, kubernetes))
        .flatten();
    stuck
        .or_else(|| untested(subject, minor))
        .into_iter()
        .collect()
}

fn patch(subject: &Subject<'_>) -> Option<u64> {
    subject.profile.version().rsplit('.').next()?.parse().ok()
}

fn untested(subject: &Subject<'_>, minor: u64) -> Option<Diagnostic> {
    let Support {
        release,
        first,
        last,
        from_patch,
    } = SUPPORTED
        .iter()
        .find(|row| row.release == subject.profile.name)?;
    let needed = from_patch
        .iter()
        .find(|(of, _)| *of == minor)
        .map(|(_, patch)| *patch);
    let is_too_old =
        needed.is_some_and(|needed| patch(subject).is_some_and(|patch| patch < needed));
    if (*first..=*last).contains(&minor) && !is_too_old {
        return None;
    }
    let version = subject.profile.version();
    let message = format!(
        "CAPI {version} is not made for Kubernetes v1.{minor}: it supports v1.{first} to v1.{last} in workload clusters"
    );
    let finding = Diagnostic::of(&UNTESTED, message).at(subject.version_place.clone());
    Some(match needed.filter(|_| is_too_old) {
        Some(needed) => finding.help(
            Remedy::new("use ")
                .set(Setting::CapiVersion, format!("{release}.{needed}"))
                .then(" or newer"),
        ),
        None => finding.help("choose versions of Cluster API and Kubernetes that go together"),
    })
}

fn stuck(subject: &Subject<'_>, kubernetes: &Version) -> Option<Diagnostic> {
    let (_, from) = WITH_FEWER_RIGHTS
        .iter()
        .find(|(minor, from)| *minor == kubernetes.minor && kubernetes.patch >= *from)?;
    let release = subject.profile.name;
    let fixed = GIVES_RIGHTS
        .iter()
        .find(|(known, _)| *known == release)
        .map(|(_, patch)| *patch);
    let is_fixed = match fixed {
        Some(fixed) => patch(subject).is_none_or(|patch| patch >= fixed),
        None => release != "v1.10",
    };
    if is_fixed {
        return None;
    }
    let message = format!(
        "control planes that CAPI {} upgrades to Kubernetes v{kubernetes} stop at the first machine: from v1.{}.{from} on the API server may not reach kubelets",
        subject.profile.version(),
        kubernetes.minor
    );
    let help = format!(
        "upgrade Cluster API first, to {}",
        newer(fixed.map(|patch| format!("{release}.{patch}")))
    );
    Some(
        Diagnostic::of(&JOIN_STUCK, message)
            .at(subject.version_place.clone())
            .help(help),
    )
}

fn newer(own: Option<String>) -> String {
    own.map_or_else(
        || "v1.11.11, v1.12.8 or v1.13.2".to_owned(),
        |own| format!("{own} or newer"),
    )
}
