//! What is checked: a config, before anything is made of it.

pub mod config;
mod control_plane;
pub(crate) mod created;
pub mod findings;
pub(crate) mod legacy;
mod served;
pub(crate) mod whole;
pub(crate) mod windows;
