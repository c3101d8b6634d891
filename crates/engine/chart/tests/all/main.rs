//! The reader, the library of machines and the built-in machines.

#![allow(clippy::disallowed_methods, reason = "tests prepare the places")]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bad;
mod builtin;
mod library;
mod machine_rows;
mod machines;
mod reading;
mod robust;
mod schema;
