//! What the plan becomes: cloud-config or Ignition, and what that form loses or cannot hold.

pub mod cloud_config;
pub mod failure;
pub mod gzip;
pub mod ignition;
mod jinja;
pub mod quirks;
pub mod rendered;
pub mod size;
