//! Structural schemas (`openAPIV3Schema`) of the kinds, made of the Rust types.
//!
//! schemars writes JSON Schema for serde; the API server wants what controller-gen writes.
//! `structural` is the difference: no null (a value that is not there is left out), no titles,
//! sorted `required`, only formats that the API server knows.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::names::{Kind, Version};
use super::{additions, v1beta1, v1beta2};

/// The formats of our fields, all known to the API server.
const FORMATS: [&str; 4] = ["byte", "date-time", "int32", "int64"];

const CONFIG_DESCRIPTION: &str = "Bootstrap data of one machine: the configuration of kubeadm and of the node, and what became of it.";
const TEMPLATE_DESCRIPTION: &str =
    "The pattern from which the WindlassConfigs of a set of machines are made.";
const SPEC_DESCRIPTION: &str = "The configuration of the machine.";
const API_VERSION_DESCRIPTION: &str =
    "Group and version of this document; the server may answer in another one.";
const KIND_DESCRIPTION: &str = "Kind of this document, in CamelCase; cannot change.";

/// The schemas of our kinds in that version, in the order of [`Kind::ALL`]. They share most of the
/// work.
pub fn schemas(version: Version) -> [Value; 2] {
    match version {
        Version::V1Beta1 => {
            both::<v1beta1::WindlassConfigTemplateSpec, v1beta1::WindlassConfigStatus>()
        }
        Version::V1Beta2 => {
            both::<v1beta2::WindlassConfigTemplateSpec, v1beta2::WindlassConfigStatus>()
        }
    }
}

/// The schema of our kind in that version.
pub fn schema(kind: Kind, version: Version) -> Value {
    match (kind, version) {
        (Kind::Config, Version::V1Beta1) => {
            of_config::<v1beta1::WindlassConfigStatus>(structural_schema::<
                v1beta1::WindlassConfigSpec,
            >())
        }
        (Kind::Config, Version::V1Beta2) => {
            of_config::<v1beta2::WindlassConfigStatus>(structural_schema::<
                v1beta2::WindlassConfigSpec,
            >())
        }
        (Kind::Template, Version::V1Beta1) => {
            of_template(structural_schema::<v1beta1::WindlassConfigTemplateSpec>())
        }
        (Kind::Template, Version::V1Beta2) => {
            of_template(structural_schema::<v1beta2::WindlassConfigTemplateSpec>())
        }
    }
}

/// The schema of KubeadmConfig or KubeadmConfigTemplate in that version: ours without the
/// additions.
pub fn kubeadm_schema(kind: Kind, version: Version) -> Value {
    let mut schema = schema(kind, version);
    let spec = match kind {
        Kind::Config => "/properties/spec",
        Kind::Template => "/properties/spec/properties/template/properties/spec",
    };
    additions::remove(
        schema
            .pointer_mut(spec)
            .expect("internal error: the kind has a spec"),
    );
    schema
}

/// The spec of a config is that within the template.
fn both<TemplateSpec: JsonSchema, Status: JsonSchema>() -> [Value; 2] {
    let template_spec = structural_schema::<TemplateSpec>();
    let spec = template_spec["properties"]["template"]["properties"]["spec"].clone();
    [of_config::<Status>(spec), of_template(template_spec)]
}

fn of_config<Status: JsonSchema>(mut spec: Value) -> Value {
    spec["description"] = SPEC_DESCRIPTION.into();
    object(
        CONFIG_DESCRIPTION,
        [("spec", spec), ("status", structural_schema::<Status>())],
    )
}

fn of_template(spec: Value) -> Value {
    object(TEMPLATE_DESCRIPTION, [("spec", spec)])
}

/// The root of a kind: type and object metadata, and the given parts.
fn object<const N: usize>(description: &str, parts: [(&str, Value); N]) -> Value {
    let mut properties = Map::from_iter(parts.map(|(name, schema)| (name.to_owned(), schema)));
    properties.insert(
        "apiVersion".to_owned(),
        json!({"type": "string", "description": API_VERSION_DESCRIPTION}),
    );
    properties.insert(
        "kind".to_owned(),
        json!({"type": "string", "description": KIND_DESCRIPTION}),
    );
    properties.insert("metadata".to_owned(), json!({"type": "object"}));
    let mut root = json!({"type": "object", "description": description});
    root["properties"] = Value::Object(properties);
    root
}

fn structural_schema<T: JsonSchema>() -> Value {
    let generator = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
            settings.transforms.clear();
        })
        .into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    structural(&mut schema);
    schema
}

/// Makes a schema structural, in place. The depth is that of the Rust types.
fn structural(schema: &mut Value) {
    let Value::Object(keys) = schema else { return };
    keys.remove("title");
    drop_null(keys);
    if keys
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| !FORMATS.contains(&format))
    {
        keys.remove("format");
    }
    if let Some(Value::Array(required)) = keys.get_mut("required") {
        required.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    }
    if let Some(Value::Object(properties)) = keys.get_mut("properties") {
        properties.values_mut().for_each(structural);
    }
    for key in ["items", "additionalProperties"] {
        if let Some(inner) = keys.get_mut(key) {
            structural(inner);
        }
    }
}

/// An `Option` in schemars' words is "of that type or null": as a list of types, or as two
/// alternatives.
fn drop_null(keys: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = keys.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_mut_slice() {
            let only = only.take();
            keys.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = keys.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let is_null_type = |schema: &Value| schema.get("type").is_some_and(|name| name == "null");
    if let Some(Value::Array(alternatives)) = keys.get_mut("anyOf")
        && alternatives.len() == 2
        && is_null_type(&alternatives[1])
        && let Value::Object(inner) = alternatives[0].take()
    {
        keys.remove("anyOf");
        for (key, value) in inner {
            keys.entry(key).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_the_schema_that_both_have_together() {
        for version in Version::ALL {
            assert_eq!(
                Kind::ALL.map(|kind| schema(kind, version)),
                schemas(version),
                "{version}"
            );
        }
    }
}
