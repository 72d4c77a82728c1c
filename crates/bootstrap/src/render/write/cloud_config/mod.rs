//! cloud-config, the format that cloud-init and cloudbase-init read.

mod content;
mod document;
mod files;
mod partition_type;
mod retry_join;
mod run;
mod scalar;
mod sections;

pub use document::encode;
pub use files::{NodeFile, node_files};
pub use run::{Phase, RunItem, run_items};
pub(super) use scalar::{Block, block};

use crate::render::plan::node_plan::Kubeadm;
use windlass_capi::api::boot::Platform;

/// Where the provider's own files are on a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paths {
    /// The file that kubeadm init reads.
    pub init: &'static str,
    /// The file that kubeadm join reads.
    pub join: &'static str,
    /// The file that makes the folder of the sentinel.
    pub placeholder: &'static str,
    /// The file that says that kubeadm succeeded (book: "Bootstrap provider: sentinel file").
    pub sentinel: &'static str,
}

impl Paths {
    /// The paths on a platform.
    pub fn on(platform: Platform) -> Self {
        match platform {
            Platform::Linux => Paths {
                init: "/run/kubeadm/kubeadm.yaml",
                join: "/run/kubeadm/kubeadm-join-config.yaml",
                placeholder: "/run/cluster-api/placeholder",
                sentinel: "/run/cluster-api/bootstrap-success.complete",
            },
            Platform::Windows => Paths {
                init: r"C:\run\kubeadm\kubeadm.yaml",
                join: r"C:\run\kubeadm\kubeadm-join-config.yaml",
                placeholder: r"C:\run\cluster-api\placeholder",
                sentinel: r"C:\run\cluster-api\bootstrap-success.complete",
            },
        }
    }

    /// The file that kubeadm reads.
    pub fn configuration(&self, kubeadm: &Kubeadm) -> &'static str {
        match kubeadm {
            Kubeadm::Init { .. } => self.init,
            Kubeadm::Join { .. } => self.join,
        }
    }
}

/// The content of the placeholder.
pub const PLACEHOLDER: &str = "This placeholder file is used to create the /run/cluster-api sub directory in a way that is compatible with \
     both Linux and Windows (mkdir -p /run/cluster-api does not work with Windows)";
