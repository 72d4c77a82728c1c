//! What kubeadm is given, and from where each field is.
//!
//! A field is in the config where it is in kubeadm's document, but for those of [`MOVES`];
//! what the config does not say, the rendering has noted (`Notes::filled`).

use std::collections::BTreeSet;

use serde_json::Value;

use super::arguments::{Held, held};
use super::subject::Subject;
use super::thing::{Source, Thing};
use windlass_bootstrap::render::input::filling::{FilledPart, Filling};
use windlass_bootstrap::render::plan::node_plan::Kubeadm;
use windlass_capi::conversion::core::MOVES;
use windlass_go_yaml::yaml;
use windlass_objects::fields;
use windlass_source::Source as Text;
use windlass_source::diag::{FieldPath, Segment};

/// The documents, as the spec of a config calls them.
pub(super) const DOCUMENTS: [&str; 3] = [
    "clusterConfiguration",
    "initConfiguration",
    "joinConfiguration",
];

/// What the names of durations end with in a config of v1beta2: `ttl` of kubeadm is `ttlSeconds`
/// there.
const UNITS: [&str; 2] = ["Seconds", "Days"];

/// The reason of fields that nobody sets.
const ALWAYS: &str = "the provider always writes this field of kubeadm's document";

/// All that kubeadm's documents hold.
pub(crate) fn things(subject: &Subject<'_>) -> Vec<Thing> {
    let documents = documents(subject);
    let all = documents
        .iter()
        .flat_map(|(name, value)| held(value, &FieldPath::of_fields(name)));
    all.map(|held| thing(subject, held)).collect()
}

fn documents(subject: &Subject<'_>) -> Vec<(&'static str, Value)> {
    let texts = match &subject.rendered.plan.kubeadm {
        Kubeadm::Init { cluster, init } => vec![
            ("clusterConfiguration", cluster),
            ("initConfiguration", init),
        ],
        Kubeadm::Join { join, .. } => vec![("joinConfiguration", join)],
    };
    let read = |(name, text): (&'static str, &windlass_capi::api::secret::Sensitive<String>)| {
        let read = yaml::values(&Text::new(name, text.expose().as_str()), subject.budget);
        Some((name, read.documents.into_iter().next()?.value))
    };
    texts.into_iter().filter_map(read).collect()
}

fn thing(subject: &Subject<'_>, held: Held) -> Thing {
    let source = source(subject, &held.path);
    Thing::new(held.kind, held.name, held.value, source)
}

fn source(subject: &Subject<'_>, path: &FieldPath) -> Source {
    let noted = subject.filled.iter().find_map(|filled| match &filled.what {
        FilledPart::Field(field) => path
            .segments()
            .starts_with(field.segments())
            .then(|| filled.from.clone()),
        FilledPart::File(_) => None,
    });
    if let Some(from) = noted {
        return Source::Filled(from);
    }
    let spec_path = subject.target.spec_path();
    let Some(spec) = subject.target.spec() else {
        return Source::Filled(Filling::Provider(ALWAYS));
    };
    match in_config(spec, path) {
        Some(found) => Source::Config(spec_path.join(&found)),
        None => Source::Filled(Filling::Provider(ALWAYS)),
    }
}

/// Where the spec of a config has a field of kubeadm's documents.
fn in_config(spec: &Value, path: &FieldPath) -> Option<FieldPath> {
    let is_there = |path: &FieldPath| fields::at(spec, path.segments()).is_some();
    let with_unit = UNITS
        .iter()
        .filter_map(|unit| match path.segments().split_last() {
            Some((Segment::Field(last), before)) => Some(
                before
                    .iter()
                    .cloned()
                    .collect::<FieldPath>()
                    .field(format!("{last}{unit}")),
            ),
            _ => None,
        });
    let names: Vec<FieldPath> = std::iter::once(path.clone()).chain(with_unit).collect();
    let moved: Vec<FieldPath> = names.iter().flat_map(moved).collect();
    names
        .into_iter()
        .chain(moved)
        .find(is_there)
        .or_else(|| argument(spec, path))
}

/// Where the other version of the APIs has a field; kubeadm's documents have either place, whatever
/// the version of the config is.
fn moved(path: &FieldPath) -> impl Iterator<Item = FieldPath> + '_ {
    let rows = MOVES
        .iter()
        .map(|(old, new)| (FieldPath::of_fields(old), FieldPath::of_fields(new)));
    rows.filter_map(move |(old, new)| match (&old == path, &new == path) {
        (true, _) => Some(new),
        (_, true) => Some(old),
        _ => None,
    })
}

/// Arguments are a list in one version of the APIs and a map in another, and the list of a map is
/// in the order of its names: the entry of the same name, of equal names the last.
fn argument(spec: &Value, path: &FieldPath) -> Option<FieldPath> {
    let steps = path.segments();
    let is_list = |step: &Segment| matches!(step, Segment::Field(name) if name == "extraArgs" || name == "kubeletExtraArgs");
    let at = steps.iter().position(is_list)?;
    let list: FieldPath = steps[..=at].iter().cloned().collect();
    match (steps.get(at + 1)?, fields::at(spec, list.segments())?) {
        (Segment::Field(name) | Segment::Key(name), Value::Array(items)) => {
            let index = items
                .iter()
                .rposition(|item| fields::text(item, &["name"]) == name)?;
            Some(list.index(index).field("value"))
        }
        (Segment::Index(index), Value::Object(entries)) => {
            let names: BTreeSet<&String> = entries.keys().collect();
            Some(list.field(names.into_iter().nth(*index)?.as_str()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_found_under_the_name_of_the_config() {
        let spec = json!({
            "initConfiguration": {
                "timeouts": {"kubeletHealthCheckSeconds": 5}, "nodeRegistration": {"kubeletExtraArgs": {"b": "1", "a": "2"}},
            },
            "joinConfiguration": {"nodeRegistration": {"kubeletExtraArgs": [{"name": "v", "value": "1"}, {"name": "v", "value": "2"}]}},
            "clusterConfiguration": {"apiServer": {"extraArgs": {"profiling": "false"}}},
        });
        let found = |path: FieldPath| in_config(&spec, &path).map(|path| path.to_string());
        assert_eq!(
            found(FieldPath::of_fields(
                "initConfiguration.timeouts.kubeletHealthCheck"
            ))
            .as_deref(),
            Some("initConfiguration.timeouts.kubeletHealthCheckSeconds")
        );
        assert_eq!(
            found(FieldPath::of_fields(
                "joinConfiguration.timeouts.kubeletHealthCheck"
            )),
            None
        );
        assert_eq!(
            found(FieldPath::of_fields(
                "joinConfiguration.nodeRegistration.kubeletExtraArgs.v"
            ))
            .as_deref(),
            Some("joinConfiguration.nodeRegistration.kubeletExtraArgs[1].value")
        );
        assert_eq!(
            found(FieldPath::of_fields(
                "clusterConfiguration.apiServer.extraArgs.profiling"
            ))
            .as_deref(),
            Some("clusterConfiguration.apiServer.extraArgs.profiling")
        );
        let older = json!({
            "clusterConfiguration": {"apiServer": {"timeoutForControlPlane": "20m"}}, "joinConfiguration": {"discovery": {"timeout": "3m"}},
        });
        for (asked, expected) in [
            (
                "initConfiguration.timeouts.controlPlaneComponentHealthCheck",
                "clusterConfiguration.apiServer.timeoutForControlPlane",
            ),
            (
                "joinConfiguration.timeouts.controlPlaneComponentHealthCheck",
                "clusterConfiguration.apiServer.timeoutForControlPlane",
            ),
            (
                "joinConfiguration.timeouts.tlsBootstrap",
                "joinConfiguration.discovery.timeout",
            ),
        ] {
            let path = in_config(&older, &FieldPath::of_fields(asked)).map(|path| path.to_string());
            assert_eq!(path.as_deref(), Some(expected), "{asked}");
        }
        assert_eq!(
            in_config(
                &older,
                &FieldPath::of_fields("initConfiguration.timeouts.tlsBootstrap")
            ),
            None
        );
        let listed = FieldPath::of_fields("initConfiguration.nodeRegistration.kubeletExtraArgs")
            .index(1)
            .field("value");
        assert_eq!(
            found(listed).as_deref(),
            Some("initConfiguration.nodeRegistration.kubeletExtraArgs.b")
        );
    }
}
