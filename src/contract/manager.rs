//! The face of a manager: flags, ports, probes, certificate folder. One table, from which Deployments are emitted and which the
//! controller program shares (book: "Ports used by Cluster API", "Support running multiple instances", "Diagnostics").

/// A port that a manager listens on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// The name by which probes and Services refer to it.
    pub name: &'static str,
    /// The number.
    pub number: u16,
}

/// Health and readiness.
pub const HEALTH: Port = Port { name: "healthz", number: 9440 };

/// Metrics and diagnostics.
pub const METRICS: Port = Port { name: "metrics", number: 8443 };

/// Admission and conversion webhooks.
pub const WEBHOOK: Port = Port { name: "webhook-server", number: 9443 };

/// Path of the liveness probe.
pub const LIVENESS_PATH: &str = "/healthz";

/// Path of the readiness probe.
pub const READINESS_PATH: &str = "/readyz";

/// Path of the conversion webhook.
pub const CONVERSION_PATH: &str = "/convert";

/// Folder in which the manager finds the certificate of its webhooks.
pub const CERTIFICATE_FOLDER: &str = "/tmp/k8s-webhook-server/serving-certs";

/// User and group of the manager in its container: `nonroot` of the distroless images.
pub const USER: i64 = 65532;

/// A flag of the windlass manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    /// The flag without dashes.
    pub name: &'static str,
    /// What it is when it is not given; empty for a switch that is off or a text that is empty.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
}

const fn flag(name: &'static str, default: &'static str, help: &'static str) -> Flag {
    Flag { name, default, help }
}

/// The flags of the windlass manager: those that Cluster API providers have, with the defaults of Cluster API's own managers.
pub const FLAGS: &[Flag] = &[
    flag("leader-elect", "", "run only while holding the lease, so that one of several replicas is active"),
    flag("leader-elect-lease-duration", "15s", "how long others wait before they take over a lease that is not renewed"),
    flag("leader-elect-renew-deadline", "10s", "how long the leader tries to renew its lease before it gives up"),
    flag("leader-elect-retry-period", "2s", "pause between two attempts to get or to renew the lease"),
    flag("namespace", "", "reconcile only objects of this namespace; empty means all"),
    flag(
        "watch-filter",
        "",
        "reconcile only objects whose label cluster.x-k8s.io/watch-filter has this value; empty means all",
    ),
    flag("windlassconfig-concurrency", "100", "how many WindlassConfigs are reconciled at once"),
    flag("sync-period", "10m", "how often every object is looked at again"),
    flag("kube-api-qps", "100", "requests per second to the API server"),
    flag("kube-api-burst", "200", "requests to the API server that may come at once"),
    flag("bootstrap-token-ttl", "15m", "how long a bootstrap token lives unless it is refreshed"),
    flag("webhook-port", "9443", "port of the webhooks; 0 turns them off"),
    flag("webhook-cert-dir", CERTIFICATE_FOLDER, "folder with the certificate of the webhooks"),
    flag("webhook-cert-name", "tls.crt", "file of the certificate in that folder"),
    flag("webhook-key-name", "tls.key", "file of the key in that folder"),
    flag("health-addr", ":9440", "address of the health probes"),
    flag(
        "diagnostics-address",
        ":8443",
        "address of metrics and diagnostics, with TLS, authentication and authorisation",
    ),
    flag("insecure-diagnostics", "false", "serve metrics over plain HTTP and nothing else"),
    flag("feature-gates", "", "experimental parts, as NAME=true|false,…"),
    flag("v", "2", "how much is logged, from 0 to 5"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_agree_with_ports() {
        let default = |name: &str| FLAGS.iter().find(|f| f.name == name).map(|f| f.default.trim_start_matches(':').to_owned());
        assert_eq!(default("webhook-port"), Some(WEBHOOK.number.to_string()));
        assert_eq!(default("health-addr"), Some(HEALTH.number.to_string()));
        assert_eq!(default("diagnostics-address"), Some(METRICS.number.to_string()));
    }
}
