//! Leader election on a Lease, as client-go does it: one of all replicas works.

mod decision;
mod elector;
mod identity;
mod kubeadm;
mod leadership;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use elector::{Candidacy, Elector};
pub(crate) use identity::{identity, namespace};
pub(crate) use kubeadm::KubeadmLease;
pub(crate) use leadership::{Leadership, Mandate};
