//! Arguments that a component does not take: lost with a version of Kubernetes, written as no argument, or given twice in two spellings.

use std::collections::BTreeMap;

use super::Subject;
use super::arguments::{Argument, Component, arguments};
use crate::diag::{Diagnostic, rules};

rules! {
    /// a component of this Kubernetes version no longer has the flag
    pub(crate) FLAG_REMOVED = error("component-flag-removed");
    /// the name of an argument is no name of a flag
    pub(crate) FLAG_MALFORMED = error("component-flag-malformed");
    /// two arguments of a component are the same flag
    pub(crate) FLAG_REPEATED = warning("component-flag-repeated");
}

/// A flag, the first minor version of Kubernetes 1 without it, and what to do.
type Removed = (&'static str, u64, &'static str);

const NO_EFFECT: &str = "remove it";
const CRI: &str = "remove it: the container runtime has its own configuration";
const LOGGING: &str = "remove it: components log to standard error";
const SECURE: &str = "remove it: only the secure port is left";

/// The flags of every component that klog had (KEP-2845; `component-base/logs` of v0.25.0 and v0.26.0).
const OF_ALL: &[Removed] = &[
    ("add-dir-header", 26, LOGGING),
    ("alsologtostderr", 26, LOGGING),
    ("log-backtrace-at", 26, LOGGING),
    ("log-dir", 26, LOGGING),
    ("log-file", 26, LOGGING),
    ("log-file-max-size", 26, LOGGING),
    ("logtostderr", 26, LOGGING),
    ("one-output", 26, LOGGING),
    ("skip-headers", 26, LOGGING),
    ("skip-log-headers", 26, LOGGING),
    ("stderrthreshold", 26, LOGGING),
    ("experimental-logging-sanitization", 24, NO_EFFECT),
];

/// `cmd/kubelet/app/options` and `pkg/kubelet/config` of each minor version from v1.22.0 to v1.36.0, beside the version before.
const OF_KUBELET: &[Removed] = &[
    ("experimental-bootstrap-kubeconfig", 23, "write `bootstrap-kubeconfig`"),
    ("seccomp-profile-root", 23, NO_EFFECT),
    ("cni-bin-dir", 24, CRI),
    ("cni-cache-dir", 24, CRI),
    ("cni-conf-dir", 24, CRI),
    ("docker-endpoint", 24, CRI),
    ("dynamic-config-dir", 24, "remove it: configuration comes from the file of `config`"),
    ("experimental-check-node-capabilities-before-mount", 24, NO_EFFECT),
    ("experimental-dockershim-root-directory", 24, CRI),
    ("image-pull-progress-deadline", 24, CRI),
    ("network-plugin", 24, CRI),
    ("network-plugin-mtu", 24, CRI),
    ("non-masquerade-cidr", 24, CRI),
    ("really-crash-for-testing", 24, NO_EFFECT),
    ("experimental-kernel-memcg-notification", 25, "write `kernel-memcg-notification`"),
    ("container-runtime", 27, "remove it: `container-runtime-endpoint` says all"),
    ("master-service-namespace", 27, NO_EFFECT),
    ("iptables-drop-bit", 31, "remove it: kube-proxy has its own"),
    ("iptables-masquerade-bit", 31, "remove it: kube-proxy has its own"),
    ("keep-terminated-pod-volumes", 31, NO_EFFECT),
    ("cloud-config", 34, "remove it: the external cloud provider has its own"),
    ("register-schedulable", 34, "write `register-with-taints`"),
    ("pod-infra-container-image", 35, "remove it: the container runtime names the sandbox image"),
];

/// `cmd/kube-apiserver`, `pkg/kubeapiserver`, `pkg/controlplane` and `k8s.io/apiserver/pkg/server/options`, likewise.
const OF_API_SERVER: &[Removed] = &[
    ("address", 24, SECURE),
    ("deserialization-cache-size", 24, NO_EFFECT),
    ("enable-swagger-ui", 24, NO_EFFECT),
    ("experimental-encryption-provider-config", 24, "write `encryption-provider-config`"),
    ("insecure-bind-address", 24, SECURE),
    ("insecure-port", 24, SECURE),
    ("port", 24, SECURE),
    ("target-ram-mb", 24, NO_EFFECT),
    ("service-account-api-audiences", 25, "write `api-audiences`"),
    ("identity-lease-duration-seconds", 26, NO_EFFECT),
    ("identity-lease-renew-interval-seconds", 26, NO_EFFECT),
    ("master-service-namespace", 27, NO_EFFECT),
    ("cloud-config", 33, "remove it: the external cloud provider has its own"),
    ("cloud-provider", 33, "remove it: the API server needs none; the kubelet keeps `cloud-provider`"),
];

/// `cmd/kube-controller-manager` and `k8s.io/controller-manager`, likewise.
const OF_CONTROLLER_MANAGER: &[Removed] = &[
    ("address", 24, SECURE),
    ("deployment-controller-sync-period", 24, NO_EFFECT),
    ("port", 24, SECURE),
    ("deleting-pods-burst", 25, NO_EFFECT),
    ("deleting-pods-qps", 25, NO_EFFECT),
    ("experimental-cluster-signing-duration", 25, "write `cluster-signing-duration`"),
    ("register-retry-count", 25, NO_EFFECT),
    ("enable-taint-manager", 27, NO_EFFECT),
    ("pod-eviction-timeout", 27, "remove it: pods say it with `tolerationSeconds`"),
    ("horizontal-pod-autoscaler-downscale-delay", 31, "write `horizontal-pod-autoscaler-downscale-stabilization`"),
    ("horizontal-pod-autoscaler-upscale-delay", 31, NO_EFFECT),
    ("volume-host-allow-local-loopback", 31, NO_EFFECT),
    ("volume-host-cidr-denylist", 31, NO_EFFECT),
];

/// `cmd/kube-scheduler`, likewise.
const OF_SCHEDULER: &[Removed] = &[
    ("policy-config-file", 23, "write a profile into the file of `config`"),
    ("policy-configmap", 23, "write a profile into the file of `config`"),
    ("policy-configmap-namespace", 23, "write a profile into the file of `config`"),
    ("use-legacy-policy-config", 23, NO_EFFECT),
    ("address", 24, SECURE),
    ("port", 24, SECURE),
    ("lock-object-name", 28, "write `leader-elect-resource-name`"),
    ("lock-object-namespace", 28, "write `leader-elect-resource-namespace`"),
];

/// What a component has lost.
fn removed(component: Component) -> &'static [Removed] {
    match component {
        Component::Kubelet => OF_KUBELET,
        Component::ApiServer => OF_API_SERVER,
        Component::ControllerManager => OF_CONTROLLER_MANAGER,
        Component::Scheduler => OF_SCHEDULER,
    }
}

pub(super) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let arguments = arguments(subject.spec, &subject.spec_path);
    let each = arguments.iter().filter_map(|argument| malformed(subject, argument).or_else(|| lost(subject, argument)));
    each.chain(repeated(subject, &arguments)).collect()
}

fn malformed(subject: &Subject<'_>, argument: &Argument<'_>) -> Option<Diagnostic> {
    let name = argument.name;
    let bare = name.trim_start_matches('-').split(['=', ' ', '\t', '\n']).next().unwrap_or_default();
    if name.is_empty() || bare == name {
        return None;
    }
    let message = format!("{} is no name of a flag: {} is started with `--{name}=…`", argument.path, argument.component.as_str());
    let help = format!("write the name alone, `{bare}`, and its value beside it");
    Some(Diagnostic::of(&FLAG_MALFORMED, message).at(argument.place(subject.config)).help(help))
}

fn lost(subject: &Subject<'_>, argument: &Argument<'_>) -> Option<Diagnostic> {
    let minor = subject.minor()?;
    let (flag, component) = (argument.flag(), argument.component);
    let (_, since, help) = OF_ALL.iter().chain(removed(component)).find(|(name, since, _)| *name == flag && minor >= *since)?;
    let name = component.as_str();
    let message = format!(
        "{} is `{flag}`, which {name} lost in Kubernetes v1.{since}: this v1.{minor} does not start with it",
        argument.path
    );
    let finding = Diagnostic::of(&FLAG_REMOVED, message).at(argument.place(subject.config));
    Some(finding.help(*help).upstream(format!("unknown flag: --{flag}")))
}

/// What is the same flag to the component and not to the API.
fn repeated(subject: &Subject<'_>, arguments: &[Argument<'_>]) -> Vec<Diagnostic> {
    let mut known: BTreeMap<(String, String), &Argument<'_>> = BTreeMap::new();
    let mut found = Vec::new();
    for argument in arguments {
        let Some(first) = known.insert((argument.list.to_string(), argument.flag()), argument) else { continue };
        if first.name != argument.name {
            let message = format!("{} is the flag of {} too: {} takes `_` for `-`", argument.path, first.path, argument.component.as_str());
            let finding = Diagnostic::of(&FLAG_REPEATED, message).at(argument.place(subject.config));
            found.push(finding.related(first.place(subject.config), "").help("keep one of the two"));
        }
    }
    found
}
