//! `interlock resume`: continues a paused run, or runs that no process is running.

use interlock_journal::{Engine as _, Filter, Head, Phase};
use interlock_runtime::{Clock as _, Runtime, SystemClock};

use super::Outcome;
use crate::{
    Exit,
    args::Resume,
    closing::Left,
    drive::{Driver, block_on, listen},
    failure::Failure,
    follow::Follower,
    join,
    output::Output,
    store::{Store, user},
};

/// Resumes one run, all active or due runs that no process is running, or all such runs with a due timer.
pub(crate) fn run(args: &Resume, output: &Output) -> Outcome {
    let (store, run) = (Store::open()?, args.run.as_deref());
    if args.due {
        return fire_due(&store, output);
    }
    let heads = match run {
        Some(run) => vec![store.find(run)?],
        None => in_need(&store)?,
    };
    if heads.is_empty() {
        output.talk("Nothing to resume\n");
    }
    block_on(async {
        let runtime = store.runtime()?;
        listen(&runtime);
        let is_alone = run.is_some();
        let mut drivers = Vec::new();
        for head in heads {
            drivers.push(take_up(&store, &runtime, head, is_alone, output).await?);
        }
        let left = join::all(drivers.into_iter().map(followed)).await?;
        tell(&left, is_alone, output)
    })
}

/// Reports the state of each run. The exit code is the worst of their exit codes.
fn tell(left: &[Left], is_alone: bool, output: &Output) -> Outcome {
    match (output.is_json(), left) {
        (true, [left]) if is_alone => output.json(&left.json)?,
        (true, _) => output.json(&left.iter().map(|left| &left.json).collect::<Vec<_>>())?,
        (false, _) => output.data(&left.iter().map(|left| left.text.as_str()).collect::<String>())?,
    }
    Ok(left.iter().map(|left| left.exit).max().unwrap_or(Exit::Good))
}

/// Fires the due timers of runs that no process is running, and continues those runs until they wait or end. Prints
/// nothing if no timer is due, because cron would send the output by mail. A run that fails to continue does not block
/// the others.
fn fire_due(store: &Store, output: &Output) -> Outcome {
    let due = store.journal.work(SystemClock.now_ms())?.due;
    let heads = store.journal.list(&Filter::default())?.into_iter().filter(|head| due.contains(&head.key));
    block_on(async {
        let runtime = store.runtime()?;
        listen(&runtime);
        let (mut drivers, mut left, mut exit) = (Vec::new(), Vec::new(), Exit::Good);
        for head in heads {
            match take_up(store, &runtime, head, false, output).await {
                Ok(driver) => drivers.push(driver.leaving_timers()),
                Err(failure) => exit = exit.max(failure.tell(output)),
            }
        }
        for driver in drivers {
            match followed(driver).await {
                Ok(how) => left.push(how),
                Err(failure) => exit = exit.max(failure.tell(output)),
            }
        }
        tell(&left, false, output)?;
        // The request was to fire timers, so the outcome of the runs does not affect the exit code.
        Ok(if exit == Exit::Good { Exit::Good } else { Exit::Failed })
    })
}

/// Returns the runs that are active or due and that no live process owns.
fn in_need(store: &Store) -> Result<Vec<Head>, Failure> {
    let work = store.journal.work(SystemClock.now_ms())?;
    let all = store.journal.list(&Filter::default())?;
    let is_needed = |head: &Head| work.orphans.contains(&head.key) || work.due.contains(&head.key);
    Ok(all.into_iter().filter(is_needed).collect())
}

async fn take_up<'o>(
    store: &'o Store,
    runtime: &Runtime,
    head: Head,
    is_alone: bool,
    output: &'o Output,
) -> Result<Driver<'o>, Failure> {
    let follower = Follower::from_now(store, head.clone())?;
    if follower.phase() == Phase::Paused {
        runtime.resume(&head, user()).await?;
    } else {
        // If another process owns the run, the driver detects that and watches it.
        runtime.adopt(head.key).await?;
    }
    let prefix = (!is_alone).then_some(head.name.as_str());
    Driver::new(store, runtime, follower, output, prefix)
}

async fn followed(mut driver: Driver<'_>) -> Result<Left, Failure> {
    driver.drive().await?;
    Ok(driver.close())
}
