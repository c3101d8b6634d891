//! Awaits many futures in one task and polls each only after it was woken. Following hundreds of runs would otherwise
//! poll all of them for every record of one.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// Wakes the task and remembers which future asked for it.
struct Flag {
    is_woken: AtomicBool,
    task: Mutex<Waker>,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.task.lock().unwrap_or_else(PoisonError::into_inner).wake_by_ref();
    }
}

/// A future that has not ended, with its flag.
struct Pending<F> {
    future: Pin<Box<F>>,
    flag: Arc<Flag>,
}

impl<F: Future> Pending<F> {
    fn new(future: F) -> Self {
        let flag = Flag { is_woken: AtomicBool::new(true), task: Mutex::new(Waker::noop().clone()) };
        Pending { future: Box::pin(future), flag: Arc::new(flag) }
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<F::Output> {
        // The task must be known before the flag is read: a wake between the two is then not lost.
        self.flag.task.lock().unwrap_or_else(PoisonError::into_inner).clone_from(context.waker());
        match self.flag.is_woken.swap(false, Ordering::AcqRel) {
            true => self.future.as_mut().poll(&mut Context::from_waker(&Waker::from(Arc::clone(&self.flag)))),
            false => Poll::Pending,
        }
    }
}

/// Returns the results of all futures, in the order in which they end, or the first error.
pub(crate) async fn all<T, E>(futures: impl IntoIterator<Item: Future<Output = Result<T, E>>>) -> Result<Vec<T>, E> {
    let mut pending: Vec<_> = futures.into_iter().map(Pending::new).collect();
    let mut done = Vec::new();
    poll_fn(|context| {
        let mut at = 0;
        while at < pending.len() {
            match pending[at].poll(context) {
                Poll::Pending => at += 1,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(result)) => {
                    done.push(result);
                    drop(pending.swap_remove(at));
                }
            }
        }
        if pending.is_empty() { Poll::Ready(Ok(std::mem::take(&mut done))) } else { Poll::Pending }
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_future_that_is_not_woken_is_not_polled() {
        let polls = AtomicUsize::new(0);
        let (to, mut from) = oneshot::channel::<u32>();
        let quiet = poll_fn(|context| {
            polls.fetch_add(1, Ordering::Relaxed);
            Pin::new(&mut from).poll(context).map_err(drop)
        });
        let busy = async {
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            to.send(2).map_err(drop).map(|()| 1)
        };
        type Counted<'f> = Pin<Box<dyn Future<Output = Result<u32, ()>> + 'f>>;
        let both: [Counted<'_>; 2] = [Box::pin(quiet), Box::pin(busy)];
        assert_eq!(all(both).await, Ok(vec![1, 2]));
        assert_eq!(polls.load(Ordering::Relaxed), 2, "at the start, and when the value arrived");
    }

    #[tokio::test]
    async fn the_first_error_ends_the_wait() {
        let failed = async { Err::<(), _>("failed") };
        let both: [Pin<Box<dyn Future<Output = _>>>; 2] = [Box::pin(std::future::pending()), Box::pin(failed)];
        assert_eq!(all(both).await, Err("failed"));
    }
}
