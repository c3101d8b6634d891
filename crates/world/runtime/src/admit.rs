//! Decides if a run accepts an event that a caller sends.

use interlock_activity::Registry;
use interlock_chart::{
    Value,
    model::{Kind, Outcome as End, Raiser},
};
use interlock_core::{ActivityId, Status, bounds::TEXT_BYTES_MAX};
use interlock_journal::{AttemptResult, By, Entry};

use crate::{Fired, Live, offers};

/// The refusal of an event. Nothing was recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error("{why}")]
pub struct Refused {
    /// The reason, as a sentence for people.
    pub why: String,
    /// The events that the run accepts now, each with its summary.
    pub takes: Vec<(String, String)>,
    /// The deadlines that fired first, if the event came too late.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<Fired>,
}

impl Refused {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Refused { why: why.into(), takes: Vec::new(), late: Vec::new() }
    }

    /// Returns the next action to suggest to the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        if self.takes.is_empty() {
            return None;
        }
        let names: Vec<&str> = self.takes.iter().map(|(name, _)| name.as_str()).collect();
        Some(format!("it accepts {} now", names.join(", ")))
    }
}

impl Live {
    /// Returns true if an event leads from the current configuration to a final state with the outcome `aborted`.
    pub fn is_aborted_by(&self, event: &str) -> bool {
        let chart = self.loaded.chart();
        let transitions = self.state.configuration.iter().flat_map(|state| &chart.state(state).transitions);
        let mut taking = transitions
            .map(|id| chart.transition(*id))
            .filter(|transition| transition.events.iter().any(|descriptor| descriptor.matches(event)));
        taking.any(|transition| {
            let mut targets = transition.targets.iter().map(|target| chart.state(*target));
            targets.any(|state| matches!(state.kind, Kind::Final) && state.outcome == Some(End::Aborted))
        })
    }

    /// Returns the entry to record for an event, or the refusal. The engine may still find no transition for it. If an activity is not implemented or is left to a
    /// person, an event with the name of one of its signals is the result of that activity.
    pub(crate) fn admit(
        &self,
        event: &str,
        data: &Value,
        by: By,
        id: Option<String>,
        registry: &Registry,
    ) -> Result<Entry, Refused> {
        match self.state.status {
            Status::Ready => return Err(Refused::new(format!("run {} has not started", self.name))),
            Status::Done { .. } => return Err(Refused::new(format!("run {} has ended", self.name))),
            Status::Running if self.state.is_paused() => {
                return Err(Refused::new(format!("run {} is paused; resume it first", self.name)));
            }
            Status::Running => {}
        }
        if let Some(bytes) = longest_text(data).filter(|bytes| *bytes > TEXT_BYTES_MAX) {
            return Err(Refused::new(format!(
                "a text in the data of `{event}` has {bytes} bytes, and at most {TEXT_BYTES_MAX} are accepted; write it to a file and \
                 send the path"
            )));
        }
        if let Some(entry) = self.admit_by_hand(event, data, &by, id.as_deref(), registry)? {
            return Ok(entry);
        }
        let chart = self.loaded.chart();
        let Some(known) = chart.find_event(event) else {
            return Err(self.not_taken(format!("the machine {} has no event `{event}`", chart.id), registry));
        };
        let from = chart.event(known).from;
        if from != Raiser::Any && from != by.kind {
            let who = from.word();
            return Err(self.not_taken(format!("a person cannot send `{event}`: it comes from {who}"), registry));
        }
        if !self.loaded.machine.handled(&self.state.configuration).any(|handled| handled == known) {
            return Err(self.not_taken(format!("`{event}` is not accepted in {}", self.place()), registry));
        }
        let data = self.loaded.admit_event(known, data).map_err(|wrong| misfit(event, &wrong))?;
        self.check_answer(chart.event(known), &data)?;
        Ok(Entry::Event { event: event.to_owned(), data, by, id })
    }

    fn admit_by_hand(
        &self,
        event: &str,
        data: &Value,
        by: &By,
        sent: Option<&str>,
        registry: &Registry,
    ) -> Result<Option<Entry>, Refused> {
        if by.kind != Raiser::User {
            return Ok(None);
        }
        let open = self
            .activities
            .iter()
            .filter(|(id, begun)| !begun.is_reported && self.activity_of(**id, registry).is_none());
        for (id, begun) in open {
            let invoke = self.loaded.chart().invoke(begun.invoke);
            let outcome = |result| outcome(*id, result, by, sent);
            if event == "error" {
                return Ok(Some(outcome(AttemptResult::Error { data: data.clone() })));
            }
            if invoke.signals.iter().any(|signal| self.loaded.machine.event_name(signal.event) == event) {
                let admitted =
                    self.loaded.admit_signal(begun.invoke, event, data).map_err(|wrong| misfit(event, &wrong))?;
                // A result that a person reports must meet the same requirements as a result of the activity itself.
                let standing = self.stand_in(begun, registry);
                let wrong = standing.map(|(of, activity)| activity.misfits(&of, event, data)).unwrap_or_default();
                if !wrong.is_empty() {
                    return Err(misfit(event, &wrong));
                }
                let data = admitted;
                return Ok(Some(outcome(AttemptResult::Signal { name: event.to_owned(), data })));
            }
        }
        Ok(None)
    }

    pub(crate) fn not_taken(&self, why: String, registry: &Registry) -> Refused {
        Refused { why, takes: self.takes(registry), late: Vec::new() }
    }

    /// Returns the events that people can send now, each with its summary.
    pub(crate) fn takes(&self, registry: &Registry) -> Vec<(String, String)> {
        let offers = offers::offers(self, registry);
        let signals = offers.by_hand.iter().flat_map(|by_hand| &by_hand.signals);
        signals.chain(&offers.events).map(|offer| (offer.event.clone(), offer.summary.clone())).collect()
    }
}

fn outcome(activity: ActivityId, result: AttemptResult, by: &By, id: Option<&str>) -> Entry {
    Entry::Outcome {
        activity,
        number: 0,
        result,
        evidence: Vec::new(),
        by: Some(by.clone()),
        id: id.map(str::to_owned),
    }
}

fn misfit(event: &str, wrong: &[String]) -> Refused {
    Refused::new(format!("the data of `{event}` does not fit its schema:\n  {}", wrong.join("\n  ")))
}

/// Returns the length of the longest text in a value. A longer text than the engine evaluates would end in its error.
fn longest_text(data: &Value) -> Option<usize> {
    match data {
        Value::Str(text) => Some(text.len()),
        Value::List(items) => items.iter().filter_map(longest_text).max(),
        Value::Map(fields) => fields.values().filter_map(longest_text).max(),
        _ => None,
    }
}
