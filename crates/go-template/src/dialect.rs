//! What a template may use beside Go's standard functions, and what a missing key is.

use super::functions::{CallFault, Function, Parameter};
use super::held::Held;
use super::sprig::{self, Added};
use windlass_go_text::value::Value;
use windlass_source::budget::Budget;

/// How the program that renders a template has set up Go's package.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    find: fn(&str) -> Option<&'static Added>,
    pub(super) missing_key_fails: bool,
}

impl Dialect {
    /// The standard functions alone; a missing key is `<no value>`.
    pub(crate) const STANDARD: Dialect = Dialect {
        find: |_| None,
        missing_key_fails: false,
    };
    /// With sprig's hermetic functions, as Cluster API renders patches.
    pub const SPRIG: Dialect = Dialect {
        find: sprig::find,
        missing_key_fails: false,
    };
    /// The standard functions, and a missing key fails: as Cluster API makes names.
    pub const STRICT: Dialect = Dialect {
        find: |_| None,
        missing_key_fails: true,
    };

    /// The function of that name; an added one goes before a standard one.
    pub(super) fn find(&self, name: &str) -> Option<Callable> {
        (self.find)(name)
            .map(Callable::Added)
            .or_else(|| Function::find(name).map(Callable::Standard))
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Callable {
    Standard(Function),
    Added(&'static Added),
}

impl Callable {
    pub(super) fn is(&self, function: Function) -> bool {
        matches!(self, Callable::Standard(standard) if *standard == function)
    }

    /// How many arguments there must be, and whether there may be more.
    pub(super) fn arity(&self) -> (usize, bool) {
        match self {
            Callable::Standard(function) => function.arity(),
            Callable::Added(added) => added.arity(),
        }
    }

    /// What the argument at an index must be.
    pub(super) fn parameter(&self, index: usize) -> Parameter {
        match self {
            Callable::Standard(function) => function.parameter(index),
            Callable::Added(added) => added.parameter(index),
        }
    }

    /// What a call costs in steps, beside what it gives.
    pub(super) fn cost(&self, arguments: &[Held]) -> usize {
        match self {
            // Those of Go look at no more than texts: comparisons do.
            Callable::Standard(_) => arguments
                .iter()
                .map(|held| {
                    if let Value::Text(text) = &held.value {
                        text.len() / 16
                    } else {
                        0
                    }
                })
                .sum(),
            Callable::Added(added) => added.cost(arguments),
        }
    }

    pub(super) fn call(&self, arguments: &[Held], budget: &Budget) -> Result<Held, CallFault> {
        match self {
            Callable::Standard(function) => function.call(arguments),
            Callable::Added(added) => added.call(arguments, budget),
        }
    }
}
