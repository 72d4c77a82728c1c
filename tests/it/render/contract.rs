//! What the Cluster API contract says of bootstrap data, rule by rule.

use super::{WORKER, render_text};

/// A config with this spec, given as lines without indentation.
fn config(version: &str, spec: &str) -> String {
    let spec: String = spec.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/{version}\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n{spec}"
    )
}

fn rendered(text: &str, flags: &[&str]) -> String {
    let (code, data, talk) = render_text(text, &[&["render", "-"], flags].concat());
    assert_eq!(code, 0, "{talk}");
    data
}

const INIT: &[&str] = &["--role", "init"];
const WORKS: &[&str] = &["--role", "worker-join"];

fn rejection(text: &str, flags: &[&str]) -> String {
    let (code, data, talk) = render_text(text, &[&["render", "-"], flags].concat());
    assert_eq!((code, data.as_str()), (1, ""), "{talk}");
    talk
}

#[test]
fn a_control_plane_machine_is_one_by_its_label_whatever_the_value() {
    let machine = "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Machine\nmetadata: {name: m, labels: {LABELS}}\nspec: {clusterName: c, version: v1.34.1, bootstrap: {configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: w}}}\n";
    for (labels, verb) in [
        ("cluster.x-k8s.io/control-plane: \"\"", "init"),
        ("cluster.x-k8s.io/control-plane: \"false\"", "init"),
        ("a: b", "join"),
    ] {
        let data = rendered(
            &format!("{WORKER}{}", machine.replace("LABELS", labels)),
            &[],
        );
        assert!(
            data.contains(&format!("kubeadm {verb} --config ")),
            "{labels}"
        );
    }
}

#[test]
fn the_sentinel_is_written_after_success_alone() {
    let command = "&& echo success > /run/cluster-api/bootstrap-success.complete";
    for role in ["init", "control-plane-join", "worker-join", "machinepool"] {
        let data = rendered(WORKER, &["--role", role]);
        assert_eq!(
            data.matches("bootstrap-success.complete").count(),
            1,
            "{role}"
        );
        assert!(
            data.lines()
                .any(|line| line.contains("kubeadm ") && line.contains(command)),
            "{role}"
        );
    }
}

#[test]
fn workers_alone_get_the_taint_of_uninitialized_nodes() {
    let taint = "          key: node.cluster.x-k8s.io/uninitialized\n";
    for (role, expected) in [
        ("init", false),
        ("control-plane-join", false),
        ("worker-join", true),
        ("machinepool", true),
    ] {
        assert_eq!(
            rendered(WORKER, &["--role", role]).contains(taint),
            expected,
            "{role}"
        );
    }
    let own = config(
        "v1beta2",
        "joinConfiguration: {nodeRegistration: {taints: [{key: node.cluster.x-k8s.io/uninitialized, effect: NoSchedule}]}}",
    );
    assert_eq!(rendered(&own, WORKS).matches(taint).count(), 1);
}

#[test]
fn absent_taints_are_not_an_empty_list() {
    let with = |taints: &str| {
        rendered(
            &config(
                "v1beta2",
                &format!("initConfiguration: {{nodeRegistration: {{name: node-1{taints}}}}}"),
            ),
            INIT,
        )
    };
    assert!(with("").contains("        taints: null\n"));
    assert!(with(", taints: []").contains("        taints: []\n"));
}

#[test]
fn kubeadms_version_follows_that_of_kubernetes() {
    for (kubernetes, api) in [
        ("v1.22.0", "v1beta3"),
        ("v1.30.9", "v1beta3"),
        ("v1.31.0-alpha.1", "v1beta4"),
        ("v1.36.0", "v1beta4"),
    ] {
        let data = rendered(WORKER, &["--kubernetes-version", kubernetes]);
        assert!(
            data.contains(&format!("apiVersion: kubeadm.k8s.io/{api}\n")),
            "{kubernetes}"
        );
    }
    let talk = rejection(WORKER, &["--kubernetes-version", "v1.21.5"]);
    assert!(
        talk.contains("error[kubernetes-version-unsupported]"),
        "{talk}"
    );
}

#[test]
fn what_kubeadms_version_lacks_is_told() {
    let spec = "clusterConfiguration: {encryptionAlgorithm: RSA-3072, apiServer: {extraEnvs: [{name: A, value: b}]}}\ninitConfiguration: {nodeRegistration: {imagePullSerial: true}}";
    let (code, data, talk) = render_text(
        &config("v1beta2", spec),
        &[
            "render",
            "-",
            "--role",
            "init",
            "--kubernetes-version",
            "v1.30.0",
        ],
    );
    assert_eq!(code, 0, "{talk}");
    for field in [
        "clusterConfiguration.encryptionAlgorithm",
        "clusterConfiguration.apiServer.extraEnvs",
        "initConfiguration.nodeRegistration.imagePullSerial",
    ] {
        assert!(
            talk.contains(&format!(
                "warning[kubeadm-field-dropped]: spec.{field} does not reach the machine"
            )),
            "{talk}"
        );
    }
    assert!(
        !data.contains("RSA-3072") && !data.contains("imagePullSerial"),
        "{data}"
    );
}

/// What CAPI's conversions to kubeadm's v1beta2 and v1beta3 leave out ("does not exist in
/// peer-type").
#[test]
fn each_field_that_kubeadms_version_lacks_is_told() {
    let init = [
        (
            "v1.30.0",
            "clusterConfiguration",
            "caCertificateValidityPeriodDays: 100",
            "caCertificateValidityPeriodDays",
        ),
        (
            "v1.30.0",
            "clusterConfiguration",
            "certificateValidityPeriodDays: 100",
            "certificateValidityPeriodDays",
        ),
        (
            "v1.30.0",
            "clusterConfiguration",
            "encryptionAlgorithm: RSA-3072",
            "encryptionAlgorithm",
        ),
        (
            "v1.30.0",
            "clusterConfiguration",
            "scheduler: {extraEnvs: [{name: A, value: b}]}",
            "scheduler.extraEnvs",
        ),
        (
            "v1.30.0",
            "clusterConfiguration",
            "controllerManager: {extraEnvs: [{name: A, value: b}]}",
            "controllerManager.extraEnvs",
        ),
        (
            "v1.30.0",
            "clusterConfiguration",
            "etcd: {local: {extraEnvs: [{name: A, value: b}]}}",
            "etcd.local.extraEnvs",
        ),
        (
            "v1.30.0",
            "initConfiguration",
            "timeouts: {discoverySeconds: 1}",
            "timeouts.discoverySeconds",
        ),
    ];
    for (kubernetes, root, field, expected) in init {
        let text = config("v1beta2", &format!("{root}: {{{field}}}"));
        let (code, _, talk) = render_text(
            &text,
            &[
                "render",
                "-",
                "--role",
                "init",
                "--kubernetes-version",
                kubernetes,
            ],
        );
        assert_eq!(code, 0, "{talk}");
        assert!(
            talk.contains(&format!(
                "warning[kubeadm-field-dropped]: spec.{root}.{expected} does not reach the machine"
            )),
            "{field}\n{talk}"
        );
        assert_eq!(
            talk.matches("kubeadm-field-dropped").count(),
            1,
            "{field}\n{talk}"
        );
        let (_, _, talk) = render_text(
            &text,
            &[
                "render",
                "-",
                "--role",
                "init",
                "--kubernetes-version",
                "v1.31.0",
            ],
        );
        assert!(!talk.contains("kubeadm-field-dropped"), "{talk}");
    }
    // Only CAPI v1.10 renders Kubernetes 1.21, with kubeadm's v1beta2.
    for (role, root) in [
        ("init", "initConfiguration"),
        ("worker-join", "joinConfiguration"),
    ] {
        for (field, expected) in [
            ("patches: {directory: /p}", "patches"),
            ("skipPhases: [addon]", "skipPhases"),
            (
                "nodeRegistration: {imagePullPolicy: Never}",
                "nodeRegistration.imagePullPolicy",
            ),
        ] {
            let text = config("v1beta1", &format!("{root}: {{{field}}}"));
            let flags = [
                "render",
                "-",
                "--role",
                role,
                "--capi-version",
                "v1.10",
                "--kubernetes-version",
            ];
            let (code, _, talk) = render_text(&text, &[&flags[..], &["v1.21.14"]].concat());
            assert_eq!(code, 0, "{talk}");
            let told = format!(
                "warning[kubeadm-field-dropped]: spec.{root}.{expected} does not reach the machine: kubeadm.k8s.io/v1beta2"
            );
            assert!(
                talk.contains(&told) && talk.contains("use Kubernetes v1.22.0 or newer"),
                "{field}\n{talk}"
            );
            let (_, _, talk) = render_text(&text, &[&flags[..], &["v1.22.0"]].concat());
            assert!(!talk.contains("kubeadm-field-dropped"), "{talk}");
        }
    }
}

#[test]
fn what_v1beta2_dropped_comes_from_cluster_and_machine() {
    let spec = "clusterConfiguration: {clusterName: mine, kubernetesVersion: v1.20.0, networking: {dnsDomain: mine.local}}";
    let flags = [
        INIT,
        &["--cluster-name", "real", "--kubernetes-version", "v1.34.0"],
    ]
    .concat();
    let data = rendered(&config("v1beta1", spec), &flags);
    assert!(
        data.contains("      clusterName: real\n")
            && data.contains("      kubernetesVersion: v1.34.0\n")
            && !data.contains("mine"),
        "{data}"
    );
    // CAPI v1.10 works on v1beta1 itself.
    let data = rendered(
        &config("v1beta1", spec),
        &[&flags[..], &["--capi-version", "v1.10"]].concat(),
    );
    assert!(
        data.contains("      clusterName: mine\n")
            && data.contains("        dnsDomain: mine.local\n"),
        "{data}"
    );
}

#[test]
fn extra_arguments_are_a_map_or_a_list() {
    let old = config(
        "v1beta1",
        "joinConfiguration: {nodeRegistration: {kubeletExtraArgs: {b: \"2\", a: \"1\"}}}",
    );
    let new = config(
        "v1beta2",
        "joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: b, value: \"2\"}, {name: a, value: \"1\"}]}}",
    );
    let map = "        kubeletExtraArgs:\n          a: \"1\"\n          b: \"2\"\n";
    let list = |first: &str, second: &str| {
        format!(
            "        kubeletExtraArgs:\n        - name: {}\n          value: \"{}\"\n        - name: {}\n          value: \"{}\"\n",
            &first[..1],
            &first[1..],
            &second[..1],
            &second[1..]
        )
    };
    for text in [&old, &new] {
        assert!(rendered(text, &["--kubernetes-version", "v1.30.0"]).contains(map));
    }
    assert!(rendered(&old, &[]).contains(&list("a1", "b2")));
    assert!(rendered(&new, &[]).contains(&list("b2", "a1")));
    let twice = config(
        "v1beta2",
        "joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: a, value: \"1\"}, {name: a, value: \"2\"}]}}",
    );
    assert!(rejection(&twice, &[]).contains("kubeletExtraArgs name must be unique"));
}

#[test]
fn timeouts_are_whole_seconds_from_both_versions() {
    let old = config(
        "v1beta1",
        "clusterConfiguration: {apiServer: {timeoutForControlPlane: 20m30.5s}}",
    );
    assert!(
        rendered(&old, INIT)
            .contains("      timeouts:\n        controlPlaneComponentHealthCheck: 20m30s\n")
    );
    let new = config(
        "v1beta2",
        "initConfiguration: {timeouts: {controlPlaneComponentHealthCheckSeconds: 300}}",
    );
    assert!(rendered(&new, INIT).contains("        controlPlaneComponentHealthCheck: 5m0s\n"));
    assert!(
        rendered(&new, &[INIT, &["--kubernetes-version", "v1.30.0"]].concat())
            .contains("        timeoutForControlPlane: 5m0s\n")
    );
}

#[test]
fn a_partition_has_one_layout_of_at_most_a_whole_disk() {
    let disk = |fields: &str| {
        config(
            "v1beta2",
            &format!("diskSetup: {{partitions: [{{device: /dev/sdb, {fields}}}]}}"),
        )
    };
    assert!(
        rendered(&disk("layout: true"), WORKS)
            .contains("disk_setup:\n  /dev/sdb:\n    layout: true\n")
    );
    let parts = "diskLayout: [{percentage: 60}, {percentage: 40, partitionType: LinuxSwap}]";
    assert!(rendered(&disk(parts), WORKS).contains("    layout:\n      - 60\n      - [40, 82]\n"));
    let both = rejection(&disk(&format!("layout: true, {parts}")), WORKS);
    assert!(
        both.contains("exactly one of the fields in [layout diskLayout] must be set"),
        "{both}"
    );
    let over = rejection(
        &disk("diskLayout: [{percentage: 60}, {percentage: 50}]"),
        WORKS,
    );
    assert!(
        over.contains("the sum of all partition percentages must not be greater than 100"),
        "{over}"
    );
}

#[test]
fn a_discovery_kubeconfig_is_completed_and_written() {
    let spec = "joinConfiguration: {discovery: {file: {kubeConfigPath: /etc/k/discovery.yaml, kubeConfig: {user: {exec: {command: get-token}}}}}}";
    let data = rendered(&config("v1beta2", spec), &["--endpoint", "10.0.0.1:6443"]);
    let (_, file) =
        data.split_once("-   path: /etc/k/discovery.yaml\n    owner: root:root\n    permissions: '0640'\n    content: |\n").unwrap();
    for expected in [
        "          server: https://10.0.0.1:6443\n",
        "          certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0t",
        "            command: get-token\n",
    ] {
        assert!(file.contains(expected), "{expected}\n{file}");
    }
}

#[test]
fn template_expressions_of_the_node_pass_unchanged() {
    let spec = "preKubeadmCommands: ['hostname \"{{ ds.meta_data.hostname }}\"']\njoinConfiguration: {nodeRegistration: {name: '{{ ds.meta_data.local_hostname }}'}}";
    let data = rendered(&config("v1beta2", spec), &[]);
    assert!(data.starts_with("## template: jinja\n#cloud-config\n"));
    assert!(
        data.contains("  - \"hostname \\\"{{ ds.meta_data.hostname }}\\\"\"\n")
            && data.contains("        name: '{{ ds.meta_data.local_hostname }}'\n"),
        "{data}"
    );
}

#[test]
fn an_external_etcd_brings_its_certificates() {
    let spec = "clusterConfiguration: {etcd: {external: {endpoints: ['https://e:2379'], caFile: /etc/e/ca.crt, certFile: /etc/e/client.crt, keyFile: /etc/e/client.key}}}";
    let secret = |name: &str, data: &str| {
        format!(
            "---\n{{apiVersion: v1, kind: Secret, metadata: {{name: example-{name}}}, stringData: {{{data}}}}}\n"
        )
    };
    let secrets = secret("etcd", "tls.crt: of-ca")
        + &secret(
            "apiserver-etcd-client",
            "tls.crt: of-client, tls.key: of-key",
        );
    let data = rendered(&(config("v1beta2", spec) + &secrets), INIT);
    for (path, content) in [
        ("ca.crt", "of-ca"),
        ("client.crt", "of-client"),
        ("client.key", "of-key"),
    ] {
        let permissions = if path.ends_with("key") {
            "0600"
        } else {
            "0640"
        };
        let expected = format!(
            "-   path: /etc/e/{path}\n    owner: root:root\n    permissions: '{permissions}'\n    content: |\n      {content}\n"
        );
        assert!(data.contains(&expected), "{expected}\n{data}");
    }
    assert!(!data.contains("/etc/kubernetes/pki/etcd/"), "{data}");
}

/// The fields that each release's API has, and the kubeconfig of its client-go
/// (`api/bootstrap/kubeadm` and `go.mod` of each release).
#[test]
fn each_release_has_the_fields_of_its_api() {
    let fields = [
        (
            "clusterConfiguration: {caCertificateValidityPeriodDays: 100}",
            11,
        ),
        (
            "clusterConfiguration: {certificateValidityPeriodDays: 100}",
            11,
        ),
        ("clusterConfiguration: {encryptionAlgorithm: RSA-3072}", 12),
        (
            "diskSetup: {partitions: [{device: /dev/a, diskLayout: [{percentage: 33}]}]}",
            13,
        ),
        (
            "files: [{path: /a, content: x, contentFormat: Template}]",
            14,
        ),
    ];
    for (field, since) in fields {
        for minor in 10..=14 {
            let version = if minor == 10 { "v1beta1" } else { "v1beta2" };
            let release = format!("v1.{minor}");
            let field = if minor == 10 {
                field.replace("{device: /dev/a,", "{device: /dev/a, layout: true,")
            } else {
                field.to_owned()
            };
            let flags = [
                "render",
                "-",
                "--role",
                "init",
                "--capi-version",
                &release,
                "--allow",
                "config-field-dropped",
            ];
            let (code, _, talk) = render_text(&config(version, &field), &flags);
            assert_eq!(
                code,
                i32::from(minor < since),
                "{field} in {release}\n{talk}"
            );
            assert_eq!(
                talk.contains("error[config-field-unknown]"),
                minor < since,
                "{field} in {release}\n{talk}"
            );
        }
    }
    let discovery = "joinConfiguration: {discovery: {file: {kubeConfigPath: /k, kubeConfig: {user: {authProvider: {name: x}}}}}}";
    for (release, has_preferences) in [
        ("v1.10", true),
        ("v1.11", true),
        ("v1.12", false),
        ("v1.13", false),
        ("v1.14", false),
    ] {
        let version = if release == "v1.10" {
            "v1beta1"
        } else {
            "v1beta2"
        };
        let data = rendered(&config(version, discovery), &["--capi-version", release]);
        assert_eq!(
            data.contains("      preferences: {}\n"),
            has_preferences,
            "{release}"
        );
    }
}
