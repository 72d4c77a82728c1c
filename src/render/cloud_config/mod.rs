//! cloud-config, the format that cloud-init and cloudbase-init read.

mod document;
mod files;
mod partition_type;
mod retry_join;
mod scalar;
mod sections;

use std::fmt;

pub use document::encode;
pub use files::{NodeFile, kubeadm_command, node_files};
pub(super) use scalar::{Block, block};

/// How the user's texts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoder {
    /// As CAPI's kubeadm bootstrap provider writes them: as they are, commands aside, whatever YAML makes of it.
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
