//! Our manager beside Cluster API's own, on clusters in memory.

mod clusters;
mod parity;

pub(crate) use clusters::clusters_come_up;
