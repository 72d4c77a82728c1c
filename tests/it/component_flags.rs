//! `validate` and the flags of Kubernetes' components: one that a component does not have keeps it
//! from starting.

use std::fs;

use crate::support::windlass;

/// What `validate` says of a spec of v1beta2, for a version of Kubernetes or none.
fn found(spec: &str, kubernetes: Option<&str>) -> (Option<i32>, String) {
    found_in("v1beta2", spec, kubernetes)
}

fn found_in(version: &str, spec: &str, kubernetes: Option<&str>) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/{version}\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  {spec}\n"
    );
    fs::write(folder.path().join("a.yaml"), text).unwrap();
    let mut command = windlass(folder.path());
    command.args(["validate", "a.yaml"]);
    if let Some(kubernetes) = kubernetes {
        command.args(["--kubernetes-version", kubernetes]);
    }
    let output = command.output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

fn of_kubelet(name: &str, kubernetes: Option<&str>) -> (Option<i32>, String) {
    found(
        &format!(
            "joinConfiguration: {{nodeRegistration: {{kubeletExtraArgs: [{{name: {name}, value: a}}]}}}}"
        ),
        kubernetes,
    )
}

fn of_control_plane(component: &str, names: &[&str], kubernetes: &str) -> (Option<i32>, String) {
    let arguments: Vec<String> = names
        .iter()
        .map(|name| format!("{{name: {name}, value: a}}"))
        .collect();
    found(
        &format!(
            "clusterConfiguration: {{{component}: {{extraArgs: [{}]}}}}\n  initConfiguration: {{nodeRegistration: {{name: a}}}}",
            arguments.join(", ")
        ),
        Some(kubernetes),
    )
}

/// cloud-init fills it in on the machine: nobody knows the name before.
#[test]
fn a_name_that_is_filled_in_later_is_not_judged() {
    for name in [
        "'{{ ds.meta_data.flag }}'",
        "'node-{{ ds.x }} y'",
        "'{% if a %}v{% endif %}'",
    ] {
        let (code, report) = of_kubelet(name, Some("v1.34.1"));
        assert!(
            code == Some(0) && !report.contains("component-flag"),
            "{name}: {report}"
        );
    }
    assert!(
        of_kubelet("'node labels'", Some("v1.34.1"))
            .1
            .contains("component-flag-malformed")
    );
}

/// The components end with an error of pflag, `unknown flag: --feature-gate`.
#[test]
fn a_mistyped_flag_is_an_error_and_the_right_name_is_told() {
    for component in ["apiServer", "controllerManager", "scheduler"] {
        let (code, report) = of_control_plane(component, &["feature-gate"], "v1.34.1");
        assert_eq!(code, Some(1), "{component}: {report}");
        assert!(
            report.contains("error[component-flag-unknown]")
                && report.contains("did you mean `feature-gates`?"),
            "{report}"
        );
        assert!(report.contains("a.yaml:5:"), "{report}");
    }
    let (code, report) = of_kubelet("node-label", Some("v1.34.1"));
    assert!(
        code == Some(1) && report.contains("did you mean `node-labels`?"),
        "{report}"
    );
    let (_, far) = of_kubelet("no-such-thing-at-all", Some("v1.34.1"));
    assert!(
        far.contains("component-flag-unknown")
            && !far.contains("did you mean")
            && far.contains("none of a name like that"),
        "{far}"
    );
    let (_, of_other) = of_kubelet("etcd-servers", Some("v1.34.1"));
    assert!(
        of_other.contains("it is a flag of kube-apiserver"),
        "{of_other}"
    );
}

/// What kubeadm itself gives to the components (`cmd/kubeadm/app/phases/controlplane/manifests.go`
/// and `phases/kubelet/flags.go` of v1.26 and v1.37) is there in each version.
#[test]
fn what_kubeadm_writes_is_known_in_each_version() {
    let api_server = [
        "advertise-address",
        "enable-admission-plugins",
        "service-cluster-ip-range",
        "service-account-key-file",
        "service-account-signing-key-file",
        "service-account-issuer",
        "client-ca-file",
        "tls-cert-file",
        "tls-private-key-file",
        "kubelet-client-certificate",
        "kubelet-client-key",
        "enable-bootstrap-token-auth",
        "secure-port",
        "allow-privileged",
        "kubelet-preferred-address-types",
        "requestheader-username-headers",
        "requestheader-group-headers",
        "requestheader-extra-headers-prefix",
        "requestheader-client-ca-file",
        "requestheader-allowed-names",
        "proxy-client-cert-file",
        "proxy-client-key-file",
        "etcd-servers",
        "etcd-cafile",
        "etcd-certfile",
        "etcd-keyfile",
        "authorization-mode",
        "feature-gates",
    ];
    let controller_manager = [
        "bind-address",
        "leader-elect",
        "kubeconfig",
        "authentication-kubeconfig",
        "authorization-kubeconfig",
        "client-ca-file",
        "requestheader-client-ca-file",
        "root-ca-file",
        "service-account-private-key-file",
        "cluster-signing-cert-file",
        "cluster-signing-key-file",
        "use-service-account-credentials",
        "controllers",
        "allocate-node-cidrs",
        "cluster-cidr",
        "service-cluster-ip-range",
        "cluster-name",
        "v",
        "vmodule",
        "version",
        "help",
    ];
    let scheduler = [
        "bind-address",
        "leader-elect",
        "kubeconfig",
        "authentication-kubeconfig",
        "authorization-kubeconfig",
        "config",
        "v",
    ];
    for minor in 26..=37 {
        let version = format!("v1.{minor}.0");
        for (component, names) in [
            ("apiServer", &api_server[..]),
            ("controllerManager", &controller_manager),
            ("scheduler", &scheduler),
        ] {
            let (_, report) = of_control_plane(component, names, &version);
            assert!(
                !report.contains("component-flag-"),
                "{version} {component}: {report}"
            );
        }
        for name in [
            "windows-priorityclass",
            "container-runtime-endpoint",
            "hostname-override",
            "node-ip",
            "cloud-provider",
            "v",
            "node_labels",
            "max-pods",
        ] {
            let (_, report) = of_kubelet(name, Some(&version));
            assert!(
                !report.contains("component-flag-"),
                "{version} {name}: {report}"
            );
        }
    }
}

/// KEP-3983: the kubelet has `--config-dir` since v1.28; KEP-3331: the API server has
/// `--authentication-config` since v1.29.
#[test]
fn a_flag_of_a_later_version_is_an_error_with_that_version() {
    let (code, report) = of_kubelet("config-dir", Some("v1.27.16"));
    assert!(
        code == Some(1)
            && report.contains("error[component-flag-unknown]")
            && report.contains("since Kubernetes v1.28"),
        "{report}"
    );
    assert_eq!(of_kubelet("config-dir", Some("v1.28.0")).0, Some(0));
    assert!(
        of_control_plane("apiServer", &["authentication-config"], "v1.28.15")
            .1
            .contains("use Kubernetes v1.29 or newer")
    );
    assert_eq!(
        of_control_plane("apiServer", &["authentication-config"], "v1.29.0").0,
        Some(0)
    );
}

/// What only the table of flags knows to be lost has the finding of those that are lost.
#[test]
fn a_flag_that_no_newer_version_has_is_lost() {
    let of = |version: &str| {
        of_control_plane("apiServer", &["cloud-provider-gce-lb-src-cidrs"], version)
    };
    assert_eq!(of("v1.30.0").0, Some(0), "{}", of("v1.30.0").1);
    let (code, report) = of("v1.31.0");
    assert!(
        code == Some(1)
            && report.contains("error[component-flag-removed]")
            && report.contains("lost in Kubernetes v1.31"),
        "{report}"
    );
}

/// Of versions that nobody names or knows, nothing is condemned; that nothing is known is said.
#[test]
fn a_flag_of_no_known_version_is_told_where_the_version_is_not_known() {
    for version in [None, Some("v1.38.0"), Some("v1.25.16")] {
        let (code, report) = of_kubelet("node-label", version);
        assert_eq!(code, Some(0), "{version:?}: {report}");
        assert!(
            report.contains("info[component-flag-uncertain]")
                && report.contains("did you mean `node-labels`?"),
            "{report}"
        );
        assert!(
            !of_kubelet("node-labels", version)
                .1
                .contains("component-flag-"),
            "{version:?}"
        );
    }
    // Lost before the first version that is known.
    let (_, old) = of_kubelet("network-plugin", Some("v1.23.5"));
    assert!(!old.contains("component-flag-"), "{old}");
}

/// Whatever is wrong with a flag, one finding says it.
#[test]
fn a_flag_has_one_finding() {
    for (spec, rule) in [
        (
            "[{name: --feature-gate, value: a}]",
            "component-flag-malformed",
        ),
        (
            "[{name: feature-gate=a, value: a}]",
            "component-flag-malformed",
        ),
        (
            "[{name: network-plugin, value: a}]",
            "component-flag-removed",
        ),
        ("[{name: Node-Labels, value: a}]", "component-flag-unknown"),
        ("[{name: node_label, value: a}]", "component-flag-unknown"),
    ] {
        let (_, report) = found(
            &format!("joinConfiguration: {{nodeRegistration: {{kubeletExtraArgs: {spec}}}}}"),
            Some("v1.34.1"),
        );
        assert_eq!(
            (
                report.matches("component-flag-").count(),
                report.contains(rule)
            ),
            (1, true),
            "{spec}: {report}"
        );
    }
    let (code, nameless) = found(
        "joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: \"\", value: a}]}}",
        Some("v1.34.1"),
    );
    assert_eq!(
        (code, nameless.matches("error[").count()),
        (Some(1), 1),
        "{nameless}"
    );
    let twice = "joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: no_such, value: a}, {name: no-such, value: a}]}}";
    let (_, report) = found(twice, Some("v1.34.1"));
    assert_eq!(
        report.matches("error[component-flag-").count(),
        2,
        "{report}"
    );
    assert!(!report.contains("component-flag-repeated"), "{report}");
}

/// In v1beta1 arguments are a map, and the key has the place.
#[test]
fn arguments_of_v1beta1_are_judged_too() {
    let spec = "joinConfiguration:\n    nodeRegistration:\n      kubeletExtraArgs:\n        max-pods: \"10\"\n        max-podz: \"10\"";
    let (code, report) = found_in("v1beta1", spec, Some("v1.34.1"));
    assert!(
        code == Some(1)
            && report.contains("a.yaml:9:9")
            && report.contains("did you mean `max-pods`?"),
        "{report}"
    );
}

/// Thousands of unknown flags, long ones and control characters end, and nothing reaches the
/// terminal as it is.
#[test]
fn hostile_flags_end() {
    let mut names: Vec<String> = (0..3000)
        .map(|n| format!("        node-label{n}x: a"))
        .collect();
    names.push(format!("        {}: a", "x".repeat(900)));
    names.push("        \"no\\e[2Jde\\0\": a".to_owned());
    let spec = format!(
        "joinConfiguration:\n    nodeRegistration:\n      kubeletExtraArgs:\n{}",
        names.join("\n")
    );
    let (code, report) = found_in("v1beta1", &spec, Some("v1.34.1"));
    assert_eq!(code, Some(1));
    assert!(
        !report.contains('\u{1b}')
            && !report.contains('\0')
            && report.contains("component-flag-unknown")
    );
}

fn of_etcd(local: &str, kubernetes: Option<&str>) -> (Option<i32>, String) {
    found(
        &format!(
            "clusterConfiguration: {{etcd: {{local: {{{local}}}}}}}\n  initConfiguration: {{nodeRegistration: {{name: a}}}}"
        ),
        kubernetes,
    )
}

/// kubeadm runs etcd 3.5 up to Kubernetes v1.33, 3.6 from v1.34 and 3.7 from v1.37 on; etcd 3.6 has
/// lost `--enable-v2` and keeps what was experimental until 3.7 (its CHANGELOG).
#[test]
fn flags_of_etcd_are_those_of_the_version_that_kubeadm_runs() {
    for (flag, kubernetes, fails) in [
        ("enable-v2", "v1.33.1", false),
        ("enable-v2", "v1.34.1", true),
        (
            "experimental-watch-progress-notify-interval",
            "v1.36.1",
            false,
        ),
        (
            "experimental-watch-progress-notify-interval",
            "v1.37.1",
            true,
        ),
        ("listen-metrics-urls", "v1.31.1", false),
        ("listen-metrics-urls", "v1.37.1", false),
    ] {
        let (_, report) = of_etcd(
            &format!("extraArgs: [{{name: {flag}, value: a}}]"),
            Some(kubernetes),
        );
        assert_eq!(
            report.contains("error[component-flag-removed]"),
            fails,
            "{flag} {kubernetes}: {report}"
        );
    }
    let (_, renamed) = of_etcd(
        "extraArgs: [{name: experimental-compaction-batch-limit, value: a}]",
        Some("v1.37.1"),
    );
    assert!(
        renamed.contains("lost in v3.7") && renamed.contains("write `compaction-batch-limit`"),
        "{renamed}"
    );
    let (_, gate) = of_etcd(
        "extraArgs: [{name: experimental-initial-corrupt-check, value: a}]",
        Some("v1.37.1"),
    );
    assert!(gate.contains("`InitialCorruptCheck=true`"), "{gate}");
    let (_, newer) = of_etcd(
        "extraArgs: [{name: feature-gates, value: a}]",
        Some("v1.33.1"),
    );
    assert!(
        newer.contains("error[component-flag-unknown]") && newer.contains("use v3.6 or newer"),
        "{newer}"
    );
}

#[test]
fn a_mistyped_flag_of_etcd_is_an_error() {
    let (code, report) = of_etcd(
        "extraArgs: [{name: quota-backend-byte, value: a}]",
        Some("v1.34.1"),
    );
    assert!(
        code == Some(1) && report.contains("error[component-flag-unknown]"),
        "{report}"
    );
    assert!(
        report.contains("did you mean `quota-backend-bytes`?") && report.contains("etcd v3.6"),
        "{report}"
    );
    // Go's own package of flags knows nothing of `_`, and klog is none of etcd's.
    for other in ["quota_backend_bytes", "vmodule"] {
        assert!(
            of_etcd(
                &format!("extraArgs: [{{name: {other}, value: a}}]"),
                Some("v1.34.1")
            )
            .1
            .contains("component-flag-unknown"),
            "{other}"
        );
    }
}

/// The image that somebody names counts, with its own version or without one that can be read.
#[test]
fn the_tag_of_etcd_wins_over_the_version_of_kubernetes() {
    let of = |tag: &str, kubernetes: Option<&str>| {
        of_etcd(
            &format!("imageTag: {tag}, extraArgs: [{{name: enable-v2, value: a}}]"),
            kubernetes,
        )
        .1
    };
    for tag in ["3.5.21-0", "v3.5.21"] {
        assert!(
            !of(tag, Some("v1.34.1")).contains("component-flag-"),
            "{tag}"
        );
    }
    assert!(of("3.6.5-0", Some("v1.31.1")).contains("error[component-flag-removed]"));
    assert!(
        of("3.6.5-0", None).contains("error[component-flag-removed]"),
        "the tag says the version"
    );
    assert!(
        !of("mine", Some("v1.34.1")).contains("component-flag-"),
        "nobody knows what etcd that is"
    );
}
