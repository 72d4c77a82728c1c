//! `validate` and what no node and no object can have: labels, annotations and taints
//! (`k8s.io/apimachinery/pkg/util/validation`, `k8s.io/kubernetes/pkg/util/taints`).

use std::fs;

use crate::support::windlass;

fn validate(text: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.yaml"), text).unwrap();
    let output = windlass(folder.path())
        .args(["validate", "a.yaml", "--kubernetes-version", "v1.34.1"])
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

/// A worker with these fields below `nodeRegistration`, from line 7 on.
fn worker(registration: &str) -> (Option<i32>, String) {
    validate(&format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  joinConfiguration:\n    nodeRegistration:\n      {registration}\n"
    ))
}

fn argument(name: &str, value: &str) -> (Option<i32>, String) {
    worker(&format!(
        "kubeletExtraArgs: [{{name: {name}, value: \"{value}\"}}]"
    ))
}

#[test]
fn a_label_that_no_node_can_have_is_an_error() {
    let long = "a".repeat(64);
    for bad in [
        "a b=c",
        "a:b",
        "-a=b",
        "a=b c",
        "a=b=c",
        "a=b;c=d",
        "example.com/a/b=c",
        "Example.com/a=b",
        "=b",
        &format!("a={long}"),
    ] {
        let (code, report) = argument("node-labels", bad);
        assert_eq!(code, Some(1), "{bad}: {report}");
        assert_eq!(
            report.matches("error[node-label-malformed]").count(),
            1,
            "{bad}: {report}"
        );
        assert!(report.contains("a.yaml:7:"), "{report}");
    }
    for good in [
        "a=b",
        "a",
        "a=",
        "a=b, c = d",
        "a=b,,c=d,",
        "example.com/a_b.c=D-1",
        "",
        "kubernetes.io/os=linux",
    ] {
        assert_eq!(
            argument("node-labels", good).0,
            Some(0),
            "{good}: {}",
            argument("node-labels", good).1
        );
    }
}

/// cloud-init fills in its variables on the machine, and scripts do it with theirs; what they
/// become nobody knows here.
#[test]
fn what_is_filled_in_on_the_machine_is_not_judged() {
    for text in [
        "zone={{ ds.meta_data.zone }}",
        "zone=${ZONE}",
        "zone=$(cat /zone)",
    ] {
        assert_eq!(argument("node-labels", text).0, Some(0), "{text}");
        assert!(
            !argument("register-with-taints", text)
                .1
                .contains("node-taint-"),
            "{text}"
        );
    }
}

/// One finding for a label, that of whose it is.
#[test]
fn a_restricted_label_has_one_finding() {
    let (_, report) = argument("node-labels", "node-role.kubernetes.io/worker=a b");
    assert!(
        report.contains("node-label-restricted") && !report.contains("node-label-malformed"),
        "{report}"
    );
}

#[test]
fn a_taint_that_no_node_can_have_is_an_error() {
    for (bad, part) in [
        ("{key: a b, effect: NoSchedule}", "key"),
        ("{key: a, value: b c, effect: NoSchedule}", "value"),
        ("{key: a, effect: NoSchedul}", "effect"),
        ("{key: a, effect: noschedule}", "effect"),
        ("{key: \"\", effect: NoExecute}", "key"),
    ] {
        let (code, report) = worker(&format!("taints: [{bad}]"));
        assert_eq!(code, Some(1), "{bad}: {report}");
        assert_eq!(report.matches("error[").count(), 1, "{bad}: {report}");
        assert!(
            report.contains("error[node-taint-malformed]")
                && report.contains(&format!("taints[0].{part}:")),
            "{bad}: {report}"
        );
    }
    let (_, near) = worker("taints: [{key: a, effect: NoSchedul}]");
    assert!(near.contains("did you mean NoSchedule?"), "{near}");
    let (code, report) = worker(
        "taints: [{key: example.com/a, value: b, effect: NoSchedule}, {key: a, effect: NoExecute}]",
    );
    assert_eq!(code, Some(0), "{report}");
}

#[test]
fn the_same_taint_twice_is_an_error() {
    let (code, report) = worker(
        "taints: [{key: a, value: b, effect: NoSchedule}, {key: a, value: c, effect: NoSchedule}]",
    );
    assert!(
        code == Some(1)
            && report.contains("error[node-taint-repeated]")
            && report.contains("taints[1]"),
        "{report}"
    );
    assert_eq!(
        worker("taints: [{key: a, effect: NoSchedule}, {key: a, effect: NoExecute}]").0,
        Some(0)
    );
    assert!(
        argument("register-with-taints", "a=b:NoSchedule,a=c:NoSchedule")
            .1
            .contains("error[node-taint-repeated]")
    );
}

#[test]
fn taints_of_an_argument_are_judged_too() {
    for bad in [
        "a",
        "a=b",
        "a=b:",
        "a=b:Never",
        "a=b:NoSchedule:NoExecute",
        "a b=c:NoSchedule",
        "a=b:NoSchedule,,",
    ] {
        let (code, report) = argument("register-with-taints", bad);
        assert!(
            code == Some(1) && report.contains("error[node-taint-malformed]"),
            "{bad}: {report}"
        );
    }
    for good in [
        "a=b:NoSchedule",
        "a:NoExecute",
        "a=b:NoSchedule,c=d:PreferNoSchedule",
        "",
    ] {
        assert_eq!(argument("register-with-taints", good).0, Some(0), "{good}");
    }
}

/// A text with very many faults: the first are told, and how many there are more.
#[test]
fn very_many_faults_of_one_text_are_counted() {
    for name in ["node-labels", "register-with-taints"] {
        let parts: Vec<String> = (0..45).map(|n| format!("a {n}")).collect();
        let (code, report) = argument(name, &parts.join(","));
        assert_eq!(
            (code, report.matches("error[").count()),
            (Some(1), 20),
            "{name}: {report}"
        );
        assert!(report.contains("25 more parts of it"), "{name}: {report}");
    }
}

const DEPLOYMENT: &str = "apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: m, labels: {OWN}}
spec:
  clusterName: c
  selector: {}
  template:
    metadata: {labels: {MACHINES}}
    spec:
      clusterName: c
      bootstrap: {dataSecretName: s}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: DockerMachineTemplate, name: t}
";

/// An object without a name, or with one that is no DNS subdomain, is none for the API server;
/// roles may be called as they like.
#[test]
fn names_of_objects_are_judged() {
    let of = |metadata: &str| {
        validate(
            &DEPLOYMENT
                .replace("metadata: {name: m, labels: {OWN}}", metadata)
                .replace("MACHINES", "a: b"),
        )
    };
    for fine in ["metadata: {name: m.n-2}", "metadata: {generateName: m-}"] {
        assert_eq!(of(fine).0, Some(0), "{}", of(fine).1);
    }
    for (metadata, said) in [
        (
            "metadata: {namespace: n}",
            "the MachineDeployment has no name",
        ),
        (
            "metadata: {name: M}",
            "metadata.name: a lowercase RFC 1123 subdomain must consist of",
        ),
        (
            "metadata: {name: a_b}",
            "metadata.name: a lowercase RFC 1123 subdomain must consist of",
        ),
    ] {
        let (code, report) = of(metadata);
        assert!(
            code == Some(1) && report.contains(&format!("error[object-metadata-refused]: {said}")),
            "{report}"
        );
        assert!(report.contains("a.yaml:3:"), "{report}");
    }
    let (code, report) = of("metadata: {name: 123}");
    assert!(
        code == Some(1) && report.contains("metadata.name is read as `123`, not as text"),
        "{report}"
    );
    // Documents that only look like objects of a cluster.
    for document in [
        "kustomize.config.k8s.io/v1beta1\nkind: Kustomization",
        "clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata",
        "kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration",
        "kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration",
        "networking.k8s.io/v1\nkind: IPAddress\nmetadata: {name: '2001:db8::1'}",
    ] {
        let beside = format!("---\napiVersion: {document}\n");
        let (code, report) = validate(
            &[
                &DEPLOYMENT.replace("OWN", "").replace("MACHINES", ""),
                beside.as_str(),
            ]
            .concat(),
        );
        assert_eq!(code, Some(0), "{report}");
    }
    let role = "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: 'system:a'}\nrules: []\n";
    let (code, report) =
        validate(&[&DEPLOYMENT.replace("OWN", "").replace("MACHINES", ""), role].concat());
    assert_eq!(code, Some(0), "{report}");
}

/// The API server refuses the first; no webhook looks at the second, and no machine comes.
#[test]
fn labels_of_objects_and_of_their_machines_are_judged() {
    let of = |own: &str, machines: &str| {
        validate(&DEPLOYMENT.replace("OWN", own).replace("MACHINES", machines))
    };
    assert_eq!(of("a: b", "c: d").0, Some(0), "{}", of("a: b", "c: d").1);
    for (own, machines, line) in [("a: b c", "c: d", 3), ("a: b", "c d: d", 8)] {
        let (code, report) = of(own, machines);
        assert!(
            code == Some(1) && report.contains("error[object-metadata-refused]"),
            "{report}"
        );
        assert!(report.contains(&format!("a.yaml:{line}:")), "{report}");
    }
}

/// Each finding stands at its entry, and tells what the API server asks of that: values of
/// annotations are free.
#[test]
fn refused_metadata_stands_at_its_entry() {
    let block = DEPLOYMENT.replace(
        "metadata: {name: m, labels: {OWN}}",
        "metadata:\n  name: m\n  labels:\n    fine: x\n    key: not a value\n    a key: x",
    );
    let (code, report) = validate(&block.replace("MACHINES", "c: d"));
    assert!(
        code == Some(1) && report.contains("a.yaml:7:5") && report.contains("a.yaml:8:5"),
        "{report}"
    );
    assert!(
        !report.contains("a.yaml:6:") && report.contains("change the name or the value"),
        "{report}"
    );
    let value = "long and free: ".repeat(20);
    let annotated =
        format!("metadata:\n  name: m\n  annotations:\n    fine: \"{value}\"\n    a key: x");
    let (code, report) = validate(
        &DEPLOYMENT
            .replace("metadata: {name: m, labels: {OWN}}", &annotated)
            .replace("MACHINES", "c: d"),
    );
    assert!(
        code == Some(1) && report.contains("a.yaml:7:5") && !report.contains("a.yaml:6:"),
        "{report}"
    );
    assert!(
        report.contains("the value is free") && !report.contains("or the value"),
        "{report}"
    );
    let large = annotated.replace("a key: x", &format!("b: \"{}\"", "x".repeat(256 << 10)));
    let (code, report) = validate(
        &DEPLOYMENT
            .replace("metadata: {name: m, labels: {OWN}}", &large)
            .replace("MACHINES", "c: d"),
    );
    assert!(
        code == Some(1) && report.contains("a.yaml:5:3") && report.contains("at most 256 KiB"),
        "{report}"
    );
}

const CLASS: &str = include_str!("../../examples/topology/harbour.yaml");

/// `ObjectMeta.Validate` in the webhooks of Cluster and ClusterClass.
#[test]
fn labels_of_a_topology_are_judged_as_its_webhook_does() {
    let topology = CLASS.replace(
        "      - class: worker\n",
        "      - class: worker\n        metadata: {labels: {a b: c}}\n",
    );
    assert_ne!(topology, CLASS);
    let (code, report) = validate(&topology);
    assert!(
        code == Some(1) && report.contains("error[topology-cluster-refused]"),
        "{report}"
    );
    assert!(
        report.contains("metadata.labels: Invalid value: \"a b\": name part must consist of"),
        "{report}"
    );
    assert_eq!(validate(CLASS).0, Some(0), "{}", validate(CLASS).1);
}
