//! Waiting for something that has no end of its own: until it is done, its time is up, or the attempt is told to stop.

use std::time::Duration;

use crate::{Bench, Trouble};

/// Waits for it at most so long, and no longer than the attempt goes on. `whom` is waited for.
pub(crate) async fn stoppable<T>(
    bench: Bench<'_>,
    timeout: Duration,
    whom: &str,
    work: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    let mut cancel = bench.attempt.cancel.clone();
    tokio::select! {
        done = work => done,
        () = tokio::time::sleep(timeout) => {
            Err(Trouble::environment(format!("{whom} did not answer within {} seconds", timeout.as_secs_f64())))
        }
        () = cancel.cancelled() => Err(Trouble::Cancelled),
    }
}
