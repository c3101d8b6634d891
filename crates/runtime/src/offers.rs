//! What a run waits for: the buttons it offers to people, and the activities that somebody has to stand in for.

use interlock_activity::Registry;
use interlock_chart::model::{Chart, Raiser, Schema};
use interlock_core::{ActivityId, Status};

use crate::Live;

/// What can be done about a run from outside.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Offers {
    /// Events that people may send now.
    pub events: Vec<Offer>,
    /// Activities that nobody has implemented or that are left to a person: their signals can be sent by hand.
    pub by_hand: Vec<ByHand>,
    /// Whether one of the events is asked for by the state itself, and not only by the machine as a whole.
    pub is_asking: bool,
}

/// An event that people may send now.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Offer {
    /// Its name.
    pub event: String,
    /// What it means.
    pub summary: String,
    /// What it carries.
    pub data: Schema,
    /// Whether it is possible everywhere in the machine, as `abort` often is.
    pub is_general: bool,
}

/// An activity to be stood in for.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ByHand {
    /// Which start.
    pub id: ActivityId,
    /// Its name.
    pub activity: String,
    /// The state that waits for it.
    pub state: String,
    /// What it is given.
    pub with: serde_json::Value,
    /// What is asked, in words, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Why it is left to a person, where it was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// How it may end: `error` besides.
    pub signals: Vec<Offer>,
}

/// What can be done about a run from outside.
pub fn offers(live: &Live, registry: &Registry) -> Offers {
    if !matches!(live.state.status, Status::Running) || live.state.is_paused() {
        return Offers::default();
    }
    let chart = live.loaded.chart();
    let handled = handled(live).into_iter().filter(|(_, event)| matches!(event.from, Raiser::User | Raiser::Any));
    let mut events: Vec<Offer> = handled.map(|(is_general, event)| offer(event, is_general)).collect();
    // What is asked comes before what can be said at any time.
    events.sort_by_key(|offer| offer.is_general);
    let waiting = live.activities.iter().filter(|(id, _)| live.activity_of(**id, registry).is_none());
    let by_hand = waiting.map(|(id, begun)| {
        let invoke = chart.invoke(begun.invoke);
        let asked = live.stand_in(begun, registry).and_then(|(of, activity)| activity.asked(&of));
        let signals = invoke.signals.iter().map(|signal| {
            let event = chart.event(signal.event);
            let exact = asked.iter().flat_map(|asked| &asked.signals).find(|exact| exact.name == event.name);
            Offer { data: exact.map_or_else(|| signal.data.clone(), |exact| exact.data.clone()), ..offer(event, false) }
        });
        ByHand {
            id: *id,
            activity: invoke.activity.clone(),
            state: chart.state(invoke.state).name.clone(),
            with: serde_json::Value::from(&begun.with),
            signals: signals.collect(),
            question: asked.as_ref().map(|asked| asked.question.clone()),
            left: begun.left.clone(),
        }
    });
    let by_hand = by_hand.collect();
    let is_asking = events.iter().any(|event| !event.is_general);
    Offers { events, by_hand, is_asking }
}

fn offer(event: &interlock_chart::model::Event, is_general: bool) -> Offer {
    Offer { event: event.name.clone(), summary: event.summary.clone(), data: event.data.clone(), is_general }
}

/// Every declared event that a transition of the configuration takes, in the chart's order, with whether only the root's do.
fn handled(live: &Live) -> Vec<(bool, &interlock_chart::model::Event)> {
    let chart = live.loaded.chart();
    let takes = |state, name: &str| {
        let transitions = chart.state(state).transitions.iter().map(|id| chart.transition(*id));
        transitions.flat_map(|transition| &transition.events).any(|descriptor| descriptor.matches(name))
    };
    let found = chart.events.iter().filter_map(|event| {
        let mut takers = live.state.configuration.iter().filter(|state| takes(*state, &event.name)).peekable();
        takers.peek()?;
        Some((takers.all(|state| state == Chart::ROOT), event))
    });
    found.collect()
}
