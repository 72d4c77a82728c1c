//! What the input names or spells so that no machine comes of it: references to configs that no
//! file holds, and kinds that nobody has.

use super::cluster::Reference;
use super::owner::{OWNER_KINDS, SET_KINDS};
use windlass_capi::api::names::{GROUP, KUBEADM_GROUP, Version};
use windlass_capi::contract::CORE_GROUP;
use windlass_objects::{Object, Pool};
use windlass_source::diag::{Diagnostic, FieldPath, Report, rules};
use windlass_source::nearest::{misspelt, nearest};

rules! {
    /// a machine refers to a config that the input does not contain
    pub REFERENCE_DANGLING = error("render-reference-dangling");
    /// the kind of an object is misspelt or in the wrong API group
    pub KIND_UNKNOWN = error("render-kind-unknown");
}

pub(super) const CONTROL_PLANE_GROUP: &str = "controlplane.cluster.x-k8s.io";

/// How many names are compared with one that is not there.
const COMPARED: usize = 200;

/// The kinds that machines come of or are described by, and their groups.
const KINDS: &[(&str, &[&str])] = &[
    (KUBEADM_GROUP, &["KubeadmConfig", "KubeadmConfigTemplate"]),
    (GROUP, &["WindlassConfig", "WindlassConfigTemplate"]),
    (
        CONTROL_PLANE_GROUP,
        &["KubeadmControlPlane", "KubeadmControlPlaneTemplate"],
    ),
    (
        CORE_GROUP,
        &[
            "Cluster",
            "ClusterClass",
            "Machine",
            "MachineDeployment",
            "MachinePool",
            "MachineSet",
        ],
    ),
];

/// The finding for each kind that is misspelt and each reference that leads nowhere.
pub fn unresolved(pool: &Pool) -> Report {
    pool.objects()
        .iter()
        .flat_map(|object| {
            unknown_kind(object)
                .into_iter()
                .chain(dangling(pool, object))
        })
        .collect()
}

fn unknown_kind(object: &Object) -> Option<Diagnostic> {
    let (group, kind) = (object.group(), object.kind());
    let (known_group, known) = meant(group, kind)?;
    let (message, path, help) = match known == kind {
        true => {
            // Both groups have the same versions; one that is not served is no help.
            let version = Version::parse(object.version()).unwrap_or(Version::V1Beta2);
            (
                format!("{kind} is not a kind of `{group}`"),
                "apiVersion",
                format!("write `apiVersion: {known_group}/{version}`"),
            )
        }
        false => (
            format!("`{group}` has no kind `{kind}`"),
            "kind",
            format!("did you mean `{known}`?"),
        ),
    };
    let place = object.place(&FieldPath::root().field(path));
    Some(
        Diagnostic::of(
            &KIND_UNKNOWN,
            format!("{message}, so no machine comes of it"),
        )
        .at(place)
        .help(help),
    )
}

/// The kind that is meant, and its group; `None` for one that is right, and for one of somebody
/// else.
fn meant(group: &str, kind: &str) -> Option<(&'static str, &'static str)> {
    let of_config = |known: &str| known.starts_with("Kubeadm") || known.starts_with("Windlass");
    if let Some((known_group, kinds)) = KINDS.iter().find(|(_, kinds)| kinds.contains(&kind)) {
        let known = kinds.iter().find(|known| **known == kind)?;
        return (*known_group != group && of_config(known)).then_some((known_group, known));
    }
    let (known_group, kinds) = KINDS.iter().find(|(known, _)| *known == group)?;
    Some((known_group, misspelt(kind, kinds.iter().copied())?))
}

/// The finding for a config that an object names and no file holds.
fn dangling(pool: &Pool, object: &Object) -> Option<Diagnostic> {
    if object.group() != CORE_GROUP
        || !OWNER_KINDS
            .iter()
            .chain(&SET_KINDS)
            .any(|kind| *kind == object.kind())
    {
        return None;
    }
    let steps: &[&str] = if object.kind() == "Machine" {
        &["spec", "bootstrap", "configRef"]
    } else {
        &["spec", "template", "spec", "bootstrap", "configRef"]
    };
    let value = steps
        .iter()
        .try_fold(object.value(), |value, step| value.get(step))?;
    let Reference { group, kind, name } = Reference::read(value)?;
    let path = steps
        .iter()
        .fold(FieldPath::root(), |path, step| path.field(*step));
    let namespace = object.namespace_or_default();
    let finding = |message: String, field: &str, help: String| {
        Some(
            Diagnostic::of(&REFERENCE_DANGLING, message)
                .at(object.place(&path.field(field)))
                .help(help),
        )
    };
    if let Some((known_group, known)) = meant(&group, &kind) {
        let of_group = if value.get("apiVersion").is_some() {
            "apiVersion"
        } else {
            "apiGroup"
        };
        let (field, help) = if known == kind {
            (of_group, format!("write the group `{known_group}`"))
        } else {
            ("kind", format!("did you mean `{known}`?"))
        };
        return finding(
            format!(
                "{} names a {kind} of `{group}`, which does not exist",
                object.title()
            ),
            field,
            help,
        );
    }
    let is_ours = matches!(group.as_str(), KUBEADM_GROUP | GROUP)
        && (kind.starts_with("Kubeadm") || kind.starts_with("Windlass"));
    if !is_ours || pool.find(&group, &kind, namespace, &name).is_some() {
        return None;
    }
    let known = pool
        .of_kind(&group, &kind, namespace)
        .map(Object::name)
        .take(COMPARED);
    let help = match nearest(&name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add the file of {kind} {namespace}/{name}"),
    };
    finding(
        format!(
            "{} names {kind} {name}, which no file holds, so it is not rendered",
            object.title()
        ),
        "name",
        help,
    )
}
