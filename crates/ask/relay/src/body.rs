//! The bodies of requests, which are read as a whole before they are forwarded. Their sum is bounded.

use std::sync::Arc;

use http_body_util::BodyExt as _;
use hyper::{StatusCode, body::Incoming};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::{
    refusal::{Refusal, refusal},
    reply::IDLE_MAX,
};

/// The longest request.
const REQUEST_BYTES_MAX: usize = 64 * 1_024 * 1_024;

/// The longest bodies of all requests together.
const ALL_BYTES_MAX: usize = 4 * REQUEST_BYTES_MAX;

/// The room for bodies.
#[derive(Debug)]
pub(crate) struct Bodies(Arc<Semaphore>);

/// A body, for which room is held until it is dropped.
pub(crate) struct Held {
    bytes: Vec<u8>,
    room: Option<OwnedSemaphorePermit>,
}

impl Held {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Default for Bodies {
    fn default() -> Self {
        Bodies(Arc::new(Semaphore::new(ALL_BYTES_MAX)))
    }
}

impl Bodies {
    /// Reads a body.
    pub(crate) async fn read(&self, mut body: Incoming) -> Result<Held, Refusal> {
        let mut held = Held { bytes: Vec::new(), room: None };
        loop {
            let frame = timeout(IDLE_MAX, body.frame()).await.map_err(|_| broken("it stopped in the middle"))?;
            let Some(frame) = frame else { return Ok(held) };
            let Ok(data) = frame.map_err(|error| broken(&error.to_string()))?.into_data() else { continue };
            if held.bytes.len() + data.len() > REQUEST_BYTES_MAX {
                let why = format!("the relay forwards bodies of up to {REQUEST_BYTES_MAX} bytes");
                return Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", why));
            }
            let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
            let Ok(room) = Arc::clone(&self.0).try_acquire_many_owned(length) else {
                let why = "too many requests are sent at once";
                return Err(refusal(StatusCode::SERVICE_UNAVAILABLE, "overloaded_error", why));
            };
            held.keep(&data, room);
        }
    }
}

impl Held {
    fn keep(&mut self, data: &[u8], room: OwnedSemaphorePermit) {
        self.bytes.extend_from_slice(data);
        match &mut self.room {
            Some(all) => all.merge(room),
            none => *none = Some(room),
        }
    }
}

fn broken(why: &str) -> Refusal {
    refusal(StatusCode::BAD_REQUEST, "invalid_request_error", format!("the body was not read: {why}"))
}
