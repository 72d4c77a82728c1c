//! What is judged: a config, before anything is made of it.

pub mod config;
pub mod legacy;
pub mod whole;
pub mod windows;
