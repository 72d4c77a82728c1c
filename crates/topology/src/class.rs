//! ClusterClasses, of core v1beta1 and v1beta2: `ClusterClass` of Cluster API's `api/core`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::mentions::in_template;
use super::part::Part;
use windlass_capi::contract::CORE_GROUP;
use windlass_go_template::{Dialect, Fault, Template, render_in};
use windlass_go_text::value::Value as GoValue;
use windlass_objects::Object;
use windlass_source::budget::Budget;

/// A ClusterClass.
#[derive(Debug)]
pub(super) struct Class<'o> {
    pub(super) object: &'o Object,
    pub(super) infrastructure: Slot<'o>,
    pub(super) control_plane: Slot<'o>,
    /// The template of the control plane's machines.
    pub(super) machine: Option<Reference<'o>>,
    pub(super) deployments: Vec<WorkerClass<'o>>,
    pub(super) pools: Vec<WorkerClass<'o>>,
    pub(super) variables: Vec<Definition<'o>>,
    pub(super) patches: Vec<Part<'o>>,
    templates: Templates<'o>,
}

/// A part of the class with one template: the control plane, the infrastructure.
#[derive(Debug)]
pub(super) struct Slot<'o> {
    pub(super) part: Part<'o>,
    pub(super) template: Reference<'o>,
    pub(super) naming: Part<'o>,
}

/// A class of MachineDeployments or MachinePools.
#[derive(Debug)]
pub(super) struct WorkerClass<'o> {
    pub(super) part: Part<'o>,
    /// Its name.
    pub(super) class: &'o str,
    pub(super) metadata: &'o Value,
    pub(super) bootstrap: Reference<'o>,
    pub(super) infrastructure: Reference<'o>,
    pub(super) naming: Part<'o>,
}

/// A reference to a template.
#[derive(Debug, Clone)]
pub(crate) struct Reference<'o> {
    pub(super) part: Part<'o>,
}

/// A variable that the class defines.
#[derive(Debug)]
pub(super) struct Definition<'o> {
    pub(super) part: Part<'o>,
    pub(super) name: &'o str,
    pub(super) is_required: bool,
    /// Its schema, with the keywords that Cluster API knows.
    pub(super) schema: Value,
}

impl<'o> Class<'o> {
    pub(super) fn is_one(object: &Object) -> bool {
        object.is(CORE_GROUP, "ClusterClass")
    }

    pub(super) fn of(object: &'o Object) -> Self {
        let spec = Part::whole(object).field("spec");
        let (infrastructure, control_plane) =
            (spec.field("infrastructure"), spec.field("controlPlane"));
        let machine = Reference::of(&control_plane.field("machineInfrastructure"));
        let workers = |list| {
            spec.at("workers")
                .field(list)
                .items()
                .map(WorkerClass::of)
                .collect()
        };
        Class {
            object,
            infrastructure: Slot {
                naming: spec.either(&[
                    "infrastructure.naming.template",
                    "infrastructureNamingStrategy.template",
                ]),
                ..Slot::of(infrastructure)
            },
            control_plane: Slot::of(control_plane),
            // A reference without a part is none.
            machine: [machine.api_version(), machine.kind(), machine.name()]
                .iter()
                .any(|part| !part.is_empty())
                .then_some(machine),
            deployments: workers("machineDeployments"),
            pools: workers("machinePools"),
            variables: spec
                .field("variables")
                .items()
                .map(Definition::of)
                .collect(),
            patches: spec.field("patches").items().collect(),
            templates: Templates::new(),
        }
    }

    /// `namespace/name`, as `klog.KObj` shows it.
    pub(super) fn key(&self) -> String {
        format!(
            "{}/{}",
            self.object.namespace_or_default(),
            self.object.name()
        )
    }

    /// What a template of its patches gives.
    ///
    /// # Errors
    /// See [`Fault`].
    pub(super) fn render(
        &self,
        text: &str,
        data: &GoValue,
        budget: &Budget,
    ) -> Result<Vec<u8>, Fault> {
        match self.templates.get(text) {
            Some((template, _)) => template.render(data, budget),
            None => render_in(Dialect::SPRIG, TEMPLATE, text, data, budget),
        }
    }

    /// The names in a template of its patches that may be variables.
    pub(super) fn names_in(&self, text: &str) -> Vec<String> {
        self.templates
            .get(text)
            .map_or_else(|| in_template(text), |(_, names)| names.clone())
    }

    /// The class, with the templates of its patches read for all that render them.
    pub(super) fn with_templates(self) -> Self {
        Class {
            templates: templates(&self.patches),
            ..self
        }
    }

    /// The templates of configs of machines: group, kind, namespace, name.
    pub(super) fn config_templates(&self) -> Vec<[String; 4]> {
        let namespace = self.object.namespace_or_default();
        let workers = self
            .deployments
            .iter()
            .chain(&self.pools)
            .map(|worker| &worker.bootstrap);
        let key = |reference: &Reference<'_>| {
            [
                reference.group(),
                reference.kind(),
                namespace,
                reference.name(),
            ]
            .map(str::to_owned)
        };
        workers
            .chain([&self.control_plane.template])
            .map(key)
            .collect()
    }

    pub(super) fn spec(&self) -> Part<'o> {
        Part::whole(self.object).field("spec")
    }
}

impl<'o> Slot<'o> {
    fn of(part: Part<'o>) -> Self {
        Slot {
            template: Reference::of(&part),
            naming: part.either(&["naming.template", "namingStrategy.template"]),
            part,
        }
    }
}

impl<'o> WorkerClass<'o> {
    fn of(part: Part<'o>) -> Self {
        WorkerClass {
            class: part.field("class").text(),
            metadata: part.either(&["metadata", "template.metadata"]).value,
            bootstrap: Reference::of(&part.either(&["bootstrap", "template.bootstrap"])),
            infrastructure: Reference::of(
                &part.either(&["infrastructure", "template.infrastructure"]),
            ),
            naming: part.either(&["naming.template", "namingStrategy.template"]),
            part,
        }
    }
}

impl<'o> Reference<'o> {
    fn of(part: &Part<'o>) -> Self {
        Reference {
            part: part.either(&["templateRef", "ref"]),
        }
    }

    pub(super) fn api_version(&self) -> &'o str {
        self.part.field("apiVersion").text()
    }

    pub(super) fn kind(&self) -> &'o str {
        self.part.field("kind").text()
    }

    pub(super) fn name(&self) -> &'o str {
        self.part.field("name").text()
    }

    pub(super) fn group(&self) -> &'o str {
        self.api_version()
            .split_once('/')
            .map_or("", |(group, _)| group)
    }
}

impl<'o> Definition<'o> {
    fn of(part: Part<'o>) -> Self {
        let schema = part.at("schema.openAPIV3Schema").value;
        Definition {
            name: part.field("name").text(),
            is_required: part.field("required").value == &Value::Bool(true),
            schema: known_keywords(schema, 0),
            part,
        }
    }
}

/// What Cluster API calls the templates of patches.
const TEMPLATE: &str = "tpl";

/// Templates by their texts, with the names in each that may be variables.
type Templates<'o> = BTreeMap<&'o str, (Template<'o>, Vec<String>)>;

fn templates<'o>(patches: &[Part<'o>]) -> Templates<'o> {
    let operations = |patch: &Part<'o>| {
        definitions(patch).flat_map(|definition| definition.field("jsonPatches").items())
    };
    let values = |patch: &Part<'o>| {
        operations(patch).map(|operation| operation.at("valueFrom.template").text())
    };
    let texts = patches
        .iter()
        .flat_map(|patch| values(patch).chain([patch.field("enabledIf").text()]));
    texts
        .map(|text| {
            (
                text,
                (
                    Template::read(Dialect::SPRIG, TEMPLATE, text),
                    in_template(text),
                ),
            )
        })
        .collect()
}

pub(super) fn patch_name<'o>(patch: &Part<'o>) -> &'o str {
    patch.field("name").text()
}

pub(super) fn definitions<'o>(patch: &Part<'o>) -> impl Iterator<Item = Part<'o>> + use<'o> {
    patch.field("definitions").items()
}

/// The keywords of `JSONSchemaProps` of core v1beta2; all others are pruned.
const KEYWORDS: [&str; 24] = [
    "default",
    "description",
    "enum",
    "example",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "pattern",
    "required",
    "type",
    "uniqueItems",
    "x-kubernetes-int-or-string",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
    "x-metadata",
    "nullable",
];

/// How deep a schema is looked at.
const DEEPEST: usize = 96;

/// A schema without keywords that Cluster API does not know, and without those that mean nothing to
/// the API server.
fn known_keywords(schema: &Value, depth: usize) -> Value {
    let Value::Object(keywords) = schema else {
        return schema.clone();
    };
    if depth == DEEPEST {
        return Value::Object(Map::new());
    }
    let mut kept = Map::new();
    for (keyword, value) in keywords {
        let value = match (keyword.as_str(), value) {
            ("items" | "additionalProperties" | "not", value) => known_keywords(value, depth + 1),
            ("properties", Value::Object(properties)) => properties
                .iter()
                .map(|(name, schema)| (name.clone(), known_keywords(schema, depth + 1)))
                .collect(),
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => schemas
                .iter()
                .map(|schema| known_keywords(schema, depth + 1))
                .collect(),
            ("x-metadata" | "nullable", _) => continue,
            // Cluster API leaves it out, as a CRD may not say so.
            ("x-kubernetes-preserve-unknown-fields", Value::Bool(false)) => continue,
            ("x-kubernetes-validations", Value::Array(rules)) => {
                rules.iter().map(with_reason).collect()
            }
            (known, value) if KEYWORDS.contains(&known) => value.clone(),
            _ => continue,
        };
        kept.insert(keyword.clone(), value);
    }
    Value::Object(kept)
}

/// A rule with the reason that the CRD of ClusterClasses defaults.
fn with_reason(rule: &Value) -> Value {
    let mut rule = rule.clone();
    if let Value::Object(entries) = &mut rule {
        entries
            .entry("reason")
            .or_insert_with(|| "FieldValueInvalid".into());
    }
    rule
}
