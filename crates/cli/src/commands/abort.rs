//! `interlock abort`: sends a run the event by which its own machine is aborted.

use interlock_chart::model::{Kind, Outcome as End};
use interlock_runtime::{Live, offers};

use super::{Outcome, send};
use crate::{
    Exit,
    args::Abort,
    failure::Failure,
    given,
    output::Output,
    store::{Store, registry},
};

/// Aborts a run. That it then is aborted is what was asked for, and good.
pub(crate) fn run(args: &Abort, output: &Output) -> Outcome {
    let data = given::data(args.data.as_deref())?;
    let store = Store::open()?;
    let head = store.find(&args.run)?;
    let event = event(&store.live(&head)?)?;
    match send::deliver(&store, head, &event, data, false, output)? {
        Exit::Aborted => Ok(Exit::Good),
        other => Ok(other),
    }
}

/// The event that people may send now and that leads to an end with the outcome `aborted`; one called `abort` is asked first.
fn event(live: &Live) -> Result<String, Failure> {
    let mut names: Vec<String> = offers(live, registry()).events.into_iter().map(|offer| offer.event).collect();
    names.sort_by_key(|name| name != "abort");
    if let Some(name) = names.iter().find(|name| aborts(live, name)) {
        return Ok(name.clone());
    }
    let name = &live.name;
    if live.state.is_done() {
        return Err(Failure::bad_input(format!("{name} has ended")));
    }
    if live.state.is_paused() {
        return Err(Failure::bad_input(format!("{name} is paused")).hint(format!("interlock resume {name}")));
    }
    let machine = &live.loaded.chart().id;
    Err(Failure::bad_input(format!("nothing that {machine} takes in {} aborts it", live.place()))
        .hint(format!("`interlock show {name}` says what it takes; `interlock pause {name}` makes it stand still")))
}

fn aborts(live: &Live, event: &str) -> bool {
    let chart = live.loaded.chart();
    let transitions = live.state.configuration.iter().flat_map(|state| &chart.state(state).transitions);
    let mut taking = transitions
        .map(|id| chart.transition(*id))
        .filter(|transition| transition.events.iter().any(|descriptor| descriptor.matches(event)));
    taking.any(|transition| {
        let mut targets = transition.targets.iter().map(|target| chart.state(*target));
        targets.any(|state| matches!(state.kind, Kind::Final) && state.outcome == Some(End::Aborted))
    })
}
