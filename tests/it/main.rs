//! Everything that needs nothing but Rust, in one binary.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "tests read files and start the program"
)]

mod action;
mod admission;
mod api;
mod assembly;
mod bounds;
mod bring_your_own;
mod bug_reports;
mod bundles;
mod circles;
mod cli;
mod clusterctl;
mod clusterctl_engine;
mod completion;
mod component_flags;
mod contract;
mod conversion;
mod core_kinds;
mod corpus;
mod crd_labels;
mod diff;
mod diff_reports;
mod dist;
mod docs;
mod doctor;
mod envsubst;
mod examples;
mod explain;
mod fix;
mod gate;
mod gate_corpus;
mod gate_corpus_components;
mod generate;
mod go_template;
mod image;
mod images;
mod init;
mod init_identity;
mod init_manager;
mod init_short;
mod inspect;
mod inspect_modules;
mod inspect_reports;
mod labels_and_taints;
mod language;
mod lint;
mod man;
mod migrate;
mod network;
mod no_cluster;
mod oci;
mod one_judge;
mod operator;
mod output;
mod own_objects;
mod padded;
mod page;
mod provenance;
mod reconcile;
mod release;
mod release_build;
mod release_check;
mod release_diff;
mod render;
mod report_formats;
mod report_schemas;
mod repository;
mod rules;
mod sbom;
mod scaling;
mod scenarios;
mod schema;
mod secrets;
mod settings;
mod shell;
#[cfg(feature = "signatures")]
mod signatures;
mod size;
mod support;
mod tidy;
mod topology;
mod untrusted;
#[cfg(not(feature = "signatures"))]
mod unverified_signatures;
mod validate;
mod vars;
mod why;
mod yaml;
