//! The border to a library that may panic on what users write: what passes it is a finding, not the end of the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls the library; nothing, when it panics. What it was working on must not be used again.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}
