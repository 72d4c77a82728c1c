//! Free TCP ports on loopback.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that systems hand out for outgoing connections, so that none of those takes one
/// between the look and the use.
const FIRST: u16 = 20_000;
const COUNT: u16 = 10_000;

/// Counts up, so that no port is given twice; starts where the process id says, so that two runs
/// beside each other seldom meet.
static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port that nobody listens on and that this run has not given away yet.
pub(crate) fn free() -> u16 {
    let start = u16::try_from(std::process::id() % u32::from(COUNT)).expect("smaller than COUNT");
    for _ in 0..COUNT {
        let port = FIRST + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no free port between {FIRST} and {}", FIRST + COUNT);
}
