//! The attempts of a run in this process: one table, and one state per started activity.
//!
//! | state     | prepare   | prepared | admit    | start   | stop     | end  |
//! |-----------|-----------|----------|----------|---------|----------|------|
//! | none      | Preparing | ·        | Admitted | ·       | ·        | ·    |
//! | Preparing | ·         | none     | ·        | ·       | Dropped  | ·    |
//! | Dropped   | ·         | none     | ·        | ·       | ·        | ·    |
//! | Admitted  | ·         | ·        | ·        | Running | none     | ·    |
//! | Running   | ·         | ·        | ·        | ·       | Stopping | none |
//! | Stopping  | ·         | ·        | ·        | ·       | ·        | none |
//!
//! A dot means that the input changes nothing. The records decide if an activity is retried after a crash
//! (`recover.rs`); this table is lost with its process.

use std::collections::BTreeMap;

use interlock_core::ActivityId;

use crate::{dispatch::RunningAttempt, place::Place};

/// The state of an attempt in this process.
#[derive(Debug)]
pub(crate) enum AttemptState {
    /// It waits for a place and for a snapshot of the workspace. It is not recorded yet.
    Preparing,
    /// Its activity was cancelled while it was being prepared: the preparation has no effect.
    Dropped,
    /// It is being recorded, and starts when the record is durable.
    Admitted(Place),
    /// It is running.
    Running(RunningAttempt),
    /// It was asked to stop and has not ended yet.
    Stopping(RunningAttempt),
}

/// An input to the state of an attempt.
#[derive(Debug)]
pub(crate) enum AttemptInput {
    /// Its preparation begins.
    Prepare,
    /// Its preparation has ended.
    Prepared,
    /// It may be recorded.
    Admit(Place),
    /// It has been recorded and started.
    Start(RunningAttempt),
    /// Its activity was cancelled, or the process stops.
    Stop,
    /// It has ended.
    End,
}

use AttemptInput::{Admit, End, Prepare, Prepared, Start, Stop};
use AttemptState::{Admitted, Dropped, Preparing, Running, Stopping};

impl AttemptState {
    /// Returns the state after an input; `None` if there is no attempt.
    fn after(state: Option<Self>, input: AttemptInput) -> Option<Self> {
        match (state, input) {
            (None, Prepare) => Some(Preparing),
            (None, Admit(place)) => Some(Admitted(place)),
            (Some(Preparing | Dropped), Prepared) => None,
            (Some(Preparing), Stop) => Some(Dropped),
            (Some(Admitted(_)), Start(attempt)) => Some(Running(attempt)),
            (Some(Admitted(_)), Stop) => None,
            (Some(Running(attempt)), Stop) => {
                attempt.cancel();
                Some(Stopping(attempt))
            }
            (Some(Running(_) | Stopping(_)), End) => None,
            (state, _) => state,
        }
    }
}

/// The attempts of a run in this process.
#[derive(Debug, Default)]
pub(crate) struct Attempts(BTreeMap<ActivityId, AttemptState>);

impl Attempts {
    /// Applies an input to the attempt of an activity.
    pub(crate) fn apply(&mut self, id: ActivityId, input: AttemptInput) {
        if let Some(state) = AttemptState::after(self.0.remove(&id), input) {
            self.0.insert(id, state);
        }
    }

    /// Tells every attempt to stop.
    pub(crate) fn stop_all(&mut self) {
        for id in self.0.keys().copied().collect::<Vec<_>>() {
            self.apply(id, Stop);
        }
    }

    /// Returns the place of an attempt that may start.
    pub(crate) fn admitted(&self, id: ActivityId) -> Option<&Place> {
        match self.0.get(&id) {
            Some(Admitted(place)) => Some(place),
            _ => None,
        }
    }

    /// Returns true if the activity's attempt is running and was not told to stop.
    pub(crate) fn is_running(&self, id: ActivityId) -> bool {
        matches!(self.0.get(&id), Some(Running(_)))
    }

    /// Returns true if an attempt that may write was told to stop and has not ended: the workspace still changes.
    pub(crate) fn is_write_stopping(&self) -> bool {
        self.0.values().any(|state| matches!(state, Stopping(attempt) if attempt.writes))
    }

    /// Returns true if there are no attempts.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if every attempt only waits, so that it can be stopped and started again at any moment.
    pub(crate) fn only_wait(&self) -> bool {
        self.0.values().all(|state| matches!(state, Running(attempt) | Stopping(attempt) if attempt.waits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATES: [&str; 6] = ["none", "Preparing", "Dropped", "Admitted", "Running", "Stopping"];
    const INPUTS: [&str; 6] = ["prepare", "prepared", "admit", "start", "stop", "end"];

    fn state(name: &str) -> Option<AttemptState> {
        match name {
            "Preparing" => Some(Preparing),
            "Dropped" => Some(Dropped),
            "Admitted" => Some(Admitted(Place::none())),
            "Running" => Some(Running(RunningAttempt::idle())),
            "Stopping" => Some(Stopping(RunningAttempt::idle())),
            _ => None,
        }
    }

    fn input(name: &str) -> AttemptInput {
        match name {
            "prepare" => Prepare,
            "prepared" => Prepared,
            "admit" => Admit(Place::none()),
            "start" => Start(RunningAttempt::idle()),
            "stop" => Stop,
            _ => End,
        }
    }

    fn name(state: Option<&AttemptState>) -> &'static str {
        match state {
            None => "none",
            Some(Preparing) => "Preparing",
            Some(Dropped) => "Dropped",
            Some(Admitted(_)) => "Admitted",
            Some(Running(_)) => "Running",
            Some(Stopping(_)) => "Stopping",
        }
    }

    /// Reads the table at the top of this file.
    fn table() -> Vec<Vec<&'static str>> {
        let rows = include_str!("attempts.rs").lines().filter_map(|line| line.strip_prefix("//! | "));
        let cells = rows.map(|row| row.trim_end_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
        cells.filter(|cells| STATES.contains(&cells[0])).collect()
    }

    #[test]
    fn every_state_takes_every_input_as_the_table_says() {
        let table = table();
        assert_eq!(table.iter().map(|row| row[0]).collect::<Vec<_>>(), STATES);
        for row in &table {
            for (at, input_name) in INPUTS.iter().enumerate() {
                let expected = if row[at + 1] == "·" { row[0] } else { row[at + 1] };
                let after = AttemptState::after(state(row[0]), input(input_name));
                assert_eq!(name(after.as_ref()), expected, "{} after {input_name}", row[0]);
            }
        }
    }
}
