//! MachineDeployments and MachinePools of a topology: `computeMachineDeployment` and
//! `computeMachinePool` of Cluster API.

use serde_json::{Map, Value, json};

use super::class::WorkerClass;
use super::cluster::Worker;
use super::health_check::HealthCheck;
use super::health_check_object;
use super::input::{Input, Machines, TIMEOUTS, name_label};
use super::made::{merged, object, own_labels, pay, template, texts, too_large, weight};
use super::part::Part;
use super::{NAME_FAILS, names};
use windlass_capi::contract::labels::CLUSTER_NAME;
use windlass_go_text::duration;
use windlass_objects::{Object, fields};
use windlass_source::diag::Diagnostic;

/// Annotations that steer upgrades and stay with the topology.
const STEERING: [&str; 2] = [
    "topology.cluster.x-k8s.io/hold-upgrade-sequence",
    "topology.cluster.x-k8s.io/defer-upgrade",
];

/// A timeout in seconds: of core v1beta2, or the duration of v1beta1.
pub(super) fn timeout(part: &Part<'_>, new: &str, old: &str) -> Option<i64> {
    let seconds = part.field("deletion").field(new);
    if let Some(seconds) = seconds.value.as_i64() {
        return Some(seconds);
    }
    let nanoseconds = duration::parse(part.field(old).value.as_str()?).ok()?;
    Some(nanoseconds / 1_000_000_000)
}

/// One MachineDeployment or MachinePool with its templates.
///
/// # Errors
/// The fault at which Cluster API stops.
pub(super) fn machines<'t>(
    input: &Input<'t>,
    worker: &'t Worker<'t>,
    class: &WorkerClass<'t>,
    templates: (&'t Object, &'t Object),
    is_pool: bool,
) -> Result<Machines<'t>, Box<Diagnostic>> {
    // The item that is patched, and the object.
    let copies =
        2 * (weight(templates.0.value()) + weight(templates.1.value()) + weight(worker.part.value));
    pay(input.budget, copies).map_err(|_| too_large(&worker.part.place()))?;
    let cluster = input.cluster;
    let label = (name_label(is_pool), worker.name);
    let made_name = names::simple(&format!("{}-{}-", cluster.name(), worker.name));
    let make = |from: &Object| match is_pool {
        true => object(
            from,
            cluster,
            &made_name,
            Map::from_iter([(label.0.to_owned(), label.1.into())]),
            Map::new(),
        ),
        false => template(from, cluster, &made_name, Some(label)),
    };
    let (bootstrap, infrastructure) = (make(templates.0), make(templates.1));
    let name = name(input, worker, class, is_pool)?;
    let object = machine_set(
        input,
        worker,
        class,
        &name,
        is_pool,
        [&bootstrap, &infrastructure],
    );
    let parts = [&worker.part, &class.part];
    let check = (!is_pool)
        .then(|| health_check_object::of_deployment(cluster, worker.name, parts, &name))
        .flatten();
    Ok(Machines {
        worker,
        is_pool,
        templates,
        object,
        bootstrap,
        infrastructure,
        check,
    })
}

fn name(
    input: &Input<'_>,
    worker: &Worker<'_>,
    class: &WorkerClass<'_>,
    is_pool: bool,
) -> Result<String, Box<Diagnostic>> {
    let (kind, key) = if is_pool {
        ("MachinePool", "machinePool")
    } else {
        ("MachineDeployment", "machineDeployment")
    };
    names::generated(class.naming.text(), input.cluster.name(), Some((key, worker.name)), input.budget).map_err(|reason| {
        let misspelt = if is_pool { "MachinePool" } else { "MachineDepoyment" };
        let upstream = format!(
            "error computing the desired state of the Cluster topology: failed to compute {kind}s: failed to compute {misspelt} for topology \"{}\": \
             failed to generate name for {kind}: {reason}",
            worker.name
        );
        let message = format!("the name of the {kind} for topology `{}` cannot be made", worker.name);
        Diagnostic::of(&NAME_FAILS, message).at(class.naming.place()).upstream(upstream).help(names::HELP).into()
    })
}

/// How machines are replaced: of core v1beta2, or what its conversion makes of the strategy of
/// v1beta1.
fn rollout(part: &Part<'_>) -> Option<Value> {
    let rollout = part.field("rollout");
    if rollout.is_there() {
        return Some(rollout.value.clone());
    }
    let strategy = part.field("strategy");
    let mut kept = Map::new();
    let text = strategy.field("type");
    kept.extend((!text.text().is_empty()).then(|| ("type".to_owned(), text.value.clone())));
    let update = strategy.field("rollingUpdate");
    let shares = ["maxSurge", "maxUnavailable"]
        .into_iter()
        .filter(|name| update.field(name).is_there());
    let shares: Map<String, Value> = shares
        .map(|name| (name.to_owned(), update.field(name).value.clone()))
        .collect();
    kept.extend((!shares.is_empty()).then(|| ("rollingUpdate".to_owned(), shares.into())));
    (!kept.is_empty()).then(|| json!({"strategy": kept}))
}

/// The object itself, of core v1beta2. Labels and annotations are those of its machines too.
fn machine_set(
    input: &Input<'_>,
    worker: &Worker<'_>,
    class: &WorkerClass<'_>,
    name: &str,
    is_pool: bool,
    made: [&Value; 2],
) -> Value {
    let cluster = input.cluster;
    let own = worker.part.field("metadata").value;
    let mut annotations = merged(
        texts(own, "annotations"),
        texts(class.metadata, "annotations"),
    );
    annotations.retain(|key, _| !STEERING.contains(&key.as_str()));
    let mut labels = merged(
        own_labels(cluster),
        merged(texts(own, "labels"), texts(class.metadata, "labels")),
    );
    labels.insert(name_label(is_pool).to_owned(), worker.name.into());
    let refer = |object: &Value| json!({"apiGroup": fields::group_version(object).0, "kind": object["kind"], "name": fields::name(object)});
    let mut spec = json!({
        "clusterName": cluster.name(), "version": cluster.version,
        "bootstrap": {"configRef": refer(made[0])}, "infrastructureRef": refer(made[1]),
    });
    let either = |names: &[&str]| {
        [&worker.part, &class.part]
            .into_iter()
            .map(|part| part.either(names))
            .find(Part::is_there)
            .map(|part| part.value.clone())
    };
    let put = |object: &mut Value, key: &str, value: Option<Value>| {
        if let Some(value) = value {
            object[key] = value;
        }
    };
    for key in ["minReadySeconds", "taints"]
        .into_iter()
        .chain((!is_pool).then_some("readinessGates"))
    {
        put(&mut spec, key, either(&[key]));
    }
    for (new, old) in TIMEOUTS {
        let seconds = timeout(&worker.part, new, old).or_else(|| timeout(&class.part, new, old));
        if let Some(seconds) = seconds {
            spec["deletion"][new] = seconds.into();
        }
    }
    let mut whole = json!({"clusterName": cluster.name()});
    put(
        &mut whole,
        "replicas",
        worker
            .part
            .field("replicas")
            .is_there()
            .then(|| worker.part.field("replicas").value.clone()),
    );
    if is_pool {
        put(&mut whole, "failureDomains", either(&["failureDomains"]));
    } else {
        put(&mut spec, "failureDomain", either(&["failureDomain"]));
        put(
            &mut whole,
            "rollout",
            [&worker.part, &class.part].into_iter().find_map(rollout),
        );
        let order = either(&["deletion.order", "strategy.rollingUpdate.deletePolicy"]);
        put(
            &mut whole,
            "deletion",
            order.map(|order| json!({"order": order})),
        );
        let in_flight = [&worker.part, &class.part]
            .map(|part| HealthCheck::of(part).in_flight)
            .into_iter()
            .find(Part::is_there);
        put(
            &mut whole,
            "remediation",
            in_flight.map(|count| json!({"maxInFlight": count.value})),
        );
        whole["selector"] = json!({"matchLabels": {
            CLUSTER_NAME: cluster.name(), super::made::OWNED: "", name_label(false): worker.name,
        }});
    }
    let mut metadata = json!({"labels": labels});
    put(
        &mut metadata,
        "annotations",
        (!annotations.is_empty()).then(|| annotations.into()),
    );
    whole["template"] = json!({"metadata": metadata, "spec": spec});
    metadata["name"] = name.into();
    metadata["namespace"] = cluster.namespace().into();
    json!({
        "apiVersion": "cluster.x-k8s.io/v1beta2", "kind": if is_pool { "MachinePool" } else { "MachineDeployment" },
        "metadata": metadata, "spec": whole,
    })
}
