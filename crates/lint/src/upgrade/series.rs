//! Release series that users upgrade from.

use std::collections::BTreeSet;

use windlass_capi::contract::{ReleaseSeries, book};
use windlass_source::diag::{Diagnostic, FieldPath, rules};

rules! {
    /// metadata.yaml no longer lists a release series of the previous release
    LOST = warning("upgrade-series-lost"), catalogue("M08"), url(book::METADATA_YAML);
}

pub(super) fn check(old: &super::Side, new: &super::Side) -> Vec<Diagnostic> {
    let (Some(before), Some(after)) = (&old.metadata, &new.metadata) else {
        return Vec::new();
    };
    let list = FieldPath::of_fields("releaseSeries");
    let numbers = |series: &ReleaseSeries| (series.major, series.minor);
    let kept: BTreeSet<(i32, i32)> = after.metadata.release_series.iter().map(numbers).collect();
    let finding = |series: &ReleaseSeries| {
        let ReleaseSeries {
            major,
            minor,
            contract,
        } = series;
        Diagnostic::of(&LOST, format!("series {major}.{minor} is not listed any more"))
            .at(after.place(&list))
            .related(before.series_place(series), "listed by the previous release")
            .help(format!("add `- {{major: {major}, minor: {minor}, contract: {contract}}}`"))
            .note("`clusterctl upgrade` rejects a cluster whose provider is of a series that the newest metadata.yaml does not list")
    };
    before
        .metadata
        .release_series
        .iter()
        .filter(|series| !kept.contains(&numbers(series)))
        .map(finding)
        .collect()
}
