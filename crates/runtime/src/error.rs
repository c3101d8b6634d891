//! What can go wrong with a run, besides what its machine handles.

use crate::Refused;

/// What runtime functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something could not be done. The run is where it was.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The journal said no.
    #[error(transparent)]
    Journal(#[from] interlock_journal::Error),
    /// What was sent is not taken.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// A run cannot begin with this input.
    #[error("the input does not fit the machine:\n  {}", .0.join("\n  "))]
    Input(Vec<String>),
    /// A machine cannot be used.
    #[error("{0}")]
    Machine(String),
    /// `check` refuses the machine, and whoever starts the run has not accepted that.
    #[error("the machine {machine} is not proved, so it is not run:\n  {}", .refusals.join("\n  "))]
    Unproved {
        /// The machine's id.
        machine: String,
        /// The reasons, one sentence each.
        refusals: Vec<String>,
    },
    /// The project's own rules cannot be read, so that no run can be held to them.
    #[error("the project's rules cannot be read: {0}")]
    Project(String),
    /// A stored state does not fit its machine.
    #[error("the stored state of run {run} cannot be used: {why}")]
    State {
        /// Which run.
        run: String,
        /// Why.
        why: String,
    },
    /// Writes could not be taken back. Nothing was changed.
    #[error("{0}")]
    Undo(String),
    /// A living worker owns the run and does not answer.
    #[error("run {run} is held by {worker}, which does not answer")]
    NoAnswer {
        /// Which run.
        run: String,
        /// The owner.
        worker: interlock_journal::WorkerName,
    },
}

impl Error {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Journal(error) => error.hint().map(str::to_owned),
            Error::Refused(refused) => refused.hint(),
            Error::NoAnswer { worker, .. } => Some(format!("end {worker}; its runs can then be resumed")),
            Error::Unproved { .. } => {
                Some("`--unproved` runs it all the same, and the run and its report say so".into())
            }
            Error::Input(_) | Error::Machine(_) | Error::Project(_) | Error::Undo(_) => None,
            Error::State { .. } => Some("`interlock verify` says what can still be trusted".into()),
        }
    }
}
