//! What a candidate does about the Lease that it sees: a function of what was seen, and when.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use tokio::time::Instant;

/// A Lease, and when this process first saw it as it is. Whether it has run out is checked by that
/// and by our own clock, never by the times that its holder wrote, whose clock may be another.
#[derive(Debug, Clone)]
pub(super) struct Observation {
    pub(super) lease: Lease,
    pub(super) since: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Create the Lease: there is none.
    Create,
    /// Write ourselves into it: nobody holds it any more.
    TakeOver,
    /// Renew it: it is ours.
    Renew,
    /// Leave it to its holder, for so long unless the holder renews it.
    Wait(Duration),
}

impl Observation {
    /// The Lease as it was seen now. One that is as before keeps the time at which it was seen
    /// first.
    pub(super) fn next(before: Option<Observation>, lease: Lease, now: Instant) -> Observation {
        match before {
            Some(before) if before.lease.spec == lease.spec => Observation {
                lease,
                since: before.since,
            },
            _ => Observation { lease, since: now },
        }
    }

    pub(super) fn holder(&self) -> &str {
        self.lease
            .spec
            .as_ref()
            .and_then(|spec| spec.holder_identity.as_deref())
            .unwrap_or_default()
    }

    /// Whether the API server rejects what is written over it once another client has changed it.
    pub(super) fn has_version(&self) -> bool {
        self.lease.metadata.resource_version.is_some()
    }

    /// How long its holder holds it without renewing it, in the holder's own words.
    fn duration(&self) -> Duration {
        let seconds = self
            .lease
            .spec
            .as_ref()
            .and_then(|spec| spec.lease_duration_seconds)
            .unwrap_or_default();
        Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
    }
}

pub(super) fn decide(identity: &str, seen: Option<&Observation>, now: Instant) -> Action {
    let Some(seen) = seen else {
        return Action::Create;
    };
    if seen.holder() == identity {
        return Action::Renew;
    }
    let left = (seen.since + seen.duration()).saturating_duration_since(now);
    if seen.holder().is_empty() || left.is_zero() {
        Action::TakeOver
    } else {
        Action::Wait(left)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::coordination::v1::LeaseSpec;

    use super::*;

    fn lease(holder: &str, seconds: i32, transitions: i32) -> Lease {
        let spec = LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(seconds),
            lease_transitions: Some(transitions),
            ..LeaseSpec::default()
        };
        Lease {
            spec: Some(spec),
            ..Lease::default()
        }
    }

    /// client-go, `tryAcquireOrRenew`.
    #[tokio::test(start_paused = true)]
    async fn candidates_decide_as_client_go_does() {
        let now = Instant::now();
        let check = |holder: &str, seconds: i32, age: u64, expected: Action| {
            let seen = Observation {
                lease: lease(holder, seconds, 0),
                since: now,
            };
            assert_eq!(
                decide("me", Some(&seen), now + Duration::from_secs(age)),
                expected,
                "{holder} {seconds} {age}"
            );
        };
        assert_eq!(decide("me", None, now), Action::Create);
        check("me", 15, 0, Action::Renew);
        // Ours, however old: nobody took it over.
        check("me", 15, 60, Action::Renew);
        check("", 15, 0, Action::TakeOver);
        check("other", 15, 0, Action::Wait(Duration::from_secs(15)));
        check("other", 15, 14, Action::Wait(Duration::from_secs(1)));
        check("other", 15, 15, Action::TakeOver);
        // A Lease of somebody who says nothing of its duration, or nonsense, is over.
        check("other", 0, 0, Action::TakeOver);
        check("other", -5, 0, Action::TakeOver);
        assert_eq!(
            decide(
                "me",
                Some(&Observation {
                    lease: Lease::default(),
                    since: now
                }),
                now
            ),
            Action::TakeOver
        );
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_change_counts_as_a_sign_of_life() {
        let start = Instant::now();
        let later = start + Duration::from_secs(5);
        let first = Observation::next(None, lease("other", 15, 0), start);
        let mut same = lease("other", 15, 0);
        same.metadata.resource_version = Some("2".to_owned());
        let again = Observation::next(Some(first.clone()), same, later);
        assert_eq!(
            (
                again.since,
                again.lease.metadata.resource_version.as_deref()
            ),
            (start, Some("2"))
        );
        assert_eq!(
            Observation::next(Some(first), lease("other", 15, 1), later).since,
            later
        );
    }
}
