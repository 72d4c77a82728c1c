//! Leader election on a Lease, as client-go does it: of all replicas one works.

mod leadership;

pub(crate) use leadership::Leadership;
