//! The inputs of a run. Inputs are facts, and the journal records them.

use std::sync::Arc;

use interlock_chart::{Value, model::Raiser};

use crate::{ActivityId, Semantics, TimerId};

/// A fact that happened to a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Input<P = Value> {
    /// The run was started.
    Started {
        /// The id of the run.
        session: Arc<str>,
        /// The run's input, checked against the machine's schema, with defaults filled in.
        input: P,
        /// The rules by which the run selects transitions.
        semantics: Semantics,
    },
    /// A person or a program raised an event.
    EventRaised {
        /// The name of the event.
        event: Arc<str>,
        /// The data that the event carries.
        data: P,
        /// The kind of party that raised it.
        by: Raiser,
    },
    /// An activity ended by itself.
    ActivityFinished {
        /// The id of the start that ended.
        activity: ActivityId,
        /// The signal or the error it ended with.
        ended: ActivityEnd<P>,
    },
    /// A timer has fired.
    TimerFired {
        /// The id of the timer.
        timer: TimerId,
    },
    /// The run was paused: results of activities and timers are held from now on.
    Paused,
    /// The run was resumed: it handles the held inputs, then continues.
    Resumed,
    /// The run was ended from outside, in any state of its machine, because its starter no longer wants it.
    Aborted,
}

/// The way an activity ended.
#[derive(Clone, Debug, PartialEq)]
pub enum ActivityEnd<P = Value> {
    /// It ended with one of its signals.
    Signal {
        /// The name of the signal.
        name: Arc<str>,
        /// The data that the signal carries.
        data: P,
    },
    /// It ended with an error: `{code, message}` and any further details.
    Error {
        /// The data of the `error` event.
        data: P,
    },
}
