//! What of a run is counted, and the steps that are left, for what is compiled once and used without
//! the budget of its run.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Steps: about one byte each that a little language looks at or writes. All of them take less
    /// than a second.
    Steps,
    /// Bytes of YAML that are read; those of a text that is read twice count twice.
    Bytes,
    /// Values of YAML, and those that aliases stand for.
    Values,
    /// Bytes of memory that aliases stand for.
    Copies,
    /// Steps of CEL rules: about one value each that a rule looks at or copies. The API server
    /// bounds them for an object.
    Rules,
    /// Bytes that gzip unpacks.
    Unpacked,
}

impl Resource {
    pub(super) const ALL: [Resource; 6] = [
        Resource::Steps,
        Resource::Bytes,
        Resource::Values,
        Resource::Copies,
        Resource::Rules,
        Resource::Unpacked,
    ];

    /// How much of it a run has: room for a repository of several hundred providers, of which each
    /// file is read a few times.
    pub(super) const fn most(self) -> u64 {
        match self {
            Resource::Steps => 1 << 28,
            Resource::Bytes => 1 << 30,
            Resource::Values => 1 << 25,
            Resource::Copies => 64 << 20,
            Resource::Rules => 20_000_000,
            Resource::Unpacked => 32 << 20,
        }
    }
}

/// What was used of each resource so far.
pub(super) type Used = [AtomicU64; Resource::ALL.len()];

/// A resource of the run is used up. The caller reports which input used the last of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    pub(super) resource: Resource,
    pub(super) most: u64,
}

impl Exceeded {
    /// The error for the default limit of [`Resource::Steps`], where the budget is not known.
    pub const STEPS: Exceeded = Exceeded {
        resource: Resource::Steps,
        most: Resource::Steps.most(),
    };

    /// The resource that is used up.
    pub fn resource(self) -> Resource {
        self.resource
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.resource {
            Resource::Steps => "steps",
            Resource::Bytes => "bytes of YAML",
            Resource::Values => "values of YAML",
            Resource::Copies => "bytes that aliases stand for",
            Resource::Rules => "steps of CEL rules",
            Resource::Unpacked => "bytes unpacked",
        };
        write!(formatter, "more than {} {what} in one run", self.most)
    }
}

impl std::error::Error for Exceeded {}

/// The steps of a run, held by what is compiled once and used without its budget.
#[derive(Debug, Clone)]
pub struct Steps {
    pub(super) used: Arc<Used>,
    pub(super) exceeding: Exceeded,
}

impl Steps {
    /// Takes steps.
    ///
    /// # Errors
    /// [`Exceeded`] when fewer are left; from then on nothing is left.
    pub fn charge(&self, steps: usize) -> Result<(), Exceeded> {
        take(&self.used, self.exceeding, steps)
    }
}

/// Takes some of a resource.
pub(super) fn take(used: &Used, exceeding: Exceeded, amount: usize) -> Result<(), Exceeded> {
    let Exceeded { resource, most } = exceeding;
    let amount = u64::try_from(amount).unwrap_or(u64::MAX);
    let before = used[resource as usize].fetch_add(amount.min(most + 1), Ordering::Relaxed);
    if before.saturating_add(amount) <= most {
        Ok(())
    } else {
        Err(exceeding)
    }
}
