//! Names of kinds and versions: of the object itself, and of what it refers to.

use serde_json::Value;

use super::Wanted;
use crate::api::names::{GROUP, KUBEADM_GROUP, Kind, Version};
use crate::conversion::core::KINDS;

/// Whose configs are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// WindlassConfig and its template.
    Windlass,
    /// KubeadmConfig and its template.
    Kubeadm,
}

/// Fields whose content is not a reference of the user's, whatever it looks like. Owners are written
/// by controllers.
const NO_REFERENCES: [&str; 7] = [
    "variables",
    "labels",
    "annotations",
    "jsonPatches",
    "settings",
    "status",
    "ownerReferences",
];

impl Family {
    /// Both.
    pub const ALL: [Family; 2] = [Family::Windlass, Family::Kubeadm];

    /// As it is named on the command line: by the kind of its configs.
    pub fn as_str(self) -> &'static str {
        match self {
            Family::Windlass => Kind::Config.as_str(),
            Family::Kubeadm => Kind::Config.kubeadm(),
        }
    }

    /// Group and kind of a config as this family has them; those of other objects stay.
    fn names<'n>(self, group: &'n str, kind: &'n str) -> (&'n str, &'n str) {
        let of = Kind::ALL.into_iter().find(|known| {
            (group, kind) == (GROUP, known.as_str())
                || (group, kind) == (KUBEADM_GROUP, known.kubeadm())
        });
        match (of, self) {
            (Some(kind), Family::Windlass) => (GROUP, kind.as_str()),
            (Some(kind), Family::Kubeadm) => (KUBEADM_GROUP, kind.kubeadm()),
            (None, _) => (group, kind),
        }
    }
}

/// Gives an object, and all references in it, the version and the kind that are wanted. The depth
/// is that of the document.
pub(super) fn rename(value: &mut Value, wanted: &Wanted) {
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields
                .iter_mut()
                .filter(|(name, _)| !NO_REFERENCES.contains(&name.as_str()))
            {
                if name != "kind" {
                    rename(inner, wanted);
                }
            }
            let text = |field: &str| {
                fields
                    .get(field)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
                    .to_owned()
            };
            let (kind, api_version) = (text("kind"), text("apiVersion"));
            if let Some((group, version)) = api_version.split_once('/') {
                if let Some((group, kind)) =
                    renamed(group, &kind, wanted).filter(|_| Version::parse(version).is_some())
                {
                    let version = wanted.version.map_or(version, |wanted| wanted.as_str());
                    fields.insert("apiVersion".to_owned(), format!("{group}/{version}").into());
                    fields.insert("kind".to_owned(), kind.into());
                }
            } else if let Some((group, kind)) = renamed(&text("apiGroup"), &kind, wanted) {
                fields.insert("apiGroup".to_owned(), group.into());
                fields.insert("kind".to_owned(), kind.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, wanted)),
        _ => {}
    }
}

/// Group and kind as they are wanted; `None` of a kind that is not migrated.
fn renamed(group: &str, kind: &str, wanted: &Wanted) -> Option<(String, String)> {
    let (group, kind) = *KINDS.iter().find(|known| **known == (group, kind))?;
    let (group, kind) = wanted
        .family
        .map_or((group, kind), |family| family.names(group, kind));
    Some((group.to_owned(), kind.to_owned()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_follow_and_foreign_ones_stay() {
        let reference = |group: &str, version: &str, kind: &str| json!({"apiVersion": format!("{group}/{version}"), "kind": kind, "name": "n"});
        let wanted = Wanted {
            version: Some(Version::V1Beta2),
            family: Some(Family::Windlass),
        };
        let mut value = json!({
            "ref": reference(KUBEADM_GROUP, "v1beta1", "KubeadmConfigTemplate"),
            "other": reference("controlplane.cluster.x-k8s.io", "v1beta1", "RKE2ControlPlane"),
            "old": reference("cluster.x-k8s.io", "v1alpha4", "Machine"),
            "variables": [reference(KUBEADM_GROUP, "v1beta1", "KubeadmConfig")],
            "group": {"apiGroup": KUBEADM_GROUP, "kind": "KubeadmConfig"},
        });
        let mut expected = value.clone();
        expected["ref"] = reference(GROUP, "v1beta2", "WindlassConfigTemplate");
        expected["group"] = json!({"apiGroup": GROUP, "kind": "WindlassConfig"});
        rename(&mut value, &wanted);
        assert_eq!(value, expected);
    }
}
