//! Paths of JSON patches (RFC 6901) in templates, and which of them mean something else in the
//! other version.

use serde_json::{Map, Value, json};

use super::super::places::{EXTRA_ARGS, V1BETA1_ONLY};
use super::configs::MOVES;
use super::table::{Form, differences};
use super::{ConversionContext, Origins, convert_object};
use crate::api::names::Version;
use windlass_source::diag::FieldPath;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatchPath {
    Same,
    Moved(String),
    /// It is an entry of arguments, of this name or place; the first is the path of all arguments.
    Argument(String, String),
    /// The path, or fields below it, have no single counterpart in the other version: the paths of
    /// those fields, in the version of the patch.
    Differs(Vec<String>),
}

/// What becomes of a path of a patch for a kind of templates.
pub(crate) fn patch_path(group: &str, kind: &str, path: &str, to: Version) -> PatchPath {
    let Some(found) = differences(group, kind) else {
        return PatchPath::Same;
    };
    let place = found.configs.unwrap_or_default();
    let arguments = EXTRA_ARGS.iter().map(|below| format!("{place}.{below}"));
    for list in arguments.clone().map(|list| pointer(&list)) {
        if let Some(name) = path
            .strip_prefix(&list)
            .and_then(|rest| rest.strip_prefix('/'))
        {
            return PatchPath::Argument(list, name.replace("~1", "/").replace("~0", "~"));
        }
    }
    let moves = found
        .moves
        .iter()
        .map(|row| (row.old.clone(), row.new.clone(), row.form));
    let of_configs = MOVES.iter().map(|(old, new)| {
        (
            format!("{place}.{old}"),
            format!("{place}.{new}"),
            Form::Seconds,
        )
    });
    let rows = moves.chain(of_configs).map(|(old, new, form)| {
        if to == Version::V1Beta2 {
            (old, new, form)
        } else {
            (new, old, form)
        }
    });
    let rows: Vec<(String, String, Form)> = rows
        .map(|(from, into, form)| (pointer(&from), pointer(&into), form))
        .collect();
    if let Some((from, into, _)) = rows
        .iter()
        .rfind(|(from, _, form)| path.starts_with(&format!("{from}/")) && *form == Form::Same)
    {
        return PatchPath::Moved(path.replacen(from.as_str(), into, 1));
    }
    let only = V1BETA1_ONLY
        .iter()
        .filter(|_| to == Version::V1Beta2)
        .map(|below| pointer(&format!("{place}.{below}")));
    let within = |from: &str| from == path || from.starts_with(&format!("{path}/"));
    let differing = rows
        .iter()
        .map(|(from, ..)| from.clone())
        .chain(only)
        .chain(arguments.map(|list| pointer(&list)));
    let differing: Vec<String> = differing.filter(|from| within(from)).collect();
    if differing.is_empty() {
        PatchPath::Same
    } else {
        PatchPath::Differs(differing)
    }
}

/// The value of a patch in the other version, at the same path, and where its parts stood in the
/// old one; `None` when it is said elsewhere then, or something of it is lost.
pub(crate) fn patch_value(
    group: &str,
    kind: &str,
    path: &str,
    value: &Value,
    to: Version,
) -> Option<(Value, Origins)> {
    let from = Version::ALL.into_iter().find(|version| *version != to)?;
    let mut object = json!({"apiVersion": format!("{group}/{from}"), "kind": kind});
    let steps: Vec<&str> = path.split('/').skip(1).collect();
    let (last, above) = steps.split_last()?;
    let parent = above.iter().try_fold(&mut object, |object, step| {
        Some(
            object
                .as_object_mut()?
                .entry(*step)
                .or_insert_with(|| Value::Object(Map::new())),
        )
    })?;
    parent
        .as_object_mut()?
        .insert((*last).to_owned(), value.clone());
    let unknown = |_: &str, _: &str| None;
    let conversion = convert_object(
        &object,
        to,
        &ConversionContext {
            version_of: &unknown,
            keeps_incomplete: false,
        },
    )?;
    let converted = conversion.value.pointer(path)?.clone();
    let mut rest = conversion.value.clone();
    let place = steps
        .iter()
        .fold(FieldPath::root(), |path, step| path.field(*step));
    super::relocate::take(&mut rest, &place);
    let is_alone = rest.get("spec").is_none();
    let mut origins = Origins::default();
    origins.adopt(&conversion.origins, &place, &FieldPath::root());
    (is_alone && conversion.faults.is_empty() && conversion.lost.is_empty())
        .then_some((converted, origins))
}

/// `/spec/template/spec` of `spec.template.spec`.
fn pointer(path: &str) -> String {
    path.split('.')
        .fold(String::new(), |pointer, step| pointer + "/" + step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversion::core::table::CONTROL_PLANE_GROUP;

    const SPEC: &str = "/spec/template/spec";

    fn of(path: &str, to: Version) -> PatchPath {
        patch_path(
            CONTROL_PLANE_GROUP,
            "KubeadmControlPlaneTemplate",
            &format!("{SPEC}{path}"),
            to,
        )
    }

    #[test]
    fn paths_that_mean_the_same_stay() {
        assert_eq!(
            of("/kubeadmConfigSpec/files/-", Version::V1Beta2),
            PatchPath::Same
        );
        assert_eq!(
            of(
                "/kubeadmConfigSpec/clusterConfiguration/imageRepository",
                Version::V1Beta2
            ),
            PatchPath::Same
        );
    }

    #[test]
    fn paths_that_moved_are_told() {
        let surge = of("/rolloutStrategy/rollingUpdate/maxSurge", Version::V1Beta2);
        assert_eq!(
            surge,
            PatchPath::Moved(format!("{SPEC}/rollout/strategy/rollingUpdate/maxSurge"))
        );
        let back = of("/rollout/strategy/rollingUpdate/maxSurge", Version::V1Beta1);
        assert_eq!(
            back,
            PatchPath::Moved(format!("{SPEC}/rolloutStrategy/rollingUpdate/maxSurge"))
        );
        let list = format!("{SPEC}/kubeadmConfigSpec/clusterConfiguration/apiServer/extraArgs");
        let argument = of(
            "/kubeadmConfigSpec/clusterConfiguration/apiServer/extraArgs/a~1b",
            Version::V1Beta2,
        );
        assert_eq!(argument, PatchPath::Argument(list, "a/b".to_owned()));
        assert!(matches!(
            of("/kubeadmConfigSpec/clusterConfiguration", Version::V1Beta2),
            PatchPath::Differs(_)
        ));
        assert!(matches!(
            of("/machineTemplate/nodeDrainTimeout", Version::V1Beta2),
            PatchPath::Differs(_)
        ));
    }

    #[test]
    fn values_are_converted_where_they_stay() {
        let value = |path: &str, value: Value| {
            let path = format!("{SPEC}{path}");
            patch_value(
                CONTROL_PLANE_GROUP,
                "KubeadmControlPlaneTemplate",
                &path,
                &value,
                Version::V1Beta2,
            )
            .map(|(value, _)| value)
        };
        let arguments = value(
            "/kubeadmConfigSpec/clusterConfiguration/apiServer/extraArgs",
            json!({"b": "1", "a": "2"}),
        );
        assert_eq!(
            arguments,
            Some(json!([{"name": "a", "value": "2"}, {"name": "b", "value": "1"}]))
        );
        let timeout = json!({"apiServer": {"timeoutForControlPlane": "1m"}});
        assert_eq!(
            value("/kubeadmConfigSpec/clusterConfiguration", timeout),
            None
        );
    }
}
