//! Kubernetes objects of unknown type: values from files, with their places, or from the API, without any.
//!
//! Reading is lenient, as Kubernetes' `unstructured` is: what has the wrong type counts as absent. Edits are checked: they make nothing that
//! they were not asked for, and a field in the way that has another type is a [`Misfit`], which becomes a finding.

mod edit;
pub mod fields;
pub(crate) mod misfit;
mod object;
pub mod pods;
mod pool;
pub(crate) mod read;
pub mod references;
pub(crate) mod scope;
pub mod secrets;
mod select;
mod spot;
pub(crate) mod strategic_merge;
pub mod substituted;
#[cfg(test)]
mod tests;

pub use misfit::{Misfit, Shape};
pub use object::{Anchor, Object};
pub use pool::Pool;
pub use read::{documents, read};
pub use select::{Selection, select};
pub use spot::Spot;
pub use substituted::Substituted;
