//! Cluster templates and ClusterClasses that users call by name.

use std::collections::BTreeSet;

use super::Side;
use windlass_capi::contract::{book, cluster_class_name, template_flavor};
use windlass_source::Source;
use windlass_source::diag::{Diagnostic, Place, rules};

rules! {
    /// a cluster template or ClusterClass of the previous release is missing
    REMOVED = warning("upgrade-template-removed"), url(book::TEMPLATES);
}

pub(super) fn check(old: &Side, new: &Side) -> Vec<Diagnostic> {
    let kept: BTreeSet<&str> = new.templates.iter().map(Source::file_name).collect();
    let finding = |source: &Source| {
        let name = source.file_name();
        let called = match (template_flavor(name), cluster_class_name(name)) {
            (Some(""), _) => "`clusterctl generate cluster` without `--flavor`".to_owned(),
            (Some(flavor), _) => format!("`clusterctl generate cluster --flavor {flavor}`"),
            (None, class) => format!("a topology of class {}", class.unwrap_or_default()),
        };
        Diagnostic::of(&REMOVED, format!("{name} is not in the new release"))
            .at(Place::file(source.name().clone()))
            .help("keep the file, or say in the release notes what to use in its place")
            .note(format!("{called} finds nothing any more"))
    };
    old.templates
        .iter()
        .filter(|source| !kept.contains(source.file_name()))
        .map(finding)
        .collect()
}
