//! The defaulting webhooks of core and of the kubeadm control plane: `Default` in
//! `core/webhooks/admission/{machine,machineset,machinedeployment,machinepool,machinehealthcheck}.go`
//! and `controlplane/kubeadm/webhooks/admission/kubeadmcontrolplane.go` of Cluster API v1.14.
//! (A Cluster gets the `v` of its version and its variables from `topology`; a ClusterClass, a
//! KubeadmConfig and the templates get nothing.)

use serde_json::{Map, Value, json};

use super::{annotated, text};
use windlass_go_text::number::parse_int;
use windlass_go_text::quote;

/// Fields of a machine of v1beta1 that are absent after the way to v1beta2 and back if they are
/// empty.
const LEFT_OUT_OF_MACHINES: [&str; 6] = [
    "failureDomain",
    "providerID",
    "readinessGates[].polarity",
    "taints",
    "taints[].value",
    "version",
];
/// The same for fields of the spec.
const LEFT_OUT: [&str; 6] = [
    "deletePolicy",
    "machineNamingStrategy.template",
    "strategy.rollingUpdate.deletePolicy",
    "strategy.type",
    "unhealthyMachineConditions",
    "unhealthyRange",
];

/// The label of all that belongs to a cluster.
const CLUSTER_NAME: &str = "cluster.x-k8s.io/cluster-name";
const DEPLOYMENT_NAME: &str = "cluster.x-k8s.io/deployment-name";
const SET_NAME: &str = "cluster.x-k8s.io/set-name";

const LEAST_SIZE: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size";
const MOST_SIZE: &str = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size";

/// The seconds that the deletion of a node may take.
const NODE_DELETION: i64 = 10;
/// The seconds in which a node must appear.
const NODE_STARTUP: i64 = 600;

/// An object of v1beta2 with what the defaulting webhooks fill in.
pub fn defaulted(object: &Value) -> Value {
    let mut object = object.clone();
    let kind = text(&object, "/kind").to_owned();
    let cluster = text(&object, "/spec/clusterName").to_owned();
    if !object["spec"].is_object() {
        return object;
    }
    match kind.as_str() {
        "Machine" => {
            fill(
                &mut object,
                &["spec", "deletion", "nodeDeletionTimeoutSeconds"],
                NODE_DELETION,
            );
            add_prefix(&mut object, &["spec", "version"]);
        }
        "MachineSet" => of_set(&mut object),
        "MachineDeployment" => of_deployment(&mut object, &cluster),
        "MachinePool" => {
            let deletion = [
                "spec",
                "template",
                "spec",
                "deletion",
                "nodeDeletionTimeoutSeconds",
            ];
            fill(&mut object, &deletion, NODE_DELETION);
            add_prefix(&mut object, &["spec", "template", "spec", "version"]);
        }
        "MachineHealthCheck" => {
            fill(
                &mut object,
                &["spec", "checks", "nodeStartupTimeoutSeconds"],
                NODE_STARTUP,
            );
        }
        "KubeadmControlPlane" => of_control_plane(&mut object),
        _ => return object,
    }
    if kind != "KubeadmControlPlane" {
        put(
            &mut object,
            &["metadata", "labels", CLUSTER_NAME],
            cluster.into(),
        );
    }
    object
}

/// Whether the defaulting webhook changes an object of v1beta2. Only then the API server converts
/// one of another version back.
pub fn is_defaulted(object: &Value) -> bool {
    let is_scaled = ["MachineDeployment", "MachineSet", "MachinePool"];
    let lacks_replicas =
        is_scaled.contains(&text(object, "/kind")) && object["spec"]["replicas"].is_null();
    lacks_replicas || defaulted(object) != *object
}

/// The object of v1beta1 as it comes back from the webhook that changes it: with the fields that
/// its schema requires, and without empty ones.
pub fn required(object: &Value) -> Value {
    let kind = text(object, "/kind");
    let mut object = object.clone();
    if ["MachineDeployment", "MachineSet"].contains(&kind) {
        fill(&mut object, &["spec", "selector"], json!({}));
    }
    let machine: &[&str] = match kind {
        "Machine" => &["spec"],
        "MachineDeployment" | "MachineSet" | "MachinePool" => &["spec", "template", "spec"],
        "MachineHealthCheck" => &[],
        _ => return object,
    };
    // The way to v1beta2 and back writes empty parts, and leaves empty texts and lists out.
    let pointer = format!("/{}", machine.join("/"));
    if !machine.is_empty() && object.pointer(&pointer).is_some_and(Value::is_object) {
        for part in ["infrastructureRef", "bootstrap"] {
            fill(&mut object, &[machine, &[part]].concat(), json!({}));
        }
    }
    for (holder, left_out) in [
        (pointer.as_str(), &LEFT_OUT_OF_MACHINES),
        ("/spec", &LEFT_OUT),
    ] {
        for path in left_out {
            if let Some(holder) = object.pointer_mut(holder) {
                leave_out(holder, path);
            }
        }
    }
    for conditions in ["unhealthyConditions", "unhealthyMachineConditions"] {
        let conditions = object.pointer_mut(&format!("/spec/{conditions}"));
        let conditions = conditions.and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten() {
            fill(condition, &["timeout"], "0s");
        }
    }
    object
}

/// Removes a field that is an empty text or list; `[]` follows the name of a list of objects.
fn leave_out(holder: &mut Value, path: &str) {
    let Some((first, rest)) = path.split_once('.') else {
        let empty = match path {
            "taints" | "unhealthyMachineConditions" => json!([]),
            _ => "".into(),
        };
        if let Value::Object(fields) = holder
            && fields.get(path) == Some(&empty)
        {
            fields.remove(path);
        }
        return;
    };
    match (first.strip_suffix("[]"), holder) {
        (Some(list), holder) => {
            let items = holder.get_mut(list).and_then(Value::as_array_mut);
            let items = items.into_iter().flatten();
            items.for_each(|item| leave_out(item, rest));
        }
        (None, holder) => {
            if let Some(inner) = holder.get_mut(first) {
                leave_out(inner, rest);
            }
        }
    }
}

/// The autoscaler's annotation that is not a number, and the message of the webhook, if the
/// replicas are taken from it: `calculateMachineDeploymentReplicas` and its siblings.
pub(super) fn unreadable_replicas<'k>(kind: &str, object: &Value) -> Option<(&'k str, String)> {
    let is_scaled = ["MachineDeployment", "MachineSet", "MachinePool"].contains(&kind)
        && object["spec"]["replicas"].is_null();
    let sizes = [LEAST_SIZE, MOST_SIZE].map(|annotation| annotated(object, annotation).as_str());
    let [Some(least), Some(most)] = sizes else {
        return None;
    };
    let size_fault = |text: &str| match parse_int(text, 10) {
        Ok(size) if i32::try_from(size).is_ok() => None,
        Ok(_) => Some("value out of range".to_owned()),
        Err(fault) => Some(fault.to_string()),
    };
    let (annotation, text, fault) = [(LEAST_SIZE, least), (MOST_SIZE, most)]
        .into_iter()
        .filter(|_| is_scaled)
        .find_map(|(annotation, text)| Some((annotation, text, size_fault(text)?)))?;
    let message = format!(
        "failed to caculate {kind} replicas value: could not parse the value of the {} annotation: strconv.ParseInt: parsing {}: {fault}",
        quote(annotation),
        quote(text)
    );
    Some((annotation, message))
}

fn of_set(object: &mut Value) {
    let name = text(object, "/metadata/name");
    // A longer name becomes a hash there; only that both are equal counts.
    let name = name.get(..63).unwrap_or(name).to_owned();
    if is_unselective(object) {
        put(
            object,
            &["spec", "selector", "matchLabels", SET_NAME],
            name.clone().into(),
        );
        put(
            object,
            &["spec", "template", "metadata", "labels", SET_NAME],
            name.into(),
        );
    }
    add_prefix(object, &["spec", "template", "spec", "version"]);
}

fn of_deployment(object: &mut Value, cluster: &str) {
    let name = text(object, "/metadata/name").to_owned();
    let strategy = ["spec", "rollout", "strategy"];
    let step = |names: &[&'static str]| [&strategy[..], names].concat();
    fill_empty(object, &step(&["type"]), "RollingUpdate".into());
    if text(object, "/spec/rollout/strategy/type") == "RollingUpdate" {
        fill(object, &step(&["rollingUpdate", "maxSurge"]), 1);
        fill(object, &step(&["rollingUpdate", "maxUnavailable"]), 0);
    }
    if is_unselective(object) {
        put(
            object,
            &["spec", "selector", "matchLabels", DEPLOYMENT_NAME],
            name.clone().into(),
        );
        put(
            object,
            &["spec", "template", "metadata", "labels", DEPLOYMENT_NAME],
            name.into(),
        );
    }
    put(
        object,
        &["spec", "selector", "matchLabels", CLUSTER_NAME],
        cluster.into(),
    );
    put(
        object,
        &["spec", "template", "metadata", "labels", CLUSTER_NAME],
        cluster.into(),
    );
    add_prefix(object, &["spec", "template", "spec", "version"]);
}

/// The strategy is enforced, whatever the object says.
fn of_control_plane(object: &mut Value) {
    fill(object, &["spec", "replicas"], 1);
    let version = text(object, "/spec/version").to_owned();
    if !version.starts_with('v')
        && (object["spec"]["version"].is_null() || object["spec"]["version"].is_string())
    {
        put(object, &["spec", "version"], format!("v{version}").into());
    }
    let kind = &object["spec"]["rollout"]["strategy"]["type"];
    // The webhook cannot read an object with another type of value.
    if kind.is_null() || kind.is_string() {
        put(
            object,
            &["spec", "rollout", "strategy", "type"],
            "RollingUpdate".into(),
        );
    }
    fill(
        object,
        &["spec", "rollout", "strategy", "rollingUpdate", "maxSurge"],
        1,
    );
}

/// Whether the selector of a MachineSet or MachineDeployment selects nothing.
fn is_unselective(object: &Value) -> bool {
    let selector = &object["spec"]["selector"];
    let is_empty = |field: &str| match &selector[field] {
        Value::Object(entries) => entries.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    };
    is_empty("matchLabels") && is_empty("matchExpressions")
}

fn add_prefix(object: &mut Value, steps: &[&str]) {
    let version = steps
        .iter()
        .try_fold(&*object, |value, step| value.get(step));
    let version = version.and_then(Value::as_str).unwrap_or_default();
    if !version.is_empty() && !version.starts_with('v') {
        let version = format!("v{version}");
        put(object, steps, version.into());
    }
}

/// Writes a value where there is none.
fn fill(object: &mut Value, steps: &[&str], value: impl Into<Value>) {
    let given = steps
        .iter()
        .try_fold(&*object, |value, step| value.get(step));
    if given.is_none_or(Value::is_null) {
        put(object, steps, value.into());
    }
}

/// Sets a field that is absent, null or an empty string.
fn fill_empty(object: &mut Value, steps: &[&str], value: Value) {
    let given = steps
        .iter()
        .try_fold(&*object, |value, step| value.get(step));
    if given.is_none_or(|given| given.is_null() || given == "") {
        put(object, steps, value);
    }
}

/// Writes a value, unless what should hold it has a different type: that is for the schema to
/// report.
fn put(object: &mut Value, steps: &[&str], value: Value) {
    let Some((last, above)) = steps.split_last() else {
        return;
    };
    let mut holder = object;
    for step in above {
        let Value::Object(fields) = holder else {
            return;
        };
        let next = fields.entry(*step).or_insert(Value::Null);
        if next.is_null() {
            *next = Value::Object(Map::new());
        }
        holder = next;
    }
    if let Value::Object(fields) = holder {
        fields.insert((*last).to_owned(), value);
    }
}
