//! `topology plan`.

pub mod topology;
