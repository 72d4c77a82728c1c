//! A stream with two deadlines: the head of a request must be complete, and the client must read
//! the answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::connections::Peer;

pub(super) struct Timed<S> {
    stream: S,
    peer: Peer,
    head: Timer,
    answer: Timer,
}

/// A deadline relative to an event.
struct Timer {
    limit: Duration,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Timer {
    fn new(limit: Duration) -> Self {
        Timer { limit, sleep: None }
    }

    /// Whether the limit after an event has passed; wakes the task when it does.
    fn is_over(&mut self, since: Option<Instant>, context: &mut Context<'_>) -> bool {
        let Some(deadline) = since.map(|since| since + self.limit) else {
            return false;
        };
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() != deadline {
            sleep.as_mut().reset(deadline);
        }
        sleep.as_mut().poll(context).is_ready()
    }
}

impl<S> Timed<S> {
    pub(super) fn new(stream: S, peer: Peer, head: Duration, answer: Duration) -> Self {
        Timed {
            stream,
            peer,
            head: Timer::new(head),
            answer: Timer::new(answer),
        }
    }

    /// Returns the result of a write, or an error if the client does not read its answer.
    fn written<T>(
        &mut self,
        context: &mut Context<'_>,
        wrote: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if wrote.is_pending() && self.answer.is_over(self.peer.answered(), context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        wrote
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.peer.heard();
        }
        let this = &mut *self;
        // Also after a successful read: a slow client sends a byte now and then.
        if this.head.is_over(this.peer.in_head(), context) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.written(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.written(context, shut)
    }
}
