//! Detects the mechanisms that this system can enforce. Each one is tried on a thread that ends at once.

use std::path::PathBuf;

use landlock::{ABI, Access, AccessFs, LandlockStatus, Ruleset, RulesetAttr, RulesetStatus};
use serde::Serialize;

use crate::bubblewrap;

/// The mechanisms that this system can enforce.
#[derive(Clone, Debug, Serialize)]
pub struct Ability {
    /// The version of Landlock, or `None` if the kernel has none.
    pub landlock_abi: Option<i32>,
    /// True if system calls can be filtered.
    pub seccomp: bool,
    /// True if a program can get a private network, for `network: loopback`.
    pub namespaces: bool,
    /// The path of the program `bwrap`, if it is installed.
    pub bubblewrap: Option<PathBuf>,
}

/// Detects the mechanisms that this system can enforce.
pub fn ability() -> Ability {
    Ability {
        landlock_abi: on_a_thread(landlock_abi).flatten(),
        seccomp: std::fs::exists("/proc/sys/kernel/seccomp/actions_avail").unwrap_or(false),
        namespaces: on_a_thread(|| crate::confine::enter_network().is_ok()).unwrap_or(false),
        bubblewrap: bubblewrap::program(),
    }
}

impl Ability {
    /// Describes the mechanisms in one line for people.
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

/// Runs a check on a separate thread, because restrictions apply to one thread and must not affect the rest of the
/// process.
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
