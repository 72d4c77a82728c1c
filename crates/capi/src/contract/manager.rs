//! The face of a manager: flags, ports, probes, certificate folder. One table, from which
//! Deployments are emitted and which the controller program shares (book: "Ports used by Cluster
//! API", "Support running multiple instances", "Diagnostics").

/// A port that a manager listens on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// The name by which probes and Services refer to it.
    pub name: &'static str,
    /// The number.
    pub number: u16,
}

/// Health and readiness.
pub const HEALTH: Port = Port {
    name: "healthz",
    number: 9440,
};

/// Metrics and diagnostics.
pub const METRICS: Port = Port {
    name: "metrics",
    number: 8443,
};

/// Admission and conversion webhooks.
pub const WEBHOOK: Port = Port {
    name: "webhook-server",
    number: 9443,
};

/// Path of the liveness probe.
pub const LIVENESS_PATH: &str = "/healthz";

/// Path of the readiness probe.
pub const READINESS_PATH: &str = "/readyz";

/// Path of the conversion webhook.
pub const CONVERSION_PATH: &str = "/convert";

/// Path of an admission webhook, as controller-runtime serves them:
/// `/validate-bootstrap-windlass-dev-v1beta2-windlassconfig` for the verb `validate`.
pub fn admission_path(verb: &str, group: &str, version: &str, kind: &str) -> String {
    format!(
        "/{verb}-{}-{version}-{}",
        group.replace('.', "-"),
        kind.to_lowercase()
    )
}

/// Folder in which the manager finds the certificate of its webhooks.
pub const CERTIFICATE_FOLDER: &str = "/tmp/k8s-webhook-server/serving-certs";

/// User and group of the manager in its container: `nonroot` of the distroless images.
pub const USER: i64 = 65532;

/// What a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing, or `true` or `false` after an equals sign.
    Switch,
    /// A text.
    Text,
    /// Texts: with commas between them, or the flag several times.
    List,
    /// A number.
    Number,
    /// A length of time as Go writes it.
    Duration,
}

/// A flag of the windlass manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// The flag without dashes.
    pub name: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// What it is when it is not given; empty for a text that is empty.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
}

const fn flag(name: &'static str, takes: Takes, default: &'static str, help: &'static str) -> Flag {
    Flag {
        name,
        takes,
        default,
        help,
    }
}

/// The flags of the windlass manager: those that Cluster API providers have, with the defaults of
/// Cluster API's own managers but for the limits of clients, and what ours adds. The manager makes
/// its command line from them.
pub const FLAGS: &[Flag] = &[
    flag(
        "leader-elect",
        Takes::Switch,
        "false",
        "run only while holding the lease, so that one of several replicas is active",
    ),
    flag(
        "leader-elect-lease-duration",
        Takes::Duration,
        "15s",
        "how long others wait before they take over a lease that is not renewed",
    ),
    flag(
        "leader-elect-renew-deadline",
        Takes::Duration,
        "10s",
        "how long the leader tries to renew its lease before it gives up",
    ),
    flag(
        "leader-elect-retry-period",
        Takes::Duration,
        "2s",
        "pause between two attempts to get or to renew the lease",
    ),
    flag(
        "kinds",
        Takes::List,
        "WindlassConfig",
        "kinds that are reconciled: WindlassConfig, KubeadmConfig or both",
    ),
    flag(
        "namespace",
        Takes::List,
        "",
        "reconcile only objects of these namespaces; empty means all",
    ),
    flag(
        "watch-filter",
        Takes::Text,
        "",
        "reconcile only objects whose label cluster.x-k8s.io/watch-filter has this value; empty means all",
    ),
    flag(
        "windlassconfig-concurrency",
        Takes::Number,
        "100",
        "how many configs of a kind are reconciled at once",
    ),
    flag(
        "sync-period",
        Takes::Duration,
        "10m",
        "how often every object is looked at again",
    ),
    flag(
        "kubeconfig",
        Takes::Text,
        "",
        "file that says how to reach the API server; empty means the variable KUBECONFIG, or else the Pod's account",
    ),
    flag(
        "kube-api-qps",
        Takes::Number,
        "1000",
        "requests per second to the API server, three a Machine; 0 leaves the limit to the server",
    ),
    flag(
        "kube-api-burst",
        Takes::Number,
        "1000",
        "requests to the API server that may come at once",
    ),
    flag(
        "clustercache-client-qps",
        Takes::Number,
        "100",
        "requests per second to each workload cluster, one a Machine; 0 leaves the limit to the server",
    ),
    flag(
        "clustercache-client-burst",
        Takes::Number,
        "200",
        "requests to a workload cluster that may come at once",
    ),
    flag(
        "bootstrap-token-ttl",
        Takes::Duration,
        "15m",
        "how long a bootstrap token lives unless it is refreshed",
    ),
    flag(
        "webhook-port",
        Takes::Number,
        "9443",
        "port of the webhooks; 0 turns them off",
    ),
    flag(
        "webhook-cert-dir",
        Takes::Text,
        CERTIFICATE_FOLDER,
        "folder with the certificate of the webhooks",
    ),
    flag(
        "webhook-cert-name",
        Takes::Text,
        "tls.crt",
        "file of the certificate in that folder",
    ),
    flag(
        "webhook-key-name",
        Takes::Text,
        "tls.key",
        "file of the key in that folder",
    ),
    flag(
        "tls-min-version",
        Takes::Text,
        "VersionTLS12",
        "oldest TLS that is spoken: VersionTLS12 or VersionTLS13",
    ),
    flag(
        "health-addr",
        Takes::Text,
        ":9440",
        "address of the health probes; empty turns them off",
    ),
    flag(
        "diagnostics-address",
        Takes::Text,
        ":8443",
        "address of metrics, with TLS, authentication and authorisation; empty turns them off",
    ),
    flag(
        "insecure-diagnostics",
        Takes::Switch,
        "false",
        "serve metrics over plain HTTP to everybody",
    ),
    flag(
        "feature-gates",
        Takes::List,
        "",
        "experimental parts, as NAME=true|false,…",
    ),
    flag(
        "logging-format",
        Takes::Text,
        "text",
        "how lines of the log are written: text or json",
    ),
    flag("v", Takes::Number, "2", "how much is logged, from 0 to 5"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_agree_with_ports() {
        let default = |name: &str| {
            FLAGS
                .iter()
                .find(|f| f.name == name)
                .map(|f| f.default.trim_start_matches(':').to_owned())
        };
        assert_eq!(default("webhook-port"), Some(WEBHOOK.number.to_string()));
        assert_eq!(default("health-addr"), Some(HEALTH.number.to_string()));
        assert_eq!(
            default("diagnostics-address"),
            Some(METRICS.number.to_string())
        );
    }
}
