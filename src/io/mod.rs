//! The only place besides `cli` that touches the world: files, standard streams, the environment.
//! Everything it reads becomes a value before it goes down into the library, and everything it
//! writes was a value before.

#![allow(
    clippy::disallowed_methods,
    reason = "this is where files, streams and the environment are touched"
)]

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
