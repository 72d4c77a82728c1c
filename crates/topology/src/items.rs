//! The templates that patches change, each with what it sees: the items of Cluster API's patch
//! request.

use serde_json::{Map, Value};

use super::cluster::Values;
use super::history::{History, Misfit};
use super::input::{Input, Machines, TIMEOUTS};
use super::made::{CLONED_FROM, DEPLOYMENT_NAME, OWNED, POOL_NAME, copy, pay, shift, weight};
use super::origins::{Origins, Patched, whole};
use super::part::Part;
use super::scope::{self, Layer, Scope};
use super::spelling::Spelling;
use super::state::State;
use windlass_capi::contract::labels::CLUSTER_NAME;
use windlass_objects::Object;
use windlass_source::budget::{Budget, Exceeded};

/// A template while it is patched.
pub(super) struct Item<'t, 's> {
    /// As it is in the input.
    pub(super) source: &'t Object,
    /// The desired object that was made of it.
    made: &'s Value,
    /// Which of the labels and annotations of the object are those of the template.
    pairs: Pairs,
    /// As it is so far, once a patch has begun to change it.
    pub(super) template: Option<Value>,
    pub(super) role: Role<'t>,
    /// Which scope it has, by its number.
    pub(super) scope: usize,
    /// Which patch wrote which path.
    pub(super) writes: Vec<Write>,
    pub(super) origins: Origins,
    /// What became of the patches, where somebody asks for it.
    pub(super) history: Option<History>,
}

/// A template that went through all patches.
pub(super) struct Outcome<'t> {
    /// As it is in the input.
    source: &'t Object,
    /// As it became, if a patch changed it.
    template: Option<Value>,
    /// Whether what it holds is still there.
    has_spec: bool,
    /// Which patch wrote which path.
    pub(super) writes: Vec<Write>,
    origins: Origins,
    pub(super) history: Option<History>,
}

/// Fields that are copied: from where, and to where.
type Pairs = &'static [(&'static [&'static str], &'static [&'static str])];

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
    (
        &["metadata", "labels"],
        &["spec", "template", "metadata", "labels"],
    ),
    (
        &["metadata", "annotations"],
        &["spec", "template", "metadata", "annotations"],
    ),
];
const IN_METADATA: [(&[&str], &[&str]); 2] = [
    (&["metadata", "labels"], &["metadata", "labels"]),
    (&["metadata", "annotations"], &["metadata", "annotations"]),
];

/// All items in the order in which Cluster API has them, and their scopes.
///
/// # Errors
/// When there are too many to be held.
pub(super) fn items<'t, 's>(
    input: &Input<'t>,
    state: &'s State<'t>,
    shared: &'s Layer<'s>,
    variables: &Variables,
) -> Result<(Vec<Item<'t, 's>>, Vec<Scope<'s>>), Exceeded> {
    let cluster = scope::of_cluster(input.cluster, &state.cluster);
    let own = scope::of_control_plane(input.cluster, &state.control_plane, state.machine.as_ref());
    let cost = weight(&cluster);
    let mut scopes = vec![
        Scope::new(shared, &Values::new(), &cluster, None),
        Scope::new(
            shared,
            &variables.control_plane,
            &cluster,
            Some(("controlPlane", own)),
        ),
    ];
    let blueprint = input.blueprint;
    let mut items = vec![
        item(
            blueprint.infrastructure,
            &state.infrastructure,
            &IN_TEMPLATE,
            Role::InfrastructureCluster,
            0,
        ),
        item(
            blueprint.control_plane,
            &state.control_plane,
            &IN_TEMPLATE,
            Role::ControlPlane,
            1,
        ),
    ];
    if let (Some(source), Some(made)) = (blueprint.machine, &state.machine) {
        items.push(item(
            source,
            made,
            &IN_METADATA,
            Role::ControlPlaneMachine,
            1,
        ));
    }
    for (list, overrides) in [
        (&state.deployments, &variables.deployments),
        (&state.pools, &variables.pools),
    ] {
        for (machines, overrides) in list.iter().zip(overrides) {
            let (worker, is_pool) = (machines.worker, machines.is_pool);
            let own = scope::of_worker(
                input.cluster,
                worker.class,
                worker.name,
                &machines.object,
                &machines.bootstrap,
                &machines.infrastructure,
            );
            let key = if is_pool {
                "machinePool"
            } else {
                "machineDeployment"
            };
            pay(input.budget, 2 * cost)?;
            scopes.push(Scope::new(shared, overrides, &cluster, Some((key, own))));
            let role = Role::Worker {
                is_pool,
                class: worker.class,
            };
            let pairs = if is_pool { &IN_TEMPLATE } else { &IN_METADATA };
            items.push(item(
                machines.templates.0,
                &machines.bootstrap,
                pairs,
                role,
                scopes.len() - 1,
            ));
            items.push(item(
                machines.templates.1,
                &machines.infrastructure,
                pairs,
                role,
                scopes.len() - 1,
            ));
        }
    }
    Ok((items, scopes))
}

/// `md/NAME` or `mp/NAME`
pub(super) fn topology_name(machines: &Machines<'_>) -> String {
    format!(
        "{}/{}",
        if machines.is_pool { "mp" } else { "md" },
        machines.worker.name
    )
}

fn item<'t, 's>(
    source: &'t Object,
    made: &'s Value,
    pairs: Pairs,
    role: Role<'t>,
    scope: usize,
) -> Item<'t, 's> {
    Item {
        source,
        made,
        pairs,
        template: None,
        role,
        scope,
        writes: Vec::new(),
        origins: whole(source),
        history: None,
    }
}

impl Outcome<'_> {
    /// What is known of its parts.
    pub(super) fn patched(&self) -> Patched<'_> {
        Patched {
            source: self.source,
            has_spec: self.has_spec,
            origins: &self.origins,
        }
    }
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

impl<'t> Item<'t, '_> {
    /// Copies the template, if that was not done yet, so that it can be changed.
    ///
    /// # Errors
    /// When the run has no steps left for it.
    pub(super) fn begin(&mut self, budget: &Budget) -> Result<(), Exceeded> {
        if self.template.is_some() {
            return Ok(());
        }
        let Value::Object(source) = self.source.value() else {
            return Ok(());
        };
        budget.charge(weight(self.source.value()))?;
        let mut template: Map<String, Value> = source
            .iter()
            .filter(|(key, _)| *key != "metadata")
            .map(owned)
            .collect();
        if let Some(Value::Object(metadata)) = source.get("metadata") {
            let kept = metadata.iter().filter(|(key, _)| {
                ["labels", "annotations", "name", "namespace"].contains(&key.as_str())
            });
            template.insert(
                "metadata".to_owned(),
                Value::Object(kept.map(owned).collect()),
            );
        }
        let mut template = Value::Object(template);
        copy(self.made, &mut template, self.pairs, &[]);
        self.template = Some(template);
        Ok(())
    }

    pub(super) fn outcome(self) -> Outcome<'t> {
        let Item {
            source,
            template,
            writes,
            origins,
            history,
            ..
        } = self;
        let has_spec = template
            .as_ref()
            .unwrap_or(source.value())
            .pointer("/spec/template/spec")
            .is_some();
        Outcome {
            source,
            template,
            has_spec,
            writes,
            origins,
            history,
        }
    }

    /// Whether a definition of a patch is for it: `matchesSelector` of Cluster API.
    pub(super) fn matches(&self, selector: &Part<'_>) -> bool {
        let is = |name: &str, own: &str| {
            selector
                .value
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
                == own
        };
        is("kind", self.source.kind())
            && is("apiVersion", self.source.api_version())
            && self.misfit(selector).is_none()
    }

    /// What of a selector does not fit, and where it stands; `None` when the definition is for it.
    pub(super) fn misfit<'o>(&self, selector: &Part<'o>) -> Option<(Misfit, Part<'o>)> {
        for (name, own) in [
            ("kind", self.source.kind()),
            ("apiVersion", self.source.api_version()),
        ] {
            if selector.field(name).text() != own {
                return Some((
                    Misfit::Other {
                        field: name,
                        own: own.to_owned(),
                    },
                    selector.field(name),
                ));
            }
        }
        let resources = selector.field("matchResources");
        let is_off = |name: &'static str, misfit: Misfit| {
            let part = resources.field(name);
            (part.value != &Value::Bool(true)).then_some((misfit, part))
        };
        match self.role {
            Role::InfrastructureCluster => {
                is_off("infrastructureCluster", Misfit::NotInfrastructure)
            }
            Role::ControlPlane | Role::ControlPlaneMachine => {
                is_off("controlPlane", Misfit::NotControlPlane)
            }
            Role::Worker { is_pool, class } => {
                let names = resources
                    .field(if is_pool {
                        "machinePoolClass"
                    } else {
                        "machineDeploymentClass"
                    })
                    .field("names");
                let is_named = names.items().any(|name| class_matches(name.text(), class));
                (!is_named).then(|| {
                    (
                        Misfit::OtherClass {
                            is_pool,
                            class: class.to_owned(),
                        },
                        names,
                    )
                })
            }
        }
    }
}

/// `*`, `prefix*`, `*suffix`, or the name itself.
pub(super) fn class_matches(pattern: &str, class: &str) -> bool {
    pattern == class
        || pattern
            .strip_prefix('*')
            .is_some_and(|suffix| class.ends_with(suffix))
        || pattern
            .strip_suffix('*')
            .is_some_and(|prefix| class.starts_with(prefix))
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
    (
        &["spec", "template", "metadata", "labels"],
        &["metadata", "labels"],
    ),
    (
        &["spec", "template", "metadata", "annotations"],
        &["metadata", "annotations"],
    ),
];
/// The same for a template.
const TO_TEMPLATE: [(&[&str], &[&str]); 5] = [
    (&["metadata", "labels"], &["metadata", "labels"]),
    (&["metadata", "annotations"], &["metadata", "annotations"]),
    (&["spec", "template", "spec"], &["spec", "template", "spec"]),
    (
        &["spec", "template", "metadata", "labels"],
        &["spec", "template", "metadata", "labels"],
    ),
    (
        &["spec", "template", "metadata", "annotations"],
        &["spec", "template", "metadata", "annotations"],
    ),
];

/// Takes the patched templates over into the desired objects; says which did not fit.
pub(super) fn take_over<'t>(
    outcomes: &mut [Outcome<'t>],
    state: &mut State<'t>,
) -> Option<&'t Object> {
    let mut outcomes = outcomes.iter_mut();
    let mut misfit = None;
    let mut into = |object: &mut Value, pairs: &[(&[&str], &[&str])], preserved: &[&[&str]]| {
        let Some(Outcome {
            source, template, ..
        }) = outcomes.next()
        else {
            return;
        };
        let fits = match template.take() {
            Some(mut template) => shift(&mut template, object, pairs, preserved),
            // What is preserved may be less than what the topology set in a control plane; all else
            // is made of the template as it is.
            None if preserved.len() > ALWAYS.len() => {
                copy(source.value(), object, &pairs[..1], preserved)
            }
            None => true,
        };
        if !fits {
            misfit = misfit.or(Some(*source));
        }
    };
    into(&mut state.infrastructure, &TO_OBJECT, &ALWAYS);
    let of_control_plane = preserved_of_control_plane();
    let preserved: Vec<&[&str]> = of_control_plane
        .iter()
        .map(Vec::as_slice)
        .chain(ALWAYS)
        .collect();
    into(&mut state.control_plane, &TO_OBJECT, &preserved);
    if let Some(machine) = &mut state.machine {
        into(machine, &TO_TEMPLATE, &ALWAYS);
    }
    for machines in state.deployments.iter_mut().chain(&mut state.pools) {
        let pairs: &[(&[&str], &[&str])] = if machines.is_pool {
            &TO_OBJECT
        } else {
            &TO_TEMPLATE
        };
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
        paths.extend([
            vec!["spec", "machineTemplate", old],
            vec!["spec", "machineTemplate", "spec", "deletion", new],
        ]);
    }
    paths.extend([
        vec!["spec", "replicas"],
        vec!["spec", "version"],
        vec!["spec", "rollout", "after"],
    ]);
    paths
}

/// Keeps of a patched template only what Cluster API keeps: the spec, labels and annotations, and
/// each only if it is still there.
pub(super) fn keep(original: Map<String, Value>, patched: &mut Value) {
    let before = Value::Object(original);
    let mut kept = before;
    copy(
        patched,
        &mut kept,
        &[(&["spec"], &["spec"]), IN_METADATA[0], IN_METADATA[1]],
        &[],
    );
    *patched = kept;
}
