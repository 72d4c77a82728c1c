//! What the plan becomes: cloud-config or Ignition, and what that form loses or cannot hold.

pub mod cloud_config;
pub(crate) mod failure;
pub mod file_facts;
pub mod ignition;
mod jinja;
pub mod limits;
pub mod quirks;
pub(crate) mod rendered;
pub mod secret;
pub mod size;
