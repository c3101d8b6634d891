//! The errors of a request.

/// The reason why a request got no response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The connection failed, so no request was sent.
    #[error("{host}:{port} could not be reached: {why}")]
    Unreachable {
        /// The host that was addressed.
        host: String,
        /// The port that was addressed.
        port: u16,
        /// The reason, as reported by the failing part.
        why: String,
    },
    /// The connection was made; the request may have taken effect, whatever came back.
    #[error("invalid answer: {0}")]
    Broken(String),
    /// The response is longer than the caller's limit.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
}
