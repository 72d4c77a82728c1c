//! Variables that flags of `clusterctl generate cluster` set (book: clusterctl, "Common variables";
//! checklist CC-37).

use std::collections::BTreeSet;

use super::Sampled;
use windlass_capi::contract::book;
use windlass_envsubst::Template;
use windlass_objects::misfit::Shape;
use windlass_objects::{Object, fields, select};
use windlass_source::diag::{Diagnostic, FieldPath, Quoted, Report, rules};

rules! {
    /// a template does not use the variable that a flag of clusterctl sets
    FLAG_IGNORED = info("template-flag-ignored"), catalogue("T13"), url(book::TEMPLATES);
}

const CORE: &str = "cluster.x-k8s.io";
const CONTROL_PLANE: &str = "controlplane.cluster.x-k8s.io";

/// A variable, and the fields for which it is: group, kind (none: all of the group), path.
type Flag = (
    &'static str,
    &'static [(&'static str, &'static str, &'static str)],
);

const FLAGS: &[Flag] = &[
    (
        "KUBERNETES_VERSION",
        &[
            (CORE, "Cluster", "spec.topology.version"),
            (CORE, "MachineDeployment", "spec.template.spec.version"),
            (CORE, "MachinePool", "spec.template.spec.version"),
            (CONTROL_PLANE, "", "spec.version"),
        ],
    ),
    (
        "CONTROL_PLANE_MACHINE_COUNT",
        &[
            (CORE, "Cluster", "spec.topology.controlPlane.replicas"),
            (CONTROL_PLANE, "", "spec.replicas"),
        ],
    ),
    (
        "WORKER_MACHINE_COUNT",
        &[
            (
                CORE,
                "Cluster",
                "spec.topology.workers.machineDeployments[].replicas",
            ),
            (
                CORE,
                "Cluster",
                "spec.topology.workers.machinePools[].replicas",
            ),
            (CORE, "MachineDeployment", "spec.replicas"),
            (CORE, "MachinePool", "spec.replicas"),
        ],
    ),
];

/// Checks the objects of a template. One without variables is none that people make clusters of.
pub(super) fn check(sampled: &Sampled, template: &Template<'_>) -> Report {
    let uses = template.uses();
    let is_used = |name: &str| uses.iter().any(|used| used.name == name);
    if uses.is_empty() {
        return Report::new();
    }
    let control_planes = control_planes(sampled.objects());
    FLAGS
        .iter()
        .filter(|(variable, _)| !is_used(variable))
        .filter_map(|flag| ignored(sampled, *flag, &control_planes))
        .collect()
}

/// Groups and kinds that the Clusters name as their control planes: not all are of Cluster API's
/// group for them.
fn control_planes(objects: &[Object]) -> BTreeSet<(&str, &str)> {
    let references = objects
        .iter()
        .filter(|object| object.is(CORE, "Cluster"))
        .filter_map(|object| object.field(&["spec", "controlPlaneRef"]));
    let group_of = |reference| match fields::text(reference, &["apiGroup"]) {
        "" => fields::group_version(reference).0,
        group => group,
    };
    references
        .map(|reference| (group_of(reference), fields::kind(reference)))
        .collect()
}

/// The group by which an object is checked.
fn group<'o>(object: &'o Object, control_planes: &BTreeSet<(&str, &str)>) -> &'o str {
    if control_planes.contains(&(object.group(), object.kind())) {
        CONTROL_PLANE
    } else {
        object.group()
    }
}

fn ignored(
    sampled: &Sampled,
    (variable, fields): Flag,
    control_planes: &BTreeSet<(&str, &str)>,
) -> Option<Diagnostic> {
    let (object, path) = sampled.objects().iter().find_map(|object| {
        Some((
            object,
            field(object, group(object, control_planes), fields)?,
        ))
    })?;
    let message = format!(
        "{path} of {} is not {variable}, so the flag of clusterctl that sets it has no effect",
        sampled.title(object)
    );
    let finding = Diagnostic::of(&FLAG_IGNORED, message).at(object.place(&path));
    let name = path
        .segments()
        .last()
        .map(|last| FieldPath::root().with(last.clone()).to_string())
        .unwrap_or_default();
    let default = sampled.written(object, &path).trim_matches(['"', '\'']);
    let text = if default.contains('$') {
        format!("${{{variable}}}")
    } else {
        format!("${{{variable}:={default}}}")
    };
    Some(finding.help(format!("write `{name}: {text}`", text = Quoted(text))))
}

/// The first of the fields that an object has, as one of a group.
fn field(object: &Object, group: &str, fields: &[(&str, &str, &str)]) -> Option<FieldPath> {
    let own = fields
        .iter()
        .filter(|(of, kind, _)| *of == group && (kind.is_empty() || *kind == object.kind()));
    let of = |path: &str| {
        [Shape::Number, Shape::Text]
            .into_iter()
            .find_map(|shape| select(object.value(), path, shape).found.into_iter().next())
    };
    own.filter_map(|(_, _, path)| of(path))
        .map(|(path, _)| path)
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_envsubst as envsubst;
    use windlass_source::Source;
    use windlass_source::budget::Budget;

    fn found(text: &str) -> Vec<String> {
        let source = Source::new("cluster-template.yaml", text);
        let sampled = Sampled::new(&source, &Budget::default()).unwrap();
        let report = check(&sampled, &envsubst::parse(text).unwrap());
        report
            .findings()
            .iter()
            .map(|finding| format!("{}: {}", finding.place.path, finding.help.as_ref().unwrap()))
            .collect()
    }

    /// Book, clusterctl contract, "Common variables".
    #[test]
    fn fields_of_flags_use_their_variables() {
        let control_plane = |version: &str, replicas: &str| {
            format!(
                "apiVersion: controlplane.cluster.x-k8s.io/v1beta2\nkind: FooControlPlane\nmetadata: {{name: \"${{CLUSTER_NAME}}\"}}\n\
                 spec: {{version: {version}, replicas: {replicas}}}\n"
            )
        };
        assert_eq!(
            found(&control_plane(
                "\"${KUBERNETES_VERSION}\"",
                "${CONTROL_PLANE_MACHINE_COUNT:=1}"
            )),
            [""; 0]
        );
        assert_eq!(
            found(&control_plane("\"${OTHER}\"", "3")),
            [
                "spec.version: write `version: ${KUBERNETES_VERSION}`",
                "spec.replicas: write `replicas: ${CONTROL_PLANE_MACHINE_COUNT:=3}`",
            ]
        );
        assert_eq!(
            found(&control_plane("v1.34.0", "3").replace("${CLUSTER_NAME}", "fixed")),
            [""; 0],
            "no template"
        );
        let other = control_plane("v1.34.0", "${CONTROL_PLANE_MACHINE_COUNT}")
            .replace("controlplane.cluster.x-k8s.io", "foo.example.com");
        assert_eq!(found(&other), [""; 0]);
        for of in [
            "apiGroup: foo.example.com",
            "apiVersion: foo.example.com/v1beta2",
        ] {
            let cluster = format!(
                "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {{name: x}}\nspec: {{controlPlaneRef: {{{of}, kind: FooControlPlane}}}}\n"
            );
            let found = found(&format!("{cluster}---\n{other}"));
            assert_eq!(
                found,
                ["spec.version: write `version: ${KUBERNETES_VERSION:=v1.34.0}`"],
                "{of}"
            );
        }
        let workers = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: \"${CLUSTER_NAME}\"}\nspec:\n  topology:\n    workers:\n      machineDeployments:\n      - {name: a}\n      - {name: b, replicas: 2}\n";
        assert_eq!(
            found(workers),
            [
                "spec.topology.workers.machineDeployments[1].replicas: write `replicas: ${WORKER_MACHINE_COUNT:=2}`"
            ]
        );
    }
}
