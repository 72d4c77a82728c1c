//! Which CAPI release the bytes match: one table with everything that differs from release to
//! release.
//!
//! The templates are almost frozen since v1.10. What differs was found by running each release; it
//! is data here, so that no renderer compares version numbers.

use std::fmt;

use semver::Version;

use windlass_capi::admission;
use windlass_capi::admission::core::versions::VersionCheck;
use windlass_capi::api::names::Version as ApiVersion;
use windlass_capi::contract::parse_tolerant;
use windlass_capi::contract::rollout::Release;
use windlass_source::diag::{Remedy, Setting};

/// The kubeadm bootstrap provider of a CAPI release, as far as its output differs from that of
/// others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    /// The minor version as users write it: `v1.14`, or `main`.
    pub name: &'static str,
    /// The patch version; of `main` none.
    patch: Option<u64>,
    /// The newest patch version that is known. Run beside ours were v1.10.10, v1.11.7, v1.12.10,
    /// v1.12.11, v1.13.6, v1.14.0 and v1.14.2; of v1.11 the sources were read up to v1.11.10.
    newest_patch: u64,
    /// The version that the provider stores and works on; it serves no newer one.
    pub storage: ApiVersion,
    /// The oldest Kubernetes minor version 1 that is rendered.
    pub oldest_kubernetes: u64,
    /// Whether Kubernetes' libraries are older than 0.34: then the kubeconfig for discovery has a
    /// line `preferences: {}`, and rejections show structs in Go's syntax.
    pub libraries_before_34: bool,
    /// Whether `files[].contentFormat` is known.
    pub content_templates: bool,
    /// Whether the message of a failing file says why.
    pub explains_file_failures: bool,
    /// The first patch version whose systemd unit of Ignition calls the script with `/bin/bash`.
    ignition_calls_bash_from: Option<u64>,
    /// The first patch version whose KubeadmControlPlane sets the feature gate
    /// ControlPlaneKubeletLocalMode only below Kubernetes 1.36.
    local_mode_bounded_from: Option<u64>,
    /// Whether KubeadmControlPlane has taints for its machines.
    pub machine_taints: bool,
    /// Whether the webhooks parse Kubernetes versions; before, they match a pattern.
    parses_versions: bool,
    /// Fields of KubeadmConfigSpec that this release does not know; `[]` for the items of a list.
    pub unknown_fields: &'static [&'static str],
}

const VALIDITY: &str = "clusterConfiguration.certificateValidityPeriodDays";
const CA_VALIDITY: &str = "clusterConfiguration.caCertificateValidityPeriodDays";
const ENCRYPTION: &str = "clusterConfiguration.encryptionAlgorithm";
const DISK_LAYOUT: &str = "diskSetup.partitions[].diskLayout";
const CONTENT_FORMAT: &str = "files[].contentFormat";

const MAIN: Profile = Profile {
    name: "main",
    patch: None,
    newest_patch: 0,
    storage: ApiVersion::V1Beta2,
    oldest_kubernetes: 22,
    libraries_before_34: false,
    content_templates: true,
    explains_file_failures: true,
    ignition_calls_bash_from: Some(0),
    local_mode_bounded_from: Some(0),
    machine_taints: true,
    parses_versions: true,
    unknown_fields: &[],
};
const V1_14: Profile = Profile {
    name: "v1.14",
    patch: Some(2),
    newest_patch: 2,
    ignition_calls_bash_from: Some(1),
    ..MAIN
};
const V1_13: Profile = Profile {
    name: "v1.13",
    patch: Some(6),
    newest_patch: 6,
    content_templates: false,
    explains_file_failures: false,
    ignition_calls_bash_from: None,
    parses_versions: false,
    unknown_fields: &[CONTENT_FORMAT],
    ..V1_14
};
const V1_12: Profile = Profile {
    name: "v1.12",
    patch: Some(11),
    newest_patch: 11,
    local_mode_bounded_from: Some(2),
    machine_taints: false,
    unknown_fields: &[DISK_LAYOUT, CONTENT_FORMAT],
    ..V1_13
};
const V1_11: Profile = Profile {
    name: "v1.11",
    patch: Some(10),
    newest_patch: 10,
    libraries_before_34: true,
    local_mode_bounded_from: None,
    unknown_fields: &[ENCRYPTION, DISK_LAYOUT, CONTENT_FORMAT],
    ..V1_12
};
const V1_10: Profile = Profile {
    name: "v1.10",
    patch: Some(10),
    newest_patch: 10,
    storage: ApiVersion::V1Beta1,
    oldest_kubernetes: 15,
    unknown_fields: &[
        VALIDITY,
        CA_VALIDITY,
        ENCRYPTION,
        DISK_LAYOUT,
        CONTENT_FORMAT,
    ],
    ..V1_11
};

/// All profiles, older first, each at the newest patch version that is known.
pub(crate) const PROFILES: [Profile; 6] = [V1_10, V1_11, V1_12, V1_13, V1_14, MAIN];

/// Why a text names no profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRelease(String);

impl fmt::Display for UnknownRelease {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "CAPI {} is not known", self.0)
    }
}

impl UnknownRelease {
    /// What can be written instead.
    pub fn help() -> Remedy {
        let (last, others) = PROFILES
            .split_last()
            .expect("internal error: there are profiles");
        let others: Vec<_> = others.iter().map(|profile| profile.name).collect();
        Remedy::new("use ")
            .setting(Setting::CapiVersion)
            .then(format!(" {} or {}", others.join(", "), last.name))
    }
}

impl Profile {
    /// The names of all that are known, the oldest first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PROFILES.into_iter().map(|profile| profile.name)
    }

    pub(crate) const NEWEST: Profile = V1_14;

    /// The profile of a release: `v1.14`, `v1.14.0` or `main`; the `v` may be missing.
    ///
    /// # Errors
    ///
    /// No profile is known for the minor version.
    pub fn parse(text: &str) -> Result<Self, UnknownRelease> {
        if text == MAIN.name {
            return Ok(MAIN);
        }
        let unknown = || UnknownRelease(text.to_owned());
        let version = parse_tolerant(text).map_err(|_| unknown())?;
        let name = format!("v{}.{}", version.major, version.minor);
        let profile = PROFILES
            .into_iter()
            .find(|profile| profile.name == name)
            .ok_or_else(unknown)?;
        let has_patch = text.matches('.').count() > 1;
        Ok(if has_patch {
            Profile {
                patch: Some(version.patch),
                ..profile
            }
        } else {
            profile
        })
    }

    /// The full version: `v1.14.0`, or `main`.
    pub fn version(&self) -> String {
        self.patch.map_or_else(
            || self.name.to_owned(),
            |patch| format!("{}.{patch}", self.name),
        )
    }

    /// The release, for the table of rollouts; of `main` none.
    pub fn release(&self) -> Option<Release> {
        let minor = self.name.strip_prefix("v1.")?.parse().ok()?;
        Some(Release(minor, self.patch?))
    }

    /// Whether this patch version is newer than all that are known.
    pub fn is_untried(&self) -> bool {
        self.patch.is_some_and(|patch| patch > self.newest_patch)
    }

    /// The newest patch version that is known, in full.
    pub fn newest_tried(&self) -> String {
        format!("{}.{}", self.name, self.newest_patch)
    }

    /// The checks of its webhooks, with a feature gate of its core.
    pub fn admission(&self, taints_gate: bool) -> admission::core::Release {
        admission::core::Release {
            versions: if self.parses_versions {
                VersionCheck::Semantic
            } else {
                VersionCheck::Pattern
            },
            checks_topology_taints: self.machine_taints,
            taints_gate,
            demands_references: !self.is_legacy(),
        }
    }

    /// Whether the provider works on v1beta1 itself, with the defaults of its webhook.
    pub(crate) fn is_legacy(&self) -> bool {
        self.storage == ApiVersion::V1Beta1
    }

    /// Whether the systemd unit of Ignition calls the script with `/bin/bash`.
    pub(crate) fn ignition_calls_bash(&self) -> bool {
        self.is_from(self.ignition_calls_bash_from)
    }

    /// Whether this patch version has what came with one of its minor version.
    fn is_from(&self, first: Option<u64>) -> bool {
        first.is_some_and(|first| self.patch.is_none_or(|patch| patch >= first))
    }

    /// Whether KubeadmControlPlane sets the feature gate ControlPlaneKubeletLocalMode for that
    /// Kubernetes version.
    pub fn sets_kubelet_local_mode(&self, kubernetes: &Version) -> bool {
        let minor = if kubernetes.major == 1 {
            kubernetes.minor
        } else {
            u64::MAX
        };
        let bounded = self.is_from(self.local_mode_bounded_from);
        minor >= 31 && (minor < 36 || !bounded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_found_by_minor_version() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                Profile::parse(text)
                    .ok()
                    .map(|profile| profile.version())
                    .as_deref(),
                expected,
                "{text}"
            );
        };
        check("v1.14", Some("v1.14.2"));
        check("v1.14.0", Some("v1.14.0"));
        check("1.12.11", Some("v1.12.11"));
        check("v1.12.1", Some("v1.12.1"));
        check("v1.10", Some("v1.10.10"));
        check("main", Some("main"));
        check("v1.9", None);
        check("v2.14", None);
        check("latest", None);
        assert!(Profile::parse("v1.14.7").unwrap().is_untried());
        assert!(!Profile::parse("v1.12.3").unwrap().is_untried());
        assert!(!Profile::parse("v1.14.2").unwrap().is_untried());
        assert_eq!(
            UnknownRelease::help().to_string(),
            "use `capi-version` v1.10, v1.11, v1.12, v1.13, v1.14 or main"
        );
    }

    #[test]
    fn the_unit_of_ignition_calls_bash_since_a_patch() {
        let check = |release: &str, expected: bool| {
            assert_eq!(
                Profile::parse(release).unwrap().ignition_calls_bash(),
                expected,
                "{release}"
            )
        };
        check("v1.13", false);
        check("v1.14.0", false);
        check("v1.14.1", true);
        check("main", true);
    }

    #[test]
    fn the_bound_of_the_kubelet_local_mode_came_with_a_patch() {
        let check = |profile: &str, kubernetes: &str, expected: bool| {
            let kubernetes = Version::parse(kubernetes).unwrap();
            assert_eq!(
                Profile::parse(profile)
                    .unwrap()
                    .sets_kubelet_local_mode(&kubernetes),
                expected,
                "{profile} {kubernetes}"
            );
        };
        check("v1.14", "1.30.9", false);
        check("v1.14", "1.31.0", true);
        check("v1.14", "1.36.0", false);
        check("v1.12.1", "1.36.0", true);
        check("v1.12.2", "1.36.0", false);
        check("v1.11", "1.36.0", true);
        check("main", "1.35.9", true);
    }
}
