//! Requests: the operations on which a policy decides.

use interlock_shell_effects::PathOp;
use serde::{Deserialize, Serialize};

/// An operation on which the policy decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// An operation on one path, absolute or relative to the workspace.
    Path {
        /// The kind of the operation.
        op: PathOp,
        /// The path it works on.
        path: String,
    },
    /// Run a command.
    Command(Command),
    /// Connect to another computer.
    Connect {
        /// The name or address of the host.
        host: String,
        /// The port, if it is known.
        port: Option<u16>,
    },
    /// Change files by a patch.
    Patch(Patch),
    /// Run a command with less confinement than usual.
    Unconfined {
        /// The confinement that is removed.
        freedom: Freedom,
        /// The command, as people read it.
        command: String,
    },
    /// Run git with these arguments.
    Git(Vec<String>),
}

/// The confinement that a program runs without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// It may connect to any computer.
    AnyHost,
    /// It runs without a sandbox.
    NoSandbox,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A text for `sh -c`.
    Shell(String),
    /// A program and its arguments, without a shell.
    Words(Vec<String>),
}

/// A patch, reduced to the parts that policy needs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// The changes, one per file.
    pub files: Vec<FileChange>,
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// The path of the file; after a rename, its new name.
    pub path: String,
    /// The kind of the change.
    #[serde(default)]
    pub kind: ChangeKind,
    /// The added lines, without their line ends.
    #[serde(default)]
    pub added: Vec<String>,
    /// The removed lines, without their line ends.
    #[serde(default)]
    pub removed: Vec<String>,
}

/// The kind of a change to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// The file is new.
    Added,
    /// The content of the file changes.
    #[default]
    Modified,
    /// The file is deleted.
    Deleted,
    /// The file moves, and may change.
    Renamed {
        /// The old path of the file.
        from: String,
    },
    /// The file becomes, or is, a link.
    Linked {
        /// The target of the link.
        to: String,
    },
    /// The file is not text, so its changes cannot be analysed.
    Binary,
}

impl Patch {
    /// Returns the number of added and removed lines.
    pub fn lines(&self) -> usize {
        self.files.iter().map(|file| file.added.len() + file.removed.len()).sum()
    }

    /// Returns the number of added bytes.
    pub fn bytes(&self) -> usize {
        self.files.iter().flat_map(|file| &file.added).map(|line| line.len() + 1).sum()
    }
}
