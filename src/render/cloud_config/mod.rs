//! cloud-config, the format that cloud-init and cloudbase-init read.

mod capi;
mod partition_type;
mod sections;

pub use capi::encode;

/// The file that kubeadm init reads.
pub const INIT_FILE: &str = "/run/kubeadm/kubeadm.yaml";

/// The file that kubeadm join reads.
pub const JOIN_FILE: &str = "/run/kubeadm/kubeadm-join-config.yaml";

/// The file that makes the folder of the sentinel.
pub const PLACEHOLDER_FILE: &str = "/run/cluster-api/placeholder";

/// The file that says that kubeadm succeeded (book: "Bootstrap provider: sentinel file").
pub const SENTINEL_FILE: &str = "/run/cluster-api/bootstrap-success.complete";

/// The content of the placeholder.
pub const PLACEHOLDER: &str = "This placeholder file is used to create the /run/cluster-api sub directory in a way that is compatible with \
     both Linux and Windows (mkdir -p /run/cluster-api does not work with Windows)";
