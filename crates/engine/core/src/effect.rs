//! The effects of a step. Effects are orders; only the runtime carries them out, after the step is recorded.

use interlock_chart::{
    Value,
    model::{InvokeId, Outcome, StateId},
};

use crate::{ActivityId, TimerId};

/// An order from the engine to the runtime.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect<P = Value> {
    /// Start an activity of a state.
    StartActivity {
        /// The id that the runtime names when the activity ends.
        id: ActivityId,
        /// The activity's index in the chart's list.
        invoke: InvokeId,
        /// The data that the activity receives.
        with: P,
    },
    /// Stop an activity because its state has been left.
    CancelActivity {
        /// The id of the start to cancel.
        id: ActivityId,
    },
    /// Set a timer that fires once.
    SetTimer {
        /// The id that the runtime names when the timer fires.
        id: TimerId,
        /// The delay until the timer fires.
        after_ms: u64,
    },
    /// Clear a timer that has not fired.
    ClearTimer {
        /// The id of the timer to clear.
        id: TimerId,
    },
    /// End the run: it has reached its end.
    Finish {
        /// The outcome, if the final state names one.
        outcome: Option<Outcome>,
        /// The final state in which the run ended, or the root if the engine stopped the run.
        state: StateId,
        /// The data of the final state.
        data: Option<P>,
    },
}
