//! Kubernetes versions that Cluster API's webhooks reject of Clusters and ClusterClasses:
//! `core/webhooks/admission` of v1.14.

use std::cmp::Ordering;

use semver::Version;

use super::class::Class;
use super::cluster::Cluster;
use super::rejected::{Rejected, invalid};
use windlass_capi::admission::Release;
use windlass_capi::contract::parse_tolerant;
use windlass_go_text::quote;

/// What is rejected of the version of a topology.
pub(super) fn of_cluster<'o>(
    cluster: &Cluster<'o>,
    class: Option<&Class<'_>>,
    release: &Release,
) -> Vec<Rejected<'o>> {
    let (version, part) = (&cluster.version, cluster.topology.field("version"));
    let mut rejected = Vec::new();
    let mut reject = |detail: &str| {
        rejected.push(invalid(
            &part,
            "spec.topology.version",
            &quote(version),
            detail,
        ))
    };
    let invalid = "version must be a valid semantic version";
    for detail in release.versions.faults(version, invalid) {
        reject(detail);
    }
    let versions = class.map(|class| class.spec().field("kubernetesVersions"));
    if versions.is_some_and(|versions| {
        versions.items().next().is_some() && !versions.items().any(|known| known.text() == version)
    }) {
        reject("version must match one of the versions defined in the ClusterClass");
    }
    rejected
}

/// What is rejected of the versions that a class is for: they ascend, without a gap.
pub(super) fn of_class<'o>(class: &Class<'o>) -> Vec<Rejected<'o>> {
    let mut rejected = Vec::new();
    let mut before: Option<Version> = None;
    for (index, part) in class.spec().field("kubernetesVersions").items().enumerate() {
        // The webhook calls the field so.
        let field = format!("spec.kubernetesVersion[{index}]");
        let mut reject =
            |detail: &str| rejected.push(invalid(&part, &field, &quote(part.text()), detail));
        let Ok(version) = parse_tolerant(part.text()) else {
            reject("version must be a valid semantic version");
            continue;
        };
        if let Some(before) = &before {
            if !may_follow(&version, before) {
                reject(&format!("version must be greater than v{before}"));
            }
            let next = before.minor.saturating_add(1);
            if version.minor != before.minor && version.minor != next {
                reject(&format!(
                    "expecting a version with minor {} or {next}, found version {version}",
                    before.minor
                ));
            }
        }
        before = Some(version);
    }
    rejected
}

/// Whether a version is greater than another, or differs from it in builds that have no order
/// (`util/version.Compare`, `WithBuildTags`).
fn may_follow(version: &Version, before: &Version) -> bool {
    version
        .cmp_precedence(before)
        .then_with(|| compare_builds(version.build.as_str(), before.build.as_str()))
        .is_gt()
}

/// Compares builds; of two that have no order, either is the greater one.
fn compare_builds(one: &str, other: &str) -> Ordering {
    let parts = |build: &str| {
        build
            .split('.')
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (one, other) = (parts(one), parts(other));
    let unlike = one
        .iter()
        .zip(&other)
        .map(|(one, other)| compare_identifiers(one, other))
        .find(|order| order.is_ne());
    unlike.unwrap_or_else(|| one.len().cmp(&other.len()))
}

/// Numbers come before words, and words have no order.
fn compare_identifiers(one: &str, other: &str) -> Ordering {
    match (one.parse::<u64>(), other.parse::<u64>()) {
        (Ok(one), Ok(other)) => one.cmp(&other),
        (Ok(_), Err(_)) => Ordering::Less,
        (Err(_), Ok(_)) => Ordering::Greater,
        (Err(_), Err(_)) if one == other => Ordering::Equal,
        (Err(_), Err(_)) => Ordering::Greater,
    }
}
