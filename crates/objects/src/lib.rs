//! Kubernetes objects of unknown type: values from files, with their locations, or from the API,
//! without.
//!
//! Reading is lenient, as Kubernetes' `unstructured` is: what has the wrong type counts as absent.
//! Edits are checked: they make nothing that they were not asked for, and a field in the way that
//! has a different type is a [`Misfit`], which becomes a finding.

pub mod composed;
mod edit;
pub mod fields;
pub mod json_patch;
pub mod kustomize_merge;
pub mod misfit;
mod object;
pub mod opaque_block;
pub mod pods;
mod pool;
pub mod read;
pub mod references;
pub mod scope;
pub mod secrets;
mod select;
mod spot;
pub mod strategic_merge;
pub mod substituted;

/// The rules of this crate, one list for each file. A test fails if one is missing.
pub static RULES: &[&[&windlass_source::diag::Rule]] =
    &[crate::misfit::RULES, crate::pool::RULES, crate::read::RULES];

#[cfg(test)]
mod tests;

pub use fields::lookups;
pub use misfit::{Misfit, Shape};
pub use object::{Anchor, Object, Stand};
pub use pool::{Contents, Pool};
pub use read::{documents, read};
pub use select::select;
pub use spot::Spot;
pub use substituted::Substituted;
