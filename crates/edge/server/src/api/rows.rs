//! Reads the parameters of lists, and formats a run as a row of a list.

use interlock_follow::{Follower, Standing};
use interlock_journal::{Filter, Head, Phase, RunKey, moment};
use interlock_runtime::Offer;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::problem::{Problem, Result};

/// The most runs on one page.
const LIMIT_MAX: usize = 500;

/// The number of runs on a page if the request names none.
const LIMIT: usize = 50;

/// The parameters of a list of runs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Page {
    machine: Option<String>,
    phase: Option<String>,
    prefix: Option<String>,
    before: Option<String>,
    limit: Option<usize>,
    /// Also the tokens, the cost and the latest diff of each run.
    pub(super) spent: Option<bool>,
    /// Only the number of items, for the inbox.
    pub(super) count: Option<bool>,
}

impl Page {
    /// Returns the selection; `usual` are the phases if the request names none.
    pub(super) fn filter(self, usual: &[Phase]) -> Result<Filter> {
        let phases = match self.phase.as_deref().filter(|phase| !phase.is_empty()) {
            Some(phases) => phases.split(',').map(phase).collect::<Result<_>>()?,
            None => usual.to_vec(),
        };
        let before = self.before.map(|key| key.parse().map(RunKey)).transpose();
        Ok(Filter {
            machine: self.machine.filter(|machine| !machine.is_empty()),
            phases,
            prefix: self.prefix.filter(|prefix| !prefix.is_empty()),
            before: before.map_err(|_| Problem::bad_input("`before` is not the `next` of a page"))?,
            at_most: self.limit.unwrap_or(LIMIT).clamp(1, LIMIT_MAX),
        })
    }
}

fn phase(word: &str) -> Result<Phase> {
    let found = Phase::ALL.into_iter().find(|phase| phase.word() == word);
    found.ok_or_else(|| Problem::bad_input(format!("`{word}` is not a phase")))
}

/// Formats a run as a row.
pub(super) fn row(head: &Head) -> Value {
    let mut row = json!(head);
    row["due"] = json!(head.due_ms.map(moment::rfc3339));
    row
}

/// Describes the input that a run waits for, in a few words; null if it has ended or is paused.
pub(super) fn waits(follower: &Follower) -> Value {
    let (live, offers) = (&follower.live, follower.offers());
    let names = |offers: &[Offer]| offers.iter().map(|offer| offer.event.as_str()).collect::<Vec<_>>().join(", ");
    let running = || {
        let chart = live.loaded.chart();
        let invokes = live.activities.values().map(|begun| chart.invoke(begun.invoke).activity.clone());
        invokes.collect::<Vec<_>>().join(", ")
    };
    match follower.standing() {
        _ if !offers.asked.is_empty() => json!({ "for": "person", "what": offers.asked[0].text }),
        Standing::Person => {
            let by_hand = offers.by_hand.first();
            let by_hand = by_hand.map(|by_hand| by_hand.question.as_ref().unwrap_or(&by_hand.activity).clone());
            let question = || offers.questions.last().map(|question| question.text.clone());
            let asked = || offers.events.iter().filter(|offer| !offer.is_general).cloned().collect::<Vec<Offer>>();
            // The permission that policy asks for is more precise than the summary of the waiting state.
            let grant = offers.grant.as_ref().map(|grant| format!("permission for {}", grant.scopes.join(", ")));
            let what = grant.or(by_hand).or_else(question).unwrap_or_else(|| names(&asked()));
            json!({ "for": "person", "what": what })
        }
        Standing::Timer(due_ms) => json!({ "for": "timer", "what": moment::rfc3339(due_ms) }),
        Standing::Moving => {
            let what = running();
            json!({ "for": if what == "run.start" { "run" } else { "activity" }, "what": what })
        }
        Standing::Paused | Standing::Over => Value::Null,
    }
}

/// Returns the cursor of the next page; null if this is the last page.
pub(super) fn next(heads: &[Head], at_most: usize) -> Value {
    match heads.last() {
        Some(last) if heads.len() == at_most => json!(last.key.0.to_string()),
        _ => Value::Null,
    }
}
