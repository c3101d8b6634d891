//! Real programs in the real sandbox of this kernel: well-behaved ones and ones that try to escape.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod after;
mod ending;
mod escapes;
mod history;
mod homes;
mod kept;
mod limits;
mod others;
mod overlap;
mod placed;
mod project;
mod repositories;
mod scene;
mod work;
