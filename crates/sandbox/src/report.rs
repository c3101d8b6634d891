//! What a launcher says: what was enforced, and how it ended.

use serde::{Deserialize, Serialize};

use crate::{Kind, Limits, Network};

/// A line from a launcher.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The program runs, confined like this.
    Started(Box<Enforced>),
    /// It does not.
    NotStarted {
        /// Why.
        why: String,
        /// Whether that is because the system cannot enforce what must be.
        is_refusal: bool,
    },
    /// Nothing of it is left.
    Ended(Ended),
}

/// What is really enforced. The same rules on the same system give the same value, so that it is stored once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforced {
    /// By what it is confined.
    pub sandbox: Kind,
    /// The namespaces that it has for itself: `pid`, `ipc` and `mount`, or none.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// The version of Landlock that confines it, if any.
    pub landlock_abi: Option<i32>,
    /// Whether system calls are filtered.
    pub seccomp: bool,
    /// Whether it and what it starts can gain privileges, as by `sudo`.
    pub no_new_privs: bool,
    /// Whether it has lost the privileges of the administrator beyond those about files.
    pub capabilities_dropped: bool,
    /// Whether it can neither signal nor trace processes outside.
    pub processes_apart: bool,
    /// Whom it may talk to.
    pub network: Network,
    /// What enforces that: `seccomp`, `landlock`, `namespace`.
    pub network_by: Vec<String>,
    /// What it may change.
    pub write: Vec<String>,
    /// What is there and cannot be read.
    pub hidden: Vec<String>,
    /// What is put back where it was changed; with bubblewrap it cannot be changed.
    pub protected: Vec<String>,
    /// How much it may use.
    pub limits: Limits,
    /// What counts processes: `supervisor`, and where there is one `cgroup`.
    pub processes_by: Vec<String>,
    /// What counts memory: `supervisor`, and where there is one `cgroup`, which also counts files in memory.
    #[serde(default)]
    pub memory_by: Vec<String>,
    /// What was wanted and could not be had.
    pub missing: Vec<String>,
}

/// How a program ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Its exit code, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// The limit for which it was stopped.
    pub limit: Option<String>,
    /// What it did that it should not have.
    pub breaches: Vec<Breach>,
    /// Processes that could not be ended.
    pub left: u64,
}

/// Something that was tried, and stopped or put back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Breach {
    /// Which rule: `limit.memory`, `git.protected`.
    pub rule: String,
    /// What happened, in words.
    pub said: String,
}

impl Breach {
    pub(crate) fn new(rule: &str, said: impl Into<String>) -> Self {
        Breach { rule: rule.to_owned(), said: said.into() }
    }
}
