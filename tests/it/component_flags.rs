//! `validate` knows the flags of Kubernetes' components in each version. What it reports is in
//! `tests/cases/validate`.

use std::fs;

use crate::support::{Run, run};

/// Validates a spec in an object of this version of the API.
fn validate(version: &str, spec: &str, kubernetes: &str) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "apiVersion: bootstrap.cluster.x-k8s.io/{version}\nkind: KubeadmConfig\nmetadata: {{name: w}}\nspec:\n  {spec}\n"
    );
    fs::write(folder.path().join("a.yaml"), text).unwrap();
    let arguments = format!("validate a.yaml --kubernetes-version {kubernetes}");
    run(folder.path(), &arguments)
}

fn of_kubelet(name: &str, kubernetes: &str) -> Run {
    let arguments = format!("[{{name: {name}, value: a}}]");
    let spec =
        format!("joinConfiguration: {{nodeRegistration: {{kubeletExtraArgs: {arguments}}}}}");
    validate("v1beta2", &spec, kubernetes)
}

fn of_control_plane(component: &str, names: &[&str], kubernetes: &str) -> Run {
    let arguments: Vec<String> = names
        .iter()
        .map(|name| format!("{{name: {name}, value: a}}"))
        .collect();
    let spec = format!(
        "clusterConfiguration: {{{component}: {{extraArgs: [{}]}}}}\n  initConfiguration: {{nodeRegistration: {{name: a}}}}",
        arguments.join(", ")
    );
    validate("v1beta2", &spec, kubernetes)
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
            let report = of_control_plane(component, names, &version).stdout;
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
            let report = of_kubelet(name, &version).stdout;
            assert!(
                !report.contains("component-flag-"),
                "{version} {name}: {report}"
            );
        }
    }
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
    let Run {
        code,
        stdout: report,
        ..
    } = validate("v1beta1", &spec, "v1.34.1");
    assert_eq!(code, 1);
    assert!(
        !report.contains('\u{1b}')
            && !report.contains('\0')
            && report.contains("component-flag-unknown")
    );
}
