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
mod bad_provider;
mod bounds;
mod bring_your_own;
mod bug_reports;
mod circles;
mod cli;
mod clusterctl;
mod clusterctl_engine;
mod clusterctl_words;
mod command_lines;
mod component_flags;
mod contract;
mod conversion;
mod core_kinds;
mod diff;
mod dist;
mod docs;
mod doctor;
mod envsubst;
mod examples;
mod faults;
mod fix;
mod gate;
mod gate_corpus;
mod gate_corpus_components;
mod go_template;
mod image;
mod init;
mod inspect;
mod kustomizations;
mod labels_and_taints;
mod last_words;
mod man;
mod migrate;
mod mistakes;
mod network;
mod no_cluster;
mod oci;
mod one_judge;
mod operator;
mod own_objects;
mod page;
mod provenance;
mod provider_patches;
mod public_api;
mod reconcile;
mod release;
mod release_diff;
mod release_words;
mod render;
mod report_formats;
mod report_schemas;
mod repository;
mod repository_words;
mod rules;
mod scaling;
mod schema;
mod secrets;
mod series;
mod settings;
mod shell;
mod signatures;
mod size;
mod streams;
mod support;
mod tidy;
mod told;
mod topology;
mod untrusted;
mod validate;
mod vars;
mod why;
mod yaml;
