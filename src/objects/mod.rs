//! Kubernetes objects of unknown type: values from files, with their places, or from the API,
//! without any.
//!
//! Reading is lenient, as Kubernetes' `unstructured` is: what has the wrong type counts as absent.
//! Edits are checked: they make nothing that they were not asked for, and a field in the way that
//! has a different type is a [`Misfit`], which becomes a finding.

pub(crate) mod composed;
mod edit;
pub(crate) mod fields;
pub(crate) mod json_patch;
pub(crate) mod kustomize_merge;
pub(crate) mod misfit;
mod object;
pub(crate) mod opaque_block;
pub(crate) mod pods;
pub(crate) mod pool;
pub(crate) mod read;
pub(crate) mod references;
pub(crate) mod scope;
pub(crate) mod secrets;
mod select;
mod spot;
pub(crate) mod strategic_merge;
pub(crate) mod substituted;
#[cfg(test)]
mod tests;

pub use fields::lookups;
pub(crate) use misfit::{Misfit, Shape};
pub use object::Object;
pub(crate) use object::{Anchor, Stand};
pub(crate) use pool::Contents;
pub use pool::Pool;
pub(crate) use read::{documents, read};
pub(crate) use select::select;
pub(crate) use spot::Spot;
pub(crate) use substituted::Substituted;
