//! All input and output apart from `cli`: files, standard streams, the environment, the network.
//! The crates work on values that this module has read, and return the values that it writes.

#![allow(
    clippy::disallowed_methods,
    reason = "this is where files, streams and the environment are touched"
)]

pub mod charts;
pub mod clock;
pub mod clusterctl_files;
mod comparison;
pub mod confine;
pub mod cores;
mod difference;
pub mod environment;
mod error;
pub mod files;
pub mod glob;
pub mod input;
pub mod lock;
pub mod messages;
pub mod neighbours;
pub mod network;
mod progress;
pub mod registry;
pub mod retry;
#[cfg(feature = "signatures")]
pub mod signature;
mod staging;
pub mod stdio;
pub mod trees;

pub use comparison::compare;
pub use difference::Difference;
pub use error::WorldError;
