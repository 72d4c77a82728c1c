//! Our manager beside Cluster API's own, on clusters in memory.

mod clusters;
mod parity;
mod takeover;

pub(crate) use clusters::clusters_come_up;
pub(crate) use takeover::a_killed_leader_is_replaced;
