//! Kubernetes' strategic merge patch: maps are merged, lists of known meaning are merged by the key
//! of their items, and all other lists are replaced; null removes a field, also in what is new,
//! where Kubernetes' code may leave a null that means the same (Kubernetes, "Update API Objects in
//! Place Using kubectl patch"; the keys are the `patchMergeKey` of `k8s.io/api`).

use serde_json::{Map, Value};

use super::pods;
use windlass_source::diag::FieldPath;

/// By what items of lists are distinguished, by the field of the list. All other lists are
/// replaced.
pub(crate) type MergeKeys = &'static [(&'static str, &'static str)];

/// Of what holds a pod, and the metadata of everything. Below a Deployment no field has two
/// meanings.
const OF_PODS: MergeKeys = &[
    ("containers", "name"),
    ("env", "name"),
    ("ephemeralContainers", "name"),
    ("hostAliases", "ip"),
    ("imagePullSecrets", "name"),
    ("initContainers", "name"),
    ("ownerReferences", "uid"),
    ("ports", "containerPort"),
    ("resourceClaims", "name"),
    ("schedulingGates", "name"),
    ("topologySpreadConstraints", "topologyKey"),
    ("volumeDevices", "devicePath"),
    ("volumeMounts", "mountPath"),
    ("volumes", "name"),
];

/// By which field items of the list in a field are distinguished, if Kubernetes' types say so.
pub fn merge_key(field: &str) -> Option<&'static [&'static str]> {
    OF_PODS
        .iter()
        .find(|(list, _)| *list == field)
        .map(|(_, key)| std::slice::from_ref(key))
}

/// The lists that are merged in objects of a kind. Of kinds that are not part of Kubernetes nobody
/// says so.
pub fn merge_keys(kind: &str) -> MergeKeys {
    match kind {
        "Service" => &[("ownerReferences", "uid"), ("ports", "port")],
        "ServiceAccount" => &[("ownerReferences", "uid"), ("secrets", "name")],
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => &[
            ("matchConditions", "name"),
            ("ownerReferences", "uid"),
            ("webhooks", "name"),
        ],
        kind if pods::pod_path(kind).is_some() => OF_PODS,
        _ => &[("ownerReferences", "uid")],
    }
}

/// The key of a patch that selects how a map is patched: `merge`, `replace` or `delete`.
pub const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";

/// A part of a patch that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchFault {
    /// Where it is in the patch.
    pub path: FieldPath,
    /// The reason why it cannot be applied.
    pub kind: PatchFaultKind,
}

/// The reason why a part of a strategic merge patch cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchFaultKind {
    /// An item of a list that is merged lacks the field by which items are distinguished.
    NoKey(&'static str),
    /// An item of such a list is not a map.
    NoMap,
    /// `$patch` has another value than `merge`, `replace`, `delete`.
    UnknownDirective,
    /// `$setElementOrder/…`, `$deleteFromPrimitiveList/…`: what programs write for each other.
    Machines,
}

impl std::fmt::Display for PatchFaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            PatchFaultKind::NoKey(key) => write!(
                f,
                "the item has no `{key}`, by which items of this list are distinguished"
            ),
            PatchFaultKind::NoMap => f.write_str("an item of this list is a map of fields"),
            PatchFaultKind::UnknownDirective => {
                f.write_str("`$patch` is `merge`, `replace` or `delete`")
            }
            PatchFaultKind::Machines => {
                f.write_str("this directive is not for patches that people write")
            }
        }
    }
}

/// Applies a patch of an object with such lists; `path` is where the patch stands, for faults.
///
/// # Errors
/// The first part that cannot be applied. The object is then of no use.
pub fn merge(
    keys: MergeKeys,
    original: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    path: &FieldPath,
) -> Result<(), PatchFault> {
    match directive(patch, path)? {
        Directive::Delete => original.clear(),
        Directive::Replace => *original = without_directive(patch),
        Directive::Merge => merge_fields(keys, original, patch, path)?,
    }
    Ok(())
}

enum Directive {
    Merge,
    Replace,
    Delete,
}

fn directive(patch: &Map<String, Value>, path: &FieldPath) -> Result<Directive, PatchFault> {
    match patch.get(DIRECTIVE).map(|value| value.as_str()) {
        None | Some(Some("merge")) => Ok(Directive::Merge),
        Some(Some("replace")) => Ok(Directive::Replace),
        Some(Some("delete")) => Ok(Directive::Delete),
        Some(_) => Err(PatchFault {
            path: path.field(DIRECTIVE),
            kind: PatchFaultKind::UnknownDirective,
        }),
    }
}

fn without_directive(patch: &Map<String, Value>) -> Map<String, Value> {
    patch
        .iter()
        .filter(|(key, _)| *key != DIRECTIVE)
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn merge_fields(
    keys: MergeKeys,
    original: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    path: &FieldPath,
) -> Result<(), PatchFault> {
    for (key, value) in patch {
        if key == DIRECTIVE || key == RETAIN_KEYS {
            continue;
        }
        if key.starts_with('$') {
            return Err(PatchFault {
                path: path.field(key),
                kind: PatchFaultKind::Machines,
            });
        }
        merge_field(keys, original, key, value, &path.field(key))?;
    }
    if let Some(retained) = patch.get(RETAIN_KEYS).and_then(Value::as_array) {
        original.retain(|key, _| retained.iter().any(|name| name == key));
    }
    Ok(())
}

fn merge_field(
    keys: MergeKeys,
    original: &mut Map<String, Value>,
    key: &str,
    value: &Value,
    path: &FieldPath,
) -> Result<(), PatchFault> {
    match (
        value,
        keys.iter()
            .find(|(list, _)| *list == key)
            .map(|(_, merge_key)| *merge_key),
    ) {
        (Value::Null, _) => {
            original.remove(key);
        }
        (Value::Object(patch), _) => {
            let there = original
                .entry(key)
                .or_insert_with(|| Value::Object(Map::new()));
            if !there.is_object() {
                *there = Value::Object(Map::new());
            }
            let Value::Object(there) = there else {
                return Ok(());
            };
            merge(keys, there, patch, path)?;
        }
        (Value::Array(items), Some(merge_key)) => {
            let there = original
                .get(key)
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
            let merged = merge_list(keys, merge_key, there, items, path)?;
            original.insert(key.to_owned(), Value::Array(merged));
        }
        _ => {
            original.insert(key.to_owned(), value.clone());
        }
    }
    Ok(())
}

/// Items of the original that the patch does not name keep their place before those of which they
/// stood in front; all others follow the order of the patch.
fn merge_list(
    keys: MergeKeys,
    merge_key: &'static str,
    original: Vec<Value>,
    patch: &[Value],
    path: &FieldPath,
) -> Result<Vec<Value>, PatchFault> {
    let (mut named, mut removed, mut replaces) = (Vec::new(), Vec::new(), false);
    for (index, item) in patch.iter().enumerate() {
        let path = path.index(index);
        let fault = |kind| PatchFault {
            path: path.clone(),
            kind,
        };
        let fields = item
            .as_object()
            .ok_or_else(|| fault(PatchFaultKind::NoMap))?;
        let directive = directive(fields, &path)?;
        if matches!(directive, Directive::Replace) {
            replaces = true;
            continue;
        }
        let key = fields
            .get(merge_key)
            .ok_or_else(|| fault(PatchFaultKind::NoKey(merge_key)))?;
        match directive {
            Directive::Delete => removed.push(key),
            _ => named.push((key, fields, path)),
        }
    }
    let position = |key: &Value| {
        original
            .iter()
            .position(|item| item.get(merge_key) == Some(key))
    };
    let mut merged = Vec::new();
    for (key, fields, path) in named {
        let at = position(key).filter(|_| !replaces);
        let mut item = at
            .and_then(|at| original[at].as_object())
            .cloned()
            .unwrap_or_default();
        merge(keys, &mut item, fields, &path)?;
        merged.push((at, Value::Object(item)));
    }
    if replaces {
        return Ok(merged.into_iter().map(|(_, item)| item).collect());
    }
    let is_named = |key: Option<&Value>| {
        merged.iter().any(|(_, item)| item.get(merge_key) == key)
            || removed.iter().any(|removed| Some(*removed) == key)
    };
    let kept: Vec<(usize, Value)> = original
        .iter()
        .cloned()
        .enumerate()
        .filter(|(_, item)| !is_named(item.get(merge_key)))
        .collect();
    Ok(interleave(kept, merged))
}

fn interleave(kept: Vec<(usize, Value)>, merged: Vec<(Option<usize>, Value)>) -> Vec<Value> {
    let mut kept = kept.into_iter().peekable();
    let mut all = Vec::new();
    for (at, item) in merged {
        while let Some((_, before)) = kept.next_if(|(place, _)| at.is_some_and(|at| *place < at)) {
            all.push(before);
        }
        all.push(item);
    }
    all.extend(kept.map(|(_, item)| item));
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// What Kubernetes' own code makes of the same patches; the file says which.
    #[test]
    fn patches_are_applied_as_kubernetes_does() {
        let recorded: Value =
            serde_json::from_str(include_str!("../tests/strategic_merge.json")).unwrap();
        let cases = recorded["cases"].as_array().unwrap();
        assert!(cases.len() > 30, "{}", cases.len());
        for case in cases {
            let name = case["name"].as_str().unwrap();
            let mut object = recorded["original"].as_object().unwrap().clone();
            let merged = merge(
                OF_PODS,
                &mut object,
                case["patch"].as_object().unwrap(),
                &FieldPath::root(),
            );
            match case.get("result") {
                Some(expected) => {
                    assert_eq!(merged, Ok(()), "{name}");
                    assert_eq!(&Value::Object(object), expected, "{name}");
                }
                None => assert!(merged.is_err(), "{name}"),
            }
        }
    }

    fn fault(patch: &Value) -> (String, PatchFaultKind) {
        let mut object = json!({"spec": {"containers": [{"name": "a"}]}})
            .as_object()
            .unwrap()
            .clone();
        let fault = merge(
            OF_PODS,
            &mut object,
            patch.as_object().unwrap(),
            &FieldPath::root().field("patch"),
        )
        .unwrap_err();
        (fault.path.to_string(), fault.kind)
    }

    #[test]
    fn faults_have_their_place() {
        let item = |item: Value| fault(&json!({"spec": {"containers": [{"name": "a"}, item]}}));
        assert_eq!(
            item(json!({"image": "x"})),
            (
                "patch.spec.containers[1]".to_owned(),
                PatchFaultKind::NoKey("name")
            )
        );
        assert_eq!(
            item(json!("x")),
            ("patch.spec.containers[1]".to_owned(), PatchFaultKind::NoMap)
        );
        let odd = json!({"spec": {"$patch": "x"}});
        assert_eq!(
            fault(&odd),
            (
                "patch.spec.$patch".to_owned(),
                PatchFaultKind::UnknownDirective
            )
        );
        let order = json!({"spec": {"$setElementOrder/containers": []}});
        assert_eq!(fault(&order).1, PatchFaultKind::Machines);
    }
}
