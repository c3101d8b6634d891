//! The body of a reply: passes the server's pieces on as they arrive, and counts their tokens when it ends or is dropped.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};

use hyper::body::{Body, Bytes, Frame};
use interlock_http::Response;
use tokio::time::{Instant, Sleep};

use crate::{tally::Tally, usage::Reader};

/// The longest time without a byte. A model may think for minutes before it answers.
pub(crate) const IDLE_MAX: Duration = Duration::from_secs(15 * 60);

/// The longest reply.
const REPLY_BYTES_MAX: u64 = 512 * 1_024 * 1_024;

/// Counts the tokens of one reply. Counts on drop, so that a reply that is broken off is counted as well.
pub(crate) struct Meter {
    pub(crate) reader: Reader,
    pub(crate) sent_bytes: Arc<AtomicU64>,
    pub(crate) tally: Arc<Tally>,
}

impl Drop for Meter {
    fn drop(&mut self) {
        let counted = self.reader.finish(self.sent_bytes.load(Relaxed));
        self.tally.used(counted);
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
                    meter.reader.read(&piece);
                }
                Poll::Ready(Some(Ok(Frame::data(piece))))
            }
            Poll::Ready(Ok(None)) => {
                // Counted before the agent sees the end, so that its next request finds the budget as it is.
                self.meter = None;
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
