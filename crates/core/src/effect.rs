//! What is to be done about a step. Effects are orders; only the runtime carries them out, after the step is recorded.

use interlock_chart::{
    Value,
    model::{InvokeId, Outcome, StateId},
};

use crate::{ActivityId, TimerId};

/// Something to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<P = Value> {
    /// Start an activity.
    StartActivity {
        /// To be named when it ends.
        id: ActivityId,
        /// Which, in the chart's list.
        invoke: InvokeId,
        /// What it is given.
        with: P,
    },
    /// Stop an activity: its state has been left.
    CancelActivity {
        /// Which start of it.
        id: ActivityId,
    },
    /// Set a timer.
    SetTimer {
        /// To be named when it fires.
        id: TimerId,
        /// When.
        after_ms: u64,
    },
    /// Clear a timer.
    ClearTimer {
        /// Which.
        id: TimerId,
    },
    /// The run has ended.
    Finish {
        /// How, where the final state says so.
        outcome: Option<Outcome>,
        /// In which final state; the root where the engine gave up.
        state: StateId,
        /// What the final state carries.
        data: Option<P>,
    },
}
