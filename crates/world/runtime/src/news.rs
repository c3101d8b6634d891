//! Notifications for watchers of the runs of this process.

use std::sync::Arc;

use interlock_core::ActivityId;
use interlock_journal::{Head, Phase};

use crate::{Error, Move, Settled};

/// A notification about a run of this process.
#[derive(Clone, Debug)]
pub enum News {
    /// An input was recorded, and the run may have made transitions.
    Moved {
        /// The name of the run.
        run: Arc<str>,
        /// The sequence number of the last record.
        seq: u64,
        /// The transitions, in order.
        moves: Arc<[Move]>,
        /// The phase of the run now.
        phase: Phase,
        /// The active states as text.
        place: Arc<str>,
    },
    /// An attempt of an activity has started.
    Started {
        /// The name of the run.
        run: Arc<str>,
        /// The id of the activity.
        activity: ActivityId,
        /// The activity's name in the registry.
        name: Arc<str>,
        /// The number of the attempt.
        number: u32,
    },
    /// An activity reports its progress.
    Progress {
        /// The name of the run.
        run: Arc<str>,
        /// The id of the activity.
        activity: ActivityId,
        /// The progress as text for people.
        text: Arc<str>,
    },
    /// This process no longer executes the run.
    Settled {
        /// The name of the run.
        run: Arc<str>,
        /// The phase and last record of the run.
        how: Settled,
    },
    /// The run could not continue: it stays at its last record.
    Stopped {
        /// The name of the run.
        run: Arc<str>,
        /// The error that stopped it.
        error: Error,
    },
}

impl News {
    /// Returns the name of the run that the notification is about.
    pub fn run(&self) -> &Arc<str> {
        match self {
            News::Moved { run, .. }
            | News::Started { run, .. }
            | News::Progress { run, .. }
            | News::Settled { run, .. }
            | News::Stopped { run, .. } => run,
        }
    }
}

/// Describes a run that no process executes.
impl From<&Head> for Settled {
    fn from(head: &Head) -> Self {
        Settled { phase: head.phase, seq: head.seq }
    }
}
