//! `interlock resume`: lets a paused run go on, or takes up runs that were left.

use interlock_journal::{Engine as _, Filter, Head, Phase};
use interlock_runtime::{Clock as _, Runtime, SystemClock};

use super::Outcome;
use crate::{
    Exit,
    drive::{Driver, block_on, listen},
    failure::Failure,
    follow::Follower,
    output::Output,
    store::{Store, user},
};

/// Resumes a run, or all that need somebody.
pub(crate) fn run(run: Option<&str>, output: &Output) -> Outcome {
    let store = Store::open()?;
    let heads = match run {
        Some(run) => vec![store.find(run)?],
        None => in_need(&store)?,
    };
    if heads.is_empty() {
        output.talk("no run needs anybody\n");
    }
    block_on(async {
        let runtime = store.runtime()?;
        listen(&runtime);
        let is_alone = run.is_some();
        let mut drivers = Vec::new();
        for head in heads {
            drivers.push(take_up(&store, &runtime, head, is_alone, output).await?);
        }
        go_on(drivers).await
    })
}

/// Runs that are active or due and that nobody living holds.
fn in_need(store: &Store) -> Result<Vec<Head>, Failure> {
    let work = store.journal.work(SystemClock.now_ms())?;
    let all = store.journal.list(&Filter::default())?;
    let is_needed = |head: &Head| work.orphans.contains(&head.key) || work.due.contains(&head.key);
    Ok(all.into_iter().filter(is_needed).collect())
}

async fn take_up<'o>(
    store: &Store,
    runtime: &Runtime,
    head: Head,
    is_alone: bool,
    output: &'o Output,
) -> Result<Driver<'o>, Failure> {
    let follower = Follower::from_now(store, head.clone())?;
    if follower.phase() == Phase::Paused {
        runtime.resume(&head, user()).await?;
    } else {
        // Held by another process: the driver will find that out and watch it.
        runtime.adopt(head.key).await?;
    }
    let prefix = (!is_alone).then_some(head.name.as_str());
    Driver::new(store, runtime, follower, output, prefix)
}

/// Follows all of them at once; the worst of how they were left is how the command ends.
async fn go_on(drivers: Vec<Driver<'_>>) -> Outcome {
    let mut exit = Exit::Good;
    let mut under_way: Vec<_> = drivers.into_iter().map(|driver| Box::pin(followed(driver))).collect();
    // Each is polled whenever any of them has something to do: they are few, and what they do is read a little.
    std::future::poll_fn(|context| {
        let mut at = 0;
        while at < under_way.len() {
            match under_way[at].as_mut().poll(context) {
                std::task::Poll::Pending => at += 1,
                std::task::Poll::Ready(result) => {
                    drop(under_way.swap_remove(at));
                    match result {
                        Ok(how) => exit = exit.max(how),
                        Err(failure) => return std::task::Poll::Ready(Err(failure)),
                    }
                }
            }
        }
        if under_way.is_empty() { std::task::Poll::Ready(Ok(exit)) } else { std::task::Poll::Pending }
    })
    .await
}

async fn followed(mut driver: Driver<'_>) -> Outcome {
    driver.drive().await?;
    driver.conclude()
}
