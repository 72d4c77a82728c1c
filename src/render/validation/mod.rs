//! What is checked: a config, before anything is made of it.

pub(crate) mod config;
mod control_plane;
pub(crate) mod created;
pub(crate) mod findings;
pub(crate) mod legacy;
mod served;
pub(crate) mod whole;
pub(crate) mod windows;
