//! What WindlassConfig adds to KubeadmConfig, as one list: the comparison with upstream allows
//! exactly these differences, and without them our schema is that of KubeadmConfig. Names, types,
//! bounds and rules are the same in both versions.

use serde_json::Value;

/// How our schema differs at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// The field is ours.
    Field,
    /// The rules at this place are ours.
    Rules,
    /// The field is upstream's, where it is required; here another one may take its place.
    NotRequired,
}

/// A difference between WindlassConfig and KubeadmConfig of the same version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Addition {
    /// Where, below `spec`: field names with `.` between, `[]` for the items of a list; `""` is
    /// the spec itself.
    pub path: &'static str,
    /// In what.
    pub difference: Difference,
    /// What for.
    pub reason: &'static str,
}

const fn field(path: &'static str, reason: &'static str) -> Addition {
    Addition {
        path,
        difference: Difference::Field,
        reason,
    }
}

const fn rules(path: &'static str, reason: &'static str) -> Addition {
    Addition {
        path,
        difference: Difference::Rules,
        reason,
    }
}

/// The list.
pub const ADDITIONS: &[Addition] = &[
    field(
        "cloudConfig",
        "options of cloud-config: templating can be turned off",
    ),
    field(
        "compression",
        "user data is smaller than what infrastructures take",
    ),
    field("directories", "directories with owner and permissions"),
    field("fileDefaults", "owner and permissions once for all files"),
    field(
        "files[].contentFrom.configMap",
        "content that is not a secret",
    ),
    field(
        "files[].transferEncoding",
        "content that no template engine touches",
    ),
    field("ignition.additionalConfig", "Ignition 3 configuration"),
    field("ignition.version", "Ignition 3"),
    field(
        "maxDataBytes",
        "too much data is found before the machine is made",
    ),
    field(
        "onFailure",
        "a failed step is reported, or ends the bootstrap",
    ),
    field("platform", "Windows"),
    Addition {
        path: "files[].contentFrom.secret",
        difference: Difference::NotRequired,
        reason: "a ConfigMap may take its place; a rule says that it is one of them",
    },
    rules("", "which additions go together"),
    rules("files[]", "one encoding"),
    rules("files[].contentFrom", "one source"),
    rules("ignition", "which options fit which version"),
];

/// Takes a field out of the schema of a spec, by its path in the form of the list. Whether it was
/// there.
pub fn remove_field(spec: &mut Value, path: &str) -> bool {
    let (parent, name) = path.rsplit_once('.').unwrap_or(("", path));
    let properties =
        at(spec, parent).and_then(|parent| parent.get_mut("properties")?.as_object_mut());
    properties.is_some_and(|properties| properties.remove(name).is_some())
}

/// Takes the additions out of the schema of a spec; what is left is upstream's KubeadmConfigSpec of
/// the same version.
pub(crate) fn remove(spec: &mut Value) {
    for addition in ADDITIONS {
        match addition.difference {
            Difference::Rules => {
                at(spec, addition.path)
                    .and_then(Value::as_object_mut)
                    .map(|keys| keys.remove("x-kubernetes-validations"));
            }
            Difference::Field => {
                remove_field(spec, addition.path);
            }
            Difference::NotRequired => {
                let (parent, name) = addition
                    .path
                    .rsplit_once('.')
                    .unwrap_or(("", addition.path));
                if let Some(parent) = at(spec, parent) {
                    parent["required"] = Value::from(vec![name]);
                }
            }
        }
    }
}

/// The schema at a path of the list.
fn at<'a>(spec: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    path.split('.')
        .filter(|step| !step.is_empty())
        .try_fold(spec, |schema, step| match step.strip_suffix("[]") {
            Some(list) => schema
                .get_mut("properties")?
                .get_mut(list)?
                .get_mut("items"),
            None => schema.get_mut("properties")?.get_mut(step),
        })
}
