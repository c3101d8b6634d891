//! What can happen to a run. Inputs are facts; they are what the journal records.

use std::sync::Arc;

use interlock_chart::{Value, model::Raiser};

use crate::{ActivityId, Semantics, TimerId};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input<P = Value> {
    /// The run begins.
    Started {
        /// The run's id.
        session: Arc<str>,
        /// What it was given, checked against the machine's schema, defaults filled in.
        input: P,
        /// The rules by which it selects transitions.
        semantics: Semantics,
    },
    /// Somebody raised an event.
    EventRaised {
        /// Its name.
        event: Arc<str>,
        /// What it carries.
        data: P,
        /// Who raised it.
        by: Raiser,
    },
    /// An activity ended.
    ActivityFinished {
        /// Which start of it.
        activity: ActivityId,
        /// How.
        ended: Ended<P>,
    },
    /// A timer fired.
    TimerFired {
        /// Which.
        timer: TimerId,
    },
    /// The run is to stand still: what happens from now on is kept for later.
    Paused,
    /// The run goes on with what was kept.
    Resumed,
    /// The run is ended from outside, whatever its machine says: whoever started it no longer wants it.
    Aborted,
}

/// How an activity ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended<P = Value> {
    /// With one of its signals.
    Signal {
        /// Its name.
        name: Arc<str>,
        /// What it carries.
        data: P,
    },
    /// With an error: `{code, message}` and whatever else is known.
    Error {
        /// What the `error` event carries.
        data: P,
    },
}
