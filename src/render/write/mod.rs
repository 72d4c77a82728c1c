//! What the plan becomes: cloud-config or Ignition, and what that form loses or cannot hold.

pub mod cloud_config;
pub(crate) mod failure;
pub(crate) mod file_facts;
pub mod ignition;
mod jinja;
pub mod limits;
pub(crate) mod quirks;
pub(crate) mod rendered;
pub(crate) mod secret;
pub(crate) mod size;

pub use crate::text::gzip;
