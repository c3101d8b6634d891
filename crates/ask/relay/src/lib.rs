//! Stands between a coding agent and the server of its model: holds the key, counts tokens, forwards to one origin.
//!
//! A [`Relay`] listens on loopback for the time of one attempt. The agent is given its address and a random token. The
//! relay accepts only that token, puts the key in its place, and forwards known requests to the one origin that the
//! settings name. A request reserves the most that it can cost (`cost.rs`, `tally.rs`) before it is forwarded; the relay
//! reads the tokens of each reply while the reply passes through, and refuses requests when the budget is spent.
//!
//! It stores neither the key nor any content, follows no redirects and repeats no request. It does not know runs; the
//! crate `agent` starts one per turn.

mod body;
mod cost;
mod credential;
mod endpoint;
mod forward;
mod origin;
mod refusal;
mod relay;
mod reply;
mod tally;
mod usage;

pub use credential::Credential;
pub use interlock_http::{Client, Proxy};
pub use origin::Origin;
pub use relay::{Relay, Setup};
pub use tally::{Call, Report};
pub use usage::Usage;
