//! When a request is made again, and how long a command waits for the network in all.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::clock;
use windlass_clusterctl::NetworkFault;

/// What tells the time and lets it pass.
pub trait Clock {
    /// What has passed since a moment that stays the same.
    fn passed(&self) -> Duration;
    /// Seconds since 1970.
    fn date(&self) -> i64;
    /// Does nothing for so long.
    fn wait(&self, pause: Duration);
}

/// The clock of this machine.
#[derive(Debug, Clone, Copy)]
pub struct MachineClock(Instant);

impl MachineClock {
    /// Counts from now on.
    pub fn start() -> Self {
        MachineClock(Instant::now())
    }
}

impl Clock for MachineClock {
    fn passed(&self) -> Duration {
        self.0.elapsed()
    }
    fn date(&self) -> i64 {
        clock::now()
    }
    fn wait(&self, pause: Duration) {
        std::thread::sleep(pause);
    }
}

/// Why a request gave nothing, and whether it may give something later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Missed {
    pub(super) fault: NetworkFault,
    pub(super) may_pass: bool,
}

impl Missed {
    /// What is the same at the next attempt.
    pub(super) fn for_good(fault: NetworkFault) -> Self {
        Missed {
            fault,
            may_pass: false,
        }
    }

    /// What a connection, or a host, does for a while.
    pub(super) fn for_now(reason: String) -> Self {
        Missed {
            fault: NetworkFault::Failed(reason),
            may_pass: true,
        }
    }

    /// An answer that is none. Whoever may not see something, and what is not there, will not next
    /// time either; clusterctl asks again for everything but 404.
    pub(super) fn status(status: u16) -> Self {
        Missed {
            fault: NetworkFault::Status(status),
            may_pass: matches!(status, 408 | 425 | 500..),
        }
    }
}

/// For how long one request is made again: as clusterctl's `retryableOperationTimeout`.
const AGAIN_FOR: Duration = Duration::from_secs(60);
/// The longest pause between two attempts: clusterctl's only one, `retryableOperationInterval`.
/// Ours begins with a second and doubles.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Attempts {
    pub(super) made: u32,
    since: Duration,
    pause: Duration,
}

impl Attempts {
    pub(super) fn new(clock: &dyn Clock) -> Self {
        Attempts {
            made: 0,
            since: clock.passed(),
            pause: Duration::from_secs(1),
        }
    }

    /// An attempt failed: how long to wait before the next, or nothing when there is none.
    pub(super) fn pause_after(&mut self, missed: &Missed, clock: &dyn Clock) -> Option<Duration> {
        self.made += 1;
        let pause = match missed.fault {
            // As clusterctl, that ends the matter at once, but where the end of the limit is near.
            NetworkFault::RateLimited(until) => seconds_until(until?, clock).max(self.pause),
            _ if missed.may_pass => self.pause,
            _ => return None,
        };
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        (clock.passed().saturating_sub(self.since) + pause < AGAIN_FOR).then_some(pause)
    }
}

/// The time up to a date; a second at least, for the clocks of two machines are never the same.
fn seconds_until(date: i64, clock: &dyn Clock) -> Duration {
    Duration::from_secs(
        u64::try_from(date.saturating_sub(clock.date()))
            .unwrap_or_default()
            .saturating_add(1),
    )
}

/// The end of the time that a whole command has for the network; it begins with the first request.
#[derive(Debug)]
pub(super) struct Deadline {
    whole: Duration,
    begun: Cell<Option<Duration>>,
}

impl Deadline {
    pub(super) fn new(whole: Duration) -> Self {
        Deadline {
            whole,
            begun: Cell::new(None),
        }
    }

    /// What is left.
    ///
    /// # Errors
    /// When nothing is.
    pub(super) fn left(&self, clock: &dyn Clock) -> Result<Duration, NetworkFault> {
        let now = clock.passed();
        let begun = self.begun.get().unwrap_or(now);
        self.begun.set(Some(begun));
        let left = self.whole.saturating_sub(now.saturating_sub(begun));
        if left.is_zero() {
            let seconds = self.whole.as_secs();
            return Err(NetworkFault::Failed(format!(
                "a command may use the network for {seconds} seconds, and they are over"
            )));
        }
        Ok(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock on which time passes only by waiting.
    #[derive(Default)]
    struct Still(Cell<Duration>);

    impl Clock for Still {
        fn passed(&self) -> Duration {
            self.0.get()
        }
        fn date(&self) -> i64 {
            1_000 + i64::try_from(self.0.get().as_secs()).unwrap()
        }
        fn wait(&self, pause: Duration) {
            self.0.set(self.0.get() + pause);
        }
    }

    /// The pauses between the attempts at something that always fails so.
    fn pauses(missed: &Missed) -> Vec<u64> {
        let clock = Still::default();
        let mut attempts = Attempts::new(&clock);
        std::iter::from_fn(|| {
            attempts
                .pause_after(missed, &clock)
                .inspect(|pause| clock.wait(*pause))
        })
        .map(|pause| pause.as_secs())
        .collect()
    }

    #[test]
    fn pauses_double_up_to_clusterctls_and_end_within_its_minute() {
        let expected = [1, 2, 4, 8, 10, 10, 10, 10];
        assert_eq!(pauses(&Missed::for_now("gone".to_owned())), expected);
        for status in [408, 500, 502, 503, 504] {
            assert_eq!(pauses(&Missed::status(status)), expected, "{status}");
        }
    }

    #[test]
    fn what_does_not_pass_is_asked_once() {
        for status in [301, 400, 401, 403, 404, 410, 422] {
            assert!(pauses(&Missed::status(status)).is_empty(), "{status}");
        }
        assert!(
            pauses(&Missed::for_good(NetworkFault::Failed(
                "no https".to_owned()
            )))
            .is_empty()
        );
    }

    #[test]
    fn a_limit_that_ends_soon_is_waited_for() {
        let limited = |until| Missed::for_good(NetworkFault::RateLimited(until));
        assert_eq!(pauses(&limited(Some(1_030))), [31, 2, 4, 8, 10]);
        assert!(pauses(&limited(Some(1_059))).is_empty());
        assert!(pauses(&limited(Some(i64::MAX))).is_empty() && pauses(&limited(None)).is_empty());
    }

    #[test]
    fn a_command_has_one_end() {
        let clock = Still::default();
        let deadline = Deadline::new(Duration::from_secs(100));
        clock.wait(Duration::from_secs(70));
        assert_eq!(deadline.left(&clock), Ok(Duration::from_secs(100)));
        clock.wait(Duration::from_secs(99));
        assert_eq!(deadline.left(&clock), Ok(Duration::from_secs(1)));
        clock.wait(Duration::from_secs(1));
        assert!(
            deadline
                .left(&clock)
                .unwrap_err()
                .to_string()
                .contains("100 seconds")
        );
    }

    #[test]
    fn the_clock_of_this_machine_goes_on() {
        let clock = MachineClock::start();
        let since_1970 = || {
            i64::try_from(
                std::time::SystemTime::UNIX_EPOCH
                    .elapsed()
                    .unwrap()
                    .as_secs(),
            )
            .unwrap()
        };
        let (before, date, after) = (since_1970(), clock.date(), since_1970());
        assert!((before..=after).contains(&date), "{date}");
        clock.wait(Duration::from_millis(1));
        assert!(clock.passed() >= Duration::from_millis(1));
    }

    #[test]
    fn attempts_are_counted() {
        let clock = Still::default();
        let mut attempts = Attempts::new(&clock);
        assert_eq!(attempts.made, 0);
        for made in 1..=3 {
            assert!(attempts.pause_after(&Missed::status(503), &clock).is_some());
            assert_eq!(attempts.made, made);
        }
        assert!(
            Missed::status(425).may_pass
                && Missed::status(408).may_pass
                && !Missed::status(429).may_pass
        );
    }
}
