//! `interlock send`: tells a run what it waits for, then follows it.

use interlock_chart::Value;
use interlock_journal::{Engine as _, Head};
use serde_json::json;

use super::Outcome;
use crate::{
    Exit,
    args::Send,
    drive::{block_on, drive, let_go, listen},
    failure::Failure,
    follow::Follower,
    given,
    output::Output,
    sample::sample,
    store::{Store, registry, user},
    waiting,
};

/// Sends an event.
pub(crate) fn run(args: &Send, output: &Output) -> Outcome {
    let data = given::data(args.data.as_deref())?;
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    deliver(&store, head, &args.event, data, args.no_follow, output)
}

/// Sends an event. Where no other process moves the run, this one does, and follows it.
pub(crate) fn deliver(store: &Store, head: Head, event: &str, data: Value, is_left: bool, output: &Output) -> Outcome {
    block_on(async {
        let runtime = store.runtime()?;
        let follower = Follower::from_now(store, head.clone())?;
        let seq = match runtime.send(&head, event, data, user()).await {
            Ok(seq) => seq,
            Err(error) => return Err(with_sample(error.into(), &follower, event)),
        };
        let holder = store.journal.holder(head.key)?.filter(|pid| *pid != std::process::id());
        if holder.is_none() && !is_left {
            listen(&runtime);
            return drive(store, &runtime, follower, output).await;
        }
        if holder.is_none() {
            let_go(&runtime, &head).await?;
        }
        taken(&head, event, seq, holder, output)
    })
}

fn taken(head: &Head, event: &str, seq: u64, holder: Option<u32>, output: &Output) -> Outcome {
    if output.is_json() {
        output.json(&json!({ "run": head.name, "event": event, "seq": seq, "process": holder }))?;
        return Ok(Exit::Good);
    }
    if let Some(pid) = holder {
        output.talk(&format!("process {pid} goes on with it; `interlock watch {}` follows\n", head.name));
    }
    output.data(&format!("{}  {event}  record {seq}\n", head.name))?;
    Ok(Exit::Good)
}

/// Where the event is taken and its data was not, an example helps more than anything.
fn with_sample(failure: Failure, follower: &Follower, event: &str) -> Failure {
    if failure.has_hint() {
        return failure;
    }
    let offers = interlock_runtime::offers(&follower.live, registry());
    let signals = offers.by_hand.iter().flat_map(|by_hand| &by_hand.signals);
    match signals.chain(&offers.events).find(|offer| offer.event == event) {
        Some(offer) => failure.hint(waiting::command(&follower.head.name, event, &sample(&offer.data))),
        None => failure,
    }
}
