//! Objects made from templates: `templateToObject` and `templateToTemplate` of Cluster API's
//! `exp/topology/desiredstate`.

use serde_json::{Map, Value, json};

use super::SIZE_EXCEEDED;
use super::cluster::Cluster;
use windlass_capi::contract::labels::CLUSTER_NAME;
pub(super) use windlass_objects::json_patch::weight;
use windlass_objects::{Object, fields};
use windlass_source::budget::{Budget, Exceeded, Resource};
use windlass_source::diag::{Diagnostic, Place};

pub(super) const OWNED: &str = "topology.cluster.x-k8s.io/owned";
/// The name of a MachineDeployment in its topology.
pub(super) const DEPLOYMENT_NAME: &str = "topology.cluster.x-k8s.io/deployment-name";
/// The name of a MachinePool in its topology.
pub(super) const POOL_NAME: &str = "topology.cluster.x-k8s.io/pool-name";
pub(super) const CLONED_FROM: [&str; 2] = [
    "cluster.x-k8s.io/cloned-from-name",
    "cluster.x-k8s.io/cloned-from-groupkind",
];
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Labels or annotations.
pub(super) type Texts = Map<String, Value>;

/// The labels of all that belongs to the Cluster.
pub(super) fn own_labels(cluster: &Cluster<'_>) -> Texts {
    Texts::from_iter([
        (CLUSTER_NAME.to_owned(), cluster.name().into()),
        (OWNED.to_owned(), "".into()),
    ])
}

/// The texts of `metadata` of a value, a part of a class or topology.
pub(super) fn texts(metadata: &Value, name: &str) -> Texts {
    metadata
        .get(name)
        .and_then(fields::texts)
        .unwrap_or_default()
}

pub(super) fn merged(over: Texts, mut under: Texts) -> Texts {
    under.extend(over);
    under
}

fn cloned_from(template: &Object) -> Texts {
    let group_kind = if template.group().is_empty() {
        template.kind().to_owned()
    } else {
        format!("{}.{}", template.kind(), template.group())
    };
    Texts::from_iter([
        (CLONED_FROM[0].to_owned(), template.name().into()),
        (CLONED_FROM[1].to_owned(), group_kind.into()),
    ])
}

/// An object of what the template holds.
pub(super) fn object(
    template: &Object,
    cluster: &Cluster<'_>,
    name: &str,
    labels: Texts,
    annotations: Texts,
) -> Value {
    let inner = template
        .field(&["spec", "template"])
        .filter(|inner| inner.is_object());
    let own = |what: &str| {
        inner
            .and_then(|inner| fields::metadata_texts(inner, what))
            .unwrap_or_default()
    };
    let labels = merged(own_labels(cluster), merged(labels, own("labels")));
    let annotations = merged(
        cloned_from(template),
        merged(annotations, own("annotations")),
    );
    let kind = template.kind();
    let mut made: Texts = match inner {
        Some(Value::Object(inner)) => inner
            .iter()
            .filter(|(key, _)| *key != "metadata")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        _ => Texts::new(),
    };
    made.insert("apiVersion".to_owned(), template.api_version().into());
    made.insert(
        "kind".to_owned(),
        kind.strip_suffix("Template").unwrap_or(kind).into(),
    );
    made.insert(
        "metadata".to_owned(),
        metadata(cluster, name, labels, annotations),
    );
    made.into()
}

/// A template of its own.
pub(super) fn template(
    template: &Object,
    cluster: &Cluster<'_>,
    name: &str,
    label: Option<(&str, &str)>,
) -> Value {
    let own = |what: &str| fields::metadata_texts(template.value(), what).unwrap_or_default();
    let mut labels = merged(own_labels(cluster), own("labels"));
    labels.extend(label.map(|(key, value)| (key.to_owned(), value.into())));
    let mut annotations = merged(cloned_from(template), own("annotations"));
    annotations.remove(LAST_APPLIED);
    let mut made = map([
        ("apiVersion", template.api_version().into()),
        ("kind", template.kind().into()),
        ("metadata", metadata(cluster, name, labels, annotations)),
    ]);
    if let Some(spec) = template.value().get("spec") {
        set(&mut made, &["spec"], spec.clone());
    }
    made
}

fn metadata(cluster: &Cluster<'_>, name: &str, labels: Texts, annotations: Texts) -> Value {
    map([
        ("name", name.into()),
        ("namespace", cluster.namespace().into()),
        ("labels", labels.into()),
        ("annotations", annotations.into()),
    ])
}

/// A map of these entries. `json!` would copy the values.
pub(super) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// Sets a field below maps, which are made where nothing is; says whether there was room for it.
pub(super) fn set(object: &mut Value, path: &[&str], value: Value) -> bool {
    let Some((last, before)) = path.split_last() else {
        return false;
    };
    let mut place = object;
    for step in before {
        let Value::Object(entries) = place else {
            return false;
        };
        place = entries.entry(*step).or_insert_with(|| json!({}));
    }
    match place {
        Value::Object(entries) => {
            entries.insert((*last).to_owned(), value);
            true
        }
        _ => false,
    }
}

/// Copies fields from one object to another, where they are, and puts back what must stay:
/// `CopyFields` of Cluster API.
pub(super) fn copy(
    from: &Value,
    to: &mut Value,
    pairs: &[(&[&str], &[&str])],
    preserved: &[&[&str]],
) -> bool {
    put(
        |source| fields::field(from, source).cloned(),
        to,
        pairs,
        preserved,
    )
}

/// The same, of an object that is needed no more: what is copied it has no longer.
pub(super) fn shift(
    from: &mut Value,
    to: &mut Value,
    pairs: &[(&[&str], &[&str])],
    preserved: &[&[&str]],
) -> bool {
    let mut take = |source: &[&str]| {
        let mut place = &mut *from;
        for step in source {
            place = place.get_mut(step)?;
        }
        Some(place.take())
    };
    put(&mut take, to, pairs, preserved)
}

fn put(
    mut get: impl FnMut(&[&str]) -> Option<Value>,
    to: &mut Value,
    pairs: &[(&[&str], &[&str])],
    preserved: &[&[&str]],
) -> bool {
    let kept: Vec<_> = preserved
        .iter()
        .filter_map(|path| Some((*path, fields::field(to, path)?.clone())))
        .collect();
    let mut fits = true;
    for (source, target) in pairs {
        if let Some(value) = get(source) {
            fits &= set(to, target, value);
        }
    }
    for (path, value) in kept {
        fits &= set(to, path, value);
    }
    fits
}

/// Takes what it costs to hold so much more.
///
/// # Errors
/// When a run has not so much left.
pub(super) fn pay(budget: &Budget, weight: usize) -> Result<(), Exceeded> {
    budget.take(Resource::Copies, weight)
}

/// What is said of a topology that is larger than a run may hold.
pub(super) const TOO_LARGE: &str = "the objects of the topology are larger than what one run holds";
pub(super) const PLAN_LESS: &str = "plan fewer clusters, or fewer MachineDeployments, at once";

/// The topology is larger than a run may hold; the place is what was to be copied then.
pub(super) fn too_large(place: &Place) -> Diagnostic {
    Diagnostic::of(&SIZE_EXCEEDED, TOO_LARGE)
        .at(place.clone())
        .help(PLAN_LESS)
}
