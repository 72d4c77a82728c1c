//! What comes of the check of a schema, gathered from its parts.

use super::costs::Costs;
use super::{Gap, Violation};

/// Errors of schemas and of CEL rules apart: rules are only checked where the schema is right.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) schema: Vec<Violation>,
    pub(super) rules: Vec<Violation>,
    /// Whether the estimated cost of a rule, or of all, is one of the errors.
    pub(super) costs_too_much: bool,
    /// The rules that cannot be checked here.
    pub(super) gaps: Vec<Gap>,
    pub(super) costs: Costs,
}

impl Found {
    pub(super) fn add(&mut self, other: Found) {
        self.schema.extend(other.schema);
        self.rules.extend(other.rules);
        self.costs_too_much |= other.costs_too_much;
        self.gaps.extend(other.gaps);
        self.costs.add(other.costs);
    }
}
