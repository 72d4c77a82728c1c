//! `allOf`, `anyOf`, `oneOf`, `not`.

use serde_json::Value;

use super::{Outcome, Walk};
use crate::node::Node;
use windlass_go_text::quote;

impl<'a> Walk<'a> {
    /// All junctors of a schema. They report without a field, and beside it the failures of the
    /// branch that came furthest.
    pub(super) fn junctors(&mut self, node: &'a Node, value: &'a Value) -> Outcome {
        let mut outcome = Outcome {
            passed: 1,
            ..Outcome::default()
        };
        if !node.any_of.is_empty() {
            outcome.merge(self.any_of(&node.any_of, value));
        }
        if !node.one_of.is_empty() {
            outcome.merge(self.one_of(&node.one_of, value));
        }
        if !node.all_of.is_empty() {
            outcome.merge(self.all_of(&node.all_of, value));
        }
        if node
            .not
            .as_ref()
            .is_some_and(|not| self.node(not, value).is_valid())
        {
            outcome
                .violations
                .push(self.junctor_fails("must not validate the schema (not)"));
        }
        outcome
    }

    fn any_of(&mut self, branches: &'a [Node], value: &'a Value) -> Outcome {
        let mut best: Option<Outcome> = None;
        for branch in branches {
            let result = self.node(branch, value);
            if result.is_valid() {
                return result;
            }
            if best.as_ref().is_none_or(|best| result.passed > best.passed) {
                best = Some(result);
            }
        }
        let mut outcome = Outcome {
            violations: vec![self.junctor_fails("must validate at least one schema (anyOf)")],
            passed: 0,
        };
        outcome.merge(best.unwrap_or_default());
        outcome
    }

    fn one_of(&mut self, branches: &'a [Node], value: &'a Value) -> Outcome {
        let mut best: Option<Outcome> = None;
        let mut first: Option<Outcome> = None;
        let mut valid = 0;
        for branch in branches {
            let result = self.node(branch, value);
            if result.is_valid() {
                valid += 1;
                best = None;
                first.get_or_insert(result);
            } else if valid == 0 && best.as_ref().is_none_or(|best| result.passed > best.passed) {
                best = Some(result);
            }
        }
        if valid == 1 {
            return first.unwrap_or_default();
        }
        let found = if valid == 0 {
            "Found none valid".to_owned()
        } else {
            format!("Found {valid} valid alternatives")
        };
        let message = format!("must validate one and only one schema (oneOf). {found}");
        let mut outcome = Outcome {
            violations: vec![self.junctor_fails(&message)],
            passed: 0,
        };
        outcome.merge(best.unwrap_or_default());
        outcome
    }

    fn all_of(&mut self, branches: &'a [Node], value: &'a Value) -> Outcome {
        let mut outcome = Outcome::default();
        let mut valid = 0;
        for branch in branches {
            let result = self.node(branch, value);
            valid += usize::from(result.is_valid());
            outcome.merge(result);
        }
        if valid < branches.len() {
            let none = if valid == 0 { ". None validated" } else { "" };
            outcome
                .violations
                .push(self.junctor_fails(&format!("must validate all the schemas (allOf){none}")));
        }
        outcome
    }

    fn junctor_fails(&self, message: &str) -> crate::Violation {
        self.trail
            .nameless(&format!("{} {message}", quote(&self.trail.text())))
    }
}
