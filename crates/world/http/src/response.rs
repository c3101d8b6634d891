//! A response, read as it arrives.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
};

use hyper::{
    HeaderMap,
    body::{Body as _, Bytes, Incoming},
};

use crate::{
    Error,
    client::{Driver, told},
};

/// A response whose body is still to be read.
#[derive(Debug)]
pub struct Response {
    /// The status code of the response.
    pub status: u16,
    /// The headers by lower-case name; values of repeated headers are joined with commas.
    pub headers: BTreeMap<String, String>,
    body: Incoming,
    _driver: Driver,
}

impl Response {
    pub(crate) fn new(response: hyper::Response<Incoming>, driver: Driver) -> Self {
        let (head, body) = response.into_parts();
        Response { status: head.status.as_u16(), headers: headers(&head.headers), body, _driver: driver }
    }

    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The next piece of the body; `None` after the last.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, Error> {
        poll_fn(|context| self.poll_piece(context)).await
    }

    /// Polls for the next piece of the body, as [`Response::piece`] does.
    pub fn poll_piece(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Error>> {
        while let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(context)) {
            let frame = frame.map_err(|error| Error::Broken(told(&error)))?;
            // Trailers are skipped, because no caller reads them.
            if let Ok(data) = frame.into_data() {
                return Poll::Ready(Ok(Some(data)));
            }
        }
        Poll::Ready(Ok(None))
    }

    /// Reads the rest of the body, up to a limit in bytes.
    pub async fn rest(&mut self, bytes_max: usize) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece().await? {
            if body.len() + piece.len() > bytes_max {
                return Err(Error::TooLong(bytes_max));
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

fn headers(all: &HeaderMap) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::<String, String>::new();
    for (name, value) in all {
        let value = String::from_utf8_lossy(value.as_bytes());
        let known = headers.entry(name.as_str().to_owned()).or_default();
        let between = if known.is_empty() { "" } else { ", " };
        *known = format!("{known}{between}{value}");
    }
    headers
}
