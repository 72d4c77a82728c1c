//! ClusterClasses: the topology controller patches their templates for each Cluster, and rendering
//! does not.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cluster::Reference;
use super::target::Target;
use windlass_capi::contract::CORE_GROUP;
use windlass_objects::fields::text as text_at;
use windlass_objects::{Object, Pool};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};

rules! {
    /// a ClusterClass patch is not applied to a template
    pub PATCH_NOT_APPLIED = warning("clusterclass-patch-not-applied");
}

/// What a template is in a ClusterClass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place<'a> {
    ControlPlane,
    /// Of the class of MachineDeployments with that name.
    MachineDeployment(&'a str),
    /// Of the class of MachinePools with that name.
    MachinePool(&'a str),
}

/// Warns of each patch that would change the template in a Cluster.
pub(crate) fn unapplied_patches(pool: &Pool, target: &Target<'_>) -> Report {
    let mut report = Report::new();
    if !target.is_template() {
        return report;
    }
    for class in classes(pool, target) {
        let places = places(class, target.config);
        for (index, patch) in items(&class.value()["spec"]["patches"]).iter().enumerate() {
            if changes(patch, target.config, &places) {
                report.push(not_applied(class, index, patch, target.config));
            }
        }
    }
    report
}

/// Whether machines of the template are in MachinePools.
pub(super) fn is_for_machine_pools(pool: &Pool, target: &Target<'_>) -> bool {
    let places: Vec<Place<'_>> = classes(pool, target)
        .into_iter()
        .flat_map(|class| places(class, target.config))
        .collect();
    !places.is_empty()
        && places
            .iter()
            .all(|place| matches!(place, Place::MachinePool(_)))
}

/// The only Cluster of the namespace whose class refers to the template.
pub(super) fn only_user<'a>(pool: &'a Pool, target: &Target<'_>) -> Option<&'a Object> {
    if !target.is_template() {
        return None;
    }
    let names: BTreeSet<&str> = classes(pool, target)
        .into_iter()
        .filter(|class| !places(class, target.config).is_empty())
        .map(Object::name)
        .collect();
    let namespace = target.config.namespace_or_default();
    let mut users = names
        .into_iter()
        .flat_map(|name| pool.clusters_of_class(namespace, name));
    users.next().filter(|_| users.next().is_none())
}

/// The classes that name the template, each once.
fn classes<'a>(pool: &'a Pool, target: &Target<'_>) -> Vec<&'a Object> {
    let mut classes: Vec<&Object> = pool
        .referrers(target.config)
        .filter(|object| object.is(CORE_GROUP, "ClusterClass"))
        .collect();
    classes.dedup_by(|one, other| std::ptr::eq(*one, *other));
    classes
}

/// Where a ClusterClass of core v1beta1 or v1beta2 refers to the template.
fn places<'a>(class: &'a Object, template: &Object) -> Vec<Place<'a>> {
    let spec = &class.value()["spec"];
    let is_it = |reference: &Value| {
        Reference::read(reference).is_some_and(|reference| {
            reference.kind == template.kind()
                && reference.name == template.name()
                && reference.group == template.group()
        })
    };
    let refers = |of: &Value| is_it(&of["ref"]) || is_it(&of["templateRef"]);
    let of_workers = |list: &str, place: fn(&'a str) -> Place<'a>| {
        let workers = items(&spec["workers"][list]).iter();
        let found = workers.filter(|worker| {
            refers(&worker["bootstrap"]) || refers(&worker["template"]["bootstrap"])
        });
        found
            .map(|worker| place(text_at(worker, &["class"])))
            .collect::<Vec<_>>()
    };
    let mut places = Vec::new();
    if refers(&spec["controlPlane"]) {
        places.push(Place::ControlPlane);
    }
    places.extend(of_workers("machineDeployments", Place::MachineDeployment));
    places.extend(of_workers("machinePools", Place::MachinePool));
    places
}

/// Whether a patch is for the template in one of its places. What an external one changes is not
/// known.
fn changes(patch: &Value, template: &Object, places: &[Place<'_>]) -> bool {
    if patch.get("external").is_some() {
        return !places.is_empty();
    }
    let is_for = |definition: &Value| {
        let selector = &definition["selector"];
        let group = text_at(selector, &["apiVersion"])
            .rsplit_once('/')
            .map_or("", |(group, _)| group);
        let resources = &selector["matchResources"];
        group == template.group()
            && text_at(selector, &["kind"]) == template.kind()
            && places.iter().any(|place| selects(resources, *place))
    };
    items(&patch["definitions"]).iter().any(is_for)
}

fn selects(resources: &Value, place: Place<'_>) -> bool {
    let names = |list: &str, class: &str| {
        items(&resources[list]["names"])
            .iter()
            .any(|name| name_matches(name.as_str().unwrap_or_default(), class))
    };
    match place {
        Place::ControlPlane => resources["controlPlane"].as_bool().unwrap_or_default(),
        Place::MachineDeployment(class) => names("machineDeploymentClass", class),
        Place::MachinePool(class) => names("machinePoolClass", class),
    }
}

/// A `*` at the beginning or the end stands for anything (book: "Writing a ClusterClass").
fn name_matches(pattern: &str, class: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => class.ends_with(end),
        (None, Some(start)) => class.starts_with(start),
        (None, None) => pattern == class,
    }
}

fn not_applied(class: &Object, index: usize, patch: &Value, template: &Object) -> Diagnostic {
    let name = text_at(patch, &["name"]);
    let message = format!(
        "patch `{name}` of {} is not applied to {}",
        class.title(),
        template.title()
    );
    let place = class.place(
        &FieldPath::root()
            .field("spec")
            .field("patches")
            .index(index)
            .field("name"),
    );
    let finding = Diagnostic::of(&PATCH_NOT_APPLIED, message).at(place);
    finding.help("render the objects that the topology controller makes, as `windlass topology plan` prints them")
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        let check = |pattern: &str, class: &str, expected: bool| {
            assert_eq!(name_matches(pattern, class), expected, "{pattern} {class}")
        };
        check("*", "any", true);
        check("linux-*", "linux-a", true);
        check("*-worker", "default-worker", true);
        check("default-worker", "default-worker", true);
        check("default", "default-worker", false);
    }
}
