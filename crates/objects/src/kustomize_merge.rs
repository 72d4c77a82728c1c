//! Strategic merge patches as kustomize applies them (`kyaml/yaml/merge2` and `kyaml/yaml/walk` of
//! kustomize v5.8.1), which is not what the API server does: new items of merged lists come first,
//! items may be distinguished by two fields, and a scalar never replaces a map or a list.

use serde_json::{Map, Value};

use super::pods;
use super::strategic_merge::DIRECTIVE;
use windlass_source::diag::{FieldPath, Segment};

/// The lists that are merged, by field, with the fields by which their items are distinguished;
/// lists of scalars have none. All other lists are replaced.
type Lists = &'static [(&'static str, &'static [&'static str])];

/// Of objects with pods: `x-kubernetes-patch-strategy` and `x-kubernetes-list-map-keys` of the API
/// description that kustomize holds (Kubernetes v1.21.2).
const OF_PODS: Lists = &[
    ("conditions", &["type"]),
    ("containers", &["name"]),
    ("env", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("finalizers", &[]),
    ("hostAliases", &["ip"]),
    ("imagePullSecrets", &["name"]),
    ("initContainers", &["name"]),
    ("ownerReferences", &["uid"]),
    ("ports", &["containerPort", "protocol"]),
    (
        "topologySpreadConstraints",
        &["topologyKey", "whenUnsatisfiable"],
    ),
    ("volumeDevices", &["devicePath"]),
    ("volumeMounts", &["mountPath"]),
    ("volumes", &["name"]),
];

const OF_METADATA: Lists = &[("finalizers", &[]), ("ownerReferences", &["uid"])];

/// The groups of Kubernetes itself whose kinds kustomize knows. Lists of all other kinds are
/// replaced.
const KNOWN_GROUPS: &[&str] = &[
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
];

/// Where the lists of a kind are that are not those of metadata and status.
enum Holder {
    /// One map.
    At(FieldPath),
    /// The pod and its containers.
    Pod(FieldPath),
}

impl Holder {
    fn of(kind: &str) -> Self {
        match (kind, pods::pod_path(kind)) {
            (_, Some(pod)) => Holder::Pod(FieldPath::of_fields(pod)),
            ("Service", None) => Holder::At(FieldPath::of_fields("spec")),
            _ => Holder::At(FieldPath::root()),
        }
    }

    /// Whether a list with the field name is the one that kustomize's schema has.
    fn has(&self, list: &FieldPath) -> bool {
        let Some((Segment::Field(name), above)) = list.segments().split_last() else {
            return false;
        };
        match (name.as_str(), self) {
            ("finalizers" | "ownerReferences", _) => {
                above.last() == Some(&Segment::Field("metadata".to_owned()))
            }
            ("conditions", _) => above == [Segment::Field("status".to_owned())],
            (_, Holder::At(map)) => above == map.segments(),
            (_, Holder::Pod(pod)) => above.starts_with(pod.segments()),
        }
    }
}

/// The lists that are merged in objects of a kind.
fn lists(group: &str, kind: &str) -> Lists {
    match kind {
        _ if !KNOWN_GROUPS.contains(&group) => &[],
        "Service" => &[
            ("conditions", &["type"]),
            ("finalizers", &[]),
            ("ownerReferences", &["uid"]),
            ("ports", &["port", "protocol"]),
        ],
        "ServiceAccount" => &[
            ("finalizers", &[]),
            ("ownerReferences", &["uid"]),
            ("secrets", &["name"]),
        ],
        "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration" => &[
            ("finalizers", &[]),
            ("ownerReferences", &["uid"]),
            ("webhooks", &["name"]),
        ],
        kind if pods::pod_path(kind).is_some() => OF_PODS,
        _ => OF_METADATA,
    }
}

/// A part of a patch that kustomize rejects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergeFault {
    /// Where it is in the object.
    pub path: FieldPath,
    /// The reason for the rejection.
    pub kind: MergeFaultKind,
}

/// The reason why kustomize rejects a part of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeFaultKind {
    /// The object has another form of value there than the patch.
    OtherForm(&'static str, &'static str),
    /// `$patch` has another value than `merge`, `replace`, `delete`.
    UnknownDirective,
    /// An item of a list that is merged is not a map.
    NotAMap,
}

impl std::fmt::Display for MergeFaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MergeFaultKind::OtherForm(there, given) => {
                write!(f, "the object has {there} there, and the patch {given}")
            }
            MergeFaultKind::UnknownDirective => {
                f.write_str("`$patch` is `merge`, `replace` or `delete`")
            }
            MergeFaultKind::NotAMap => f.write_str("an item of this list is a map of fields"),
        }
    }
}

/// Applies a patch to an object of a kind; `None` when the patch removes it.
///
/// # Errors
/// The first part that kustomize rejects.
pub fn merge(
    (group, kind): (&str, &str),
    object: Value,
    patch: Value,
) -> Result<Option<Value>, MergeFault> {
    let mut walk = Walk {
        lists: lists(group, kind),
        holder: Holder::of(kind),
        path: FieldPath::root(),
    };
    Ok(walk
        .value(Some(object), Some(patch), "")?
        .filter(|value| !value.is_null()))
}

enum Directive {
    Merge,
    Replace,
    Delete,
}

struct Walk {
    lists: Lists,
    holder: Holder,
    path: FieldPath,
}

/// The form of a value; null has none.
fn form(value: Option<&Value>) -> Option<&'static str> {
    match value? {
        Value::Null => None,
        Value::Object(_) => Some("a map"),
        Value::Array(_) => Some("a list"),
        _ => Some("a scalar"),
    }
}

impl Walk {
    fn fault<T>(&self, kind: MergeFaultKind) -> Result<T, MergeFault> {
        Err(MergeFault {
            path: self.path.clone(),
            kind,
        })
    }

    /// The merged value of a field; `None` when it is removed. A null of the object stays where the
    /// patch says nothing.
    fn value(
        &mut self,
        dest: Option<Value>,
        origin: Option<Value>,
        field: &str,
    ) -> Result<Option<Value>, MergeFault> {
        match (form(dest.as_ref()), form(origin.as_ref())) {
            (Some(there), Some(given)) if there != given => {
                self.fault(MergeFaultKind::OtherForm(there, given))
            }
            (None, None) => Ok(dest.filter(|_| origin.is_none())),
            (there, given) => match there.or(given) {
                Some("a map") => self.map(dest, origin),
                Some("a list") => self.list(dest, origin, field),
                _ => Ok(origin.or(dest).filter(|value| !value.is_null())),
            },
        }
    }

    fn map(
        &mut self,
        dest: Option<Value>,
        origin: Option<Value>,
    ) -> Result<Option<Value>, MergeFault> {
        let is_null = origin.as_ref().is_some_and(Value::is_null);
        let mut origin = map_of(origin);
        let dest = map_of(dest);
        let mut merged = match (dest, &mut origin) {
            (None, None) => return Ok(None),
            (None, Some(patch)) => match self.directive(patch) {
                Ok(Directive::Delete) => return Ok(None),
                // A new map is merged with itself, which removes its nulls and directives.
                _ => patch.clone(),
            },
            (Some(_), _) if is_null => return Ok(None),
            (Some(dest), None) => dest,
            (Some(dest), Some(patch)) => match self.directive(patch)? {
                Directive::Delete => return Ok(None),
                Directive::Replace => patch.clone(),
                Directive::Merge => dest,
            },
        };
        let origin = origin.unwrap_or_default();
        let mut keys: Vec<String> = merged.keys().chain(origin.keys()).cloned().collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            self.path.push(Segment::Field(key.clone()));
            let (dest, patch) = (merged.remove(&key), origin.get(&key).cloned());
            if let Some(value) = self.value(dest, patch, &key)? {
                merged.insert(key, value);
            }
            self.path.pop();
        }
        Ok(Some(Value::Object(merged)))
    }

    /// Takes the directive out of a map of the patch.
    fn directive(&self, patch: &mut Map<String, Value>) -> Result<Directive, MergeFault> {
        let found = match patch.get(DIRECTIVE).map(Value::as_str) {
            None => return Ok(Directive::Merge),
            Some(Some("merge")) => Directive::Merge,
            Some(Some("replace")) => Directive::Replace,
            Some(Some("delete")) => Directive::Delete,
            Some(_) => return self.fault(MergeFaultKind::UnknownDirective),
        };
        patch.remove(DIRECTIVE);
        Ok(found)
    }

    /// Takes the directive out of a list of the patch: an item that has nothing else.
    fn directive_of_list(&self, patch: &mut Vec<Value>) -> Result<Directive, MergeFault> {
        let first = patch.iter().position(|item| item.get(DIRECTIVE).is_some());
        let alone = first.filter(|at| patch[*at].as_object().is_some_and(|item| item.len() == 1));
        let Some(at) = alone else {
            return Ok(Directive::Merge);
        };
        let directive = patch[at][DIRECTIVE].clone();
        let found = match directive.as_str() {
            Some("merge") => Directive::Merge,
            Some("replace") => Directive::Replace,
            Some("delete") => Directive::Delete,
            _ => return self.fault(MergeFaultKind::UnknownDirective),
        };
        let word = text(&directive);
        set_element(patch, None, &[DIRECTIVE], &[word]);
        Ok(found)
    }

    fn list(
        &mut self,
        dest: Option<Value>,
        origin: Option<Value>,
        field: &str,
    ) -> Result<Option<Value>, MergeFault> {
        let merged = self.lists.iter().find(|(list, _)| *list == field);
        let Some((_, keys)) = merged.filter(|_| self.holder.has(&self.path)) else {
            return Ok(origin.or(dest).filter(|value| !value.is_null()));
        };
        let is_null = origin.as_ref().is_some_and(Value::is_null);
        let (dest, mut origin) = (list_of(dest), list_of(origin));
        let (dest, is_same) = match (dest, &mut origin) {
            (None, None) => return Ok(None),
            (None, Some(patch)) => (patch.clone(), true),
            (Some(_), _) if is_null => return Ok(None),
            (Some(dest), None) => (dest, false),
            (Some(dest), Some(patch)) => match self.directive_of_list(patch)? {
                Directive::Delete => return Ok(None),
                Directive::Replace => (patch.clone(), true),
                Directive::Merge => (dest, false),
            },
        };
        let items = Items {
            dest,
            origin,
            is_same,
        };
        Ok(Some(Value::Array(self.items(items, keys)?)))
    }

    /// Merges the items of a list by the fields that tell them apart.
    fn items(&mut self, mut items: Items, keys: &[&str]) -> Result<Vec<Value>, MergeFault> {
        let keys = if keys.is_empty() { &[""][..] } else { keys };
        let mut all = items.values(keys);
        if keys.len() > 1 {
            unify(&mut all);
        }
        let (mut added, mut last_keys) = (Vec::new(), Vec::new());
        for values in &all {
            let (keys, values) = telling(&all, values, keys);
            let (telling_keys, telling_values) =
                telling(std::slice::from_ref(&values), &values, &keys);
            let at = position(&items.dest, &telling_keys, &telling_values);
            let patch = items.origin.as_ref().and_then(|origin| {
                Some(origin[position(origin, &telling_keys, &telling_values)?].clone())
            });
            let replaces = patch.as_ref().and_then(|patch| patch.get(DIRECTIVE))
                == Some(&Value::from("replace"));
            let dest = at.map(|at| items.dest[at].clone());
            let value = self.value(dest, patch, "")?;
            last_keys.clone_from(&keys);
            match value.filter(|value| !is_empty(value)) {
                None => set_element(&mut items.dest, None, &keys, &values),
                Some(mut value) => {
                    if let Value::Object(map) = &mut value {
                        for (key, text) in keys
                            .iter()
                            .zip(&values)
                            .filter(|(_, text)| !text.is_empty())
                        {
                            map.entry(*key).or_insert_with(|| scalar(text));
                        }
                    }
                    if let Some(at) = at.filter(|_| items.is_same || !replaces) {
                        items.dest[at] = value.clone();
                    }
                    set_element(&mut added, Some(value), &keys, &values);
                }
            }
        }
        if all.is_empty() {
            return Ok(items.dest);
        }
        self.append(added, items.dest, &last_keys)
    }

    /// Puts the items of the object behind those of the patch, each in the place of its own.
    fn append(
        &self,
        mut list: Vec<Value>,
        items: Vec<Value>,
        keys: &[&str],
    ) -> Result<Vec<Value>, MergeFault> {
        for item in items {
            if keys.first() == Some(&"") {
                let value = text(&item);
                set_element(&mut list, Some(item), keys, &[value]);
                continue;
            }
            if !item.is_object() {
                return self.fault(MergeFaultKind::NotAMap);
            }
            let mut values = Vec::new();
            for key in keys {
                match item.get(*key) {
                    Some(value) => values.push(text(value)),
                    None => list.push(item.clone()),
                }
            }
            if keys.len() > 1 {
                set_element(&mut list, None, keys, &values);
            }
            set_element(&mut list, Some(item), keys, &values);
        }
        Ok(list)
    }
}

/// The items of a list of the object and of the patch.
struct Items {
    dest: Vec<Value>,
    origin: Option<Vec<Value>>,
    /// Whether the object has the list from the patch.
    is_same: bool,
}

impl Items {
    /// What tells the items apart, each once: those of the patch first.
    fn values(&self, keys: &[&str]) -> Vec<Vec<String>> {
        let of = |item: &Value| -> Vec<String> {
            keys.iter()
                .map(|key| match *key {
                    "" => text(item),
                    key => item.get(key).map(text).unwrap_or_default(),
                })
                .collect()
        };
        let mut all: Vec<Vec<String>> = Vec::new();
        for item in self.origin.iter().flatten().chain(&self.dest) {
            let values = of(item);
            if !all.contains(&values) {
                all.push(values);
            }
        }
        all
    }
}

fn map_of(value: Option<Value>) -> Option<Map<String, Value>> {
    match value {
        Some(Value::Object(map)) => Some(map),
        _ => None,
    }
}

fn list_of(value: Option<Value>) -> Option<Vec<Value>> {
    match value {
        Some(Value::Array(items)) => Some(items),
        _ => None,
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(Map::is_empty)
}

/// The text of a scalar; empty for anything else.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => String::new(),
    }
}

/// The scalar of a text, as YAML reads it without quotes.
fn scalar(text: &str) -> Value {
    serde_json::from_str::<Value>(text)
        .ok()
        .filter(|value| value.is_number() || value.is_boolean())
        .unwrap_or_else(|| Value::from(text))
}

/// Values that agree in one field, and where the other one is missing, are the same item.
fn unify(all: &mut [Vec<String>]) {
    for one in 0..all.len() {
        for other in 0..all.len() {
            if let Some(values) = unified(&all[one], &all[other]) {
                all[one].clone_from(&values);
                all[other] = values;
            }
        }
    }
}

fn unified(one: &[String], other: &[String]) -> Option<Vec<String>> {
    let mut agree = false;
    let mut values = Vec::new();
    for (a, b) in one.iter().zip(other) {
        if a == b {
            agree = true;
        } else if !a.is_empty() && !b.is_empty() {
            return None;
        }
        values.push(if a.is_empty() { b.clone() } else { a.clone() });
    }
    agree.then_some(values)
}

/// The fields that tell anything, with their values.
fn telling<'k>(
    all: &[Vec<String>],
    values: &[String],
    keys: &[&'k str],
) -> (Vec<&'k str>, Vec<String>) {
    let tells = |at: usize| {
        all.iter()
            .any(|values| values.get(at).is_some_and(|value| !value.is_empty()))
    };
    let chosen: Vec<usize> = (0..keys.len()).filter(|at| tells(*at)).collect();
    if chosen.is_empty() {
        return (keys.to_vec(), values.to_vec());
    }
    let value = |at: &usize| values.get(*at).cloned().unwrap_or_default();
    (
        chosen.iter().map(|at| keys[*at]).collect(),
        chosen.iter().map(value).collect(),
    )
}

/// Whether a field of an item has a value; any value if none is given.
fn has(item: &Value, key: &str, value: &str) -> bool {
    if key.is_empty() {
        return text(item) == value;
    }
    item.get(key)
        .is_some_and(|found| value.is_empty() || text(found) == value)
}

fn position(items: &[Value], keys: &[&str], values: &[String]) -> Option<usize> {
    items.iter().position(|item| {
        let is_of_form = item.is_object() || keys.first() == Some(&"");
        is_of_form
            && keys
                .iter()
                .zip(values)
                .all(|(key, value)| has(item, key, value))
    })
}

/// Replaces the items with these values, or adds the element; without an element they are removed
/// (`ElementSetter`). Items that are empty go.
fn set_element(list: &mut Vec<Value>, element: Option<Value>, keys: &[&str], values: &[String]) {
    let sets_maps = keys.first().is_some_and(|key| !key.is_empty())
        && values.first().is_some_and(|value| !value.is_empty());
    let mut is_found = false;
    let mut kept = Vec::new();
    for item in list.drain(..) {
        if is_empty(&item) {
            continue;
        }
        if !item.is_object() && sets_maps {
            kept.push(item);
            continue;
        }
        let mut matches = !values.is_empty();
        for (key, value) in keys.iter().zip(values) {
            matches &= has(&item, key, value);
        }
        if !matches {
            if !values.is_empty() {
                kept.push(item);
            }
            continue;
        }
        is_found = true;
        kept.extend(element.clone());
    }
    *list = kept;
    if !is_found {
        list.extend(element.filter(|element| !element.is_null()));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(group: &str, kind: &str, object: Value, patch: Value) -> Value {
        merge((group, kind), object, patch).unwrap().unwrap()
    }

    /// Observed of kustomize v5.8.1: `tests/e2e/scenarios/kustomize` compares random patches.
    #[test]
    fn merges_lists_only_where_the_kind_has_them() {
        let old = json!([{"name": "a", "port": 1, "containerPort": 1}]);
        let new = json!([{"name": "b", "port": 2, "containerPort": 2}]);
        let both = json!([new[0], old[0]]);
        let merge_at = |group: &str, kind: &str, pointer: &str| {
            let at = |list: &Value| {
                let names = pointer.split('/').rev().filter(|name| !name.is_empty());
                names.fold(list.clone(), |below, name| json!({ name: below }))
            };
            merged(group, kind, at(&old), at(&new))
                .pointer(pointer)
                .cloned()
                .unwrap()
        };
        for (group, kind, pointer) in [
            ("apps", "Deployment", "/spec/template/spec/volumes"),
            ("apps", "Deployment", "/spec/template/spec/imagePullSecrets"),
            (
                "batch",
                "CronJob",
                "/spec/jobTemplate/spec/template/spec/volumes",
            ),
            ("", "Service", "/spec/ports"),
            ("", "ServiceAccount", "/secrets"),
            (
                "admissionregistration.k8s.io",
                "ValidatingWebhookConfiguration",
                "/webhooks",
            ),
        ] {
            assert_eq!(merge_at(group, kind, pointer), both, "{kind} {pointer}");
        }
        for (group, kind, pointer) in [
            ("apps", "Deployment", "/imagePullSecrets"),
            ("apps", "Deployment", "/spec/ports"),
            ("", "Service", "/ports"),
            ("", "ServiceAccount", "/spec/secrets"),
            ("foo.dev", "Foo", "/spec/template/spec/volumes"),
        ] {
            assert_eq!(merge_at(group, kind, pointer), new, "{kind} {pointer}");
        }
    }

    #[test]
    fn merges_lists_of_containers() {
        let container = |ports: Value| json!({"spec": {"template": {"spec": {"containers": [{"name": "m", "ports": ports}]}}}});
        let port = |number: u16| json!({"containerPort": number, "protocol": "TCP"});
        let merged = merged(
            "apps",
            "Deployment",
            container(json!([port(1)])),
            container(json!([port(2)])),
        );
        assert_eq!(merged, container(json!([port(2), port(1)])));
    }

    #[test]
    fn merges_finalizers_of_all_metadata() {
        let at = |list: Value| json!({"spec": {"template": {"metadata": {"finalizers": list}}}});
        let merged = merged("apps", "Deployment", at(json!(["a"])), at(json!(["b"])));
        assert_eq!(merged, at(json!(["b", "a"])));
        let other = |list: Value| json!({"data": {"finalizers": list}});
        let replaced = merge(("", "ConfigMap"), other(json!(["a"])), other(json!(["b"])));
        assert_eq!(replaced.unwrap().unwrap(), other(json!(["b"])));
    }
}
