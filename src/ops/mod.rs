//! The verbs: values in, values and a report out. One file a verb; reading and writing is the
//! shell's.

pub mod charts;
pub mod config_repositories;
pub mod diff;
pub mod fix;
pub mod generate;
pub mod generate_cluster;
pub mod generate_provider;
pub mod generate_yaml;
pub mod images;
pub mod init;
pub mod inspect;
pub mod kustomize_files;
pub mod lint;
pub mod migrate;
pub(crate) mod object_check;
pub mod outlook;
pub mod release_build;
pub mod release_bump;
pub mod release_changes;
pub mod release_check;
pub mod release_compare;
pub mod release_diff;
pub mod release_findings;
pub(crate) mod release_image;
pub mod release_provenance;
pub mod render;
pub mod repository;
pub mod rules;
pub mod settings;
pub mod size;
pub mod topology;
pub mod validate;
pub mod vars;
pub mod why;
