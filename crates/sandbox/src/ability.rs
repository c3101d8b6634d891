//! What this system can enforce, found by doing it: on threads that end at once.

use std::path::PathBuf;

use landlock::{ABI, Access, AccessFs, LandlockStatus, Ruleset, RulesetAttr, RulesetStatus};
use serde::Serialize;

use crate::bubblewrap;

/// What this system can enforce.
#[derive(Clone, Debug, Serialize)]
pub struct Ability {
    /// The version of Landlock; nothing where there is none.
    pub landlock_abi: Option<i32>,
    /// Whether system calls can be filtered here.
    pub seccomp: bool,
    /// Whether a program can get a network of its own, for `network: loopback`.
    pub namespaces: bool,
    /// The program `bwrap`, if there is one.
    pub bubblewrap: Option<PathBuf>,
}

/// Looks what this system can enforce.
pub fn ability() -> Ability {
    Ability {
        landlock_abi: on_a_thread(landlock_abi).flatten(),
        seccomp: std::fs::exists("/proc/sys/kernel/seccomp/actions_avail").unwrap_or(false),
        namespaces: on_a_thread(|| crate::confine::enter_network().is_ok()).unwrap_or(false),
        bubblewrap: bubblewrap::program(),
    }
}

impl Ability {
    /// In a line, for people.
    pub fn in_words(&self) -> String {
        let landlock = match self.landlock_abi {
            Some(abi @ ..6) => format!("Landlock {abi} (6 and later also keep processes apart)"),
            Some(abi) => format!("Landlock {abi}"),
            None => "no Landlock: commands can read and write what the user can".to_owned(),
        };
        let seccomp = if self.seccomp { "seccomp" } else { "no seccomp: the network cannot be taken away" };
        let loopback = if self.namespaces { "loopback" } else { "no namespaces: `network: loopback` is refused" };
        let bubblewrap = if self.bubblewrap.is_some() { "bubblewrap" } else { "no bubblewrap" };
        [&landlock, seccomp, loopback, bubblewrap].join(", ")
    }
}

/// Restrictions are a thread's own, so the rest of the process is spared.
fn on_a_thread<T: Send + 'static>(try_it: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    std::thread::spawn(try_it).join().ok()
}

fn landlock_abi() -> Option<i32> {
    let ruleset = Ruleset::default().handle_access(AccessFs::from_all(ABI::V1)).ok()?.create().ok()?;
    let status = ruleset.restrict_self().ok()?;
    (status.ruleset != RulesetStatus::NotEnforced).then(|| version(status.landlock)).flatten()
}

pub(crate) fn version(status: LandlockStatus) -> Option<i32> {
    match status {
        LandlockStatus::Available { effective_abi, kernel_abi } => Some(kernel_abi.unwrap_or(effective_abi as i32)),
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
    }
}
