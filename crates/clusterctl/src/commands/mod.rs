//! The commands of clusterctl that need no cluster, with its output and messages.

pub mod config_repositories;
pub mod generate_cluster;
pub mod generate_provider;
pub mod generate_yaml;
