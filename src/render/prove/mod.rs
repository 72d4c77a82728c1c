//! What is judged: a config, before anything is made of it.

pub mod config;
mod control_plane;
pub mod legacy;
mod renamed;
pub mod whole;
pub mod windows;
