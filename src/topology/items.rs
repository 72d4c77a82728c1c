//! The templates that patches change, each with what it sees: the items of Cluster API's patch request.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::cluster::Values;
use super::history::{History, Misfit};
use super::input::{Input, Machines, TIMEOUTS};
use super::made::{CLONED_FROM, DEPLOYMENT_NAME, OWNED, POOL_NAME, copy, pay, weight};
use super::origins::{Origins, Patched, whole};
use super::part::Part;
use super::scope::{self, Layer, Scope};
use super::state::{Spelling, State};
use crate::contract::labels::CLUSTER_NAME;
use crate::objects::Object;
use crate::text::budget::Exceeded;

/// A template while it is patched.
pub(super) struct Item<'t> {
    /// As it is in the input.
    pub(super) source: &'t Object,
    /// As it is so far.
    pub(super) template: Value,
    pub(super) role: Role<'t>,
    /// Which scope it has, by its number.
    pub(super) scope: usize,
    /// Whether a patch changed it, and which wrote which path.
    pub(super) writes: Vec<Write>,
    /// Where its parts come from.
    pub(super) origins: Origins,
    /// What became of the patches, where somebody asks for it.
    pub(super) history: Option<History>,
}

/// What a patch wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Write {
    /// The name of the patch.
    pub patch: String,
    /// `add`, `replace` or `remove`.
    pub op: String,
    /// The path in the template.
    pub path: String,
    /// The variables from which its value is.
    pub variables: Vec<String>,
}

/// What a template is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role<'t> {
    InfrastructureCluster,
    ControlPlane,
    ControlPlaneMachine,
    /// Of the class with that name.
    Worker {
        is_pool: bool,
        class: &'t str,
    },
}

/// The values that hold everywhere, and those of each topology.
pub(super) struct Variables {
    pub(super) global: Values,
    pub(super) control_plane: Values,
    pub(super) deployments: Vec<Values>,
    pub(super) pools: Vec<Values>,
}

/// The labels and annotations of an object are those of its template.
const IN_TEMPLATE: [(&[&str], &[&str]); 2] = [
    (&["metadata", "labels"], &["spec", "template", "metadata", "labels"]),
    (&["metadata", "annotations"], &["spec", "template", "metadata", "annotations"]),
];
const IN_METADATA: [(&[&str], &[&str]); 2] =
    [(&["metadata", "labels"], &["metadata", "labels"]), (&["metadata", "annotations"], &["metadata", "annotations"])];

/// All items in the order in which Cluster API has them, and their scopes.
///
/// # Errors
/// When there are too many to be held.
pub(super) fn items<'t>(input: &Input<'t>, state: &State<'t>, variables: &Variables) -> Result<(Vec<Item<'t>>, Vec<Scope>), Exceeded> {
    let cluster = scope::of_cluster(input.cluster, &state.cluster);
    let own = scope::of_control_plane(input.cluster, &state.control_plane, state.machine.as_ref());
    let shared = Arc::new(Layer::of(&variables.global));
    let cost = weight(&cluster);
    let mut scopes = vec![
        Scope::new(&shared, &Values::new(), &cluster, None),
        Scope::new(&shared, &variables.control_plane, &cluster, Some(("controlPlane", own))),
    ];
    let blueprint = input.blueprint;
    let mut items = vec![
        item(blueprint.infrastructure, &state.infrastructure, &IN_TEMPLATE, Role::InfrastructureCluster, 0),
        item(blueprint.control_plane, &state.control_plane, &IN_TEMPLATE, Role::ControlPlane, 1),
    ];
    if let (Some(source), Some(made)) = (blueprint.machine, &state.machine) {
        items.push(item(source, made, &IN_METADATA, Role::ControlPlaneMachine, 1));
    }
    for (list, overrides) in [(&state.deployments, &variables.deployments), (&state.pools, &variables.pools)] {
        for (machines, overrides) in list.iter().zip(overrides) {
            let (worker, is_pool) = (machines.worker, machines.is_pool);
            let own =
                scope::of_worker(input.cluster, worker.class, worker.name, &machines.object, &machines.bootstrap, &machines.infrastructure);
            let key = if is_pool { "machinePool" } else { "machineDeployment" };
            pay(input.budget, 2 * cost)?;
            scopes.push(Scope::new(&shared, overrides, &cluster, Some((key, own))));
            let role = Role::Worker { is_pool, class: worker.class };
            let pairs = if is_pool { &IN_TEMPLATE } else { &IN_METADATA };
            items.push(item(machines.templates.0, &machines.bootstrap, pairs, role, scopes.len() - 1));
            items.push(item(machines.templates.1, &machines.infrastructure, pairs, role, scopes.len() - 1));
        }
    }
    Ok((items, scopes))
}

/// `md/NAME` or `mp/NAME`
pub(super) fn topology_name(machines: &Machines<'_>) -> String {
    format!("{}/{}", if machines.is_pool { "mp" } else { "md" }, machines.worker.name)
}

fn item<'t>(source: &'t Object, made: &Value, pairs: &[(&[&str], &[&str])], role: Role<'t>, scope: usize) -> Item<'t> {
    let mut template = source.value().clone();
    if let Some(metadata) = template.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|key, _| ["labels", "annotations", "name", "namespace"].contains(&key.as_str()));
    }
    copy(made, &mut template, pairs, &[]);
    Item { source, template, role, scope, writes: Vec::new(), origins: whole(source), history: None }
}

impl Item<'_> {
    /// What is known of its parts.
    pub(super) fn patched(&self) -> Patched<'_> {
        Patched { source: self.source, template: &self.template, origins: &self.origins }
    }

    /// Whether a definition of a patch is for it: `matchesSelector` of Cluster API.
    pub(super) fn matches(&self, selector: &Part<'_>) -> bool {
        self.misfit(selector).is_none()
    }

    /// What of a selector does not fit, and where it stands; `None` when the definition is for it.
    pub(super) fn misfit<'o>(&self, selector: &Part<'o>) -> Option<(Misfit, Part<'o>)> {
        for (name, own) in [("kind", self.source.kind()), ("apiVersion", self.source.api_version())] {
            if selector.field(name).text() != own {
                return Some((Misfit::Other { field: name, own: own.to_owned() }, selector.field(name)));
            }
        }
        let resources = selector.field("matchResources");
        let is_off = |name: &'static str, misfit: Misfit| {
            let part = resources.field(name);
            (part.value != &Value::Bool(true)).then_some((misfit, part))
        };
        match self.role {
            Role::InfrastructureCluster => is_off("infrastructureCluster", Misfit::NotInfrastructure),
            Role::ControlPlane | Role::ControlPlaneMachine => is_off("controlPlane", Misfit::NotControlPlane),
            Role::Worker { is_pool, class } => {
                let names = resources.field(if is_pool { "machinePoolClass" } else { "machineDeploymentClass" }).field("names");
                let is_named = names.items().any(|name| class_matches(name.text(), class));
                (!is_named).then(|| (Misfit::OtherClass { is_pool, class: class.to_owned() }, names))
            }
        }
    }
}

/// `*`, `prefix*`, `*suffix`, or the name itself.
pub(super) fn class_matches(pattern: &str, class: &str) -> bool {
    pattern == class
        || pattern.strip_prefix('*').is_some_and(|suffix| class.ends_with(suffix))
        || pattern.strip_suffix('*').is_some_and(|prefix| class.starts_with(prefix))
}

/// What no patch may change.
const ALWAYS: [&[&str]; 6] = [
    &["metadata", "labels", CLUSTER_NAME],
    &["metadata", "labels", OWNED],
    &["metadata", "labels", DEPLOYMENT_NAME],
    &["metadata", "labels", POOL_NAME],
    &["metadata", "annotations", CLONED_FROM[0]],
    &["metadata", "annotations", CLONED_FROM[1]],
];

/// The patched parts of a template, and where they go in an object.
const TO_OBJECT: [(&[&str], &[&str]); 3] = [
    (&["spec", "template", "spec"], &["spec"]),
    (&["spec", "template", "metadata", "labels"], &["metadata", "labels"]),
    (&["spec", "template", "metadata", "annotations"], &["metadata", "annotations"]),
];
/// The same for a template.
const TO_TEMPLATE: [(&[&str], &[&str]); 5] = [
    (&["metadata", "labels"], &["metadata", "labels"]),
    (&["metadata", "annotations"], &["metadata", "annotations"]),
    (&["spec", "template", "spec"], &["spec", "template", "spec"]),
    (&["spec", "template", "metadata", "labels"], &["spec", "template", "metadata", "labels"]),
    (&["spec", "template", "metadata", "annotations"], &["spec", "template", "metadata", "annotations"]),
];

/// Takes the patched templates over into the desired objects; says which did not fit.
pub(super) fn take_over<'t>(items: &[Item<'t>], state: &mut State<'t>) -> Option<&'t Object> {
    let mut items = items.iter();
    let mut misfit = None;
    let mut into = |object: &mut Value, pairs: &[(&[&str], &[&str])], preserved: &[&[&str]]| {
        if let Some(item) = items.next()
            && !copy(&item.template, object, pairs, preserved)
        {
            misfit = misfit.or(Some(item.source));
        }
    };
    into(&mut state.infrastructure, &TO_OBJECT, &ALWAYS);
    let of_control_plane = preserved_of_control_plane();
    let preserved: Vec<&[&str]> = of_control_plane.iter().map(Vec::as_slice).chain(ALWAYS).collect();
    into(&mut state.control_plane, &TO_OBJECT, &preserved);
    if let Some(machine) = &mut state.machine {
        into(machine, &TO_TEMPLATE, &ALWAYS);
    }
    for machines in state.deployments.iter_mut().chain(&mut state.pools) {
        let pairs: &[(&[&str], &[&str])] = if machines.is_pool { &TO_OBJECT } else { &TO_TEMPLATE };
        into(&mut machines.bootstrap, pairs, &ALWAYS);
        into(&mut machines.infrastructure, pairs, &ALWAYS);
    }
    misfit
}

/// What the topology sets in a control plane, in both spellings.
fn preserved_of_control_plane() -> Vec<Vec<&'static str>> {
    let mut paths = vec![vec!["spec", "machineTemplate", "metadata"]];
    for name in ["readinessGates", "taints", "infrastructureRef"] {
        paths.extend([Spelling::Old.path(name), Spelling::New.path(name)]);
    }
    for (new, old) in TIMEOUTS {
        paths.extend([vec!["spec", "machineTemplate", old], vec!["spec", "machineTemplate", "spec", "deletion", new]]);
    }
    paths.extend([vec!["spec", "replicas"], vec!["spec", "version"], vec!["spec", "rollout", "after"]]);
    paths
}

/// Keeps of a patched template only what Cluster API keeps: the spec, labels and annotations, and each only if it is still there.
pub(super) fn keep(original: Map<String, Value>, patched: &mut Value) {
    let before = Value::Object(original);
    let mut kept = before;
    copy(patched, &mut kept, &[(&["spec"], &["spec"]), IN_METADATA[0], IN_METADATA[1]], &[]);
    *patched = kept;
}
