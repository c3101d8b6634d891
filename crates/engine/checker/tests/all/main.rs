//! The checker against small machines, the built-in machines, random machines, a reference and SPIN.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod border;
mod builtin;
mod counted;
mod facts;
mod properties;
mod reference;
mod seeded;
mod show;
mod sound;
mod spin;
mod structure;
mod termination;
mod too_big;
mod unlimited;
mod walk;
mod words;
