#![doc = include_str!("../README.md")]
//!
//! # Map
//!
//! The modules in layer order; each may use only the layers above it in this list
//! (`ARCHITECTURE.md` has the table, a test holds it).

// Layer 0, words: know nothing of Kubernetes or of us.
pub mod diag;
pub mod text;

// Layer 1, facts: data and names, no decisions.
pub mod api;
pub mod contract;
pub mod objects;
pub mod provider;
pub mod schema;

// Layer 1½, between versions and before storage: pure.
pub mod admission;
pub mod conversion;

// Layer 2, engines: pure.
pub mod clusterctl;
pub mod emit;
pub(crate) mod inspect;
pub(crate) mod lint;
#[cfg(feature = "cli")]
pub(crate) mod oci;
pub mod render;
pub mod report;
pub mod topology;

// Layer 2½, what follows from rendering: pure. The controller's decisions, what changes on a node,
// what a node would reject, and where what it has comes from.
pub(crate) mod changes;
pub(crate) mod images;
pub(crate) mod migrate;
pub(crate) mod preflight;
pub(crate) mod provenance;
pub mod reconcile;

// Layer 3, the verbs: values in, values and a report out.
pub mod ops;

// Layer 3½, the language server: open documents in, findings and answers out.
#[cfg(feature = "cli")]
pub mod editor;

// Layer 4, the shell: the only code that touches the world. With the feature `cli` alone.
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cli")]
pub mod io;
