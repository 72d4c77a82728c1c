//! CRDs whose objects are in users' clusters already.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::definitions::{CRD_GROUP, CRD_KIND};
use windlass_objects::Object;
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// a CRD lacks the storage version of the previous release
    STORED_REMOVED = error("upgrade-stored-version-removed");
    /// a CRD no longer serves a version that the previous release served without a deprecation
    SERVED_REMOVED = warning("upgrade-served-version-removed");
    /// an immutable field of a CRD changes
    IMMUTABLE = error("upgrade-crd-immutable");
    /// a CRD of the previous release is missing
    REMOVED = warning("upgrade-crd-removed");
}

fn is_crd(object: &Object) -> bool {
    object.is(CRD_GROUP, CRD_KIND)
}

/// Checks a CRD that both releases have.
pub(super) fn check(old: &Object, new: &Object) -> Report {
    if !is_crd(old) {
        return Report::new();
    }
    let versions = by_name(new);
    let mut report: Report = stored(old, new, &versions).into_iter().collect();
    report.extend(served(old, new, &versions));
    report.extend(immutable(old, new));
    report
}

/// Checks an object that only the old release has.
pub(super) fn removed(old: &Object) -> Option<Diagnostic> {
    is_crd(old).then(|| {
        Diagnostic::of(
            &REMOVED,
            format!("{} is not in the new release", old.title()),
        )
        .at(old.place(&FieldPath::of_fields("metadata.name")))
        .help("keep the CRD, or tell users how to delete its objects before they upgrade")
        .note("`clusterctl upgrade` deletes no CRD: it stays without a controller")
    })
}

fn versions(crd: &Object) -> &[Value] {
    crd.items(&["spec", "versions"])
}

fn by_name(crd: &Object) -> BTreeMap<&str, &Value> {
    versions(crd)
        .iter()
        .filter_map(|version| Some((version["name"].as_str()?, version)))
        .collect()
}

/// The version in which objects are stored may not go; those that the CRD stored in before are not
/// in its file.
fn stored(old: &Object, new: &Object, of_new: &BTreeMap<&str, &Value>) -> Option<Diagnostic> {
    let stored = versions(old)
        .iter()
        .position(|version| version["storage"] == true)?;
    let name = versions(old)[stored]["name"].as_str()?;
    if of_new.contains_key(name) {
        return None;
    }
    let upstream = format!(
        "status.storedVersions[0]: Invalid value: \"{name}\": missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
    );
    Some(
        Diagnostic::of(
            &STORED_REMOVED,
            format!(
                "{} has no version {name} any more, in which the release before stores",
                new.title()
            ),
        )
        .at(new.place(&FieldPath::of_fields("spec.versions")))
        .related(
            old.place(&FieldPath::of_fields("spec.versions").index(stored)),
            "stored in this version",
        )
        .help(format!(
            "keep {name} in spec.versions, with `served: false` if clients should not use it"
        ))
        .note(format!("the API server says: {upstream}"))
        .upstream(upstream),
    )
}

fn served(old: &Object, new: &Object, of_new: &BTreeMap<&str, &Value>) -> Vec<Diagnostic> {
    let is_announced = |version: &Value| version["deprecated"] == true;
    let was_served = versions(old)
        .iter()
        .enumerate()
        .filter(|(_, version)| version["served"] == true && !is_announced(version));
    let finding = |(at, old_version): (usize, &Value)| {
        let name = old_version["name"].as_str()?;
        // A version that is gone although it is stored has a finding of its own.
        let is_gone = match of_new.get(name) {
            Some(version) => version["served"] != true,
            None => old_version["storage"] != true,
        };
        is_gone.then(|| {
            Diagnostic::of(
                &SERVED_REMOVED,
                format!("{} does not serve {name} any more", new.title()),
            )
            .at(new.place(&FieldPath::of_fields("spec.versions")))
            .related(
                old.place(&FieldPath::of_fields("spec.versions").index(at)),
                "served here, and not deprecated",
            )
            .help(format!(
                "serve {name} with `deprecated: true` for a release before it ends"
            ))
        })
    };
    was_served.filter_map(finding).collect()
}

fn immutable(old: &Object, new: &Object) -> Vec<Diagnostic> {
    let changed = |path: &&str| {
        let path = FieldPath::of_fields(path);
        old.at(&path) != new.at(&path)
    };
    let finding = |path: &str| {
        let path = FieldPath::of_fields(path);
        let value = |crd: &Object| {
            crd.at(&path)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let upstream = format!(
            "{path}: Invalid value: \"{}\": field is immutable",
            value(new)
        );
        Diagnostic::of(
            &IMMUTABLE,
            format!(
                "{path} of {} changes from {} to {}",
                new.title(),
                value(old),
                value(new)
            ),
        )
        .at(new.place(&path))
        .related(old.place(&path), "")
        .help(format!(
            "write `{}`, or give the new kind another name",
            value(old)
        ))
        .note(format!("the API server says: {upstream}"))
        .upstream(upstream)
    };
    ["spec.scope", "spec.names.kind"]
        .into_iter()
        .filter(changed)
        .map(finding)
        .collect()
}
