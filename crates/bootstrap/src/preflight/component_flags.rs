//! Arguments that a component does not take: lost with a Kubernetes version, not there yet, of
//! no version, written as no argument, or given twice in two spellings.

use std::collections::BTreeMap;

use super::Subject;
use super::arguments::{Argument, Component, arguments, is_filled_in_later};
use super::known_flags::{self, Versions};
use windlass_source::diag::{Diagnostic, Rule, rules};
use windlass_source::nearest::misspelt;

rules! {
    /// the flag was removed from the component before this Kubernetes version
    pub(crate) FLAG_REMOVED = error("component-flag-removed");
    /// the component of this Kubernetes version does not have the flag
    pub(crate) FLAG_UNKNOWN = error("component-flag-unknown");
    /// no known version of the component has the flag, and this version is not known
    pub(crate) FLAG_UNCERTAIN = info("component-flag-uncertain");
    /// the name of an argument is not a valid flag name
    pub(crate) FLAG_MALFORMED = error("component-flag-malformed");
    /// two arguments of a component set the same flag
    pub(crate) FLAG_REPEATED = warning("component-flag-repeated");
}

/// A flag, the first Kubernetes minor version 1 without it, and what to do.
type Removed = (&'static str, u64, &'static str);

const NO_EFFECT: &str = "remove it";
const CRI: &str = "remove it: the container runtime has its own configuration";
const LOGGING: &str = "remove it: components log to standard error";
const SECURE: &str = "remove it: only the secure port is left";

/// The flags of every component that klog had (KEP-2845; `component-base/logs` of v0.25.0 and
/// v0.26.0).
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

/// The flags that the kubelet removed, from `cmd/kubelet/app/options` and `pkg/kubelet/config` of
/// each minor version from v1.22.0 to v1.36.0, compared with the previous one.
const OF_KUBELET: &[Removed] = &[
    (
        "experimental-bootstrap-kubeconfig",
        23,
        "write `bootstrap-kubeconfig`",
    ),
    ("seccomp-profile-root", 23, NO_EFFECT),
    ("cni-bin-dir", 24, CRI),
    ("cni-cache-dir", 24, CRI),
    ("cni-conf-dir", 24, CRI),
    ("docker-endpoint", 24, CRI),
    (
        "dynamic-config-dir",
        24,
        "remove it: configuration comes from the file of `config`",
    ),
    (
        "experimental-check-node-capabilities-before-mount",
        24,
        NO_EFFECT,
    ),
    ("experimental-dockershim-root-directory", 24, CRI),
    ("image-pull-progress-deadline", 24, CRI),
    ("network-plugin", 24, CRI),
    ("network-plugin-mtu", 24, CRI),
    ("non-masquerade-cidr", 24, CRI),
    ("really-crash-for-testing", 24, NO_EFFECT),
    (
        "experimental-kernel-memcg-notification",
        25,
        "write `kernel-memcg-notification`",
    ),
    (
        "container-runtime",
        27,
        "remove it: `container-runtime-endpoint` says all",
    ),
    ("master-service-namespace", 27, NO_EFFECT),
    ("iptables-drop-bit", 31, "remove it: kube-proxy has its own"),
    (
        "iptables-masquerade-bit",
        31,
        "remove it: kube-proxy has its own",
    ),
    ("keep-terminated-pod-volumes", 31, NO_EFFECT),
    (
        "cloud-config",
        34,
        "remove it: the external cloud provider has its own",
    ),
    ("register-schedulable", 34, "write `register-with-taints`"),
    (
        "pod-infra-container-image",
        35,
        "remove it: the container runtime names the sandbox image",
    ),
];

/// `cmd/kube-apiserver`, `pkg/kubeapiserver`, `pkg/controlplane` and
/// `k8s.io/apiserver/pkg/server/options`, likewise.
const OF_API_SERVER: &[Removed] = &[
    ("address", 24, SECURE),
    ("deserialization-cache-size", 24, NO_EFFECT),
    ("enable-swagger-ui", 24, NO_EFFECT),
    (
        "experimental-encryption-provider-config",
        24,
        "write `encryption-provider-config`",
    ),
    ("insecure-bind-address", 24, SECURE),
    ("insecure-port", 24, SECURE),
    ("port", 24, SECURE),
    ("target-ram-mb", 24, NO_EFFECT),
    ("service-account-api-audiences", 25, "write `api-audiences`"),
    ("identity-lease-duration-seconds", 26, NO_EFFECT),
    ("identity-lease-renew-interval-seconds", 26, NO_EFFECT),
    ("master-service-namespace", 27, NO_EFFECT),
    (
        "cloud-config",
        33,
        "remove it: the external cloud provider has its own",
    ),
    (
        "cloud-provider",
        33,
        "remove it: the API server needs none; the kubelet keeps `cloud-provider`",
    ),
];

/// `cmd/kube-controller-manager` and `k8s.io/controller-manager`, likewise.
const OF_CONTROLLER_MANAGER: &[Removed] = &[
    ("address", 24, SECURE),
    ("deployment-controller-sync-period", 24, NO_EFFECT),
    ("port", 24, SECURE),
    ("deleting-pods-burst", 25, NO_EFFECT),
    ("deleting-pods-qps", 25, NO_EFFECT),
    (
        "experimental-cluster-signing-duration",
        25,
        "write `cluster-signing-duration`",
    ),
    ("register-retry-count", 25, NO_EFFECT),
    ("enable-taint-manager", 27, NO_EFFECT),
    (
        "pod-eviction-timeout",
        27,
        "remove it: pods set `tolerationSeconds` instead",
    ),
    (
        "horizontal-pod-autoscaler-downscale-delay",
        31,
        "write `horizontal-pod-autoscaler-downscale-stabilization`",
    ),
    ("horizontal-pod-autoscaler-upscale-delay", 31, NO_EFFECT),
    ("volume-host-allow-local-loopback", 31, NO_EFFECT),
    ("volume-host-cidr-denylist", 31, NO_EFFECT),
];

/// `cmd/kube-scheduler`, likewise.
const OF_SCHEDULER: &[Removed] = &[
    (
        "policy-config-file",
        23,
        "write a profile into the file of `config`",
    ),
    (
        "policy-configmap",
        23,
        "write a profile into the file of `config`",
    ),
    (
        "policy-configmap-namespace",
        23,
        "write a profile into the file of `config`",
    ),
    ("use-legacy-policy-config", 23, NO_EFFECT),
    ("address", 24, SECURE),
    ("port", 24, SECURE),
    ("lock-object-name", 28, "write `leader-elect-resource-name`"),
    (
        "lock-object-namespace",
        28,
        "write `leader-elect-resource-namespace`",
    ),
];

/// `server/etcdmain` of v3.6.0, beside v3.5.
const OF_ETCD: &[Removed] = &[
    ("enable-v2", 6, "remove it: the API of etcd 2 is gone"),
    (
        "experimental-enable-v2v3",
        6,
        "remove it: the API of etcd 2 is gone",
    ),
    (
        "experimental-compact-hash-check-enabled",
        7,
        "write `feature-gates` with `CompactHashCheck=true`",
    ),
    (
        "experimental-enable-lease-checkpoint",
        7,
        "write `feature-gates` with `LeaseCheckpoint=true`",
    ),
    (
        "experimental-enable-lease-checkpoint-persist",
        7,
        "write `feature-gates` with `LeaseCheckpointPersist=true`",
    ),
    (
        "experimental-initial-corrupt-check",
        7,
        "write `feature-gates` with `InitialCorruptCheck=true`",
    ),
    (
        "experimental-stop-grpc-service-on-defrag",
        7,
        "write `feature-gates` with `StopGRPCServiceOnDefrag=true`",
    ),
    (
        "experimental-txn-mode-write-with-shared-buffer",
        7,
        "write `feature-gates` with `TxnModeWriteWithSharedBuffer=true`",
    ),
];

fn removed(component: Component) -> impl Iterator<Item = &'static Removed> {
    let own = match component {
        Component::Kubelet => OF_KUBELET,
        Component::ApiServer => OF_API_SERVER,
        Component::ControllerManager => OF_CONTROLLER_MANAGER,
        Component::Scheduler => OF_SCHEDULER,
        Component::Etcd => OF_ETCD,
    };
    let common = if component == Component::Etcd {
        &[]
    } else {
        OF_ALL
    };
    common.iter().chain(own)
}

/// For how many faulty flags of a config the name is looked for that was meant.
const MOST_COMPARED: usize = 100;

pub(super) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let arguments = arguments(subject.spec, &subject.spec_path);
    let (mut found, mut sound) = (Vec::new(), Vec::new());
    // That the item of a list has no name says the schema.
    let has_name = |argument: &&Argument<'_>| {
        !argument.name.is_empty() || argument.path == argument.value_path
    };
    for argument in arguments
        .iter()
        .filter(has_name)
        .filter(|argument| !is_filled_in_later(argument.name))
    {
        let is_compared = found.len() < MOST_COMPARED;
        let fault = malformed(subject, argument)
            .or_else(|| lost(subject, argument))
            .or_else(|| unknown(subject, argument, is_compared));
        match fault {
            Some(fault) => found.push(fault),
            None => sound.push(argument),
        }
    }
    found.extend(repeated(subject, &sound));
    found
}

fn malformed(subject: &Subject<'_>, argument: &Argument<'_>) -> Option<Diagnostic> {
    let name = argument.name;
    let bare = name
        .trim_start_matches('-')
        .split(['=', ' ', '\t', '\n'])
        .next()
        .unwrap_or_default();
    if name.is_empty() || bare == name {
        return None;
    }
    let message = format!(
        "{} is not a name of a flag: {} is started with `--{name}=…`",
        argument.path,
        argument.component.as_str()
    );
    let help = format!("write only the name, `{bare}`, and its value separately");
    Some(
        Diagnostic::of(&FLAG_MALFORMED, message)
            .at(argument.place(subject.config))
            .help(help),
    )
}

fn lost(subject: &Subject<'_>, argument: &Argument<'_>) -> Option<Diagnostic> {
    let (flag, component) = (argument.flag(), argument.component);
    let minor = subject.minor_of(component)?;
    let (since, help) = loss(component, &flag).filter(|(since, _)| minor >= *since)?;
    let message = format!(
        "{} is `{flag}`, which {} lost in {}: this {} does not start with it",
        argument.path,
        component.as_str(),
        component.release(since),
        component.version(minor)
    );
    let finding = Diagnostic::of(&FLAG_REMOVED, message).at(argument.place(subject.config));
    Some(finding.help(help).upstream(rejection(component, &flag)))
}

/// The first version without a flag that there was, and what to do.
pub(super) fn loss(component: Component, flag: &str) -> Option<(u64, String)> {
    let told = removed(component)
        .find(|(name, ..)| *name == flag)
        .map(|(_, since, help)| (*since, (*help).to_owned()));
    told.or_else(|| {
        let last = *known_flags::versions(component, flag)?.end();
        let newer = flag
            .strip_prefix("experimental-")
            .filter(|newer| known_flags::versions(component, newer).is_some());
        let help = newer.map_or_else(|| NO_EFFECT.to_owned(), |newer| format!("write `{newer}`"));
        (last < *known_flags::covered(component).end()).then(|| (last + 1, help))
    })
}

/// What a component says of a flag that it does not have: by pflag, and by Go's own package.
pub(super) fn rejection(component: Component, flag: &str) -> String {
    if component == Component::Etcd {
        format!("flag provided but not defined: -{flag}")
    } else {
        format!("unknown flag: --{flag}")
    }
}

/// What the component does not have yet, or in no version; `is_compared`: whether the name is
/// looked for that was meant.
fn unknown(
    subject: &Subject<'_>,
    argument: &Argument<'_>,
    is_compared: bool,
) -> Option<Diagnostic> {
    let (flag, component, path) = (argument.flag(), argument.component, &argument.path);
    let (name, covered) = (component.as_str(), known_flags::covered(component));
    let minor = subject
        .minor_of(component)
        .filter(|minor| covered.contains(minor));
    let versions = known_flags::versions(component, &flag);
    let (rule, message): (&'static Rule, _) = match (minor, &versions) {
        (Some(minor), Some(versions)) if minor < *versions.start() => {
            let (first, version) = (
                component.release(*versions.start()),
                component.version(minor),
            );
            (
                &FLAG_UNKNOWN,
                format!(
                    "{path} is `{flag}`, which {name} has since {first}: this {version} does not start with it"
                ),
            )
        }
        (_, Some(_)) => return None,
        (Some(minor), None) => {
            let version = component.version(minor);
            (
                &FLAG_UNKNOWN,
                format!(
                    "{path} is `{flag}`, which is not a flag of {name} {version}: it does not start with it"
                ),
            )
        }
        (None, None) if loss(component, &flag).is_some() => return None,
        (None, None) => {
            let (first, last) = (
                component.version(*covered.start()),
                component.version(*covered.end()),
            );
            let message = format!(
                "{path} is `{flag}`, which is not a flag of {name} {first} to {last}: other versions are not known here"
            );
            (&FLAG_UNCERTAIN, message)
        }
    };
    let near = is_compared.then(|| near(component, &flag, minor)).flatten();
    let finding = Diagnostic::of(rule, message)
        .at(argument.place(subject.config))
        .help(instead(component, &flag, versions, near));
    Some(if rule == &FLAG_UNKNOWN {
        finding.upstream(rejection(component, &flag))
    } else {
        finding
    })
}

/// The flag of a component that was meant, of a minor version or of any. Two edits make any word of
/// a shorter one.
fn near(component: Component, flag: &str, minor: Option<u64>) -> Option<&'static str> {
    misspelt(flag, known_flags::flags(component, minor)).filter(|near| near.len() > 3)
}

/// What to do about a flag that is none of a component's.
fn instead(
    component: Component,
    flag: &str,
    versions: Option<Versions>,
    near: Option<&str>,
) -> String {
    match (versions, near, known_flags::owners(flag).next()) {
        (Some(versions), ..) => format!(
            "remove it, or use {} or newer",
            component.release(*versions.start())
        ),
        (None, Some(near), _) => format!("did you mean `{near}`?"),
        (None, None, Some(owner)) => format!("remove it: it is a flag of {}", owner.as_str()),
        (None, None, None) => format!(
            "remove it: {} has none of a name like that",
            component.as_str()
        ),
    }
}

/// What is the same flag to the component and not to the API.
fn repeated(subject: &Subject<'_>, arguments: &[&Argument<'_>]) -> Vec<Diagnostic> {
    let mut known: BTreeMap<(String, String), &Argument<'_>> = BTreeMap::new();
    let mut found = Vec::new();
    for argument in arguments {
        let Some(first) = known.insert((argument.list.to_string(), argument.flag()), argument)
        else {
            continue;
        };
        if first.name != argument.name {
            let message = format!(
                "{} is the flag of {} too: {} takes `_` for `-`",
                argument.path,
                first.path,
                argument.component.as_str()
            );
            let finding =
                Diagnostic::of(&FLAG_REPEATED, message).at(argument.place(subject.config));
            found.push(
                finding
                    .related(first.place(subject.config), "")
                    .help("keep one of the two"),
            );
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lists speak of flags that were lost: they were made apart, and say the same.
    #[test]
    fn what_is_lost_is_in_the_table_up_to_then() {
        for component in Component::ALL {
            let covered = known_flags::covered(component);
            for (flag, since, _) in removed(component) {
                let last = known_flags::versions(component, flag).map(|versions| *versions.end());
                let expected = (since > covered.start()).then(|| since - 1);
                assert_eq!(last, expected, "{} {flag}", component.as_str());
            }
        }
    }
}
