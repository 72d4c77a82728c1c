//! What the API server and Cluster API's webhooks reject of a ClusterClass or a Cluster before any
//! controller sees it.
//!
//! Source: the CRDs of core v1beta2 as far as topologies use them, and `core/webhooks/admission` of
//! Cluster API.

use std::collections::BTreeSet;

use serde_json::Map;

use super::class::{Class, Definition};
use super::cluster::Cluster;
use super::part::Part;
use super::patch_admission;
use super::rejected::{Rejected, invalid, joined};
use super::{
    CLASS_REJECTED, CLUSTER_REJECTED, PART_EMPTY, advice, definitions, health_check,
    machine_admission, metadata_admission, names, taint_admission, version_admission,
};
use windlass_capi::admission::Release;
use windlass_capi::admission::core::cidr_fault;
use windlass_capi::contract::CORE_GROUP;
use windlass_go_text::number::atoi;
use windlass_go_text::quote;
use windlass_objects::Object;
use windlass_schema::name::{label_value_errors, subdomain_errors};
use windlass_schema::structural::check_variable;
use windlass_schema::{validate_annotations, validate_labels};
use windlass_source::budget::Budget;
use windlass_source::diag::{Diagnostic, FieldPath, Rule, Shared, Text};

/// The findings of what a webhook rejects: one each, with the whole message.
pub(super) fn by_webhook(
    object: &Object,
    rule: &'static Rule,
    rejected: Vec<Rejected<'_>>,
) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let rejected: Vec<Rejected<'_>> = rejected
        .into_iter()
        .filter(|rejected| seen.insert(rejected.text.clone()))
        .collect();
    let texts: Vec<&str> = rejected
        .iter()
        .map(|rejected| rejected.text.as_str())
        .collect();
    let all = if let [only] = texts[..] {
        only.to_owned()
    } else {
        format!("[{}]", joined(&texts, ", "))
    };
    let upstream = format!(
        "{}.{CORE_GROUP} {} is invalid: {all}",
        object.kind(),
        quote(object.name())
    );
    let mut upstream = Shared::new(Some(upstream), rejected.len());
    rejected
        .iter()
        .map(|rejected| finding(rule, rejected, upstream.for_next_finding()))
        .collect()
}

fn finding(rule: &'static Rule, rejected: &Rejected<'_>, upstream: Option<Text>) -> Diagnostic {
    let mut finding = Diagnostic::of(
        rejected.rule.unwrap_or(rule),
        rejected.text.lines().next().unwrap_or_default(),
    );
    finding.upstream = upstream;
    finding
        .at(rejected.place())
        .help(advice::of(&rejected.text))
}

/// What is rejected of a class: first by the API server, else by the webhook. One that no Cluster
/// uses may be a patch for a class, and lack what that has.
pub(super) fn of_class(class: &Class<'_>, is_used: bool, budget: &Budget) -> Vec<Diagnostic> {
    let by_schema = definitions::of_class(class.object, is_used, &CLASS_REJECTED, budget);
    let mut rejected = machine_admission::of_class(class, is_used);
    rejected.extend(metadata_admission::of_class(class));
    rejected.extend(taint_admission::of_class(class));
    rejected.extend(version_admission::of_class(class));
    rejected.extend(naming(class, budget));
    rejected.extend(variables(class, budget));
    rejected.extend(patch_admission::patches(class));
    all(class.object, &CLASS_REJECTED, by_schema, rejected)
}

/// The findings of the schema, and of the webhook about other fields. The server does not ask the
/// webhook before the schema holds; one run reports both.
fn all(
    object: &Object,
    rule: &'static Rule,
    by_schema: Vec<Diagnostic>,
    mut rejected: Vec<Rejected<'_>>,
) -> Vec<Diagnostic> {
    let known: BTreeSet<&FieldPath> = by_schema
        .iter()
        .map(|finding| &finding.place.path)
        .collect();
    rejected.retain(|rejected| {
        let path = rejected.part.path();
        let mut at_or_above = std::iter::successors(Some(path.clone()), FieldPath::parent);
        !at_or_above.any(|path| known.contains(&path))
    });
    let by_webhook = match rejected.is_empty() {
        true => Vec::new(),
        false => by_webhook(object, rule, rejected),
    };
    by_schema.into_iter().chain(by_webhook).collect()
}

/// Templates of names must give names.
fn naming<'o>(class: &Class<'o>, budget: &Budget) -> Vec<Rejected<'o>> {
    let mut rejected = Vec::new();
    let mut judge = |naming: &Part<'o>, what: &str, field: &str, own: Option<(&str, &str)>| {
        let template = naming.text();
        if template.is_empty() {
            return;
        }
        let details = match names::of_template(template, &names::data("cluster", own), budget) {
            Ok(name) => subdomain_errors(&name),
            Err(reason) => vec![format!("invalid {what} name template: {reason}")],
        };
        rejected.extend(
            details
                .iter()
                .map(|detail| invalid(naming, field, &quote(template), detail)),
        );
    };
    judge(
        &class.infrastructure.naming,
        "InfraCluster",
        "spec.infrastructure.naming.template",
        None,
    );
    judge(
        &class.control_plane.naming,
        "ControlPlane",
        "spec.controlPlane.naming.template",
        None,
    );
    for (list, kind, key, short) in [
        (
            &class.deployments,
            "MachineDeployment",
            "machineDeployment",
            "mdtopology",
        ),
        (&class.pools, "MachinePool", "machinePool", "mptopology"),
    ] {
        for worker in list {
            let field = format!("spec.workers.{key}s[{}].naming.template", worker.class);
            judge(&worker.naming, kind, &field, Some((key, short)));
        }
    }
    rejected
}

/// Variables must have names of their own and sound schemas.
fn variables<'o>(class: &Class<'o>, budget: &Budget) -> Vec<Rejected<'o>> {
    let mut rejected = Vec::new();
    let mut seen = BTreeSet::new();
    for definition in &class.variables {
        let (name, part) = (definition.name, definition.part.field("name"));
        if !seen.insert(name) {
            let detail = format!(
                "variable name must be unique. Variable with name {} is defined more than once",
                quote(name)
            );
            rejected.push(invalid(
                &part,
                &format!("spec.variables[{name}].name"),
                &quote(name),
                &detail,
            ));
        }
    }
    for definition in &class.variables {
        let (name, part) = (definition.name, definition.part.field("name"));
        let field = format!("spec.variables[{name}]");
        if name == "builtin" {
            rejected.push(invalid(
                &part,
                &format!("{field}.name"),
                &quote(name),
                "\"builtin\" is a reserved variable name",
            ));
        }
        if name.contains('.') {
            rejected.push(invalid(
                &part,
                &format!("{field}.name"),
                &quote(name),
                "variable name cannot contain \".\"",
            ));
        }
        rejected.extend(variable_metadata(definition));
        let schema = definition.part.at("schema.openAPIV3Schema");
        let path = variable_path(name).field("schema").field("openAPIV3Schema");
        let (violations, _) = check_variable(&definition.schema, &path, budget);
        rejected.extend(violations.into_iter().map(|violation| Rejected {
            below: below(&violation.path, &path),
            ..Rejected::new(schema.clone(), violation.to_string())
        }));
    }
    rejected
}

/// The path of a variable in messages.
fn variable_path(name: &str) -> FieldPath {
    FieldPath::of_fields("spec.variables").key(name)
}

fn below(path: &FieldPath, above: &FieldPath) -> FieldPath {
    let depth = above.segments().len();
    path.segments().iter().skip(depth).cloned().collect()
}

/// Labels and annotations of a variable, and of each part of its schema.
fn variable_metadata<'o>(definition: &Definition<'o>) -> Vec<Rejected<'o>> {
    let path = variable_path(definition.name);
    let own = definition
        .part
        .either(&["deprecatedV1Beta1Metadata", "metadata"]);
    let mut rejected = Vec::new();
    let mut report = |part: &Part<'o>, path: &FieldPath| {
        let entries = |name| {
            part.field(name)
                .value
                .as_object()
                .cloned()
                .unwrap_or_default()
        };
        let labels = validate_labels(&entries("labels"), &path.field("labels"));
        let annotations = validate_annotations(&entries("annotations"), &path.field("annotations"));
        let violations = labels.into_iter().chain(annotations);
        rejected
            .extend(violations.map(|violation| Rejected::new(part.clone(), violation.to_string())));
    };
    report(&own, &path.field("deprecatedV1Beta1Metadata"));
    let schema = definition.part.at("schema.openAPIV3Schema");
    let mut parts = vec![(schema, path.field("schema").field("openAPIV3Schema"))];
    while let Some((part, path)) = parts.pop() {
        report(&part.field("x-metadata"), &path.field("x-metadata"));
        for name in ["additionalProperties", "items"] {
            let inner = part.field(name);
            if inner.is_there() {
                parts.push((inner, path.field(name)));
            }
        }
        let properties = part.field("properties");
        let names = properties.value.as_object().into_iter().flatten();
        parts.extend(
            names.map(|(name, _)| (properties.field(name), path.field("properties").key(name))),
        );
    }
    rejected
}

/// What is rejected of a Cluster beside its variables: by the API server, else by the webhook.
pub(super) fn of_cluster(
    cluster: &Cluster<'_>,
    class: Option<&Class<'_>>,
    release: &Release,
    budget: &Budget,
) -> Vec<Diagnostic> {
    let by_schema = definitions::of_cluster(cluster.object, &CLUSTER_REJECTED, budget);
    let mut rejected = Vec::new();
    rejected.extend(version_admission::of_cluster(cluster, class, release));
    if let Some(class) = class {
        rejected.extend(worker_classes(cluster, class));
        rejected.extend(health_check::of_cluster(cluster, class));
    }
    rejected.extend(machine_admission::autoscaled(cluster, class));
    rejected.extend(machine_admission::rollouts(cluster));
    rejected.extend(metadata_admission::of_cluster(cluster));
    rejected.extend(taint_admission::of_cluster(cluster));
    rejected.extend(own_fields(cluster));
    all(cluster.object, &CLUSTER_REJECTED, by_schema, rejected)
}

/// What is rejected of a class as some installations of Cluster API are, and taken by others.
pub(super) fn warnings_of_class(class: &Class<'_>) -> Vec<Diagnostic> {
    let workers = class
        .deployments
        .iter()
        .chain(&class.pools)
        .map(|worker| &worker.part);
    taint_admission::gated(std::iter::once(&class.control_plane.part).chain(workers))
        .into_iter()
        .collect()
}

/// The same of a Cluster, and what only the server rejects: Cluster API's own types leave out what
/// is empty.
pub(super) fn warnings_of_cluster(cluster: &Cluster<'_>) -> Vec<Diagnostic> {
    let workers = cluster
        .deployments
        .iter()
        .chain(&cluster.pools)
        .map(|worker| &worker.part);
    let gated = taint_admission::gated(std::iter::once(&cluster.control_plane).chain(workers));
    let parts = ["controlPlane", "workers"]
        .into_iter()
        .filter(|_| cluster.object.version() != "v1beta1");
    let empty = parts
        .map(|name| cluster.topology.field(name))
        .filter(|part| part.value.as_object().is_some_and(Map::is_empty));
    empty.map(|part| part_empty(&part)).chain(gated).collect()
}

fn part_empty(part: &Part<'_>) -> Diagnostic {
    let field = part.path().to_string();
    let upstream =
        format!("{field}: Invalid value: 0: {field} in body should have at least 1 properties");
    Diagnostic::of(
        &PART_EMPTY,
        format!("`{field}` holds nothing, and the API server rejects it so"),
    )
    .at(part.place())
    .upstream(upstream)
    .help("remove the field: without it the topology is the same")
}

/// What is rejected of a Cluster beside its topology: its name, which becomes the value of a label,
/// its networks, and how many upgrades it makes at once.
fn own_fields<'o>(cluster: &Cluster<'o>) -> Vec<Rejected<'o>> {
    let whole = Part::whole(cluster.object);
    let name = whole.at("metadata.name");
    let of_name = label_value_errors(name.text());
    let mut rejected: Vec<Rejected<'o>> = of_name
        .iter()
        .map(|detail| {
            invalid(
                &name,
                "metadata.name",
                &quote(name.text()),
                &format!("must be a valid label value {detail}"),
            )
        })
        .collect();
    for network in ["pods", "services"] {
        let blocks = whole
            .at("spec.clusterNetwork")
            .field(network)
            .field("cidrBlocks");
        for (index, block) in blocks.items().enumerate() {
            let detail = cidr_fault(block.text());
            let field = format!("spec.clusterNetwork.{network}.cidrBlocks[{index}]");
            rejected.extend(
                detail.map(|detail| invalid(&block, &field, &quote(block.text()), &detail)),
            );
        }
    }
    let concurrency = whole.at("metadata.annotations").field(UPGRADE_CONCURRENCY);
    if concurrency.is_there() {
        let detail = match atoi(concurrency.text()) {
            Ok(1..) => None,
            Ok(_) => Some("value cannot be less than 1".to_owned()),
            Err(fault) => Some(format!(
                "could not parse the value of the annotation: strconv.Atoi: parsing {}: {fault}",
                quote(concurrency.text())
            )),
        };
        let field = format!("metadata.annotations.{UPGRADE_CONCURRENCY}");
        rejected.extend(
            detail.map(|detail| invalid(&concurrency, &field, &quote(concurrency.text()), &detail)),
        );
    }
    rejected
}

/// How many MachineDeployments and MachinePools of a topology are upgraded at once.
const UPGRADE_CONCURRENCY: &str = "topology.cluster.x-k8s.io/upgrade-concurrency";

/// Each MachineDeployment and MachinePool must have a class.
fn worker_classes<'o>(cluster: &Cluster<'o>, class: &Class<'_>) -> Vec<Rejected<'o>> {
    let mut rejected = Vec::new();
    let lists = [
        (
            &cluster.deployments,
            &class.deployments,
            "MachineDeployment",
            "machineDeployments",
        ),
        (&cluster.pools, &class.pools, "MachinePool", "machinePools"),
    ];
    for (workers, classes, kind, list) in lists {
        let known: BTreeSet<&str> = classes.iter().map(|class| class.class).collect();
        for (index, worker) in workers
            .iter()
            .enumerate()
            .filter(|(_, worker)| !known.contains(worker.class))
        {
            let name = quote(worker.class);
            let detail = format!(
                "{kind}Class with name {name} does not exist in ClusterClass {}",
                quote(class.object.name())
            );
            let field = format!("spec.topology.workers.{list}[{index}].class");
            rejected.push(invalid(&worker.part.field("class"), &field, &name, &detail));
        }
    }
    rejected
}
