//! Errors of a run, apart from those that its machine handles.

use crate::Refused;

/// The result type of the runtime's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason why an operation failed. The run is unchanged.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// An error of the journal.
    #[error(transparent)]
    Journal(#[from] interlock_journal::Error),
    /// The run does not accept the event.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The input of a new run is not valid; one sentence per problem.
    #[error("the input does not fit the machine's schema:\n  {}", .0.join("\n  "))]
    Input(Vec<String>),
    /// The machine cannot be used.
    #[error("{0}")]
    Machine(String),
    /// `check` refuses the machine, and the caller has not accepted an unproved machine.
    #[error("the machine {machine} is not proved, so the run was not started:\n  {}", .refusals.join("\n  "))]
    Unproved {
        /// The id of the machine that was refused.
        machine: String,
        /// The reasons, one sentence each.
        refusals: Vec<String>,
    },
    /// The project's policy or risk file cannot be read, so no run can be bound to it.
    #[error("the project's settings cannot be read: {0}")]
    Project(String),
    /// The run's stored state cannot be used, or the run cannot answer the request.
    #[error("the stored state of run {run} cannot be used: {why}")]
    State {
        /// The name of the run.
        run: String,
        /// The reason, as a sentence for people.
        why: String,
    },
    /// Writes could not be undone. Nothing was changed.
    #[error("{0}")]
    Undo(String),
    /// A live worker owns the run and does not answer.
    #[error("{worker} is running {run} and does not answer")]
    NoAnswer {
        /// The name of the run.
        run: String,
        /// The worker that owns the run.
        worker: interlock_journal::WorkerName,
    },
}

impl Error {
    /// Returns the next action to suggest to the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Journal(error) => error.hint().map(str::to_owned),
            Error::Refused(refused) => refused.hint(),
            Error::NoAnswer { worker, .. } => Some(format!("end {worker}; its runs can then be resumed")),
            Error::Unproved { .. } => Some("`--unproved` runs it anyway, which the run and its report record".into()),
            Error::Input(_) | Error::Machine(_) | Error::Project(_) | Error::Undo(_) => None,
            Error::State { .. } => Some("`interlock verify` shows which records are intact".into()),
        }
    }
}
