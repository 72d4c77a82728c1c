//! Objects of which the rest may be elsewhere: CRDs, roles, webhooks, whole folders of sources.

use std::collections::BTreeMap;

use super::Linted;
use crate::diag::{Diagnostic, Report};
use crate::lint::definitions::{CRD_GROUP, CRD_KIND};
use crate::lint::templates::{Known, Wanted};
use crate::lint::{self, Extent, Scope, Wishes};
use crate::objects::{self, Object, Pool, Substituted};
use crate::text::budget::Budget;
use crate::text::source::Source;

/// Judges the objects of some files together. `known` gets the kinds that are `wanted`.
pub(super) fn judge(
    sources: &[&Source],
    wanted: &Wanted<'_>,
    known: &mut Known,
    wishes: Wishes<'_>,
    budget: &Budget,
    linted: &mut Linted,
) {
    let mut read = Read::default();
    for part in budget.each(sources, |source, budget| Read::of(source, budget)) {
        read.add(part);
    }
    linted.objects += read.objects.len();
    let pool = Pool::of(std::mem::take(&mut read.objects));
    known.add(pool.objects(), wanted);
    let scope = Scope {
        extent: Extent::Part,
        ..Scope::of(&pool, None, budget).with(wishes)
    };
    let judged = lint::gate::check_part(&scope);
    linted.report.extend(
        judged
            .into_findings()
            .into_iter()
            .map(|finding| read.restored(finding)),
    );
    linted.report.extend(read.report);
}

/// Whether it is an object, and no fragment of one as patches are.
fn is_whole(object: &Object) -> bool {
    let is_fragment =
        object.is(CRD_GROUP, CRD_KIND) && object.items(&["spec", "versions"]).is_empty();
    !object.kind().is_empty() && !is_fragment
}

#[derive(Default)]
struct Read {
    objects: Vec<Object>,
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
                }
            }
            None => Read {
                objects,
                report,
                ..Read::default()
            },
        }
    }

    fn add(&mut self, part: Self) {
        self.objects.extend(part.objects);
        self.report.extend(part.report);
        self.substituted.extend(part.substituted);
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
