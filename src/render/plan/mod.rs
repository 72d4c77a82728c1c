//! What the node gets, whatever the format: contents, certificates, discovery, kubeadm's documents.

pub mod certificate;
pub mod content;
pub mod discovery;
mod key_hash;
pub mod kubeadm;
pub mod kubeadm_run;
pub mod legacy;
pub mod node_plan;
pub mod planner;
