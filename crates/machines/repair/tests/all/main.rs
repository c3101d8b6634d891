//! Tests of the templates' proposals, the ranking of suspects, and the search's use of results.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod confidence;
mod doubts;
mod localise;
mod observe;
mod patches;
mod robust;
mod search;
mod templates;
