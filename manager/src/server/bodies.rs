//! Bodies of requests. Memory is reserved for bytes that have arrived, not for announced ones.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::connections::{Peer, Phase};

/// The answer to a rejected request. The text does not quote the request.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) code: StatusCode,
    pub(super) text: String,
}

impl Rejection {
    pub(super) fn new(code: StatusCode, text: impl Into<String>) -> Self {
        let text = text.into();
        Rejection { code, text }
    }

    pub(super) fn bad(text: &str) -> Self {
        Rejection::new(StatusCode::BAD_REQUEST, text)
    }

    /// Too many large requests are processed already.
    pub(super) fn busy() -> Self {
        let text = "too many large requests at once";
        Rejection::new(StatusCode::TOO_MANY_REQUESTS, text)
    }
}

/// The API server repeats a request that is answered with `Retry-After`.
impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let again = (self.code == StatusCode::TOO_MANY_REQUESTS).then_some("1");
        let again = again.map(|seconds| (header::RETRY_AFTER, seconds));
        (self.code, AppendHeaders(again), self.text).into_response()
    }
}

/// Limits of bodies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// Bytes of one body.
    pub(super) body: usize,
    /// Bytes of all large bodies and of their answers that clients have not read yet.
    pub(super) pool: usize,
    /// The longest time for a body to arrive.
    pub(super) time: Duration,
    /// The time without a least rate.
    pub(super) grace: Duration,
    /// The least rate after that, in bytes per second.
    pub(super) rate: usize,
    /// How long a large request waits for memory or for its turn, before it is rejected.
    pub(super) queue: Duration,
    /// How long an incomplete body or an unread answer keeps memory that others wait for.
    pub(super) patience: Duration,
}

/// The largest small body. Most objects have fewer bytes; small bodies are not counted in a pool.
pub(super) const SMALL: usize = 32 << 10;

/// The memory for large bodies of one path; clones share it.
#[derive(Debug, Clone)]
pub(super) struct Pool(Arc<Shares>);

#[derive(Debug)]
struct Shares {
    bounds: Bounds,
    held: Mutex<Held>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Held {
    next: u64,
    claims: BTreeMap<u64, Claim>,
}

/// The memory of one body.
#[derive(Debug)]
struct Claim {
    bytes: usize,
    since: Instant,
    peer: Peer,
    is_evicted: bool,
    evicting: Arc<Notify>,
}

impl Held {
    fn bytes(&self) -> usize {
        self.claims.values().map(|claim| claim.bytes).sum()
    }

    fn set(&mut self, number: u64, bytes: usize) {
        if let Some(claim) = self.claims.get_mut(&number) {
            claim.bytes = bytes;
        }
    }
}

/// The claim of a body; dropping it frees the memory.
#[derive(Debug)]
pub(super) struct Share {
    pool: Pool,
    number: u64,
    evicting: Arc<Notify>,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.pool.lock().claims.remove(&self.number);
        self.pool.0.freed.notify_waiters();
    }
}

impl Pool {
    pub(super) fn new(bounds: Bounds) -> Self {
        Pool(Arc::new(Shares {
            bounds,
            held: Mutex::default(),
            freed: Notify::new(),
        }))
    }

    /// Receives a body.
    ///
    /// # Errors
    /// The body is too large, too slow or incomplete, or there is no memory for it.
    pub(super) async fn receive(
        &self,
        mut body: Body,
        peer: &Peer,
    ) -> Result<(Bytes, Share), Rejection> {
        let bounds = &self.0.bounds;
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        let too_large = || {
            let text = format!("the body has more than {} bytes", bounds.body);
            Rejection::new(StatusCode::PAYLOAD_TOO_LARGE, text)
        };
        if announced > bounds.body {
            return Err(too_large());
        }
        let expected = if announced == 0 {
            bounds.body
        } else {
            announced
        };
        let (share, mut text) = (self.share(peer), Vec::new());
        let mut began = Instant::now();
        loop {
            let earned = Duration::from_secs_f64(text.len() as f64 / bounds.rate as f64);
            let deadline = began + bounds.time.min(bounds.grace + earned);
            let arrived = poll_fn(|context| Pin::new(&mut body).poll_frame(context));
            let arrived = tokio::select! {
                arrived = timeout_at(deadline, arrived) => arrived,
                () = share.evicting.notified() => return Err(Rejection::busy()),
            };
            let frame = match arrived {
                Ok(Some(Ok(frame))) => frame,
                Ok(None) => return Ok((text.into(), share)),
                Ok(Some(Err(_))) => return Err(Rejection::bad("the body cannot be read")),
                Err(_) => {
                    let text = "the body did not come in time";
                    return Err(Rejection::new(StatusCode::REQUEST_TIMEOUT, text));
                }
            };
            let data = frame.into_data().unwrap_or_default();
            let length = text.len() + data.len();
            if length > bounds.body {
                return Err(too_large());
            }
            if length > text.capacity() {
                // Doubled each time, up to the expected length.
                let room = (2 * text.capacity()).min(expected).max(length);
                let asked = Instant::now();
                tokio::select! {
                    () = share.reserve(room) => {}
                    () = sleep(bounds.queue) => return Err(Rejection::busy()),
                    () = share.evicting.notified() => return Err(Rejection::busy()),
                }
                // The sender is not to blame for this time.
                began += asked.elapsed();
                text.reserve_exact(room - text.len());
            }
            text.extend_from_slice(&data);
        }
    }

    fn share(&self, peer: &Peer) -> Share {
        let mut held = self.lock();
        let number = held.next;
        held.next += 1;
        let evicting = Arc::new(Notify::new());
        let claim = Claim {
            bytes: 0,
            since: Instant::now(),
            peer: peer.clone(),
            is_evicted: false,
            evicting: evicting.clone(),
        };
        held.claims.insert(number, claim);
        Share {
            pool: self.clone(),
            number,
            evicting,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Share {
    /// Waits until there is memory for so many bytes.
    async fn reserve(&self, bytes: usize) {
        let wanted = bytes.saturating_sub(SMALL);
        while !self.is_reserved(wanted) {
            // Claims become old without an event.
            let freed = self.pool.0.freed.notified();
            drop(timeout(self.pool.0.bounds.patience / 4, freed).await);
        }
    }

    /// Reserves so many bytes if they are free. If not, evicts the oldest claim that is neither new
    /// nor being processed: an incomplete body is rejected, an unread answer ends with its
    /// connection.
    fn is_reserved(&self, wanted: usize) -> bool {
        let (bounds, mut held) = (&self.pool.0.bounds, self.pool.lock());
        let own = held.claims.get(&self.number).map_or(0, |own| own.bytes);
        let needed = held.bytes() - own + wanted;
        if needed <= bounds.pool {
            held.set(self.number, wanted);
            return true;
        }
        let all = held.claims.iter_mut();
        let (leaving, others): (Vec<_>, Vec<_>) = all
            .filter(|(number, claim)| **number != self.number && claim.bytes > 0)
            .map(|(_, claim)| claim)
            .partition(|claim| claim.is_evicted);
        let left: usize = needed - leaving.iter().map(|claim| claim.bytes).sum::<usize>();
        let is_old = |claim: &&mut Claim| {
            claim.since.elapsed() >= bounds.patience && !claim.peer.is_at(Phase::Work)
        };
        let oldest = others
            .into_iter()
            .filter(is_old)
            .min_by_key(|one| one.since);
        if let Some(oldest) = oldest.filter(|_| left > bounds.pool) {
            oldest.is_evicted = true;
            match oldest.peer.is_at(Phase::Body) {
                true => oldest.evicting.notify_one(),
                false => oldest.peer.close(),
            }
        }
        false
    }

    /// Claims the memory of the answer instead of that of the body.
    fn answers(&self, bytes: usize) {
        let mut held = self.pool.lock();
        if let Some(claim) = held.claims.get_mut(&self.number) {
            claim.bytes = bytes.saturating_sub(SMALL);
            claim.since = Instant::now();
        }
        drop(held);
        self.pool.0.freed.notify_waiters();
    }
}

/// Bytes of an answer that hyper buffers at a time.
const PIECE: usize = 16 << 10;

/// A large answer, which holds its share until the client has read it.
pub(super) struct Answer {
    left: Bytes,
    _share: Share,
}

/// The body of an answer.
pub(super) fn answer(text: String, share: Share) -> Body {
    if text.len() <= SMALL {
        return Body::from(text);
    }
    share.answers(text.len());
    Body::new(Answer {
        left: text.into(),
        _share: share,
    })
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let length = self.left.len().min(PIECE);
        let piece = self.left.split_to(length);
        Poll::Ready((length > 0).then_some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, StreamExt};

    use super::*;

    const BOUNDS: Bounds = Bounds {
        body: 256 << 10,
        pool: 256 << 10,
        time: Duration::from_secs(30),
        grace: Duration::from_secs(2),
        rate: 32 << 10,
        queue: Duration::from_secs(5),
        patience: Duration::from_secs(1),
    };

    /// A body of pieces with these numbers of bytes, each after a pause.
    fn sent(pieces: &[usize], pause: Duration) -> Body {
        let pieces = futures::stream::iter(pieces.to_vec()).then(move |bytes| async move {
            tokio::time::sleep(pause).await;
            Ok::<_, std::io::Error>(vec![b'x'; bytes])
        });
        Body::from_stream(pieces)
    }

    /// A body of which only so many bytes arrive.
    fn stuck(bytes: usize) -> Body {
        let first = futures::stream::iter([Ok::<_, std::io::Error>(vec![b'x'; bytes])]);
        Body::from_stream(first.chain(futures::stream::pending()))
    }

    async fn code(pool: &Pool, body: Body) -> u16 {
        match pool.receive(body, &Peer::new()).await {
            Ok(_) => 200,
            Err(rejection) => rejection.code.as_u16(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn bounds_the_size_and_the_rate_of_a_body() {
        let pool = Pool::new(BOUNDS);
        let second = Duration::from_secs(1);
        for (body, expected, seconds) in [
            (Body::from("x".repeat(256 << 10)), 200, 0),
            (Body::from("x".repeat((256 << 10) + 1)), 413, 0),
            (sent(&[100 << 10; 3], Duration::ZERO), 413, 0),
            // Exactly the least rate.
            (sent(&[32 << 10; 7], second), 200, 7),
            // Half of it.
            (sent(&[16 << 10; 8], second), 408, 3),
            // Byte by byte, nothing, and nothing more.
            (sent(&[1; 100], second / 2), 408, 2),
            (stuck(0), 408, 2),
            (stuck(32 << 10), 408, 3),
        ] {
            let began = Instant::now();
            assert_eq!(code(&pool, body).await, expected);
            assert_eq!(began.elapsed().as_secs(), seconds, "{expected}");
            assert_eq!(pool.lock().bytes(), 0);
        }
        let patient = Pool::new(Bounds {
            time: 3 * second,
            ..BOUNDS
        });
        let body = sent(&[32 << 10; 7], second);
        assert_eq!(code(&patient, body).await, 408);
        let broken = futures::stream::iter([Err::<Vec<u8>, _>(std::io::Error::other("x"))]);
        assert_eq!(code(&pool, Body::from_stream(broken)).await, 400);
    }

    #[tokio::test(start_paused = true)]
    async fn reserves_for_bytes_that_have_arrived() {
        let pool = Pool::new(BOUNDS);
        let peer = Peer::new();
        let mut waiting: Vec<_> = [1, SMALL, SMALL + 1, 200 << 10]
            .map(|bytes| Box::pin(pool.receive(stuck(bytes), &peer)))
            .into();
        for body in &mut waiting {
            assert!(futures::poll!(body).is_pending());
        }
        assert_eq!(pool.lock().bytes(), 1 + (200 << 10) - SMALL);
        drop(waiting);
        assert_eq!(pool.lock().bytes(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn evicts_slow_bodies_for_others() {
        let pool = Pool::new(BOUNDS);
        let large = || Body::from("x".repeat(200 << 10));
        for (phase, expected) in [(Phase::Body, [429, 200]), (Phase::Work, [408, 429])] {
            let holder = Peer::new();
            holder.enter(phase);
            let slow = async {
                let slow = pool.receive(stuck(200 << 10), &holder).await;
                slow.expect_err("it is stuck").code.as_u16()
            };
            let others = async {
                // Small bodies are not counted.
                assert_eq!(code(&pool, Body::from("{}")).await, 200);
                code(&pool, large()).await
            };
            let (slow, other) = futures::join!(slow, others);
            assert_eq!([slow, other], expected);
        }
        assert_eq!(pool.lock().bytes(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn rejects_some_bodies_that_wait_for_each_other() {
        let pool = Pool::new(BOUNDS);
        let bodies = (0..4).map(|_| async {
            let peer = Peer::new();
            peer.enter(Phase::Body);
            let body = sent(&[64 << 10; 3], Duration::from_millis(10));
            match pool.receive(body, &peer).await {
                Ok(_) => 200,
                Err(rejection) => rejection.code.as_u16(),
            }
        });
        let mut codes = futures::future::join_all(bodies).await;
        codes.sort_unstable();
        assert!(codes[0] == 200 && codes.iter().all(|code| [200, 429].contains(code)));
    }

    #[tokio::test(start_paused = true)]
    async fn holds_memory_until_the_answer_is_read() {
        let pool = Pool::new(BOUNDS);
        let peer = Peer::new();
        let body = || Body::from("x".repeat(200 << 10));
        let (text, share) = pool.receive(body(), &peer).await.unwrap();
        drop(text);
        let mut answer = answer("y".repeat(210 << 10), share);
        peer.enter(Phase::Idle);
        assert_eq!(pool.lock().bytes(), (210 << 10) - SMALL);
        assert_eq!(answer.size_hint().exact(), Some(210 << 10));
        let mut next = Box::pin(pool.receive(body(), &peer));
        assert!(futures::poll!(&mut next).is_pending());
        tokio::time::advance(BOUNDS.patience).await;
        assert!(futures::poll!(&mut next).is_pending());
        assert!(peer.closed().now_or_never().is_some());
        let mut taken = 0;
        while let Some(frame) = poll_fn(|context| Pin::new(&mut answer).poll_frame(context)).await {
            taken += frame.unwrap().into_data().unwrap().len();
        }
        assert_eq!(taken, 210 << 10);
        drop(answer);
        assert!(next.await.is_ok());
    }
}
