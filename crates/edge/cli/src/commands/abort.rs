//! `interlock abort`: sends a run the event by which its machine aborts.

use interlock_runtime::fresh_id;

use super::{Outcome, send};
use crate::{Exit, args::Abort, failure::Failure, follow::Follower, given, output::Output, store::Store};

/// Aborts a run. If the run ends as aborted, the exit code is 0, because that was requested.
pub(crate) fn run(args: &Abort, output: &Output) -> Outcome {
    let data = given::data(args.data.as_deref())?;
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    let event = event(&Follower::from_now(&store, head.clone())?)?;
    match send::deliver(
        &store,
        head,
        send::Sending { event, data, id: fresh_id(), is_left: false, granted: None },
        output,
    )? {
        Exit::Aborted => Ok(Exit::Good),
        other => Ok(other),
    }
}

fn event(follower: &Follower) -> Result<String, Failure> {
    let (name, live) = (&follower.head.name, &follower.live);
    if live.state.is_done() {
        return Err(Failure::bad_input(format!("{name} has ended")));
    }
    follower.abort_event().ok_or_else(|| {
        let machine = &live.loaded.chart().id;
        Failure::bad_input(format!("no event that {machine} accepts in {} aborts it", live.place())).hint(format!(
            "`interlock show {name}` lists the events that it accepts; `interlock pause {name}` pauses it"
        ))
    })
}
