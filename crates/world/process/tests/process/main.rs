//! Programs of attempts in the real sandbox, with a real launcher.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod conversation;
mod network;
mod trial;
