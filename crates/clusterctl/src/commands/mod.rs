//! Commands that answer as clusterctl's of the same name do.

pub mod config_repositories;
pub mod generate_cluster;
pub mod generate_provider;
pub mod generate_yaml;
