//! The reports of a launcher: the enforced restrictions and the end of the program.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Kind, Limits, Network};

/// A line that a launcher sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report {
    /// The program runs with these restrictions.
    Started(Box<Enforced>),
    /// The program was not started.
    NotStarted {
        /// A description of the reason.
        why: String,
        /// True if the reason is that the system cannot enforce a required restriction.
        is_refusal: bool,
    },
    /// The program has ended, and none of its processes is left.
    Ended(ProgramEnd),
}

/// The restrictions that are enforced. The same rules on the same system give the same value, so that it is stored
/// once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enforced {
    /// The mechanism that confines the program.
    pub sandbox: Kind,
    /// The private namespaces of the program: `pid`, `ipc` and `mount`, or none.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// The version of Landlock that confines it, if any.
    pub landlock_abi: Option<i32>,
    /// True if system calls are filtered.
    pub seccomp: bool,
    /// True if the program and its children cannot gain privileges, for example by `sudo`.
    pub no_new_privs: bool,
    /// True if the program has lost all capabilities of root, except those that a workspace of another user needs.
    pub capabilities_dropped: bool,
    /// True if it can neither signal nor trace processes outside.
    pub processes_apart: bool,
    /// The network access of the program.
    pub network: Network,
    /// The hosts that it can reach if `network` is `only`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The mechanisms that enforce it: `seccomp`, `landlock`, `namespace`.
    pub network_by: Vec<String>,
    /// True if its changes of the workspace stay.
    #[serde(default)]
    pub workspace: WorkspaceAccess,
    /// The places that it may change.
    pub write: Vec<String>,
    /// The existing places that it cannot read.
    pub hidden: Vec<String>,
    /// The existing directories in which it can read only what is shown, and its own places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<String>,
    /// The existing places in closed directories that it can read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<String>,
    /// The hint with which a person can show more of the closed directories.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub to_show_more: String,
    /// The paths that are restored if the program changes them. With bubblewrap it cannot change them.
    pub protected: Vec<String>,
    /// The access to the history of the workspace's repository.
    #[serde(default)]
    pub git_history: GitHistory,
    /// The resource limits of the program.
    pub limits: Limits,
    /// The mechanisms that count processes: `supervisor`, and `cgroup` if there is one.
    pub processes_by: Vec<String>,
    /// The mechanisms that count memory: `supervisor`, and `cgroup` if there is one, which also counts files in memory.
    #[serde(default)]
    pub memory_by: Vec<String>,
    /// Requested restrictions that could not be enforced.
    pub missing: Vec<String>,
}

/// A program's access to its workspace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkspaceAccess {
    /// It can change files, and the changes stay.
    #[default]
    Writable,
    /// It can change files, and the changes are thrown away, except in directories with caches.
    Private,
    /// It can change files only in directories with caches: there are no namespaces.
    ReadOnly,
}

/// A program's access to objects that were in a repository before the program started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitHistory {
    /// The workspace has no repository.
    #[default]
    NoRepository,
    /// It can. The commit that is checked out is put back if it is lost, but not the commits before it.
    Writable,
    /// It can change some: there are too many.
    PartlyReadOnly,
    /// It cannot: the kernel refuses it.
    ReadOnly,
}

/// The end of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramEnd {
    /// The exit code, unless a signal ended the program.
    pub code: Option<i32>,
    /// The signal that ended the program.
    pub signal: Option<i32>,
    /// The limit that caused the program to be stopped.
    pub limit: Option<String>,
    /// The violations that the program committed.
    pub breaches: Vec<Breach>,
    /// The number of processes that could not be ended.
    pub left: u64,
}

/// A violation that was stopped or reverted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Breach {
    /// The name of the violated rule, such as `limit.memory` or `git.protected`.
    pub rule: String,
    /// A description for people.
    pub said: String,
    /// The protected path that was changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<PathBuf>,
}

impl Breach {
    pub(crate) fn new(rule: &str, said: impl Into<String>) -> Self {
        Breach { rule: rule.to_owned(), said: said.into(), path: None }
    }
}
