//! How a command fails: what happened, then `Hint:` what to do.

use std::{fmt::Display, io, path::Path};

use crate::{Exit, output::Output};

/// Why a command could not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    /// Nothing to say where the reader has gone away or the problems have been shown already.
    message: Option<String>,
    hint: Option<String>,
}

impl Failure {
    /// Bad usage or bad input.
    pub(crate) fn bad_input(message: impl Display) -> Self {
        Failure { exit: Exit::BadInput, message: Some(message.to_string()), hint: None }
    }

    /// The problems have been shown; nothing more is to be said.
    pub(crate) fn told() -> Self {
        Failure { exit: Exit::BadInput, message: None, hint: None }
    }

    /// What to do about it.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Failure { hint: Some(hint.into()), ..self }
    }

    /// A file that could not be read or written.
    pub(crate) fn file(verb: &str, path: &Path, error: &io::Error) -> Self {
        Failure::bad_input(format!("cannot {verb} {}: {error}", path.display()))
    }

    /// Says it on stderr and gives the code to end with.
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

/// Writing to stdout failed. A reader that has closed the pipe has seen enough: that is no failure.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure { exit: Exit::Good, message: None, hint: None };
        }
        Failure::bad_input(format!("cannot write the output: {error}"))
    }
}

impl From<interlock_chart::library::Error> for Failure {
    fn from(error: interlock_chart::library::Error) -> Self {
        let failure = Failure::bad_input(&error);
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
