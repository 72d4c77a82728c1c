//! The time.

use std::time::SystemTime;

/// Seconds since 1970; 0 where the clock stands before.
pub fn now() -> i64 {
    let since = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
