//! What a program may do, and that it ends.
//!
//! Nothing is started directly. Interlock starts a *launcher*, which is its own binary with a hidden first argument ([`entry`]), and
//! gives it an [`Order`] over a socket. The launcher has stages:
//!
//! - `supervise`: outside of the sandbox. It adopts every orphan of the tree, watches limits, and holds the other end of the socket: when
//!   that closes, because the attempt is over or because Interlock is gone, however it went, it ends everything below it.
//! - `confine`: makes namespaces where the kernel lets it, applies limits, Landlock, seccomp and the rest to itself, and then begins the program.
//!
//! So there is no code between `fork` and `exec`, and no unsafe code of our own. What was really enforced comes back as [`Enforced`];
//! `docs/sandbox.md` says what that means and what it does not.
//!
//! This crate does not know activities, runs or journals, and it decides nothing about *whether* a program may run: that is policy.

mod ability;
mod bubblewrap;
mod config;
mod confine;
mod credentials;
mod git_settings;
mod guard;
mod launcher;
mod places;
mod protected;
mod report;
mod repository;
mod rules;
mod supervise;
mod wire;

use std::{ffi::OsString, process::ExitCode};

pub use ability::{Ability, ability};
pub use config::{Config, ConfigError};
pub use credentials::credentials;
pub use launcher::{Launcher, is_supervisor_of};
pub use protected::is_protected;
pub use report::{Breach, Ended, Enforced, Report};
pub use repository::workspace_of;
pub use rules::{Kind, Limits, Namespaces, Network, Rules};
pub use wire::{After, KEPT, Order, STOP};

/// The first argument of a launcher's first stage.
pub(crate) const SUPERVISE: &str = "__supervise";

/// The first argument of a launcher's second stage.
pub(crate) const PREPARE: &str = "__prepare";

/// The first argument of the first process in namespaces.
pub(crate) const INIT: &str = "__init";

/// The first argument of a second stage without namespaces.
pub(crate) const CONFINE: &str = "__confine";

/// Does a launcher's work, where the arguments say that this process is one. To be called before anything else in `main`.
pub fn entry(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let first = arguments.into_iter().nth(1)?;
    match first.to_str()? {
        SUPERVISE => Some(supervise::main()),
        PREPARE => Some(confine::prepare()),
        INIT => Some(confine::init()),
        CONFINE => Some(confine::main()),
        _ => None,
    }
}
