//! Where the time of a run went.

use interlock_journal::{AttemptResult, Entry};
use serde_json::Value as Json;

use super::Report;
use crate::follow::Step;

/// Where the time went.
#[derive(Default)]
pub(super) struct Time {
    pub(super) total_ms: u64,
    pub(super) programs_ms: u64,
    pub(super) models_ms: u64,
    pub(super) waiting_ms: u64,
}

impl Time {
    /// Programs as the activities that ran them say, models as their judgements say, people by how long nothing was under way until they came.
    pub(super) fn of(report: &Report, models_ms: u64) -> Self {
        let mut time = Time { models_ms, ..Time::default() };
        let (mut before, mut is_busy) = (report.head.created_ms, true);
        // What is taken back after the end does not make the run longer.
        let end = report.steps.iter().rposition(|step| !matches!(step.entry, Entry::Undone(_)));
        for step in report.steps.iter().take(end.map_or(0, |end| end + 1)) {
            let passed = u64::try_from(step.record.at_ms.saturating_sub(before)).unwrap_or(0);
            if !is_busy && ends_a_wait(step) {
                time.waiting_ms += passed;
            }
            if let Entry::Outcome { result: AttemptResult::Signal { data, .. }, .. } = &step.entry {
                time.programs_ms += Json::from(data)["programs_ms"].as_u64().unwrap_or(0);
            }
            (before, is_busy) = (step.record.at_ms, step.is_busy);
        }
        time.total_ms = u64::try_from(before.saturating_sub(report.head.created_ms)).unwrap_or(0);
        time
    }

    pub(super) fn own_ms(&self) -> u64 {
        self.total_ms.saturating_sub(self.programs_ms + self.models_ms + self.waiting_ms)
    }

    pub(super) fn own_percent(&self) -> f64 {
        let busy = self.total_ms.saturating_sub(self.waiting_ms).max(1);
        self.own_ms() as f64 / busy as f64 * 100.0
    }
}

/// Whether somebody came, or did not come in time. What Interlock records of its own accord takes its own time.
fn ends_a_wait(step: &Step) -> bool {
    match &step.entry {
        Entry::Event { .. }
        | Entry::Timer { .. }
        | Entry::Paused { .. }
        | Entry::Resumed { .. }
        | Entry::Aborted { .. }
        | Entry::Granted(_)
        | Entry::Undone(_) => true,
        Entry::Outcome { by, .. } => by.is_some(),
        Entry::Created(_) | Entry::Attempt { .. } | Entry::Left(_) | Entry::GrantUsed(_) | Entry::Note { .. } => false,
    }
}
