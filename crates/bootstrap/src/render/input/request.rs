//! What the user asked for, beside the documents.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::cluster::Endpoint;
use super::profile::Profile;
use super::role::Role;
use windlass_capi::api::boot::IgnitionVersion;
use windlass_capi::api::secret::Sensitive;
use windlass_source::budget::Budget;

/// The options of a rendering.
#[derive(Debug, Clone)]
pub struct Request {
    /// The CAPI release whose bytes are matched.
    pub profile: Profile,
    /// Whether what is missing is filled in; if not it is a finding.
    pub placeholders: bool,
    /// The role, whatever the objects say.
    pub role: Option<Role>,
    /// The name of the cluster.
    pub cluster_name: Option<String>,
    /// The endpoint of the API server.
    pub endpoint: Option<Endpoint>,
    /// The Kubernetes version.
    pub kubernetes_version: Option<String>,
    /// The same as the user gave it, perhaps without `v` and patch number.
    pub given_version: Option<String>,
    /// The token that the provider would make.
    pub token: Option<Sensitive<String>>,
    /// Hashes of CA keys that joining nodes trust.
    pub ca_cert_hashes: Vec<String>,
    /// Certificates and keys by their path below the folder of certificates, such as
    /// `etcd/ca.crt`.
    pub certificates: BTreeMap<String, Sensitive<Vec<u8>>>,
    /// The version of Ignition, whatever the config says.
    pub ignition: Option<IgnitionVersion>,
    /// How texts of KubeadmConfigs are written; WindlassConfigs always use [`Encoder::Typed`].
    pub encoder: Option<Encoder>,
    /// Upstream's feature gates.
    pub feature_gates: FeatureGates,
    /// Whether upstream's messages in findings hold the user's secrets, as they do upstream.
    pub show_secrets: bool,
    /// What the run may spend on the templates of files.
    pub budget: Arc<Budget>,
}

impl Request {
    /// The options that hold when none is given.
    pub fn new() -> Self {
        Request {
            profile: Profile::NEWEST,
            placeholders: true,
            role: None,
            cluster_name: None,
            endpoint: None,
            kubernetes_version: None,
            given_version: None,
            token: None,
            ca_cert_hashes: Vec::new(),
            certificates: BTreeMap::new(),
            ignition: None,
            encoder: None,
            feature_gates: FeatureGates::default(),
            show_secrets: false,
            budget: Arc::default(),
        }
    }
}

impl Default for Request {
    fn default() -> Self {
        Self::new()
    }
}

/// How the user's texts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoder {
    /// As CAPI's kubeadm bootstrap provider writes them: as they are, commands aside, whatever YAML
    /// makes of it.
    Capi,
    /// As that provider does wherever it reads back as it was meant, and quoted where it does not.
    Typed,
}

impl Encoder {
    /// Both.
    pub const ALL: [Encoder; 2] = [Encoder::Capi, Encoder::Typed];

    /// The word of flags and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Encoder::Capi => "capi",
            Encoder::Typed => "typed",
        }
    }
}

impl fmt::Display for Encoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The feature gates of CAPI that decide what is admitted or rendered (book: "Experimental
/// features").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureGates {
    /// `KubeadmBootstrapFormatIgnition`, off by default.
    pub ignition: bool,
    /// `MachinePool`, on by default.
    pub machine_pool: bool,
    /// `MachineTaintPropagation`, off by default: whether machines may have taints.
    pub machine_taints: bool,
}

impl FeatureGates {
    /// Gates of CAPI v1.10 to main that decide neither what is admitted nor what is rendered
    /// (`feature/feature.go`).
    pub const WITHOUT_EFFECT: [&str; 8] = [
        "ClusterResourceSet",
        "ClusterTopology",
        "InPlaceUpdates",
        "MachineSetPreflightChecks",
        "MachineWaitForVolumeDetachConsiderVolumeAttachments",
        "PriorityQueue",
        "ReconcilerRateLimiting",
        "RuntimeSDK",
    ];
}

impl Default for FeatureGates {
    fn default() -> Self {
        FeatureGates {
            ignition: false,
            machine_pool: true,
            machine_taints: false,
        }
    }
}
