//! Which etcd a control plane runs (`DefaultEtcdVersion` in `cmd/kubeadm/app/constants` of each
//! minor version; `etcd.local.imageTag`).

use semver::Version;

use super::Subject;
use windlass_objects::fields;

/// The first Kubernetes minor version 1 whose kubeadm runs a minor version of etcd 3; newer ones
/// than the last row are not known.
const DEFAULTS: [(u64, u64); 3] = [(22, 5), (34, 6), (37, 7)];

/// The newest Kubernetes minor version 1 that the table knows.
const NEWEST: u64 = 37;

/// The minor version of etcd 3 that runs, as far as it is known: what the tag of the image says, or
/// what kubeadm takes.
pub(super) fn minor(subject: &Subject<'_>) -> Option<u64> {
    match fields::text(
        subject.spec,
        &["clusterConfiguration", "etcd", "local", "imageTag"],
    ) {
        "" => default_minor(subject.minor()?),
        tag => tagged_minor(tag),
    }
}

/// The first Kubernetes minor version 1 whose kubeadm runs this minor version of etcd 3, or a
/// newer one.
pub(super) fn comes_with(etcd: u64) -> Option<u64> {
    let (kubernetes, _) = DEFAULTS.iter().find(|(_, minor)| *minor >= etcd)?;
    Some(*kubernetes)
}

fn default_minor(kubernetes: u64) -> Option<u64> {
    let (_, etcd) = DEFAULTS
        .iter()
        .rev()
        .find(|(first, _)| *first <= kubernetes)?;
    (kubernetes <= NEWEST).then_some(*etcd)
}

/// `3.5.24-0` of Kubernetes' registry, `v3.5.24` of etcd's own.
fn tagged_minor(tag: &str) -> Option<u64> {
    let version = Version::parse(tag.strip_prefix('v').unwrap_or(tag)).ok()?;
    (version.major == 3).then_some(version.minor)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `DefaultEtcdVersion` of v1.26.15, v1.33.13, v1.34.4, v1.36.3 and v1.37.2.
    #[test]
    fn each_kubeadm_has_its_etcd() {
        for (kubernetes, etcd) in [(26, 5), (33, 5), (34, 6), (36, 6), (37, 7)] {
            assert_eq!(default_minor(kubernetes), Some(etcd), "v1.{kubernetes}");
        }
        assert_eq!((default_minor(21), default_minor(38)), (None, None));
        assert_eq!([6, 7, 8].map(comes_with), [Some(34), Some(37), None]);
    }

    #[test]
    fn tags_of_images_are_read() {
        for (tag, expected) in [
            ("3.5.24-0", Some(5)),
            ("v3.6.5", Some(6)),
            ("latest", None),
            ("2.3.8", None),
            ("3.5", None),
        ] {
            assert_eq!(tagged_minor(tag), expected, "{tag}");
        }
    }
}
