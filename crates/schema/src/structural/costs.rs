//! The estimated costs of all rules of a schema together.

use super::Violation;
use crate::cel::{PER_SCHEMA, exceeded};
use windlass_source::diag::FieldPath;

/// How many of the most expensive rules are named.
const NAMED: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Costs {
    total: u64,
    /// Those with at least a hundredth of what all may cost.
    dear: Vec<(u64, FieldPath)>,
}

impl Costs {
    pub(super) fn observe(&mut self, path: FieldPath, cost: u64) {
        self.total = self.total.saturating_add(cost);
        if cost >= PER_SCHEMA / 100 {
            self.dear.push((cost, path));
        }
    }

    pub(super) fn add(&mut self, other: Costs) {
        self.total = self.total.saturating_add(other.total);
        self.dear.extend(other.dear);
    }

    /// The violations if all rules together cost too much. `what` names them in messages.
    pub(super) fn exceeded(&mut self, path: &FieldPath, what: &str) -> Vec<Violation> {
        if self.total <= PER_SCHEMA {
            return Vec::new();
        }
        self.dear.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
        let part = format!(
            "contributed to estimated {what} cost total exceeding cost limit for entire OpenAPIv3 schema"
        );
        let named = self
            .dear
            .drain(..)
            .take(NAMED)
            .map(|(_, path)| Violation::forbidden(path, &part));
        let name = format!(
            "x-kubernetes-validations estimated {what} cost total for entire OpenAPIv3 schema"
        );
        let whole = exceeded(&name, self.total, PER_SCHEMA);
        named
            .chain([Violation::forbidden(path.clone(), &whole)])
            .collect()
    }
}
