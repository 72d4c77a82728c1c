//! What Cluster API's webhooks reject of a class or a topology, in their words
//! (`core/webhooks/admission` and `internal/topology` of v1.14).

use std::fs;

use serde_json::{Value, json};

use crate::support::{core_schema, windlass};

const SOUND: &str = include_str!("../../../examples/topology/harbour.yaml");

/// The messages of the errors about the sound class and topology with these changes.
fn rejected(changes: &[(&str, &str)]) -> Vec<String> {
    let text = changes.iter().fold(SOUND.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    errors_about(&text)
}

/// The messages of the errors about a text.
fn errors_about(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), text).unwrap();
    let output = windlass(folder.path())
        .args(["topology", "plan", "a.yaml", "-o", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let errors = findings
        .iter()
        .filter(|finding| finding["severity"] == "error");
    errors
        .map(|finding| finding["message"].as_str().unwrap().to_owned())
        .collect()
}

const CLASS_WORKER: (&str, &str) = (
    "    - class: worker\n",
    "spec.workers.machineDeployments[worker]",
);
const CLASS_CONTROL_PLANE: (&str, &str) = ("  controlPlane:\n", "spec.controlPlane");
const WORKER: (&str, &str) = (
    "      - class: worker\n",
    "spec.topology.workers.machineDeployments[gpu]",
);

/// One field more behind a line.
fn with(line: &str, field: &str) -> Vec<String> {
    let indent = " ".repeat(line.len() - line.trim_start().len() + 2);
    rejected(&[(line, &format!("{line}{indent}{field}\n"))])
}

#[test]
fn taints_of_the_system_are_rejected() {
    for (key, detail) in [
        (
            "node.cluster.x-k8s.io/uninitialized",
            "taint key is not allowed",
        ),
        (
            "node.cluster.x-k8s.io/outdated-revision",
            "taint key is not allowed",
        ),
        (
            "node.kubernetes.io/not-ready",
            "taint key must not have the prefix node.kubernetes.io/, except for node.kubernetes.io/out-of-service",
        ),
        (
            "node.cloudprovider.kubernetes.io/uninitialized",
            "taint key must not have the prefix node.cloudprovider.kubernetes.io/",
        ),
        (
            "node-role.kubernetes.io/master",
            "taint is deprecated since 1.24 and should not be used anymore",
        ),
    ] {
        let taints = format!(
            "taints: [{{key: own, effect: NoExecute, propagation: Always}}, {{key: {key}, effect: NoExecute, propagation: Always}}]"
        );
        for (line, field) in [CLASS_WORKER, CLASS_CONTROL_PLANE, WORKER] {
            let expected = format!("{field}.taints[1].key: Invalid value: \"{key}\": {detail}");
            assert_eq!(with(line, &taints), [expected]);
        }
        let of_topology = taints.replace("taints:", "controlPlane: {replicas: 3, taints:") + "}";
        let found = rejected(&[(
            "    controlPlane: {replicas: 3}\n",
            &format!("    {of_topology}\n"),
        )]);
        assert_eq!(
            found,
            [format!(
                "spec.topology.controlPlane.taints[1].key: Invalid value: \"{key}\": {detail}"
            )]
        );
    }
    for key in ["node.kubernetes.io/out-of-service", "example.com/gpu"] {
        assert_eq!(
            with(
                WORKER.0,
                &format!(
                    "taints: [{{key: {key}, effect: NoSchedule, propagation: OnInitialization}}]"
                )
            ),
            [""; 0]
        );
    }
    let pool = "      machinePools:\n      - {class: p, name: pool, taints: [{key: node-role.kubernetes.io/master, effect: NoSchedule, propagation: Always}]}\n";
    let found = rejected(&[(
        "    variables:\n    - {name: registry",
        &format!("{pool}    variables:\n    - {{name: registry"),
    )]);
    assert!(
        found.iter().any(|text| text
            .starts_with("spec.topology.workers.machinePools[pool].taints[0].key: Invalid value")),
        "{found:?}"
    );
}

#[test]
fn versions_of_a_class_ascend_without_a_gap() {
    let of = |versions: &str| {
        let added = "  controlPlane:\n    templateRef: {apiVersion: controlplane";
        rejected(&[(
            added,
            &format!("  kubernetesVersions: [{versions}]\n{added}"),
        )])
    };
    for sound in [
        "v1.36.0",
        "v1.35.0, v1.35.1, v1.36.0",
        "v1.36.0-rc.0, v1.36.0",
        "v1.36.0+a, v1.36.0+b, v1.36.0",
        "v1.36.0+1, v1.36.0+1.a, v1.36.0",
    ] {
        let found = of(sound);
        let is_last = sound.ends_with(", v1.36.0") && sound.contains('+');
        assert_eq!(found.len(), usize::from(is_last), "{sound}: {found:?}");
    }
    let greater = |index: usize, text: &str, before: &str| {
        format!(
            "spec.kubernetesVersion[{index}]: Invalid value: \"{text}\": version must be greater than v{before}"
        )
    };
    assert_eq!(of("v1.36.0, v1.36.0"), [greater(1, "v1.36.0", "1.36.0")]);
    assert_eq!(of("v1.36.1, v1.36.0"), [greater(1, "v1.36.0", "1.36.1")]);
    assert_eq!(
        of("v1.36.0+2, v1.36.0+1, v1.36.0"),
        [
            greater(1, "v1.36.0+1", "1.36.0+2"),
            greater(2, "v1.36.0", "1.36.0+1")
        ]
    );
    assert_eq!(
        of("v1.36.0, v1.36.0+a, v1.36.0+1"),
        [greater(2, "v1.36.0+1", "1.36.0+a")]
    );
    let gap = "spec.kubernetesVersion[1]: Invalid value: \"v1.36.0\": expecting a version with minor 34 or 35, found version 1.36.0";
    assert_eq!(of("v1.34.0, v1.36.0"), [gap]);
    let none = "spec.kubernetesVersion[0]: Invalid value: \"1.x\": version must be a valid semantic version";
    assert_eq!(of("1.x, v1.36.0"), [none]);
    let other = "spec.topology.version: Invalid value: \"v1.36.0\": version must match one of the versions defined in the ClusterClass";
    assert_eq!(of("v1.35.0"), [other]);
}

#[test]
fn health_checks_that_are_turned_on_are_described() {
    let undefined = "cannot be set to true as healthCheck definition is not available in the Cluster topology or the ClusterClass";
    let of_worker = "spec.topology.workers.machineDeployments[gpu].healthCheck";
    assert_eq!(
        with(WORKER.0, "healthCheck: {enabled: true}"),
        [format!("{of_worker}.enable: Forbidden: {undefined}")]
    );
    assert_eq!(with(WORKER.0, "healthCheck: {enabled: false}"), [""; 0]);
    assert_eq!(
        with(
            WORKER.0,
            "healthCheck: {enabled: true, checks: {nodeStartupTimeoutSeconds: 60}}"
        ),
        [""; 0]
    );
    let in_class = rejected(&[
        (
            CLASS_WORKER.0,
            "    - class: worker\n      healthCheck: {checks: {nodeStartupTimeoutSeconds: 60}}\n",
        ),
        (
            WORKER.0,
            "      - class: worker\n        healthCheck: {enabled: true}\n",
        ),
    ]);
    assert_eq!(in_class, [""; 0]);
    let soon = format!(
        "{of_worker}.checks.nodeStartupTimeoutSeconds: Invalid value: 5: must be at least 30s"
    );
    assert_eq!(
        with(
            WORKER.0,
            "healthCheck: {checks: {nodeStartupTimeoutSeconds: 5}}"
        ),
        [soon]
    );
    let of_control_plane = |check: &str| {
        rejected(&[(
            "    controlPlane: {replicas: 3}\n",
            &format!("    controlPlane: {{replicas: 3, healthCheck: {check}}}\n"),
        )])
    };
    assert_eq!(
        of_control_plane("{enabled: true}"),
        [format!(
            "spec.topology.controlPlane.healthCheck.enable: Forbidden: {undefined}"
        )]
    );
    assert_eq!(
        of_control_plane(
            "{enabled: true, remediation: {triggerIf: {unhealthyLessThanOrEqualTo: 40%}}}"
        ),
        [""; 0]
    );
    let share = of_control_plane("{remediation: {triggerIf: {unhealthyLessThanOrEqualTo: many}}}");
    assert!(
        matches!(&share[..], [only] if only.contains("must be either an int or a percentage")),
        "{share:?}"
    );
    // The machines of a control plane without a template of machines are nobody's to check.
    let machines = "    machineInfrastructure:\n      templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta2, kind: DockerMachineTemplate, name: harbour}\n";
    let found = rejected(&[
        (machines, ""),
        (
            "    controlPlane: {replicas: 3}\n",
            "    controlPlane: {replicas: 3, healthCheck: {checks: {nodeStartupTimeoutSeconds: 60}}}\n",
        ),
    ]);
    let forbidden = "spec.topology.controlPlane.healthCheck: Forbidden: can be only set if spec.controlPlane.machineInfrastructure is set in ClusterClass";
    assert_eq!(found, [forbidden]);
}

#[test]
fn rollouts_names_and_concurrency_of_a_topology_are_judged() {
    let field = "spec.topology.workers.machineDeployments[gpu].rollout.strategy.rollingUpdate";
    let both = with(
        WORKER.0,
        "rollout: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}}",
    );
    assert_eq!(
        both,
        [format!(
            "{field}: Invalid value: \"0\": maxUnavailable and maxSurge cannot both be 0"
        )]
    );
    let words = with(
        WORKER.0,
        "rollout: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: most}}}",
    );
    assert!(
        matches!(&words[..], [only] if only.starts_with(&format!("{field}.maxSurge: Invalid value: \"most\""))),
        "{words:?}"
    );
    let long = "a".repeat(60) + ".bcd";
    let named = rejected(&[("  name: pier\n", &format!("  name: {long}\n"))]);
    let expected = format!(
        "metadata.name: Invalid value: \"{long}\": must be a valid label value must be no more than 63 bytes"
    );
    assert_eq!(named, [expected]);
    let at_once = |value: &str| {
        let annotations = format!(
            "  name: pier\n  annotations: {{topology.cluster.x-k8s.io/upgrade-concurrency: \"{value}\"}}\n"
        );
        rejected(&[("  name: pier\n", &annotations)])
    };
    let at = "metadata.annotations.topology.cluster.x-k8s.io/upgrade-concurrency";
    assert_eq!(at_once("2"), [""; 0]);
    assert_eq!(
        at_once("0"),
        [format!(
            "{at}: Invalid value: \"0\": value cannot be less than 1"
        )]
    );
    let parsing = "could not parse the value of the annotation: strconv.Atoi: parsing \"few\": invalid syntax";
    assert_eq!(
        at_once("few"),
        [format!("{at}: Invalid value: \"few\": {parsing}")]
    );
}

/// A class with all kinds of parts, in a version of Cluster API's types, and a Cluster that uses
/// it.
fn whole_class(version: &str) -> [Value; 2] {
    let kind_of = |kind: &str| json!({"apiVersion": "a.io/v1beta2", "kind": format!("{kind}Template"), "name": "t"});
    let of = |kind: &str| match version {
        "v1beta1" => json!({"ref": kind_of(kind)}),
        _ => json!({"templateRef": kind_of(kind)}),
    };
    let workers = |class: &str| match version {
        "v1beta1" => {
            json!([{"class": class, "template": {"bootstrap": of("Boot"), "infrastructure": of("Machine")}}])
        }
        _ => json!([{"class": class, "bootstrap": of("Boot"), "infrastructure": of("Machine")}]),
    };
    let mut control_plane = of("Plane");
    control_plane["machineInfrastructure"] = of("Machine");
    let spec = json!({
        "infrastructure": of("Infra"), "controlPlane": control_plane,
        "workers": {"machineDeployments": workers("md"), "machinePools": workers("mp")},
    });
    let api_version = format!("cluster.x-k8s.io/{version}");
    let class = json!({"apiVersion": api_version, "kind": "ClusterClass", "metadata": {"name": "c"}, "spec": spec});
    let mut topology = json!({"version": "v1.34.1"});
    match version {
        "v1beta1" => topology["class"] = json!("c"),
        _ => topology["classRef"] = json!({"name": "c"}),
    }
    [
        class,
        json!({"apiVersion": api_version, "kind": "Cluster", "metadata": {"name": "x"}, "spec": {"topology": topology}}),
    ]
}

/// Each field of a value that a schema demands: where it stands for `pointer`, and as the API
/// server spells it.
fn demanded(
    schema: &Value,
    value: &Value,
    pointer: &str,
    field: &str,
    found: &mut Vec<(String, String)>,
) {
    for name in schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        found.push((format!("{pointer}/{name}"), format!("{field}.{name}")));
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        demanded(
            &schema["properties"][name],
            value,
            &format!("{pointer}/{name}"),
            &format!("{field}.{name}"),
            found,
        );
    }
    for (index, value) in value.as_array().into_iter().flatten().enumerate() {
        demanded(
            &schema["items"],
            value,
            &format!("{pointer}/{index}"),
            &format!("{field}[{index}]"),
            found,
        );
    }
}

/// What Cluster API's CRD demands of a class, a class in use is rejected without.
#[test]
fn classes_in_use_have_what_their_crd_demands() {
    for (version, least) in [("v1beta1", 10), ("v1beta2", 30)] {
        let schema = &core_schema("ClusterClass", version)["properties"]["spec"];
        let [class, cluster] = whole_class(version);
        let mut fields = Vec::new();
        demanded(schema, &class["spec"], "/spec", "spec", &mut fields);
        assert!(fields.len() >= least, "{version}: {fields:?}");
        for (pointer, field) in fields {
            let mut class = class.clone();
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            let removed = class
                .pointer_mut(parent)
                .unwrap()
                .as_object_mut()
                .unwrap()
                .remove(name);
            assert!(removed.is_some(), "{version} {field}: the class has it");
            let said = errors_about(&format!("{class}\n---\n{cluster}\n"));
            assert!(
                said.contains(&format!("{field}: Required value")),
                "{version} {field}: {said:?}"
            );
        }
    }
}

/// `ClusterClassTemplateIsValid` of `internal/topology/check`; the CRD of v1beta1 lets it pass.
#[test]
fn references_of_old_classes_are_whole() {
    for (field, value, expected) in [
        (
            "name",
            json!(""),
            "name: Required value: template name must be defined",
        ),
        (
            "apiVersion",
            json!(""),
            "apiVersion: Required value: template apiVersion must be defined",
        ),
        (
            "apiVersion",
            json!("/"),
            "apiVersion: Required value: template apiVersion must be defined",
        ),
        (
            "apiVersion",
            json!("a/b/c"),
            "apiVersion: Invalid value: \"a/b/c\": template apiVersion must be a valid Kubernetes apiVersion: unexpected GroupVersion string: a/b/c",
        ),
        (
            "kind",
            json!("Machine"),
            "kind: Invalid value: \"Machine\": template kind must be of form \"<name>Template\"",
        ),
    ] {
        let [mut class, cluster] = whole_class("v1beta1");
        class["spec"]["infrastructure"]["ref"][field] = value;
        let said = errors_about(&format!("{class}\n---\n{cluster}\n"));
        assert_eq!(said, [format!("spec.infrastructure.ref.{expected}")]);
    }
}
