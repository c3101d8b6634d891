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
    /// Programs: compilers, emulators, tests. A time in which several work counts once.
    pub programs_ms: u64,
    /// Models.
    pub models_ms: u64,
    /// Coding agents: their whole turns, with their own models and commands.
    pub agents_ms: u64,
    /// Child runs and other computers.
    pub others_ms: u64,
    /// Waiting for people.
    pub waiting_ms: u64,
    /// The time in which programs, agents, child runs or other computers worked, which counts once.
    covered_ms: u64,
}

impl TimeSpent {
    /// Programs and models count what their activities report; the turns of agents and the attempts that wait for others
    /// count as a whole; people count the time in which nothing else was under way.
    pub fn of(run: &RecordedRun, models_ms: u64) -> Self {
        let mut time = TimeSpent { models_ms, ..TimeSpent::default() };
        let mut begun = BTreeMap::new();
        let mut spans: Vec<(Worker, Span)> = Vec::new();
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
                    let begin = begun.remove(activity).unwrap_or(record.at_ms);
                    spans.push(span(record.account.as_ref(), result, (begin, record.at_ms)));
                }
                _ => {}
            }
            (before, is_busy) = (record.at_ms, record.is_busy);
        }
        let of = |workers: &[Worker]| {
            covered(spans.iter().filter(|(worker, _)| workers.contains(worker)).map(|(_, span)| *span))
        };
        (time.programs_ms, time.agents_ms, time.others_ms) =
            (of(&[Worker::Interlock, Worker::Programs]), of(&[Worker::Agent]), of(&[Worker::Others]));
        time.covered_ms = covered(spans.iter().map(|(_, span)| *span));
        time.total_ms = u64::try_from(before.saturating_sub(run.created_ms)).unwrap_or(0);
        time
    }

    /// Interlock itself: the remaining time.
    pub fn own_ms(&self) -> u64 {
        self.total_ms.saturating_sub(self.covered_ms + self.models_ms + self.waiting_ms)
    }

    /// Interlock's share of the time in which it did not wait for people, in per cent.
    pub fn own_percent(&self) -> f64 {
        let busy = self.total_ms.saturating_sub(self.waiting_ms).max(1);
        self.own_ms() as f64 / busy as f64 * 100.0
    }
}

/// A time from its begin to its end, in milliseconds.
type Span = (i64, i64);

/// Returns whose time an attempt took, and which: all of it, or the end of it as long as its programs worked.
fn span(account: Option<&Account>, result: &AttemptResult, (begin, end): Span) -> (Worker, Span) {
    let worker = account.map(|account| account.worker).unwrap_or_default();
    if worker != Worker::Interlock {
        return (worker, (begin, end));
    }
    let (AttemptResult::Signal { data, .. } | AttemptResult::Error { data }) = result;
    let commands = account.iter().flat_map(|account| &account.commands);
    let listed: u64 = commands.filter_map(|command| command.duration_ms).sum();
    let took = i64::try_from(programs_ms(&Json::from(data)).max(listed)).unwrap_or(i64::MAX);
    (worker, (begin.max(end.saturating_sub(took)), end))
}

/// Returns the time that at least one span covers, in milliseconds.
fn covered(spans: impl Iterator<Item = Span>) -> u64 {
    let mut spans: Vec<Span> = spans.collect();
    spans.sort_unstable();
    let (mut sum, mut until) = (0, i64::MIN);
    for (begin, end) in spans {
        sum += end.saturating_sub(begin.max(until)).max(0);
        until = until.max(end);
    }
    u64::try_from(sum).unwrap_or(0)
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

#[cfg(test)]
mod tests {
    use super::covered;

    #[test]
    fn a_time_in_which_several_work_counts_once() {
        assert_eq!(covered([(0, 300), (100, 390), (500, 520), (505, 510)].into_iter()), 410);
        assert_eq!(covered([(7, 7)].into_iter()), 0);
    }
}
