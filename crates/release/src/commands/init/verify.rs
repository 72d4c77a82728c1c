//! `init --verify`: what a provider.yaml builds, compared with what kustomize builds, object by
//! object.

use std::collections::BTreeMap;

use semver::Version;
use serde_json::Value;

use crate::commands::release_diff::{
    Change, Difference, FieldChange, ObjectChange, fields_changed,
};
use crate::emit::definitions::is_contract_label;
use crate::emit::names::Names;
use crate::emit::release::Release;
use windlass_capi::contract::{Image, labels};
use windlass_lint::metadata;
use windlass_lint::upgrade::immutable;
use windlass_objects::{self as objects, Object};
use windlass_provider::{Declared, Inputs};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

/// A comparison.
#[derive(Debug, Default)]
pub struct Verified {
    /// What differs beyond what the contract requires.
    pub difference: Difference,
    /// How many objects kustomize builds.
    pub kustomized: usize,
    /// What the contract requires, by field: the objects that get it.
    pub required: BTreeMap<String, Vec<String>>,
    /// What cannot be read, and what breaks a running installation.
    pub report: Report,
}

/// Compares the objects of a release, which was built with its originals, with those of kustomize.
/// What kustomize built stands for what is installed: immutable fields that differ are findings.
pub fn run(
    kustomized: &Source,
    providers: &[Declared],
    release: &Release,
    budget: &Budget,
) -> Verified {
    let (theirs, report) = objects::read(kustomized, budget);
    let mut verified = Verified {
        kustomized: theirs.len(),
        report,
        ..Verified::default()
    };
    let names: Vec<Names> = providers
        .iter()
        .map(|declared| Names::of(&declared.provider))
        .collect();
    let mut ours: Vec<&Object> = release.traced.released.iter().collect();
    // Exact names first, so that no other object replaces one that is there.
    let exact: Vec<Option<&Object>> = theirs
        .iter()
        .map(|object| take(&mut ours, |other| identity(other) == identity(object)))
        .collect();
    for (object, found) in theirs.iter().zip(exact) {
        let renamed = || take(&mut ours, |other| is_renamed(&names, object, other));
        match found.or_else(renamed) {
            Some(other) => verified.compare(object, other, budget),
            None => verified.push(object, Change::Removed, Vec::new()),
        }
    }
    for object in ours {
        verified.push(object, Change::Added, Vec::new());
    }
    verified
}

/// A version of the newest release series.
pub fn version(declared: &Declared, inputs: &Inputs) -> Option<Version> {
    let source = inputs.files(declared.provider.metadata_file()).first()?;
    let (file, _) = metadata::parse(source, inputs.budget());
    let series = file?.metadata.release_series.into_iter();
    let newest = series.max_by_key(|series| (series.major, series.minor))?;
    let number = |number| u64::try_from(number).ok();
    Some(Version::new(
        number(newest.major)?,
        number(newest.minor)?,
        0,
    ))
}

/// Takes the first object that fits.
fn take<'o>(objects: &mut Vec<&'o Object>, fits: impl Fn(&Object) -> bool) -> Option<&'o Object> {
    let at = objects.iter().position(|object| fits(object))?;
    Some(objects.remove(at))
}

fn identity(object: &Object) -> [&str; 4] {
    [
        object.group(),
        object.kind(),
        object.namespace(),
        object.name(),
    ]
}

/// Whether a release calls an object otherwise than kustomize does: the long form puts the
/// namespace before the names of cluster-wide roles.
fn is_renamed(names: &[Names], theirs: &Object, ours: &Object) -> bool {
    let bare = |names: &Names, object: &Object| {
        names
            .unstamped(object.name())
            .into_iter()
            .min_by_key(|name| name.len())
            .map(str::to_owned)
    };
    theirs.group() == ours.group()
        && theirs.kind() == ours.kind()
        && names
            .iter()
            .any(|names| bare(names, theirs) == bare(names, ours))
}

impl Verified {
    fn compare(&mut self, theirs: &Object, ours: &Object, budget: &Budget) {
        let (required, others): (Vec<FieldChange>, Vec<FieldChange>) =
            fields_changed(theirs.value(), ours.value(), budget)
                .into_iter()
                .partition(is_required);
        for field in required {
            let value = field.new.as_ref().and_then(Value::as_str);
            let value = value.map_or_else(String::new, |value| format!(": {value}"));
            self.required
                .entry(format!("{}{value}", field.path))
                .or_default()
                .push(ours.title());
        }
        if others.is_empty() {
            self.difference.unchanged += 1;
        } else {
            self.report.extend(immutable::check(theirs, ours));
            self.push(ours, Change::Changed, others);
        }
    }

    fn push(&mut self, object: &Object, change: Change, fields: Vec<FieldChange>) {
        let namespace = object.namespace();
        self.difference.objects.push(ObjectChange {
            change,
            file: None,
            group: object.group().to_owned(),
            kind: object.kind().to_owned(),
            namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
            name: object.name().to_owned(),
            fields,
        });
    }
}

/// Whether clusterctl's contract requires a change: contract labels, the provider label, and the
/// version of the release as the tag of the manager's image.
fn is_required(field: &FieldChange) -> bool {
    let is_label = |key: &str| key == labels::PROVIDER || is_contract_label(key);
    if let Some(rest) = field.path.strip_prefix("metadata.labels") {
        return match &field.new {
            Some(Value::Object(map)) => rest.is_empty() && map.keys().all(|key| is_label(key)),
            Some(_) => is_label(rest.trim_matches(|c: char| "[]\"'.".contains(c))),
            None => false,
        };
    }
    let image = |value: &Option<Value>| {
        let image = Image::parse(value.as_ref()?.as_str()?).ok()?;
        let (registry, path) = image.registry_and_path();
        Some(format!("{registry}/{path}"))
    };
    field.path.ends_with(".image")
        && image(&field.old).is_some()
        && image(&field.old) == image(&field.new)
}
