//! Confines programs and makes sure that they end.
//!
//! Programs are never started directly. Interlock starts a *launcher*, which is its own binary with a hidden first
//! argument ([`entry`]), and sends it an [`LaunchOrder`] over a socket. The launcher has stages:
//!
//! - `supervise` stays outside the sandbox. It adopts every orphan of the process tree, watches the limits and holds
//!   the other end of the socket. When the socket closes, because the attempt is over or because Interlock has ended
//!   for any reason, it ends every process below it.
//! - `confine` creates namespaces if the kernel allows it, applies limits, Landlock, seccomp and the rest to itself,
//!   and then starts the program.
//!
//! So no code runs between `fork` and `exec`, and the crate has no unsafe code. The restrictions that were actually
//! enforced are returned as [`Enforced`]; `docs/sandbox.md` explains what they cover and what they do not.
//!
//! This crate does not know activities, runs or journals, and it does not decide *whether* a program may run: that is
//! policy.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests prepare the places"))]

mod ability;
mod attachments;
mod baseline;
mod bubblewrap;
mod caches;
mod config;
mod confine;
mod credentials;
mod git_config;
mod git_person;
mod git_settings;
mod gitlinks;
mod guard;
mod held;
mod history;
mod homes;
mod launcher;
mod leftovers;
mod placed;
mod places;
mod protected;
mod reading;
mod report;
mod repository;
mod rules;
mod saved;
mod supervise;
mod temporary;
mod unchanged;
mod wire;

use std::{ffi::OsString, process::ExitCode};

pub use ability::{Ability, ability};
pub use attachments::{ATTACHED_MAX, Attached, attach, receive_files};
pub use caches::CACHES;
pub use config::{Config, ConfigError};
pub use git_person::GitSettings;
pub use held::{Hold, hold};
pub use homes::Account;
pub use launcher::{Launcher, is_supervisor_of};
pub use leftovers::{MARK, end_leftovers};
pub use protected::{PROJECT_PROTECTED, is_protected};
pub use report::{Breach, Enforced, GitHistory, ProgramEnd, Report, WorkspaceAccess};
pub use repository::workspace_of;
pub use rules::{Kind, Limits, Namespaces, Network, Rules, View};
pub use unchanged::{project_is_unchanged, read_project};
pub use wire::{After, INTERRUPT, KEPT, LaunchOrder, STOP};

/// The first argument of a launcher's first stage.
pub(crate) const SUPERVISE: &str = "__supervise";

/// The first argument of a launcher's second stage.
pub(crate) const PREPARE: &str = "__prepare";

/// The first argument of the first process in namespaces.
pub(crate) const INIT: &str = "__init";

/// The first argument of a second stage without namespaces.
pub(crate) const CONFINE: &str = "__confine";

/// The first argument of a process that tries which namespaces it can make.
pub(crate) const PROBE: &str = "__probe";

/// The first argument of the first process in the namespaces that were tried.
pub(crate) const PROBE_INSIDE: &str = "__probe-inside";

/// Does a launcher's work, where the arguments say that this process is one. To be called before anything else in `main`.
pub fn entry(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let first = arguments.into_iter().nth(1)?;
    match first.to_str()? {
        SUPERVISE => Some(supervise::main()),
        PREPARE => Some(confine::prepare()),
        INIT => Some(confine::init()),
        CONFINE => Some(confine::main()),
        PROBE => Some(confine::probe()),
        PROBE_INSIDE => Some(confine::probe_inside()),
        _ => None,
    }
}
