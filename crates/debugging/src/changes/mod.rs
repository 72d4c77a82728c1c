//! What changes on a node: bootstrap data before and after, part by part, and what Cluster API
//! makes of the change.
//!
//! Data is taken apart as the node takes it apart ([`parts`]), so that what we render and what a
//! data Secret holds can be compared. What is new in every machine is made the same on both sides
//! ([`same`]). What becomes of machines that run is a table of Cluster API's own rules
//! ([`mod@verdict`]).

mod control_plane;
mod deployment;
mod effect;
mod infrastructure;
mod lines;
mod parts;
mod same;
pub mod verdict;

pub use effect::{Effect, Machine, Verdict};
pub use parts::{Kind, Part, parts};
pub use verdict::verdict;

pub(crate) use lines::changed_lines;
pub(crate) use same::{SAID, certificates_folder, made_same, without_tokens};
pub(crate) use verdict::maker;
