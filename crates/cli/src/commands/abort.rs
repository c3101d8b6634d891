//! `interlock abort`: sends a run the event by which its machine aborts.

use interlock_chart::model::Raiser;
use interlock_runtime::{Live, fresh_id};

use super::{Outcome, send};
use crate::{Exit, args::Abort, failure::Failure, given, output::Output, store::Store};

/// Aborts a run. If the run ends as aborted, the exit code is 0, because that was requested.
pub(crate) fn run(args: &Abort, output: &Output) -> Outcome {
    let data = given::data(args.data.as_deref())?;
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    let event = event(&store.live(&head)?)?;
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

/// Returns the event that leads to an end with the outcome `aborted` and that a user may send now, or could send if the
/// run were not paused. An event called `abort` is tried first.
fn event(live: &Live) -> Result<String, Failure> {
    let name = &live.name;
    if live.state.is_done() {
        return Err(Failure::bad_input(format!("{name} has ended")));
    }
    let theirs = live.loaded.chart().events.iter().filter(|event| matches!(event.from, Raiser::User | Raiser::Any));
    let mut names: Vec<String> = theirs.map(|event| event.name.clone()).collect();
    names.sort_by_key(|name| name != "abort");
    if let Some(name) = names.iter().find(|name| live.is_aborted_by(name)) {
        return Ok(name.clone());
    }
    let machine = &live.loaded.chart().id;
    Err(Failure::bad_input(format!("no event that {machine} accepts in {} aborts it", live.place()))
        .hint(format!("`interlock show {name}` lists the events that it accepts; `interlock pause {name}` pauses it")))
}
