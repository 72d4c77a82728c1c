//! The validating webhooks of everything that machines come of: `validate` in
//! `core/webhooks/admission/{machine,machineset,machinedeployment,machinepool}.go` of Cluster API
//! v1.14.

use serde_json::{Map, Value};

use super::share::not_a_share;
use super::{Release, annotated, names, selector, taints, text};
use windlass_go_text as go;
use windlass_schema::name::label_value_errors;
use windlass_schema::{Violation, ViolationKind, validate_annotations, validate_labels};
use windlass_source::budget::Budget;
use windlass_source::diag::FieldPath;

const SKIP_PREFLIGHT: &str = "machineset.cluster.x-k8s.io/skip-preflight-checks";
const PREFLIGHT_CHECKS: [&str; 5] = [
    "All",
    "ControlPlaneIsStable",
    "ControlPlaneVersionSkew",
    "KubeadmVersionSkew",
    "KubernetesVersionSkew",
];
const CONTROL_PLANE: &str = "cluster.x-k8s.io/control-plane";

pub(super) fn of_machine(object: &Value, release: &Release) -> Vec<Violation> {
    let spec = &object["spec"];
    let is_of_pool = is_of_machine_pool(object);
    let mut violations = Vec::new();
    violations.extend(bootstrap(spec, "spec").filter(|_| !is_of_pool));
    version(spec, "spec", release, &mut violations);
    let is_worker = object["metadata"]["labels"].get(CONTROL_PLANE).is_none();
    of_taints(spec, "spec", is_worker, release, &mut violations);
    violations
}

/// `IsMachinePoolOwned` of `internal/labels`.
fn is_of_machine_pool(object: &Value) -> bool {
    let metadata = &object["metadata"];
    let is_labelled = metadata["labels"]
        .get("cluster.x-k8s.io/pool-name")
        .is_some();
    let owners = metadata["ownerReferences"].as_array();
    is_labelled
        || owners
            .into_iter()
            .flatten()
            .any(|owner| text(owner, "/kind") == "MachinePool")
}

pub(super) fn of_set(object: &Value, release: &Release, budget: &Budget) -> Vec<Violation> {
    let mut violations = Vec::new();
    let spec = &object["spec"]["template"]["spec"];
    violations.extend(bootstrap(spec, "spec.template.spec"));
    violations.extend(unselected(object, |path, labels, detail| {
        let shown = go::json(labels);
        Violation::new(ViolationKind::Invalid, path, Some(&shown), detail)
    }));
    violations.extend(skipped_preflight(object));
    violations.extend(other_cluster(object));
    version(spec, "spec.template.spec", release, &mut violations);
    of_taints(spec, "spec.template.spec", true, release, &mut violations);
    naming(object, budget, &mut violations);
    metadata(object, &mut violations);
    violations
}

pub(super) fn of_deployment(object: &Value, release: &Release, budget: &Budget) -> Vec<Violation> {
    let name = text(object, "/metadata/name");
    let of_name = label_value_errors(name).into_iter().map(|error| {
        let detail = format!("must be a valid label value: {error}");
        Violation::invalid(FieldPath::of_fields("metadata.name"), &name.into(), &detail)
    });
    let mut violations: Vec<Violation> = of_name.collect();
    let spec = &object["spec"]["template"]["spec"];
    violations.extend(bootstrap(spec, "spec.template.spec"));
    violations.extend(unselected(object, |path, _, detail| {
        Violation::forbidden(path, detail)
    }));
    violations.extend(skipped_preflight(object));
    violations.extend(other_cluster(object));
    let update = &object["spec"]["rollout"]["strategy"]["rollingUpdate"];
    rollout(update, "spec.rollout.strategy", &mut violations);
    let in_flight = &object["spec"]["remediation"]["maxInFlight"];
    violations.extend(not_a_share(in_flight, "spec.remediation.maxInFlight"));
    version(spec, "spec.template.spec", release, &mut violations);
    naming(object, budget, &mut violations);
    of_taints(spec, "spec.template.spec", true, release, &mut violations);
    metadata(object, &mut violations);
    violations
}

pub(super) fn of_pool(object: &Value, release: &Release) -> Vec<Violation> {
    let mut violations = Vec::new();
    let spec = &object["spec"]["template"]["spec"];
    violations.extend(bootstrap(spec, "spec.template.spec"));
    violations.extend(other_cluster(object));
    version(spec, "spec.template.spec", release, &mut violations);
    if spec["taints"]
        .as_array()
        .is_some_and(|taints| !taints.is_empty())
    {
        let path = FieldPath::of_fields("spec.template.spec.taints");
        let mut forbid = |detail: &str| {
            violations.push(Violation::forbidden(path.clone(), detail).spelt("spec.taints"));
        };
        // The webhook's own message (`machinepool.go`): Cluster API has no taints of MachinePools.
        forbid("taints feature for MachinePools is not yet implemented");
        if !release.taints_gate {
            forbid(taints::GATE_OFF);
        }
    }
    metadata(object, &mut violations);
    violations
}

/// A machine needs a config or a Secret to boot from.
fn bootstrap(spec: &Value, at: &str) -> Option<Violation> {
    let bootstrap = &spec["bootstrap"];
    let is_config = bootstrap["configRef"]
        .as_object()
        .is_some_and(|reference| reference.values().any(|value| value != ""));
    let is_missing = !is_config && bootstrap["dataSecretName"].is_null();
    let detail = format!(
        "expected either {at}.bootstrap.dataSecretName or {at}.bootstrap.configRef to be populated"
    );
    is_missing
        .then(|| Violation::required(FieldPath::of_fields(&format!("{at}.bootstrap")), &detail))
}

/// The selector must be valid and select the machines of the template.
fn unselected(
    object: &Value,
    wrong: impl Fn(FieldPath, &Value, &str) -> Violation,
) -> Option<Violation> {
    let selector = &object["spec"]["selector"];
    let labels = &object["spec"]["template"]["metadata"]["labels"];
    let empty = Map::new();
    let given = labels.as_object().unwrap_or(&empty);
    match selector::read(selector) {
        Err(fault) => Some(selector::invalid(selector, &fault)),
        Ok(read) if read.matches(given) => None,
        Ok(read) => {
            let path = FieldPath::of_fields("spec.template.metadata.labels");
            let detail = format!("must match spec.selector {}", go::quote(&read.to_string()));
            // An empty map is absent after the defaulting webhook.
            let labels = Some(labels).filter(|_| !given.is_empty());
            Some(wrong(path, labels.unwrap_or(&Value::Null), &detail))
        }
    }
}

/// `validateSkippedMachineSetPreflightChecks`.
fn skipped_preflight(object: &Value) -> Option<Violation> {
    let skipped = annotated(object, SKIP_PREFLIGHT).as_str()?;
    let unknown: Vec<&str> = skipped
        .split(',')
        .map(str::trim)
        .filter(|check| !skipped.is_empty() && !PREFLIGHT_CHECKS.contains(check))
        .collect();
    let detail = format!(
        "skipped preflight check(s) must be among: [{}]",
        PREFLIGHT_CHECKS.join(" ")
    );
    let path = FieldPath::of_fields("metadata.annotations").field(SKIP_PREFLIGHT);
    (!unknown.is_empty()).then(|| {
        let shown = go::json(&unknown.into());
        Violation::new(ViolationKind::Invalid, path, Some(&shown), &detail)
            .spelt(format!("metadata.annotations.{SKIP_PREFLIGHT}"))
    })
}

fn other_cluster(object: &Value) -> Option<Violation> {
    let name = text(object, "/spec/clusterName");
    let is_other = name != text(object, "/spec/template/spec/clusterName");
    is_other.then(|| {
        let detail =
            "spec.clusterName and spec.template.spec.clusterName must be set to the same value";
        Violation::invalid(
            FieldPath::of_fields("spec.clusterName"),
            &name.into(),
            detail,
        )
    })
}

/// `validateRolloutStrategy`; `at` is the strategy.
fn rollout(update: &Value, at: &str, violations: &mut Vec<Violation>) {
    let (unavailable, surge) = (&update["maxUnavailable"], &update["maxSurge"]);
    violations.extend(not_a_share(
        unavailable,
        &format!("{at}.rollingUpdate.maxUnavailable"),
    ));
    violations.extend(not_a_share(surge, &format!("{at}.rollingUpdate.maxSurge")));
    if unavailable.as_i64() == Some(0) && surge.as_i64() == Some(0) {
        let path = FieldPath::of_fields(&format!("{at}.rollingUpdate"));
        let detail = "maxUnavailable and maxSurge cannot both be 0";
        violations.push(Violation::invalid(path, &"0".into(), detail));
    }
}

fn version(spec: &Value, at: &str, release: &Release, violations: &mut Vec<Violation>) {
    let version = text(spec, "/version");
    if !version.is_empty() {
        let path = FieldPath::of_fields(&format!("{at}.version"));
        let faults = release
            .versions
            .faults(version, "must be a valid semantic version");
        violations.extend(
            faults
                .into_iter()
                .map(|fault| Violation::invalid(path.clone(), &version.into(), fault)),
        );
    }
}

fn of_taints(
    spec: &Value,
    at: &str,
    is_worker: bool,
    release: &Release,
    violations: &mut Vec<Violation>,
) {
    let path = FieldPath::of_fields(&format!("{at}.taints"));
    violations.extend(taints::violations(&spec["taints"], &path, release));
    if is_worker && release.taints_gate {
        violations.extend(taints::of_workers(&spec["taints"], &path));
    }
}

/// `validateMSMachineNaming`.
fn naming(object: &Value, budget: &Budget, violations: &mut Vec<Violation>) {
    let template = text(object, "/spec/machineNaming/template");
    let path = FieldPath::of_fields("spec.machineNaming.template");
    let faults = names::machine_name_faults(template, ("machineSet", "machineset"), budget);
    violations.extend(
        faults
            .iter()
            .map(|fault| Violation::invalid(path.clone(), &template.into(), fault)),
    );
}

/// `ObjectMeta.Validate` of `api/core/v1beta2`.
fn metadata(object: &Value, violations: &mut Vec<Violation>) {
    let path = FieldPath::of_fields("spec.template.metadata");
    let entries = |name: &str| {
        object
            .pointer("/spec/template/metadata")
            .and_then(|metadata| metadata.get(name))
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    };
    violations.extend(validate_labels(&entries("labels"), &path.field("labels")));
    violations.extend(validate_annotations(
        &entries("annotations"),
        &path.field("annotations"),
    ));
}
