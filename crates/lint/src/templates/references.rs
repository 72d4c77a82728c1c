//! What the objects of a template or of a class refer to: it is in the same file (book: clusterctl,
//! "Links to external objects").

use super::Sampled;
use windlass_capi::contract::book;
use windlass_objects::Object;
use windlass_objects::fields;
use windlass_objects::references::{Reference, references};
use windlass_source::diag::{Diagnostic, Report, rules};
use windlass_source::nearest::nearest;

rules! {
    /// a template refers to an object that it does not contain
    REFERENCE_MISSING = error("template-reference-missing"), catalogue("T16"), url(book::TEMPLATES);
}

/// The groups whose objects name others that Cluster API waits for.
const WAITED_FOR: [&str; 2] = ["cluster.x-k8s.io", "controlplane.cluster.x-k8s.io"];

/// Checks the references of a file. Where a document of it is a variable or cannot be parsed, the
/// objects may be there.
pub(super) fn check(sampled: &Sampled) -> Report {
    if sampled.lacks_objects() {
        return Report::new();
    }
    let owners = sampled
        .objects()
        .iter()
        .filter(|object| WAITED_FOR.contains(&object.group()));
    let missing = |object: &Object| -> Vec<Diagnostic> {
        references(object.value())
            .0
            .iter()
            .filter_map(|to| missing(sampled, object, to))
            .collect()
    };
    owners.flat_map(missing).collect()
}

fn missing(sampled: &Sampled, object: &Object, to: &Reference<'_>) -> Option<Diagnostic> {
    let holder = fields::at(object.value(), to.path.parent()?.segments())?;
    let group = match fields::text(holder, &["apiGroup"]) {
        "" => fields::group_version(holder).0,
        group => group,
    };
    if group.is_empty()
        || to.kind.is_empty()
        || sampled.pool.named(group, to.kind, to.name).is_some()
    {
        return None;
    }
    let written = sampled.written(object, &to.path).trim_matches(['"', '\'']);
    let alike = sampled
        .objects()
        .iter()
        .filter(|other| other.is(group, to.kind))
        .map(|other| (other.name(), other));
    let is_written = |other: &Object| {
        sampled.title(other).split_once('/').map(|(_, name)| name) == Some(written)
    };
    // A variable without quotes is not a text until its value is known.
    if alike.clone().any(|(_, other)| is_written(other)) {
        return None;
    }
    let message = format!(
        "{} of {} is {}/{written}, which the file does not contain",
        to.path,
        sampled.title(object),
        to.kind
    );
    let finding = Diagnostic::of(&REFERENCE_MISSING, message).at(object.place(&to.path));
    let finding = finding.note("Cluster API waits for the object without end");
    if let Some((group, _)) = group.split_once('/') {
        return Some(finding.help(format!("write `apiGroup: {group}`, without a version")));
    }
    let near = nearest(to.name, alike.clone().map(|(name, _)| name))
        .and_then(|near| alike.clone().find(|(name, _)| *name == near));
    Some(match near.or_else(|| alike.clone().next()) {
        Some((_, other)) => {
            let title = sampled.title(other);
            finding.help(format!(
                "write `name: {}`",
                title
                    .split_once('/')
                    .map_or(title.as_str(), |(_, name)| name)
            ))
        }
        None => finding.help(format!("add a {} with `name: {written}`", to.kind)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_source::Source;
    use windlass_source::budget::Budget;

    fn found(text: &str) -> Vec<String> {
        let sampled = Sampled::new(
            &Source::new("cluster-template.yaml", text),
            &Budget::default(),
        )
        .unwrap();
        check(&sampled)
            .findings()
            .iter()
            .map(|finding| format!("{}: {}", finding.place.path, finding.help.as_ref().unwrap()))
            .collect()
    }

    fn object(api_version: &str, kind: &str, name: &str) -> String {
        format!("---\napiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: \"{name}\"}}\n")
    }

    const CLUSTER: &str = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: \"${CLUSTER_NAME}\"}\nspec:\n  infrastructureRef: {apiGroup: i.io, kind: FooCluster, name: \"${CLUSTER_NAME}\"}\n";

    /// Book, v1beta2 and v1beta1 types: which objects Cluster, MachineDeployment, control planes
    /// and ClusterClass name.
    #[test]
    fn what_is_named_is_there() {
        let cluster = |name: &str| format!("{CLUSTER}{}", object("i.io/v1", "FooCluster", name));
        assert_eq!(found(&cluster("${CLUSTER_NAME}")), [""; 0]);
        assert_eq!(
            found(&cluster("${CLUSTER_NAME}-x")),
            ["spec.infrastructureRef.name: write `name: ${CLUSTER_NAME}-x`"]
        );
        assert_eq!(
            found(CLUSTER),
            ["spec.infrastructureRef.name: add a FooCluster with `name: ${CLUSTER_NAME}`"]
        );
        let old = CLUSTER
            .replace("v1beta2", "v1beta1")
            .replace("apiGroup: i.io", "apiVersion: i.io/v1");
        assert_eq!(found(&old).len(), 1);
        let unquoted = cluster("${CLUSTER_NAME}")
            .replace("{name: \"${CLUSTER_NAME}\"}", "{name: ${CLUSTER_NAME} }");
        assert_eq!(found(&unquoted), [""; 0]);
        let versioned = cluster("${CLUSTER_NAME}").replace("apiGroup: i.io", "apiGroup: i.io/v1");
        assert_eq!(
            found(&versioned),
            ["spec.infrastructureRef.name: write `apiGroup: i.io`, without a version"]
        );
        let other_group = format!(
            "{CLUSTER}{}",
            object("j.io/v1", "FooCluster", "${CLUSTER_NAME}")
        );
        assert_eq!(
            found(&other_group).len(),
            1,
            "a kind of another group is another kind"
        );
    }

    #[test]
    fn control_planes_of_all_providers_and_classes_are_followed() {
        let control_plane = object(
            "controlplane.cluster.x-k8s.io/v1beta2",
            "FooControlPlane",
            "c",
        ) + "spec: {machineTemplate: {spec: {infrastructureRef: {apiGroup: i.io, kind: M, name: m}}}}\n";
        assert_eq!(found(&control_plane).len(), 1);
        assert_eq!(
            found(&(control_plane + &object("i.io/v1", "M", "m"))).len(),
            0
        );
        let class = object("cluster.x-k8s.io/v1beta2", "ClusterClass", "c")
            + "spec:\n  infrastructure: {templateRef: {apiVersion: i.io/v1, kind: T, name: t}}\n  workers:\n    machineDeployments:\n    - bootstrap: {templateRef: {apiVersion: b.io/v1, kind: B, name: b}}\n";
        assert_eq!(found(&class).len(), 2);
        let both = object("i.io/v1", "T", "t") + &object("b.io/v1", "B", "b");
        assert_eq!(found(&(class + &both)).len(), 0);
        // What has no kind beside its name may be anything.
        let open = object("cluster.x-k8s.io/v1beta2", "Cluster", "c")
            + "spec: {infrastructureRef: {name: x}}\n";
        assert_eq!(found(&open), [""; 0]);
    }
}
