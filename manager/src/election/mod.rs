//! Leader election on a Lease, as client-go does it: of all replicas one works.

mod decision;
mod elector;
mod identity;
mod leadership;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use elector::Elector;
pub(crate) use identity::{identity, namespace};
pub(crate) use leadership::Leadership;

/// The name of the Lease.
pub(crate) const LEASE: &str = "windlass-manager-leader-election";
