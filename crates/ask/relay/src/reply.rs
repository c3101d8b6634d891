//! The body of a reply: passes the server's pieces on as they arrive, and counts their tokens when it ends or is dropped.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use hyper::body::{Body, Bytes, Frame};
use interlock_http::Response;
use tokio::time::{Instant, Sleep};

use crate::{tally::Reservation, usage::Reader};

/// The longest time without a byte. A model may think for minutes before it answers.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(15 * 60);

/// The longest reply.
const REPLY_BYTES_MAX: u64 = 512 * 1_024 * 1_024;

/// Counts the tokens of one reply. Counts on drop, so that a reply that is broken off is counted as well.
pub(crate) struct Meter {
    reader: Reader,
    /// The tokens that are set aside for the reply.
    reservation: Option<Reservation>,
    /// The bytes that are missing to the length that the server has announced.
    missing: Option<u64>,
    /// True if the reply has ended.
    is_whole: bool,
}

impl Meter {
    pub(crate) fn new(response: &Response, reservation: Reservation) -> Self {
        let reader = Reader::new(response.header("content-type").unwrap_or_default());
        let missing = response.header("content-length").and_then(|length| length.parse().ok());
        Meter { reader, reservation: Some(reservation), missing, is_whole: missing == Some(0) }
    }

    fn read(&mut self, piece: &[u8]) {
        self.reader.read(piece);
        self.missing = self.missing.map(|missing| missing.saturating_sub(piece.len() as u64));
        // A reply with a length is not asked for its end.
        self.is_whole |= self.missing == Some(0);
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        let Some(reservation) = self.reservation.take() else { return };
        // A server may finish a reply although the client is gone, unless its stream shows that.
        match self.is_whole || self.reader.is_stream() {
            true => {
                let counted = self.reader.finish(reservation.prompt);
                reservation.settle(counted);
            }
            false => drop(reservation),
        }
    }
}

/// A reply on its way to the agent.
pub(crate) struct Reply {
    response: Response,
    /// `None` for replies that cost no tokens.
    meter: Option<Meter>,
    idle: Pin<Box<Sleep>>,
    bytes: u64,
}

impl Reply {
    pub(crate) fn new(response: Response, meter: Option<Meter>) -> Self {
        Reply { response, meter, idle: Box::pin(tokio::time::sleep(IDLE_MAX)), bytes: 0 }
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = String;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.response.poll_piece(context) {
            Poll::Ready(Ok(Some(piece))) => {
                self.bytes += piece.len() as u64;
                if self.bytes > REPLY_BYTES_MAX {
                    return Poll::Ready(Some(Err("the reply is too long".to_owned())));
                }
                self.idle.as_mut().reset(Instant::now() + IDLE_MAX);
                if let Some(meter) = &mut self.meter {
                    meter.read(&piece);
                }
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            Poll::Ready(Ok(None)) => {
                // Counted before the agent sees the end, so that its next request finds the budget as it is.
                if let Some(mut meter) = self.meter.take() {
                    meter.is_whole = true;
                }
                Poll::Ready(None)
            }
            Poll::Ready(Err(error)) => Poll::Ready(Some(Err(error.to_string()))),
            Poll::Pending => match self.idle.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Some(Err("the server sent nothing for too long".to_owned()))),
                Poll::Pending => Poll::Pending,
            },
        }
    }
}
