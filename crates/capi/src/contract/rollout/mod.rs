//! When Cluster API's controllers replace running machines: one table of the rules of each release
//! and machine role. A release without a row is not known, and no verdict is given for it.
//!
//! The rows were found by comparing the files named in them between all releases from v1.10.0 to
//! v1.14.2.

mod control_plane;
mod fields;
mod table;
mod update;
mod workers;

pub use control_plane::{Config, changed, replacing};
pub use fields::differences;
pub use table::{Comparison, Machines, Row, Rule, row};
pub use update::{rejected, skips_a_minor};
pub use workers::{names_another, rollout_after};

/// A release of Cluster API 1: its minor and its patch version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release(pub u64, pub u64);

impl Release {
    /// The newest release with rows.
    pub const NEWEST: Release = Release(14, 2);
}
