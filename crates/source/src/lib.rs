//! The types that all other crates of Windlass use: named texts ([`source`]), findings with
//! locations and help ([`diag`]), the limits of a run ([`budget`]), and folders in memory
//! ([`tree`]). It depends on nothing of Kubernetes and reads no files.

pub mod budget;
pub mod cut;
pub mod diag;
pub mod edit;
pub mod glob;
pub mod gzip;
pub mod hex;
pub mod names;
pub mod nearest;
pub mod source;
pub mod steps;
pub mod tree;
pub mod url;

pub use source::{Source, TextRange};

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&crate::diag::Rule]] = &[crate::source::RULES];
