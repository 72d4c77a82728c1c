//! From one release to the next: what the API server or `clusterctl upgrade` rejects, what stays
//! behind, and what users have to change.

pub(crate) mod definitions;
pub mod immutable;
pub(crate) mod left_behind;
pub(crate) mod schema;
pub(crate) mod series;
pub(crate) mod templates;
pub(crate) mod variables;

use std::collections::BTreeMap;

use super::components::Components;
use super::metadata::MetadataFile;
use windlass_objects::Object;
use windlass_source::Source;
use windlass_source::diag::Report;

/// One of the two releases.
pub struct Side {
    /// The components files of the release, one for each provider.
    pub components: Vec<Components>,
    /// Its metadata, where it can be used.
    pub metadata: Option<MetadataFile>,
    /// Its cluster templates and ClusterClasses.
    pub templates: Vec<Source>,
}

impl Side {
    fn objects(&self) -> impl Iterator<Item = &Object> {
        self.components.iter().flat_map(Components::objects)
    }

    /// The objects by group, kind, namespace and name; of several the last one counts.
    fn by_key(&self) -> BTreeMap<Key<'_>, &Object> {
        self.objects().map(|object| (key(object), object)).collect()
    }

    fn restored(&self, report: Report) -> Report {
        self.components
            .iter()
            .fold(report, |report, components| components.restored(report))
    }
}

type Key<'o> = (&'o str, &'o str, &'o str, &'o str);

fn key(object: &Object) -> Key<'_> {
    (
        object.group(),
        object.kind(),
        object.namespace(),
        object.name(),
    )
}

/// Checks the step from one release to the next.
pub fn check(old: &Side, new: &Side) -> Report {
    let (before, after) = (old.by_key(), new.by_key());
    let namespace = old
        .objects()
        .find(|object| object.is("", "Namespace"))
        .map(Object::name);
    let mut about_objects = Report::new();
    for (key, old) in &before {
        match after.get(key) {
            Some(new) => {
                about_objects.extend(definitions::check(old, new));
                about_objects.extend(schema::check(old, new));
                about_objects.extend(immutable::check(old, new));
            }
            None => {
                about_objects.extend(definitions::removed(old));
                about_objects
                    .extend(namespace.and_then(|namespace| left_behind::check(old, namespace)));
            }
        }
    }
    let mut report = old.restored(new.restored(about_objects));
    report.extend(series::check(old, new));
    report.extend(templates::check(old, new));
    report.extend(variables::check(old, new));
    report
}
