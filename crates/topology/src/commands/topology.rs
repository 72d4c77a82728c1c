//! `topology plan` and `topology variables`: what a ClusterClass makes of a Cluster, and what it
//! can be reported.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{self as topology, Changed, Desired, Options, RANDOM, Usage, Variable, Write};
use windlass_capi::contract::CORE_GROUP;
use windlass_go_text as go;
use windlass_go_yaml::goyaml;
use windlass_objects::{Object, Pool, fields};
use windlass_report::levels::Levels;
use windlass_report::text::{plural, table};
use windlass_source::budget::Budget;
use windlass_source::diag::Report;

/// An object that the topology controller would create.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedObject {
    /// The name of the Cluster.
    pub cluster: String,
    /// `controlPlane`, `md/NAME` or `mp/NAME`, of the object that holds the config of these
    /// machines; else null.
    pub topology: Option<String>,
    /// What it belongs to: `cluster`, `controlPlane`, `md/NAME` or `mp/NAME`.
    pub part_of: String,
    /// Its `apiVersion`.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its name, with the placeholder where Cluster API draws characters.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// Its labels.
    pub labels: Value,
    /// Its annotations.
    pub annotations: Value,
    /// Its spec; of a template what it holds, `spec.template.spec`.
    pub spec: Value,
    /// Of a template `spec.template.metadata`; null when there is none.
    pub template_metadata: Value,
    /// The Kubernetes version of the machines.
    pub version: Option<String>,
    /// The number of machines; null if unknown.
    pub replicas: Value,
    /// The MachineDeployment or MachinePool that refers to it.
    pub owner: Option<String>,
    /// What patches wrote into its template, in their order.
    pub writes: Vec<WrittenPath>,
}

/// An operation of a patch.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WrittenPath {
    /// The name of the patch.
    pub patch: String,
    /// `add`, `replace` or `remove`.
    pub op: String,
    /// The path in the template.
    pub path: String,
    /// The variables from which its value is.
    pub variables: Vec<String>,
}

/// What a plan gives.
#[derive(Debug, Default)]
pub struct Plan {
    /// The objects; `reported` makes of each what reports have, and [`yaml`] the documents of all.
    pub objects: Vec<Desired>,
    /// The names that end with the placeholder.
    pub placeholders: Vec<String>,
    /// What is wrong.
    pub report: Report,
    /// What differs from the plan of other files.
    pub changes: Vec<ChangeReport>,
}

/// An object that differs from that of an earlier plan.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeReport {
    /// The name of the Cluster.
    pub cluster: String,
    /// What it belongs to: `cluster`, `controlPlane`, `md/NAME` or `mp/NAME`.
    pub part_of: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// `created`, `removed`, `rotated` (a template gets a successor), `rolls out` (machines are
    /// replaced), `in place`, `provider decides`, `rejected`.
    pub effect: String,
    /// The fields that differ.
    pub paths: Vec<String>,
}

/// Whether the user passes over patches that a runtime extension makes.
pub fn allows_external(levels: &Levels) -> bool {
    levels.allow.contains(topology::PATCH_EXTERNAL.id)
}

/// Plans all Clusters with a topology; with earlier files also what differs from their plan.
pub fn plan(pool: &Pool, earlier: Option<&Pool>, allows_external: bool, budget: &Budget) -> Plan {
    let options = Options {
        allows_external,
        ..Options::default()
    };
    let planned = topology::plan(pool, &options, budget);
    let mut report = planned.report;
    let mut seen = BTreeSet::new();
    let names = planned
        .objects
        .iter()
        .map(|desired| fields::name(&desired.object))
        .filter(|name| name.ends_with(RANDOM));
    let placeholders = names
        .filter(|name| seen.insert(*name))
        .map(str::to_owned)
        .collect();
    let changes = earlier.map(|earlier| {
        let earlier = topology::plan(&completed(earlier, pool), &options, budget);
        report.extend(earlier.report);
        topology::against(&earlier.objects, &planned.objects)
            .into_iter()
            .map(change)
            .collect()
    });
    Plan {
        objects: planned.objects,
        placeholders,
        report,
        changes: changes.unwrap_or_default(),
    }
}

/// The objects of the earlier files with those of the later ones that they lack: a Cluster alone
/// has the class that is given beside its later form.
fn completed(earlier: &Pool, later: &Pool) -> Pool {
    let is_missing = |object: &&Object| {
        !object.is(CORE_GROUP, "Cluster")
            && earlier
                .find(
                    object.group(),
                    object.kind(),
                    object.namespace_or_default(),
                    object.name(),
                )
                .is_none()
    };
    let lacks_class =
        topology::clusters(earlier).any(|cluster| topology::class_of(earlier, cluster).is_none());
    let missing: Vec<Object> = later
        .objects()
        .iter()
        .filter(is_missing)
        .filter(|_| lacks_class)
        .cloned()
        .collect();
    earlier.clone().with([], missing)
}

/// The objects as YAML; empty when one cannot be written.
pub fn yaml(objects: Vec<Desired>) -> String {
    goyaml::documents_to_string(objects.into_iter().map(|desired| desired.object).collect())
        .unwrap_or_default()
}

fn change(changed: Changed) -> ChangeReport {
    let Changed {
        cluster,
        part_of,
        kind,
        name,
        effect,
        paths,
    } = changed;
    ChangeReport {
        cluster,
        part_of,
        kind,
        name,
        effect: effect.as_str().to_owned(),
        paths,
    }
}

/// The changes as people read them: a line for each object, and below it one for each field.
pub fn changes_text(changes: &[ChangeReport]) -> String {
    let row = |change: &ChangeReport| {
        [
            change.effect.to_uppercase(),
            format!("{}/{}", change.kind, change.name),
            format!("{} of {}", change.part_of, change.cluster),
        ]
    };
    let lines = table(&changes.iter().map(row).collect::<Vec<_>>());
    let mut out = String::new();
    for (line, change) in lines.lines().zip(changes) {
        out.push_str(&format!("{line}\n"));
        change
            .paths
            .iter()
            .for_each(|path| out.push_str(&format!("  {path}\n")));
    }
    out
}

/// A desired object, for reports.
pub fn reported(desired: &Desired) -> PlannedObject {
    let object = &desired.object;
    let text = |path: &[&str]| fields::text(object, path).to_owned();
    let at = |path: &[&str]| fields::field(object, path).cloned().unwrap_or_default();
    let is_template = fields::kind(object).ends_with("Template");
    PlannedObject {
        cluster: desired.cluster.clone(),
        topology: desired.topology.clone(),
        part_of: desired.part_of.clone(),
        api_version: text(&["apiVersion"]),
        kind: text(&["kind"]),
        name: text(&["metadata", "name"]),
        namespace: text(&["metadata", "namespace"]),
        labels: at(&["metadata", "labels"]),
        annotations: at(&["metadata", "annotations"]),
        spec: if is_template {
            at(&["spec", "template", "spec"])
        } else {
            at(&["spec"])
        },
        template_metadata: if is_template {
            at(&["spec", "template", "metadata"])
        } else {
            Value::Null
        },
        version: desired.version.clone(),
        replicas: desired.replicas.clone().unwrap_or_default(),
        owner: desired.owner.clone(),
        writes: desired.writes.iter().map(WrittenPath::of).collect(),
    }
}

impl WrittenPath {
    fn of(write: &Write) -> Self {
        let Write {
            patch,
            op,
            path,
            variables,
        } = write.clone();
        WrittenPath {
            patch,
            op,
            path,
            variables,
        }
    }
}

/// The variables of a ClusterClass.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClassVariables {
    /// `namespace/name` of the class.
    pub class: String,
    /// A JSON Schema of an object that has each variable as a property.
    pub schema: Value,
    /// The variables, in the order of the class.
    pub variables: Vec<VariableReport>,
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VariableReport {
    /// Its name.
    pub name: String,
    /// Whether a Cluster must set it, unless it has a default.
    pub required: bool,
    /// The type of its schema; empty when it has none.
    pub r#type: String,
    /// Its default; null when there is none.
    pub default: Value,
    /// Every use in a patch.
    pub uses: Vec<VariableUse>,
}

/// One use of a variable.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VariableUse {
    /// The name of the patch.
    pub patch: String,
    /// The path that the value goes to; null for `enabledIf`.
    pub path: Option<String>,
    /// The file, as the user named it.
    pub file: Option<String>,
    /// The line of the expression, from 1.
    pub line: Option<u32>,
}

/// The variables of all classes.
pub fn variables(pool: &Pool) -> (Vec<ClassVariables>, Report) {
    let (all, report) = topology::variables_of(pool);
    let mut classes: Vec<(String, Vec<Variable>)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for variable in all {
        let at = *places.entry(variable.class.clone()).or_insert_with(|| {
            classes.push((variable.class.clone(), Vec::new()));
            classes.len() - 1
        });
        classes[at].1.push(variable);
    }
    (
        classes
            .into_iter()
            .map(|(class, variables)| of_class(class, variables))
            .collect(),
        report,
    )
}

fn of_class(class: String, variables: Vec<Variable>) -> ClassVariables {
    let properties: Map<String, Value> = variables
        .iter()
        .map(|variable| (variable.name.clone(), variable.schema.clone()))
        .collect();
    let required: Vec<&str> = variables
        .iter()
        .filter(|variable| variable.required && variable.default.is_none())
        .map(|variable| variable.name.as_str())
        .collect();
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "additionalProperties": false,
        "properties": properties, "required": required,
    });
    let variables = variables.into_iter().map(|variable| VariableReport {
        name: variable.name,
        required: variable.required,
        r#type: variable.kind,
        default: variable.default.unwrap_or_default(),
        uses: variable.uses.into_iter().map(used).collect(),
    });
    ClassVariables {
        class,
        schema,
        variables: variables.collect(),
    }
}

fn used(usage: Usage) -> VariableUse {
    VariableUse {
        patch: usage.patch,
        path: usage.path,
        file: usage.file,
        line: usage.line,
    }
}

/// The variables as people read them: a table for each class.
pub fn text(classes: &[ClassVariables]) -> String {
    let mut out = String::new();
    for class in classes {
        let head = ["VARIABLE", "TYPE", "", "DEFAULT", "USED BY"].map(str::to_owned);
        let rows: Vec<[String; 5]> = std::iter::once(head)
            .chain(class.variables.iter().map(row))
            .collect();
        out.push_str(&format!("ClusterClass {}\n{}", class.class, table(&rows)));
    }
    out
}

fn row(variable: &VariableReport) -> [String; 5] {
    let default = if variable.default.is_null() {
        String::new()
    } else {
        go::json(&variable.default)
    };
    let mut patches: Vec<&str> = variable
        .uses
        .iter()
        .map(|used| used.patch.as_str())
        .collect();
    patches.dedup();
    let used = if patches.is_empty() {
        "no patch".to_owned()
    } else {
        patches.join(", ")
    };
    let required = if variable.required { "required" } else { "" };
    [
        variable.name.clone(),
        variable.r#type.clone(),
        required.to_owned(),
        default,
        used,
    ]
}

/// What was planned, in a line.
pub fn done(plan: &Plan) -> String {
    let clusters: BTreeSet<&str> = plan
        .objects
        .iter()
        .map(|object| object.cluster.as_str())
        .collect();
    format!(
        "{}, {}",
        plural(clusters.len(), "cluster"),
        plural(plan.objects.len(), "object")
    )
}
