//! Why there is no answer.

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No connection: nothing was asked.
    #[error("{host}:{port} could not be reached: {why}")]
    Unreachable {
        /// Whom.
        host: String,
        /// Where.
        port: u16,
        /// In the words of whoever failed.
        why: String,
    },
    /// The connection was there; the request may have had its effect, whatever came back.
    #[error("there was no proper answer: {0}")]
    Broken(String),
    /// The answer is longer than whoever asks wants to read.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
}
