//! Waits for work until it is done, its time is up, or the attempt is cancelled.

use std::time::Duration;

use crate::{Bench, Trouble};

/// Waits for work up to a timeout and not beyond the cancellation of the attempt. `whom` names the awaited party in
/// the error.
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
