//! `interlock send`: sends an event to a run, then follows it.

use interlock_chart::Value;
use interlock_journal::{Engine as _, Head, WorkerName};
use interlock_runtime::{Error, Offer, Sent, fresh_id};
use interlock_sqlite::process_id;
use serde_json::{Value as Json, json};

use super::Outcome;
use crate::{
    Exit,
    args::Send,
    continuation::{self, Message},
    drive::{Driver, block_on, let_go, listen},
    failure::Failure,
    follow::Follower,
    given,
    output::Output,
    sample::sample,
    store::{Store, registry, user},
    synonym::stands_for,
    waiting,
};

/// An event to send, with its options.
pub(crate) struct Sending {
    /// The event's name.
    pub(crate) event: String,
    /// The event's data.
    pub(crate) data: Value,
    /// The id of the sending: an event with the same id is recorded only once.
    pub(crate) id: String,
    /// True to leave the run as soon as the event is taken.
    pub(crate) is_left: bool,
    /// The permissions that were granted before the event, as JSON for the output.
    pub(crate) granted: Option<Json>,
}

/// Sends the event that the arguments name.
pub(crate) fn run(args: &Send, output: &Output) -> Outcome {
    let data = given::data(args.data.as_deref())?;
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    let id = args.id.clone().unwrap_or_else(fresh_id);
    let event = meant(&args.event, &Follower::from_now(&store, head.clone())?);
    let message = Message { event: &event, id: &id, by: user() };
    let head = match continuation::start(&store, &head, message)? {
        Some(next) => {
            output.talk(&format!("{} has ended; {} continues it\n", head.name, next.name));
            next
        }
        None => head,
    };
    deliver(&store, head, Sending { event, data, id, is_left: args.no_follow, granted: None }, output)
}

/// Returns the event that a word means: an event of that name, or the only offered event whose summary begins with a
/// list of words that contains it, such as `Go, Yes or OK: …`. Any other word is returned as it is.
fn meant(word: &str, follower: &Follower) -> String {
    let offers = interlock_runtime::offers(&follower.live, registry());
    let signals = offers.by_hand.iter().flat_map(|by_hand| &by_hand.signals);
    let all: Vec<&Offer> = offers.events.iter().chain(signals).collect();
    if all.iter().any(|offer| offer.event == word) {
        return word.to_owned();
    }
    let says = |offer: &&&Offer| stands_for(&offer.summary, word);
    match all.iter().filter(says).collect::<Vec<_>>()[..] {
        [only] => only.event.clone(),
        _ => word.to_owned(),
    }
}

/// Sends an event. If no other process is running the run, this process continues and follows it.
pub(crate) fn deliver(store: &Store, head: Head, sending: Sending, output: &Output) -> Outcome {
    block_on(async {
        let runtime = store.runtime()?;
        let follower = Follower::from_now(store, head.clone())?;
        let Sending { event, data, id, is_left, .. } = &sending;
        let sent = match runtime.send_once(&head, event, data.clone(), user(), id).await {
            Ok(sent) => sent,
            Err(error) => return refused(error, &head, &sending, &follower, output),
        };
        tell_sent(&head, &sending, &sent, output);
        let me = store.journal.worker();
        let holder = store.journal.holder(head.key)?.map(|holder| holder.worker).filter(|worker| *worker != me);
        if holder.is_none() && !is_left {
            listen(&runtime);
            let mut driver = Driver::new(store, &runtime, follower, output, None)?;
            driver.drive().await?;
            let mut left = driver.close();
            left.json["sent"] = sent_json(&sending, &sent);
            if let Some(granted) = &sending.granted {
                left.json["granted"] = granted.clone();
            }
            return left.tell(output);
        }
        if holder.is_none() {
            let_go(&runtime, &head).await?;
        }
        taken(&head, &sending, &sent, holder.as_ref(), output)
    })
}

/// Reports results that the sender may not expect: a repeated id, and timers that fired first.
fn tell_sent(head: &Head, sending: &Sending, sent: &Sent, output: &Output) {
    if sent.is_repeated {
        let (id, seq, run) = (&sending.id, sent.seq, &head.name);
        output.talk(&format!("`{id}` is already record {seq} of {run}; the event was not sent again\n"));
    }
    for fired in &sent.fired {
        output.talk(&format!("A deadline fired first: {}\n", fired.words()));
    }
}

fn sent_json(sending: &Sending, sent: &Sent) -> Json {
    let Sending { event, id, .. } = sending;
    json!({ "event": event, "id": id, "seq": sent.seq, "repeated": sent.is_repeated, "deadlines": sent.fired })
}

/// Reports a refused event. If it came too late, the JSON output includes the deadlines that fired first.
fn refused(error: Error, head: &Head, sending: &Sending, follower: &Follower, output: &Output) -> Outcome {
    let late = match &error {
        Error::Refused(refused) => refused.late.clone(),
        _ => Vec::new(),
    };
    let failure = Failure::from(error);
    if late.is_empty() {
        return Err(with_sample(failure, follower, &sending.event));
    }
    let failure = match failure.has_hint() {
        true => failure,
        false => failure.hint(format!("`interlock trace {}` shows what happened", head.name)),
    };
    if !output.is_json() {
        return Err(failure);
    }
    let Sending { event, id, .. } = sending;
    output.json(&json!({
        "run": head.name, "event": event, "id": id, "seq": Json::Null, "too_late": true, "deadlines": late,
    }))?;
    Err(failure)
}

fn taken(head: &Head, sending: &Sending, sent: &Sent, holder: Option<&WorkerName>, output: &Output) -> Outcome {
    if output.is_json() {
        let mut json = sent_json(sending, sent);
        (json["run"], json["process"]) = (json!(head.name), json!(holder.and_then(process_id)));
        if let Some(granted) = &sending.granted {
            json["granted"] = granted.clone();
        }
        output.json(&json)?;
        return Ok(Exit::Good);
    }
    if let Some(worker) = holder {
        output.talk(&format!("{worker} continues it. Follow it with `interlock watch {}`\n", head.name));
    }
    output.data(&format!("{}  {}  record {}\n", head.name, sending.event, sent.seq))?;
    Ok(Exit::Good)
}

/// Adds example data to the failure if the run takes the event but the data does not fit.
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
