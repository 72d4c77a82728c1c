//! The objects that a topology wants, before patches: `Generate` of Cluster API's
//! `exp/topology/desiredstate`.

use serde_json::{Value, json};

use super::class::{Slot, WorkerClass};
use super::cluster::{Cluster, Worker};
use super::input::{Input, Machines, TIMEOUTS};
use super::made::{merged, object, own_labels, set, template, texts};
use super::spelling::Spelling;
use super::{NAME_FAILS, TOPOLOGY_CLASS_UNKNOWN, health_check_object, machines, names};
use windlass_go_text::duration;
use windlass_objects::Object;
use windlass_objects::fields;
use windlass_source::diag::{Diagnostic, Rule};

/// All objects of one Cluster.
pub(super) struct State<'t> {
    pub(super) cluster: Value,
    pub(super) infrastructure: Value,
    pub(super) control_plane: Value,
    pub(super) machine: Option<Value>,
    /// The MachineHealthCheck of the control plane.
    pub(super) check: Option<Value>,
    pub(super) deployments: Vec<Machines<'t>>,
    pub(super) pools: Vec<Machines<'t>>,
}

/// The desired state.
///
/// # Errors
/// The fault at which Cluster API stops.
pub(super) fn state<'t>(input: &Input<'t>) -> Result<State<'t>, Box<Diagnostic>> {
    let cluster = input.cluster;
    let infrastructure = slot(
        input,
        &input.class.infrastructure,
        input.blueprint.infrastructure,
        &json!(null),
        "InfrastructureCluster",
    )?;
    let machine = input.blueprint.machine.map(|found| {
        template(
            found,
            cluster,
            &names::simple(&format!("{}-", cluster.name())),
            None,
        )
    });
    let control_plane = control_plane(input, machine.as_ref())?;
    let parts = [&cluster.control_plane, &input.class.control_plane.part];
    let check = machine.as_ref().and_then(|_| {
        health_check_object::of_control_plane(cluster, parts, fields::name(&control_plane))
    });
    let desired = desired_cluster(cluster, &infrastructure, &control_plane);
    let deployments = workers(input, &cluster.deployments, false)?;
    let pools = workers(input, &cluster.pools, true)?;
    Ok(State {
        cluster: desired,
        infrastructure,
        control_plane,
        machine,
        check,
        deployments,
        pools,
    })
}

/// The object of a part of the class.
fn slot(
    input: &Input<'_>,
    slot: &Slot<'_>,
    found: &Object,
    metadata: &Value,
    what: &str,
) -> Result<Value, Box<Diagnostic>> {
    let class_metadata = slot.part.field("metadata").value;
    let all = |name: &str| merged(texts(metadata, name), texts(class_metadata, name));
    let mut made = object(found, input.cluster, "", all("labels"), all("annotations"));
    let name = names::generated(slot.naming.text(), input.cluster.name(), None, input.budget).map_err(|reason| {
        let upstream = format!(
            "error computing the desired state of the Cluster topology: failed to compute {what}: failed to generate the {what} object from the {}: \
             failed to generate name for {}: {reason}",
            found.kind(),
            fields::kind(&made)
        );
        Diagnostic::of(&NAME_FAILS, format!("the name of the {what} cannot be made"))
            .at(slot.naming.place())
            .upstream(upstream)
            .help(names::HELP)
    })?;
    let existing = input.cluster.object.text(&[
        "spec",
        if what == "ControlPlane" {
            "controlPlaneRef"
        } else {
            "infrastructureRef"
        },
        "name",
    ]);
    set(
        &mut made,
        &["metadata", "name"],
        if existing.is_empty() {
            name.into()
        } else {
            existing.into()
        },
    );
    Ok(made)
}

fn control_plane(input: &Input<'_>, machine: Option<&Value>) -> Result<Value, Box<Diagnostic>> {
    let (topology, class) = (
        &input.cluster.control_plane,
        &input.class.control_plane.part,
    );
    let metadata = topology.field("metadata").value;
    let mut made = slot(
        input,
        &input.class.control_plane,
        input.blueprint.control_plane,
        metadata,
        "ControlPlane",
    )?;
    let spelling = input.blueprint.spelling;
    let mut fits = true;
    if let Some(machine) = machine {
        fits &= set(
            &mut made,
            &spelling.path("infrastructureRef"),
            reference(machine, spelling),
        );
        for name in ["labels", "annotations"] {
            let given = merged(
                texts(metadata, name),
                texts(class.field("metadata").value, name),
            );
            let given = if name == "labels" {
                merged(own_labels(input.cluster), given)
            } else {
                given
            };
            let own = fields::field(&made, &["spec", "machineTemplate"])
                .and_then(|own| fields::metadata_texts(own, name));
            let all = merged(given, own.unwrap_or_default());
            if !all.is_empty() {
                fits &= set(
                    &mut made,
                    &["spec", "machineTemplate", "metadata", name],
                    all.into(),
                );
            }
        }
    }
    if topology.field("replicas").is_there() {
        fits &= set(
            &mut made,
            &["spec", "replicas"],
            topology.field("replicas").value.clone(),
        );
    }
    let after = topology.either(&["rollout.after"]);
    if after.is_there() {
        // Whatever the contract (`ControlPlaneContract.RolloutAfter`).
        let path = ["spec", "rollout", "after"];
        fits &= set(&mut made, &path, after.value.clone());
    }
    for name in ["readinessGates", "taints"] {
        let given = [topology.field(name), class.field(name)]
            .into_iter()
            .find(super::part::Part::is_there);
        if let Some(given) = given {
            fits &= set(&mut made, &spelling.path(name), given.value.clone());
        }
    }
    for (new, old) in TIMEOUTS {
        if let Some(seconds) =
            machines::timeout(topology, new, old).or_else(|| machines::timeout(class, new, old))
        {
            fits &= match spelling {
                Spelling::Old => set(
                    &mut made,
                    &["spec", "machineTemplate", old],
                    duration::text(seconds.saturating_mul(1_000_000_000)).into(),
                ),
                Spelling::New => set(
                    &mut made,
                    &["spec", "machineTemplate", "spec", "deletion", new],
                    seconds.into(),
                ),
            };
        }
    }
    fits &= set(
        &mut made,
        &["spec", "version"],
        input.cluster.version.as_str().into(),
    );
    if fits {
        Ok(made)
    } else {
        Err(misshapen(input.blueprint.control_plane).into())
    }
}

/// A template whose fields are in the way of those that a topology sets.
pub(super) fn misshapen(template: &Object) -> Diagnostic {
    let message = format!(
        "{} has a different type where the topology sets a field",
        template.title()
    );
    Diagnostic::of(&super::TEMPLATE_MISSHAPEN, message)
        .at(template.place(&windlass_source::diag::FieldPath::of_fields(
            "spec.template",
        )))
        .help("write a mapping at `spec.template.spec` and at `machineTemplate` below it")
}

/// A reference to an object, as the contract wants it.
fn reference(object: &Value, spelling: Spelling) -> Value {
    match spelling {
        Spelling::Old => json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"], "name": fields::name(object), "namespace": fields::namespace(object),
        }),
        Spelling::New => {
            json!({"apiGroup": fields::group_version(object).0, "kind": object["kind"], "name": fields::name(object)})
        }
    }
}

/// The Cluster with the labels and references that the controller sets.
fn desired_cluster(cluster: &Cluster<'_>, infrastructure: &Value, control_plane: &Value) -> Value {
    let mut desired = cluster.object.value().clone();
    let labels = merged(
        own_labels(cluster),
        fields::metadata_texts(&desired, "labels").unwrap_or_default(),
    );
    set(&mut desired, &["metadata", "labels"], labels.into());
    set(
        &mut desired,
        &["metadata", "namespace"],
        cluster.namespace().into(),
    );
    let spelling = Spelling::of(cluster.object.api_version());
    set(
        &mut desired,
        &["spec", "infrastructureRef"],
        reference(infrastructure, spelling),
    );
    set(
        &mut desired,
        &["spec", "controlPlaneRef"],
        reference(control_plane, spelling),
    );
    desired
}

/// All MachineDeployments or MachinePools.
fn workers<'t>(
    input: &Input<'t>,
    list: &'t [Worker<'t>],
    is_pool: bool,
) -> Result<Vec<Machines<'t>>, Box<Diagnostic>> {
    let (classes, templates) = match is_pool {
        false => (&input.class.deployments, &input.blueprint.deployments),
        true => (&input.class.pools, &input.blueprint.pools),
    };
    let places: std::collections::BTreeMap<&str, usize> = classes
        .iter()
        .enumerate()
        .map(|(at, class)| (class.class, at))
        .collect();
    let one = |worker: &'t Worker<'t>| match places.get(worker.class) {
        Some(at) => machines::machines(input, worker, &classes[*at], templates[*at], is_pool),
        None => Err(unknown_class(input, worker, is_pool).into()),
    };
    list.iter().map(one).collect()
}

fn unknown_class(input: &Input<'_>, worker: &Worker<'_>, is_pool: bool) -> Diagnostic {
    // The second word is upstream's.
    let (kind, misspelt) = if is_pool {
        ("MachinePool", "MachinePool")
    } else {
        ("MachineDeployment", "MachineDepoyment")
    };
    let upstream = format!(
        "error computing the desired state of the Cluster topology: failed to compute {kind}s: failed to compute {misspelt} for topology \"{}\": \
         {kind} class {} not found in ClusterClass {}",
        worker.name,
        worker.class,
        input.class.key()
    );
    let classes: &[WorkerClass<'_>] = if is_pool {
        &input.class.pools
    } else {
        &input.class.deployments
    };
    let known: Vec<&str> = classes.iter().map(|class| class.class).collect();
    let rule: &'static Rule = &TOPOLOGY_CLASS_UNKNOWN;
    Diagnostic::of(
        rule,
        format!(
            "ClusterClass/{} has no {kind} class `{}`",
            input.class.object.name(),
            worker.class
        ),
    )
    .at(worker.part.field("class").place())
    .upstream(upstream)
    .help(format!(
        "use one of its classes: {}",
        if known.is_empty() {
            "it has none".to_owned()
        } else {
            known.join(", ")
        }
    ))
}
