//! Structural schemas as the API server treats them: what it rejects and in which words, what it
//! prunes and defaults.
//!
//! Facts, not code, come from `k8s.io/apiextensions-apiserver` and `k8s.io/kube-openapi` of
//! Kubernetes 0.36, whose wording is used throughout. Nothing here knows a type of Kubernetes:
//! objects and schemas are [`serde_json::Value`]s, read by a YAML reader that gives the values that
//! Go's reader gives.
//!
//! Every walk is linear in the object times the branches of the schema's junctors, and as deep as
//! the schema at most.

mod cel;
mod compiler;
mod default;
pub mod document;
mod format;
mod list_type;
pub mod name;
mod node;
mod object_meta;
mod prune;
pub mod structural;
mod unknown;
mod validate;
mod violation;

use serde_json::Value;

pub use cel::{NotEvaluable, Verdict};
pub use name::subdomain_errors;
pub use object_meta::{
    annotation_violations, annotations_too_large, label_violations, validate_annotations,
    validate_labels,
};
pub(crate) use unknown::Home;
pub use unknown::UnknownField;
pub use validate::fits_format;
pub use violation::{Fault, Violation, ViolationKind, rejection_message};

use node::Node;
use windlass_source::budget::Budget;

/// How deep a schema may be nested, junctors included. The deepest schema of a known provider has
/// 25 levels.
const MAX_DEPTH: usize = 96;

/// A compiled schema. Compile once, use for many objects, from any thread.
#[derive(Debug, Clone)]
pub struct Schema {
    root: Node,
}

impl Schema {
    /// Compiles an `openAPIV3Schema`.
    ///
    /// # Errors
    /// When it is not a schema that the API server could validate with: a keyword of the wrong type,
    /// an unsupported keyword such as `$ref`, a pattern that is not a regular expression, too many
    /// levels. The violation's path starts at the schema.
    pub fn from_json(schema: &Value) -> Result<Self, Violation> {
        Schema::within(schema, &Budget::default())
    }

    /// The same, with the patterns compiled on a run's budget.
    ///
    /// # Errors
    /// See [`Schema::from_json`].
    pub fn within(schema: &Value, budget: &Budget) -> Result<Self, Violation> {
        Ok(Schema {
            root: compiler::compile(schema, &windlass_go_text::regexp::Patterns::of(budget))?,
        })
    }
}

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
