//! What the other crates stand on: texts with their names, findings with their locations, bounds on
//! work, and folders in memory. Knows nothing of Kubernetes, and never touches a file.

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

/// The rules of this crate, by the file that declares them; a test over the sources holds the list
/// complete.
pub static RULES: &[&[&crate::diag::Rule]] = &[crate::source::RULES];
