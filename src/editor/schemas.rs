//! The schemas of the kinds that people write, and what they say about a field.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::{Value, json};

use windlass_capi::admission::core;
use windlass_capi::api::names::{GROUP, KUBEADM_GROUP, Kind, Version};
use windlass_capi::api::{control_plane, openapi};
use windlass_capi::contract::CORE_GROUP;
use windlass_lint::definitions;
use windlass_objects::Object;
use windlass_provider::{self as provider, PROVIDER_API_VERSION, PROVIDER_KIND};
use windlass_source::diag::{FieldPath, Segment};

const CONTROL_PLANE_GROUP: &str = "controlplane.cluster.x-k8s.io";

/// The schema of a provider.yaml.
/// The maximum number of lists and maps in one another in the name of a type.
const MOST_NESTED_TYPES: usize = 4;

static PROVIDER: LazyLock<Value> = LazyLock::new(provider::json_schema);

/// The schema of an object; `None` for a kind that is neither known here nor defined by a CRD
/// among `objects`.
pub(super) fn schema(
    api_version: &str,
    kind: &str,
    objects: &[Object],
) -> Option<Cow<'static, Value>> {
    let (group, version) = api_version.split_once('/')?;
    if api_version == PROVIDER_API_VERSION && kind == PROVIDER_KIND {
        return Some(Cow::Borrowed(&PROVIDER));
    }
    let known = match (group, Version::parse(version)) {
        (KUBEADM_GROUP, Some(version)) => Kind::ALL
            .into_iter()
            .find(|known| known.kubeadm() == kind)
            .map(|kind| openapi::kubeadm_schema(kind, version)),
        (GROUP, Some(version)) => Kind::ALL
            .into_iter()
            .find(|known| known.as_str() == kind)
            .map(|kind| openapi::schema(kind, version)),
        (CONTROL_PLANE_GROUP, Some(version)) => control_plane_schema(kind, version),
        (CORE_GROUP, _) => core::schemas::json(kind, version),
        _ => None,
    };
    let mut schema = known.or_else(|| defined(group, version, kind, objects))?;
    add_common_fields(&mut schema);
    Some(Cow::Owned(schema))
}

/// The schema of a kubeadm control plane, with that of the config in it.
fn control_plane_schema(kind: &str, version: Version) -> Option<Value> {
    let (is_template, path) = match kind {
        "KubeadmControlPlane" => (false, "/properties/spec/properties/kubeadmConfigSpec"),
        "KubeadmControlPlaneTemplate" => (
            true,
            "/properties/spec/properties/template/properties/spec/properties/kubeadmConfigSpec",
        ),
        _ => return None,
    };
    let mut schema = control_plane::schema(is_template, version, true);
    let mut config = openapi::kubeadm_schema(Kind::Config, version);
    if let Some(place) = schema.pointer_mut(path) {
        *place = config["properties"]["spec"].take();
    }
    Some(schema)
}

/// The schema of a kind that a CRD defines.
fn defined(group: &str, version: &str, kind: &str, objects: &[Object]) -> Option<Value> {
    let is_of = |crd: &&Object| {
        crd.text(&["spec", "group"]) == group && crd.text(&["spec", "names", "kind"]) == kind
    };
    let crd = definitions::of(objects).find(is_of)?;
    let versions = crd.items(&["spec", "versions"]);
    let found = versions
        .iter()
        .find(|found| found["name"].as_str() == Some(version))?;
    Some(found.pointer("/schema/openAPIV3Schema")?.clone())
}

/// Adds the fields that every object has, where the schema does not describe them.
fn add_common_fields(schema: &mut Value) {
    let text = |description: &str| json!({"type": "string", "description": description});
    let texts = |description: &str| {
        json!({
            "type": "object",
            "additionalProperties": {"type": "string"},
            "description": description,
        })
    };
    let metadata = json!({
        "type": "object",
        "properties": {
            "name": text("The name of the object, unique among its kind in the namespace."),
            "namespace": text("The namespace of the object; `default` without one."),
            "labels": texts("Keys and values by which objects are selected."),
            "annotations": texts("Keys and values for tools, which select nothing."),
        },
    });
    let Some(properties) = schema
        .as_object_mut()
        .map(|schema| schema.entry("properties").or_insert_with(|| json!({})))
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    for (field, its) in [
        ("apiVersion", text("The group and version of the kind.")),
        ("kind", text("The kind of the object.")),
    ] {
        properties.entry(field).or_insert(its);
    }
    let is_open = |its: &Value| its.get("properties").is_none();
    if properties.get("metadata").is_none_or(is_open) {
        properties.insert("metadata".to_owned(), metadata);
    }
}

/// A place in a schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'s> {
    root: &'s Value,
    schema: &'s Value,
    pub(super) is_required: bool,
}

impl<'s> Field<'s> {
    pub(super) fn root(schema: &'s Value) -> Self {
        Field {
            root: schema,
            schema,
            is_required: false,
        }
    }

    /// The field at a path below this one.
    pub(super) fn at(self, path: &FieldPath) -> Option<Self> {
        path.segments()
            .iter()
            .try_fold(self, |field, segment| field.step(segment))
    }

    fn step(self, segment: &Segment) -> Option<Self> {
        self.alternatives().into_iter().find_map(|schema| {
            let (found, is_required) = match segment {
                Segment::Index(_) => (schema.get("items")?, false),
                Segment::Field(name) | Segment::Key(name) => {
                    match schema.get("properties").and_then(|its| its.get(name)) {
                        Some(found) => (found, is_required(schema, name)),
                        None => (
                            schema
                                .get("additionalProperties")
                                .filter(|its| its.is_object())?,
                            false,
                        ),
                    }
                }
            };
            Some(Field {
                root: self.root,
                schema: found,
                is_required,
            })
        })
    }

    /// The schema and those that it is made of: what it refers to, and its alternatives. The depth
    /// is bounded, because a schema may refer to itself.
    fn alternatives(self) -> Vec<&'s Value> {
        let mut all = vec![self.schema];
        let mut at = 0;
        while let Some(schema) = all
            .get(at)
            .copied()
            .filter(|_| all.len() < MOST_ALTERNATIVES)
        {
            at += 1;
            if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
                all.extend(self.root.pointer(reference.trim_start_matches('#')));
            }
            for keyword in ["allOf", "anyOf", "oneOf"] {
                all.extend(
                    schema
                        .get(keyword)
                        .and_then(Value::as_array)
                        .into_iter()
                        .flatten(),
                );
            }
        }
        all
    }

    /// The fields below this one, with their names; of equal ones the first.
    pub(super) fn fields(self) -> Vec<(&'s str, Field<'s>)> {
        let mut found: Vec<(&str, Field<'_>)> = Vec::new();
        for schema in self.alternatives() {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, its) in properties.into_iter().flatten() {
                if found.iter().all(|(known, _)| known != name) {
                    let field = Field {
                        root: self.root,
                        schema: its,
                        is_required: is_required(schema, name),
                    };
                    found.push((name, field));
                }
            }
        }
        found
    }

    pub(super) fn description(self) -> Option<&'s str> {
        self.keyword("description").and_then(Value::as_str)
    }

    pub(super) fn default(self) -> Option<&'s Value> {
        self.keyword("default").filter(|value| !value.is_null())
    }

    fn keyword(self, keyword: &str) -> Option<&'s Value> {
        self.alternatives()
            .into_iter()
            .find_map(|schema| schema.get(keyword))
    }

    /// Whether it is a list.
    pub(super) fn is_list(self) -> bool {
        self.type_names() == ["array"]
    }

    fn type_names(self) -> Vec<&'s str> {
        let mut names = Vec::new();
        for schema in self.alternatives() {
            let found: Vec<&str> = match schema.get("type") {
                Some(Value::String(name)) => vec![name],
                Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            };
            for name in found.into_iter().filter(|name| *name != "null") {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The name of the type: `string`, `list of objects`, `map of strings`.
    pub(super) fn type_name(self) -> String {
        self.type_name_within(MOST_NESTED_TYPES)
    }

    /// The same with at most `depth` lists and maps in one another: a schema may refer to itself.
    fn type_name_within(self, depth: usize) -> String {
        let plural = |field: Option<Field<'_>>| {
            let words = match (field, depth.checked_sub(1)) {
                (Some(field), Some(depth)) => field.type_name_within(depth),
                _ => String::new(),
            };
            match words.as_str() {
                "" => "anything".to_owned(),
                words if words.contains(' ') => words.to_owned(),
                word => format!("{word}s"),
            }
        };
        let below = |segment: Segment| self.step(&segment);
        match self.type_names().as_slice() {
            ["array"] => format!("list of {}", plural(below(Segment::Index(0)))),
            ["object"] if self.fields().is_empty() => match below(Segment::Key(String::new())) {
                Some(field) => format!("map of {}", plural(Some(field))),
                None => "object".to_owned(),
            },
            [] if self.keyword("x-kubernetes-int-or-string") == Some(&Value::Bool(true)) => {
                "integer or string".to_owned()
            }
            names => names.join(" or "),
        }
    }

    /// The values that it can have, each with its description; none when they cannot be listed.
    pub(super) fn values(self) -> Vec<(String, Option<&'s str>)> {
        let mut values: Vec<(String, Option<&str>)> = Vec::new();
        let mut add = |value: &Value, description| {
            let shown = match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            if !value.is_null() && values.iter().all(|(known, _)| *known != shown) {
                values.push((shown, description));
            }
        };
        for schema in self.alternatives() {
            let description = schema.get("description").and_then(Value::as_str);
            let listed = schema.get("enum").and_then(Value::as_array);
            listed
                .into_iter()
                .flatten()
                .for_each(|value| add(value, None));
            schema
                .get("const")
                .into_iter()
                .for_each(|value| add(value, description));
        }
        if values.is_empty() && self.type_names() == ["boolean"] {
            values.extend(["true", "false"].map(|word| (word.to_owned(), None)));
        }
        values
    }
}

/// The maximum number of schemas that one is made of.
const MOST_ALTERNATIVES: usize = 64;

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|known| known.as_str() == Some(name)))
}

/// Group, version and kind of the objects that can be completed.
pub(super) fn kinds() -> Vec<(String, &'static str)> {
    let of_both = |group: &str, kind: &'static str| {
        Version::ALL.map(|version| (format!("{group}/{version}"), kind))
    };
    let configs = Kind::ALL.into_iter().flat_map(|kind| {
        of_both(KUBEADM_GROUP, kind.kubeadm())
            .into_iter()
            .chain(of_both(GROUP, kind.as_str()))
    });
    let control_planes = ["KubeadmControlPlane", "KubeadmControlPlaneTemplate"]
        .into_iter()
        .flat_map(|kind| of_both(CONTROL_PLANE_GROUP, kind));
    let core =
        core::schemas::kinds().map(|(kind, version)| (format!("{CORE_GROUP}/{version}"), kind));
    let provider = (
        provider::PROVIDER_API_VERSION.to_owned(),
        provider::PROVIDER_KIND,
    );
    configs
        .chain(control_planes)
        .chain(core)
        .chain([provider])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(api_version: &str, kind: &str, path: &str, expected: &str) {
        let schema = schema(api_version, kind, &[]).unwrap();
        let path = path
            .split('.')
            .fold(FieldPath::root(), |path, step| match step.parse() {
                Ok(index) => path.index(index),
                Err(_) => path.field(step),
            });
        let field = Field::root(&schema).at(&path).unwrap();
        assert_eq!(field.type_name(), expected, "{path}");
    }

    #[test]
    fn type_of_a_schema_that_refers_to_itself_ends() {
        let schema = json!({"properties": {"spec": {"type": "array", "items": {"$ref": "#/properties/spec"}}}});
        let spec = Field::root(&schema)
            .at(&FieldPath::of_fields("spec"))
            .unwrap();
        assert_eq!(
            spec.type_name(),
            "list of list of list of list of list of anything"
        );
    }

    #[test]
    fn other_kinds_of_the_group_of_the_provider_have_no_schema() {
        assert!(schema(PROVIDER_API_VERSION, PROVIDER_KIND, &[]).is_some());
        assert!(schema(PROVIDER_API_VERSION, "Other", &[]).is_none());
    }

    #[test]
    fn fields_of_all_kinds_are_found() {
        let kubeadm = "bootstrap.cluster.x-k8s.io/v1beta2";
        check(kubeadm, "KubeadmConfig", "spec.files", "list of objects");
        check(kubeadm, "KubeadmConfig", "spec.files.0.path", "string");
        check(
            kubeadm,
            "KubeadmConfig",
            "metadata.labels",
            "map of strings",
        );
        let control_plane = "controlplane.cluster.x-k8s.io/v1beta2";
        let path = "spec.kubeadmConfigSpec.files.0.path";
        check(control_plane, "KubeadmControlPlane", path, "string");
        let path = "spec.template.spec.kubeadmConfigSpec.files";
        check(
            control_plane,
            "KubeadmControlPlaneTemplate",
            path,
            "list of objects",
        );
        let core = "cluster.x-k8s.io/v1beta2";
        check(core, "Cluster", "spec.topology.classRef.name", "string");
        check(
            core,
            "MachineDeployment",
            "spec.rollout.strategy.rollingUpdate.maxSurge",
            "integer or string",
        );
        check("windlass.dev/v1alpha1", "Provider", "manager", "object");
        check(
            "windlass.dev/v1alpha1",
            "Provider",
            "crds",
            "array or string",
        );
    }

    #[test]
    fn values_are_those_of_the_schema() {
        let schema = schema("bootstrap.cluster.x-k8s.io/v1beta2", "KubeadmConfig", &[]).unwrap();
        let values = |path: &str| -> Vec<String> {
            let field = Field::root(&schema)
                .at(&FieldPath::of_fields(path))
                .unwrap();
            field.values().into_iter().map(|(value, _)| value).collect()
        };
        assert_eq!(values("spec.format"), ["cloud-config", "ignition"]);
        assert_eq!(values("spec.ntp.enabled"), ["true", "false"]);
        assert!(values("spec.files").is_empty());
    }
}
