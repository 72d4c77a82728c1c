//! Leader election on a Lease, as client-go does it: of all replicas one works, or of each shard
//! one.

mod decision;
mod elector;
mod identity;
mod kubeadm;
mod leadership;
mod shards;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use elector::{Candidacy, Elector};
pub(crate) use identity::{identity, namespace};
pub(crate) use kubeadm::KubeadmLease;
pub(crate) use leadership::{Leadership, Mandate};
pub(crate) use shards::ShardLeases;
