//! Objects of which the rest may be elsewhere: CRDs, roles, webhooks, whole folders of sources.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::object_check;
use windlass_capi::admission;
use windlass_lint::definitions::{CRD_GROUP, CRD_KIND};
use windlass_lint::{self as lint, Extent, Scope, Wishes};
use windlass_objects::{self as objects, Object, Pool, Substituted};
use windlass_source::Source;
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, Report};

/// Reads the objects of some files.
pub(super) fn read(sources: &[&Source], budget: &Budget) -> Read {
    let mut read = Read::default();
    let mut objects = Vec::new();
    for mut part in budget.each(sources, |source, budget| Read::of(source, budget)) {
        objects.append(&mut part.objects);
        read.report.extend(part.report);
        read.substituted.extend(part.substituted);
    }
    read.pool = Pool::of(objects);
    read
}

/// Checks objects together.
pub(super) fn check(read: &mut Read, wishes: Wishes<'_>, budget: &Budget) -> Report {
    let scope = Scope {
        extent: Extent::Part,
        ..Scope::of(&read.pool, None, budget).with(wishes)
    };
    let judged = lint::gate::check_part(&scope);
    let of_metadata = read
        .pool
        .objects()
        .iter()
        .filter(|object| !object_check::is_checked(object));
    let of_metadata: Report = of_metadata.flat_map(admission::metadata::check).collect();
    let restored = |found: Report| {
        let found = found.into_findings().into_iter();
        found
            .map(|finding| read.restored(finding))
            .collect::<Report>()
    };
    let mut report = restored(judged);
    report.extend(read.known(restored(of_metadata)));
    report.extend(std::mem::take(&mut read.report));
    report
}

/// Whether it is an object, and no fragment of one as patches are.
fn is_whole(object: &Object) -> bool {
    let is_fragment =
        object.is(CRD_GROUP, CRD_KIND) && object.items(&["spec", "versions"]).is_empty();
    !object.kind().is_empty() && !is_fragment
}

/// The objects of files, and the way back to the files.
#[derive(Default)]
pub(super) struct Read {
    objects: Vec<Object>,
    pub(super) pool: Pool,
    /// The files whose variables were replaced, by name.
    substituted: BTreeMap<String, Substituted>,
    report: Report,
}

impl Read {
    /// Reads a file. `${…}` that clusterctl cannot replace is text: not every file goes through it.
    fn of(source: &Source, budget: &Budget) -> Self {
        let sampled = if source.text().contains("${") {
            Substituted::sampled(source, budget).ok()
        } else {
            None
        };
        let (found, report) =
            objects::documents(sampled.as_ref().map_or(source, Substituted::text), budget);
        let objects = found
            .into_iter()
            .flat_map(Object::into_items)
            .filter(is_whole)
            .collect();
        match sampled {
            Some(sampled) => {
                let report = sampled.restore(report);
                Read {
                    objects,
                    report,
                    substituted: BTreeMap::from([(source.name().to_string(), sampled)]),
                    ..Read::default()
                }
            }
            None => Read {
                objects,
                report,
                ..Read::default()
            },
        }
    }

    /// Whether there are CRDs among the objects.
    pub(super) fn has_definitions(&self) -> bool {
        self.pool
            .objects()
            .iter()
            .any(|object| object.is(CRD_GROUP, CRD_KIND))
    }

    /// The files with objects of Cluster API: samples and examples.
    pub(super) fn samples(&self) -> BTreeSet<Arc<str>> {
        let checked = self
            .pool
            .objects()
            .iter()
            .filter(|object| object_check::is_checked(object));
        checked
            .filter_map(|object| Some(object.source()?.name().clone()))
            .collect()
    }

    /// The findings without those that a variable without a default decides.
    fn known(&self, report: Report) -> Report {
        self.substituted
            .values()
            .fold(report, |report, file| file.known(report))
    }

    /// A finding with its places in the files as they are written.
    fn restored(&self, finding: Diagnostic) -> Diagnostic {
        let places = std::iter::once(&finding.place)
            .chain(finding.related.iter().map(|related| &related.place));
        let mut files: Vec<String> = places
            .filter_map(|place| place.file.as_deref().map(str::to_owned))
            .collect();
        files.dedup();
        files
            .iter()
            .filter_map(|file| self.substituted.get(file))
            .fold(finding, |finding, file| file.restored(finding))
    }
}
