//! The failure of a command: an error message, then a `Hint:` with the next action.

use std::{fmt::Display, io, path::Path};

use crate::{Exit, output::Output};

/// The reason for which a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    /// The message; `None` if the other side closed a pipe or the problems have been shown already.
    message: Option<String>,
    hint: Option<String>,
}

impl Failure {
    /// A failure because of invalid arguments or invalid input.
    pub(crate) fn bad_input(message: impl Display) -> Self {
        Failure { exit: Exit::BadInput, message: Some(message.to_string()), hint: None }
    }

    /// A failure of the operation itself.
    pub(crate) fn failed(message: impl Display) -> Self {
        Failure { exit: Exit::Failed, message: Some(message.to_string()), hint: None }
    }

    /// A failure whose problems have been shown already, so that it has no message.
    pub(crate) fn told() -> Self {
        Failure { exit: Exit::BadInput, message: None, hint: None }
    }

    /// Adds a hint with the next action.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Failure { hint: Some(hint.into()), ..self }
    }

    /// Adds a hint if there is one.
    pub(crate) fn maybe_hint(self, hint: Option<impl Into<String>>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    /// Returns the message and the hint on one line, for a conversation.
    pub(crate) fn words(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
        format!("{}{hint}", self.message.as_deref().unwrap_or("it failed"))
    }

    /// Returns true if the failure has a hint.
    pub(crate) fn has_hint(&self) -> bool {
        self.hint.is_some()
    }

    /// A failure to read or write a file.
    pub(crate) fn file(verb: &str, path: &Path, error: &io::Error) -> Self {
        Failure::bad_input(format!("cannot {verb} {}: {error}", path.display()))
    }

    /// Prints the failure to stderr and returns the exit code.
    pub(crate) fn tell(self, output: &Output) -> Exit {
        if let Some(message) = &self.message {
            output.talk(&format!("{} {message}\n", output.red("error:")));
        }
        if let Some(hint) = &self.hint {
            output.talk(&format!("Hint: {hint}\n"));
        }
        self.exit
    }
}

/// An error while writing to stdout. If the other side of a protocol has closed it (`output.rs` handles all other
/// output), the command has no result to report.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure { exit: Exit::Unread, message: None, hint: None };
        }
        Failure::bad_input(format!("cannot write the output: {error}"))
    }
}

impl From<interlock_chart::library::Error> for Failure {
    fn from(error: interlock_chart::library::Error) -> Self {
        Failure::bad_input(&error).maybe_hint(error.hint())
    }
}

/// An unknown or duplicate run is bad input. An error of the disk, the lock or the store is a failure of the operation.
impl From<interlock_journal::Error> for Failure {
    fn from(error: interlock_journal::Error) -> Self {
        use interlock_journal::Error;
        let failure = match error {
            Error::NoRun(_) | Error::Exists(_) => Failure::bad_input(&error),
            _ => Failure::failed(&error),
        };
        failure.maybe_hint(error.hint())
    }
}

impl From<interlock_runtime::Error> for Failure {
    fn from(error: interlock_runtime::Error) -> Self {
        use interlock_runtime::Error;
        match error {
            Error::Journal(error) => error.into(),
            Error::Refused(refused) => refused.into(),
            Error::Input(_) | Error::Machine(_) | Error::Project(_) | Error::Unproved { .. } => {
                Failure::bad_input(&error).maybe_hint(error.hint())
            }
            Error::State { .. } | Error::NoAnswer { .. } | Error::Undo(_) => {
                Failure::failed(&error).maybe_hint(error.hint())
            }
        }
    }
}

impl From<interlock_server::Problem> for Failure {
    fn from(problem: interlock_server::Problem) -> Self {
        let failure = match problem.is_of_caller() {
            true => Failure::bad_input(problem.message()),
            false => Failure::failed(problem.message()),
        };
        failure.maybe_hint(problem.next_action())
    }
}

/// The failure of a service that the server needs, for the client of the server.
impl From<Failure> for interlock_server::Problem {
    fn from(failure: Failure) -> Self {
        let message =
            failure.message.unwrap_or_else(|| "the machine has problems; `interlock check` shows them".into());
        let problem = match failure.exit {
            Exit::BadInput => interlock_server::Problem::bad_input(message),
            _ => interlock_server::Problem::failed(message),
        };
        match failure.hint {
            Some(hint) => problem.hint(hint),
            None => problem,
        }
    }
}

/// The failure lists the events that the run takes, one per line.
impl From<interlock_runtime::Refused> for Failure {
    fn from(refused: interlock_runtime::Refused) -> Self {
        // An event that came too late was valid when the run asked for it: that is a failure, not bad input.
        let failure = match refused.late.is_empty() {
            true => Failure::bad_input(&refused.why),
            false => Failure::failed(&refused.why),
        };
        if refused.takes.is_empty() {
            return failure;
        }
        let width = refused.takes.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let line =
            |(name, summary): &(String, String)| format!("\n  {}", format!("{name:<width$}  {summary}").trim_end());
        let lines: String = refused.takes.iter().map(line).collect();
        failure.hint(format!("it accepts these events now:{lines}"))
    }
}
