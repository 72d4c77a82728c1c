//! Waiting with a deadline. Nothing in the suite waits without one.

use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(100);

/// Asks until the answer is `Ok`; at the deadline panics with what is awaited and the last `Err`.
pub(crate) fn until<T>(
    awaited: &str,
    limit: Duration,
    mut ask: impl FnMut() -> Result<T, String>,
) -> T {
    let deadline = Instant::now() + limit;
    loop {
        match ask() {
            Ok(answer) => return answer,
            Err(reason) if Instant::now() >= deadline => {
                panic!("waited {} s for {awaited}; last: {reason}", limit.as_secs())
            }
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}
