//! The border to a library that may panic on what users write: what passes it is a finding, not the
//! end of the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Calls the library; nothing, when it panics. What it was working on must not be used again.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

/// The stack of a thread for work that recurses with its input: what is not used costs nothing.
const ROOM: usize = 64 << 20;

/// Does work on a stack with room, whichever thread asks; nothing when there is none, or the work
/// panics.
pub(super) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(ROOM)
            .spawn_scoped(scope, work)
            .ok()?
            .join()
            .ok()
    })
}
