//! What those who watch are told.

use std::sync::Arc;

use interlock_core::ActivityId;
use interlock_journal::{Head, Phase};

use crate::{Error, Move, Settled};

/// Something that happened to a run of this process.
#[derive(Clone, Debug)]
pub enum News {
    /// It was recorded and has moved (or not).
    Moved {
        /// Which run.
        run: Arc<str>,
        /// The last record.
        seq: u64,
        /// The transitions, in order.
        moves: Arc<[Move]>,
        /// Where it stands now.
        phase: Phase,
        /// The active states.
        place: Arc<str>,
    },
    /// A try of an activity has begun.
    Started {
        /// Which run.
        run: Arc<str>,
        /// Which start.
        activity: ActivityId,
        /// Its name.
        name: Arc<str>,
        /// Which try.
        number: u32,
    },
    /// An activity says how far it has come.
    Progress {
        /// Which run.
        run: Arc<str>,
        /// Which start.
        activity: ActivityId,
        /// In words.
        text: Arc<str>,
    },
    /// The run is no longer being moved here.
    Settled {
        /// Which run.
        run: Arc<str>,
        /// How.
        how: Settled,
    },
    /// The run could not go on: it is left at its last record.
    Stopped {
        /// Which run.
        run: Arc<str>,
        /// Why.
        error: Error,
    },
}

impl News {
    /// The run it is about.
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

/// How a run looks when nobody moves it.
impl From<&Head> for Settled {
    fn from(head: &Head) -> Self {
        Settled { phase: head.phase, seq: head.seq }
    }
}
