//! The receipt of a write: it completes when the write is durable.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::sync::oneshot;

use crate::{Error, Result};

/// A write that is being made durable. Await it, or wait for it on a separate thread.
#[derive(Debug)]
pub struct Receipt<T>(oneshot::Receiver<Result<T>>);

impl<T> Receipt<T> {
    /// Returns a receipt whose result is known.
    pub fn of(result: Result<T>) -> Self {
        let (reply, receipt) = oneshot::channel();
        let _ = reply.send(result);
        Receipt(receipt)
    }

    /// Returns a receipt that the sender of `reply` will complete.
    pub fn pending(reply: oneshot::Receiver<Result<T>>) -> Self {
        Receipt(reply)
    }

    /// Waits for the result and blocks the thread.
    pub fn wait(self) -> Result<T> {
        self.0.blocking_recv().unwrap_or_else(|_| Err(gone()))
    }
}

fn gone() -> Error {
    Error::Stopped("its thread has ended".into())
}

impl<T> Future for Receipt<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|reply| reply.unwrap_or_else(|_| Err(gone())))
    }
}
