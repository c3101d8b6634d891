//! Offers of a waiting run to people: the question, the data to decide by, the events that can be sent, the permissions
//! that can be granted, and the activities whose result a person reports.

use interlock_activity::Registry;
use interlock_chart::model::{Chart, Event, Raiser, Schema, StateId};
use interlock_core::{ActivityId, Status};
use interlock_journal::moment;

use crate::{
    Live, consequences,
    shown::{self, GrantOffer, Question, ShownData},
};

/// The actions that a person can take on a run.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Offers {
    /// The events that people may send now.
    pub events: Vec<Offer>,
    /// The activities that are not implemented or are left to a person: a person sends their signals.
    pub by_hand: Vec<ByHand>,
    /// True if a state inside the machine handles one of the events, and not only the root.
    pub is_asking: bool,
    /// The questions of the states that ask.
    #[serde(default)]
    pub questions: Vec<Question>,
    /// The data to decide by.
    #[serde(default)]
    pub shown: Vec<ShownData>,
    /// The questions that running attempts ask.
    #[serde(default)]
    pub asked: Vec<OpenQuestion>,
    /// The permissions that can be granted now.
    #[serde(default)]
    pub grant: Option<GrantOffer>,
}

/// A question that a running attempt asks a person.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OpenQuestion {
    /// The id of the question, which the answer must carry.
    pub id: String,
    /// The state whose activity asks.
    pub state: String,
    /// The activity's name in the registry.
    pub activity: String,
    /// The event that answers it.
    pub event: String,
    /// The question in words.
    pub text: String,
    /// The data to decide by.
    pub shows: serde_json::Value,
    /// The end of the time for an answer.
    pub until: String,
}

/// An event that people may send now.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Offer {
    /// The name of the event.
    pub event: String,
    /// The summary of the event.
    pub summary: String,
    /// The schema of the event's data.
    pub data: Schema,
    /// True if the event is possible everywhere in the machine, as `abort` often is.
    pub is_general: bool,
    /// The reason why its consequences cannot be undone, if they cannot.
    #[serde(default)]
    pub irreversible: Option<String>,
}

/// An activity whose result a person reports.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ByHand {
    /// The id of the activity.
    pub id: ActivityId,
    /// The activity's name in the registry.
    pub activity: String,
    /// The state that waits for it.
    pub state: String,
    /// The activity's input.
    pub with: serde_json::Value,
    /// The question as text, if the activity provides one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The reason why an installed activity is left to a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
    /// The signals with which it may end; `error` is always possible too.
    pub signals: Vec<Offer>,
}

/// Returns the actions that a person can take on a run.
pub fn offers(live: &Live, registry: &Registry) -> Offers {
    if !matches!(live.state.status, Status::Running) || live.state.is_paused() {
        return Offers::default();
    }
    let handled = handled(live).into_iter().filter(|(_, event)| matches!(event.from, Raiser::User | Raiser::Any));
    // An event that only answers questions is offered while one is open.
    let handled = handled.filter(|(_, event)| !live.is_idle_answer(event));
    let mut events: Vec<Offer> = handled.map(|(is_general, event)| offer(live, registry, event, is_general)).collect();
    // Events that a state asks for come before events that are possible everywhere.
    events.sort_by_key(|offer| offer.is_general);
    let is_asking = events.iter().any(|event| !event.is_general);
    let asks =
        |state| state != Chart::ROOT && events.iter().any(|offer| takes(live.loaded.chart(), state, &offer.event));
    let (questions, shown) = (shown::questions(live, asks), shown::shown(live));
    let by_hand = by_hand(live, registry);
    Offers { is_asking, questions, shown, asked: asked(live), grant: shown::grant(live), events, by_hand }
}

/// Returns the activities whose result a person reports.
fn by_hand(live: &Live, registry: &Registry) -> Vec<ByHand> {
    let chart = live.loaded.chart();
    let waiting = live.activities.iter().filter(|(id, _)| live.activity_of(**id, registry).is_none());
    let by_hand = waiting.map(|(id, begun)| {
        let invoke = chart.invoke(begun.invoke);
        let asked = live.stand_in(begun, registry).and_then(|(of, activity)| activity.asked(&of));
        let signals = invoke.signals.iter().map(|signal| {
            let event = chart.event(signal.event);
            let exact = asked.iter().flat_map(|asked| &asked.signals).find(|exact| exact.name == event.name);
            let data = exact.map_or_else(|| signal.data.clone(), |exact| exact.data.clone());
            Offer { data, ..offer(live, registry, event, false) }
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
    by_hand.collect()
}

/// Returns the questions that running attempts ask.
fn asked(live: &Live) -> Vec<OpenQuestion> {
    let chart = live.loaded.chart();
    let open =
        live.activities.values().flat_map(|begun| begun.questions.iter().map(move |asked| (begun.invoke, asked)));
    let open = open.map(|(invoke, asked)| OpenQuestion {
        id: asked.id.clone(),
        state: chart.state(chart.invoke(invoke).state).name.clone(),
        activity: chart.invoke(invoke).activity.clone(),
        event: asked.event.clone(),
        text: asked.text.clone(),
        shows: serde_json::Value::from(&asked.shows),
        until: moment::rfc3339(asked.until_ms),
    });
    open.collect()
}

fn offer(live: &Live, registry: &Registry, event: &Event, is_general: bool) -> Offer {
    Offer {
        event: event.name.clone(),
        summary: event.summary.clone(),
        data: event.data.clone(),
        is_general,
        irreversible: consequences::irreversible(live, registry, event),
    }
}

fn takes(chart: &Chart, state: StateId, name: &str) -> bool {
    let transitions = chart.state(state).transitions.iter().map(|id| chart.transition(*id));
    transitions.flat_map(|transition| &transition.events).any(|descriptor| descriptor.matches(name))
}

/// Returns every declared event that a transition of the configuration takes, in the chart's order. The flag is true if
/// only the root takes it.
fn handled(live: &Live) -> Vec<(bool, &Event)> {
    let chart = live.loaded.chart();
    let found = chart.events.iter().filter_map(|event| {
        let mut takers = live.state.configuration.iter().filter(|state| takes(chart, *state, &event.name)).peekable();
        takers.peek()?;
        Some((takers.all(|state| state == Chart::ROOT), event))
    });
    found.collect()
}
