//! The reasons why a call of git has no result.

/// The reason why a call of git has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The program could not be started.
    #[error("git could not be started: {0}")]
    NoGit(String),
    /// Git ended with an error.
    #[error("git {doing}: {said}")]
    Failed {
        /// The subcommand.
        doing: String,
        /// The error output of git.
        said: String,
    },
    /// The call was ended, or refused because of what is in the place of a file. The text names the place and the next
    /// action.
    #[error("{0}")]
    Stopped(String),
}
