//! Detects the mechanisms that this system can enforce. Each one is tried on a thread that ends at once.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use landlock::{ABI, Access, AccessFs, LandlockStatus, Ruleset, RulesetAttr, RulesetStatus};
use serde::Serialize;

use crate::{Launcher, PROBE, bubblewrap, confine::Probed};

/// The mechanisms that this system can enforce.
#[derive(Clone, Debug, Serialize)]
pub struct Ability {
    /// The version of Landlock, or `None` if the kernel has none.
    pub landlock_abi: Option<i32>,
    /// True if system calls can be filtered.
    pub seccomp: bool,
    /// True if a program can get a private network, for `network: loopback`.
    pub namespaces: bool,
    /// The reason why it does not.
    pub no_namespaces: Option<String>,
    /// True if a program can get a private network, for `network: loopback`.
    pub loopback: bool,
    /// The program `bwrap`, if there is one.
    pub bubblewrap: Option<PathBuf>,
}

/// Detects the mechanisms that this system can enforce.
pub fn ability(launcher: &Launcher) -> Ability {
    let probed = probe(launcher.bare()).unwrap_or_else(|why| Probed { why: Some(why), ..Probed::default() });
    Ability {
        landlock_abi: on_a_thread(landlock_abi).flatten(),
        seccomp: std::fs::exists("/proc/sys/kernel/seccomp/actions_avail").unwrap_or(false),
        namespaces: probed.namespaces,
        no_namespaces: probed.why,
        loopback: probed.loopback,
        bubblewrap: bubblewrap::program(),
    }
}

fn probe(mut launcher: Command) -> Result<Probed, String> {
    launcher.arg(PROBE).stdin(Stdio::null()).stderr(Stdio::null());
    let output = launcher.output().map_err(|error| error.to_string())?;
    let line = output.stdout.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice(line).map_err(|_| "the probe process ended without a result".into())
}

impl Ability {
    /// Describes the mechanisms in one line for people.
    pub fn in_words(&self) -> String {
        let landlock = match self.landlock_abi {
            Some(abi @ ..6) => format!("Landlock {abi} (6 and later also keep processes apart)"),
            Some(abi) => format!("Landlock {abi}"),
            None => "no Landlock: commands can read and write all files of the user".to_owned(),
        };
        let seccomp = if self.seccomp { "seccomp" } else { "no seccomp: the network cannot be switched off" };
        let namespaces = match (&self.no_namespaces, self.namespaces) {
            (_, true) => "namespaces (git history is read-only)".to_owned(),
            (Some(why), false) => format!("no namespaces ({why}): commands can change git history"),
            (None, false) => "no namespaces: commands can change git history".to_owned(),
        };
        let loopback = if self.loopback { "loopback" } else { "no loopback: `network: loopback` is refused" };
        let bubblewrap = if self.bubblewrap.is_some() { "bubblewrap" } else { "no bubblewrap" };
        [&landlock, seccomp, &namespaces, loopback, bubblewrap].join(", ")
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
