//! The time that the parts of a run took.

use std::collections::BTreeMap;

use interlock_journal::{AttemptResult, Entry};
use serde_json::Value as Json;

use super::{Account, RecordedRun, RunRecord, Worker};

/// The time that the parts of a run took, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimeSpent {
    /// From the first record to the last one that moved the run.
    pub total_ms: u64,
    /// Programs: compilers, emulators, tests.
    pub programs_ms: u64,
    /// Models.
    pub models_ms: u64,
    /// Coding agents: their whole turns, with their own models and commands.
    pub agents_ms: u64,
    /// Child runs and other computers.
    pub others_ms: u64,
    /// Waiting for people.
    pub waiting_ms: u64,
}

impl TimeSpent {
    /// Programs and models count what their activities report; the turns of agents and the attempts that wait for others
    /// count as a whole; people count the time in which nothing else was under way.
    pub fn of(run: &RecordedRun, models_ms: u64) -> Self {
        let mut time = TimeSpent { models_ms, ..TimeSpent::default() };
        let mut begun = BTreeMap::new();
        let (mut before, mut is_busy) = (run.created_ms, true);
        // An undo after the end does not make the run longer.
        let end = run.records.iter().rposition(|record| !matches!(record.entry, Entry::Undone(_)));
        for record in run.records.iter().take(end.map_or(0, |end| end + 1)) {
            let passed = u64::try_from(record.at_ms.saturating_sub(before)).unwrap_or(0);
            if !is_busy && ends_a_wait(record) {
                time.waiting_ms += passed;
            }
            match &record.entry {
                Entry::Attempt { activity, .. } => drop(begun.insert(*activity, record.at_ms)),
                Entry::Outcome { activity, result, by: None, .. } => {
                    let took = record.at_ms.saturating_sub(begun.remove(activity).unwrap_or(record.at_ms));
                    time.add(record.account.as_ref(), result, u64::try_from(took).unwrap_or(0));
                }
                _ => {}
            }
            (before, is_busy) = (record.at_ms, record.is_busy);
        }
        time.total_ms = u64::try_from(before.saturating_sub(run.created_ms)).unwrap_or(0);
        time
    }

    fn add(&mut self, account: Option<&Account>, result: &AttemptResult, took_ms: u64) {
        match account.map(|account| account.worker) {
            Some(Worker::Agent) => self.agents_ms += took_ms,
            Some(Worker::Others) => self.others_ms += took_ms,
            Some(Worker::Interlock) | None => {
                let (AttemptResult::Signal { data, .. } | AttemptResult::Error { data }) = result;
                let commands = account.iter().flat_map(|account| &account.commands);
                let listed = commands.filter_map(|command| command.duration_ms).sum();
                self.programs_ms += programs_ms(&Json::from(data)).max(listed);
            }
        }
    }

    /// Interlock itself: everything that is nobody else's.
    pub fn own_ms(&self) -> u64 {
        let others = self.programs_ms + self.models_ms + self.agents_ms + self.others_ms + self.waiting_ms;
        self.total_ms.saturating_sub(others)
    }

    /// Interlock's share of the time in which it did not wait for people, in per cent.
    pub fn own_percent(&self) -> f64 {
        let busy = self.total_ms.saturating_sub(self.waiting_ms).max(1);
        self.own_ms() as f64 / busy as f64 * 100.0
    }
}

/// The time of programs that an outcome reports: as a sum, or as the duration of one program with its exit code.
fn programs_ms(data: &Json) -> u64 {
    let duration = data["duration_ms"].as_u64().filter(|_| data["exit_code"].is_i64());
    data["programs_ms"].as_u64().or(duration).unwrap_or(0)
}

/// Returns true if a record ends a wait for a person: an event arrived, or its deadline passed.
fn ends_a_wait(record: &RunRecord) -> bool {
    match &record.entry {
        Entry::Event { .. }
        | Entry::Timer { .. }
        | Entry::Paused { .. }
        | Entry::Resumed { .. }
        | Entry::Aborted { .. }
        | Entry::Granted(_)
        | Entry::Undone(_) => true,
        Entry::Outcome { by, .. } => by.is_some(),
        Entry::Created(_)
        | Entry::Attempt { .. }
        | Entry::Left(_)
        | Entry::GrantUsed(_)
        | Entry::Asked(_)
        | Entry::Unanswered(_)
        | Entry::Note { .. } => false,
    }
}
