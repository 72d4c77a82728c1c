//! What the node gets, whatever the format: contents, certificates, discovery, kubeadm's documents.

pub mod certificate;
pub mod content;
pub(crate) mod discovery;
mod key_hash;
pub(crate) mod kubeadm;
pub mod kubeadm_run;
pub(crate) mod legacy;
pub mod node_plan;
pub mod planner;
