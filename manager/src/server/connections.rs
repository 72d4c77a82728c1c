//! The open connections of a server. When a limit is reached, the least useful one is closed for a
//! new one.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// What a connection does, in the order in which connections are closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// It has not sent a complete head yet.
    New,
    /// A request was answered; another one may follow.
    Idle,
    /// The body of a request arrives.
    Body,
    /// A request is processed. Such a connection is never closed for another.
    Work,
}

/// When a body counts as slow. That of an object arrives within milliseconds.
const SLOW: Duration = Duration::from_secs(2);

/// One connection; clones share it.
#[derive(Debug, Clone)]
pub(super) struct Peer(Arc<State>);

#[derive(Debug)]
struct State {
    phase: Mutex<Now>,
    closing: Notify,
}

#[derive(Debug, Clone, Copy)]
struct Now {
    phase: Phase,
    since: Instant,
    /// Whether part of a head has arrived.
    is_in_head: bool,
}

impl Peer {
    pub(super) fn new() -> Self {
        Peer(Arc::new(State {
            phase: Mutex::new(Now {
                phase: Phase::New,
                since: Instant::now(),
                is_in_head: false,
            }),
            closing: Notify::new(),
        }))
    }

    pub(super) fn enter(&self, phase: Phase) {
        *self.now() = Now {
            phase,
            since: Instant::now(),
            is_in_head: false,
        };
    }

    /// Notes that bytes have arrived: of a head, unless a request is served.
    pub(super) fn heard(&self) {
        let mut now = self.now();
        if now.phase <= Phase::Idle && !now.is_in_head {
            (now.is_in_head, now.since) = (true, Instant::now());
        }
    }

    pub(super) fn is_at(&self, phase: Phase) -> bool {
        self.now().phase == phase
    }

    /// When the head of a request that is not complete began.
    pub(super) fn in_head(&self) -> Option<Instant> {
        let now = self.now();
        now.is_in_head.then_some(now.since)
    }

    /// When the last request was answered, if none is served.
    pub(super) fn answered(&self) -> Option<Instant> {
        let now = self.now();
        (now.phase == Phase::Idle).then_some(now.since)
    }

    /// Closes the connection.
    pub(super) fn close(&self) {
        self.0.closing.notify_one();
    }

    /// Waits until [`Peer::close`] is called.
    pub(super) async fn closed(&self) {
        self.0.closing.notified().await;
    }

    /// The place in the order of closing; a slow body comes first, as a missing head does.
    fn worth(&self) -> (Phase, Instant) {
        let now = self.now();
        let is_slow = now.phase == Phase::Body && now.since.elapsed() >= SLOW;
        (if is_slow { Phase::New } else { now.phase }, now.since)
    }

    fn now(&self) -> MutexGuard<'_, Now> {
        self.0.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The open connections of a server; clones share them.
#[derive(Debug, Clone)]
pub(super) struct Connections {
    open: Arc<Mutex<Open>>,
    most: usize,
    most_of_address: usize,
}

#[derive(Debug, Default)]
struct Open {
    next: u64,
    peers: BTreeMap<u64, (IpAddr, Peer)>,
}

/// The place of a connection; dropping it frees the place.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) peer: Peer,
    number: u64,
    connections: Connections,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.lock().peers.remove(&self.number);
    }
}

impl Connections {
    /// Limits the number of all connections, and of those from one address.
    pub(super) fn new(most: usize, most_of_address: usize) -> Self {
        Connections {
            open: Arc::default(),
            most,
            most_of_address,
        }
    }

    /// Returns a place for a connection from an address. If the address has too many, one of them
    /// is closed; if there are too many in total, one of the address that has the most. `None`: all
    /// of these are processing requests.
    pub(super) fn place(&self, address: IpAddr) -> Option<Place> {
        let address = address.to_canonical();
        let mut open = self.lock();
        if let Some(crowded) = open.crowded(address, self) {
            let victim = open.least_worth(crowded)?;
            if let Some((_, peer)) = open.peers.remove(&victim) {
                peer.close();
            }
        }
        let (peer, number) = (Peer::new(), open.next);
        open.next += 1;
        open.peers.insert(number, (address, peer.clone()));
        Some(Place {
            peer,
            number,
            connections: self.clone(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    /// The address that has to lose a connection, if any.
    fn crowded(&self, address: IpAddr, bounds: &Connections) -> Option<IpAddr> {
        let mut counts: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for (address, _) in self.peers.values() {
            *counts.entry(*address).or_default() += 1;
        }
        if counts.get(&address).copied().unwrap_or_default() >= bounds.most_of_address {
            return Some(address);
        }
        let most = counts.into_iter().max_by_key(|(_, count)| *count);
        most.filter(|_| self.peers.len() >= bounds.most)
            .map(|(address, _)| address)
    }

    fn least_worth(&self, address: IpAddr) -> Option<u64> {
        let of_address = self.peers.iter().filter(|(_, (of, _))| *of == address);
        let worth = of_address.map(|(number, (_, peer))| (peer.worth(), *number));
        worth
            .filter(|((phase, _), _)| *phase < Phase::Work)
            .min()
            .map(|(_, number)| number)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures::FutureExt;

    use super::*;

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    fn is_closed(place: &Place) -> bool {
        place.peer.closed().now_or_never().is_some()
    }

    #[tokio::test(start_paused = true)]
    async fn closes_the_connection_that_is_missed_least() {
        let connections = Connections::new(9, 4);
        let mut places = Vec::new();
        for phase in [Phase::Body, Phase::Idle, Phase::New, Phase::New] {
            let place = connections.place(address(1)).unwrap();
            place.peer.enter(phase);
            tokio::time::advance(SLOW / 8).await;
            places.push(place);
        }
        // The older of the two without a request, the newer, the idle one, then the one with a
        // body.
        for victim in [2, 3, 1, 0] {
            assert!(places.iter().all(|place| !is_closed(place)));
            let new = connections.place(address(1)).unwrap();
            new.peer.enter(Phase::Work);
            assert!(is_closed(&places[victim]), "{victim}");
            places.push(new);
        }
        assert!(connections.place(address(1)).is_none(), "all are worked on");
        assert!(connections.place(address(2)).is_some());
        places.truncate(7);
        assert!(connections.place(address(1)).is_some(), "one has ended");
    }

    #[tokio::test(start_paused = true)]
    async fn closes_slow_bodies_before_idle_connections() {
        let connections = Connections::new(9, 2);
        let slow = connections.place(address(1)).unwrap();
        slow.peer.enter(Phase::Body);
        tokio::time::advance(SLOW).await;
        let idle = connections.place(address(1)).unwrap();
        idle.peer.enter(Phase::Idle);
        connections.place(address(1)).unwrap();
        assert!(is_closed(&slow) && !is_closed(&idle));
    }

    /// An address with many connections loses one to an address with few, whatever they do.
    #[test]
    fn takes_places_from_the_address_with_most() {
        let connections = Connections::new(4, 3);
        let many: Vec<Place> = (0..3)
            .map(|_| connections.place(address(1)).unwrap())
            .collect();
        let few = connections.place(address(2)).unwrap();
        many.iter().for_each(|place| place.peer.enter(Phase::Body));
        let mapped = Ipv4Addr::new(10, 0, 0, 3).to_ipv6_mapped();
        let new = connections.place(mapped.into()).unwrap();
        assert_eq!(many.iter().filter(|place| is_closed(place)).count(), 1);
        assert!(!is_closed(&few) && !is_closed(&new));
    }
}
