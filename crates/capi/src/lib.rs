//! Cluster API's own words and rules: the contract, the types of its APIs, what conversion and its
//! webhooks do to objects, and their migration to newer versions.

pub mod admission;
pub mod api;
pub mod contract;
pub mod conversion;
pub mod migrate;

/// The rules of this crate, by the file that declares them; a test over the sources holds the list
/// complete.
pub static RULES: &[&[&windlass_source::diag::Rule]] = &[
    crate::admission::core::unknown::RULES,
    crate::admission::metadata_types::RULES,
    crate::migrate::findings::RULES,
];
