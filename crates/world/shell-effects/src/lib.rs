//! Determines the effects of a command line by reading it, without running it.
//!
//! A shell text or a list of words goes in; [`Effect`]s come out, one after the other: programs that start, paths that
//! are read, written or deleted, hosts that are connected to, work that is lost, and parts whose effect is unknown.
//! Nothing is run or looked up.
//!
//! `shell/` reads shell text, `command/` follows its commands, `effect.rs` lists the possible effects. This crate does
//! not know policies, permissions or grants: `interlock-policy` decides if an effect is allowed.

mod address;
mod command;
mod effect;
mod path;
mod quote;
mod reader;
mod shell;

pub use effect::{Effect, PathOp, Risk, Work};
pub use path::lexical;
pub use quote::quoted;
pub use reader::{Surroundings, Witness, read_shell, read_words};

use address::host_and_port;
use reader::Reader;
