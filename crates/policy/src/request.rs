//! What somebody wants to do.

use serde::{Deserialize, Serialize};

/// Something that somebody wants to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Something with one path, absolute or from the root of the workspace.
    Path {
        /// What.
        op: PathOp,
        /// With which.
        path: String,
    },
    /// Run a command.
    Command(Command),
    /// Connect to another computer.
    Connect {
        /// Its name or address.
        host: String,
        /// Where, if it is known.
        port: Option<u16>,
    },
    /// Change files by a patch.
    Patch(Patch),
    /// Run a command with less in its way than programs have otherwise.
    Unconfined {
        /// What is taken out of its way.
        freedom: Freedom,
        /// The command, as people read it.
        command: String,
    },
    /// Let git do something: what would follow `git` on a command line.
    Git(Vec<String>),
}

/// What a program has where nothing confines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freedom {
    /// It may talk to any computer.
    AnyHost,
    /// It has no sandbox at all.
    NoSandbox,
}

/// What can be done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathOp {
    /// Read it.
    Read,
    /// Make or change it.
    Write,
    /// Let a program write it and whatever is below it.
    WriteBelow,
    /// Delete a single file.
    Delete,
    /// Delete it with everything below it, or empty it.
    Destroy,
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// A text for `sh -c`.
    Shell(String),
    /// A program and its arguments, without a shell.
    Words(Vec<String>),
}

/// A patch, as far as policy has to know it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// What happens to each file.
    pub files: Vec<FileChange>,
}

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Which file; after a rename, its new name.
    pub path: String,
    /// What happens to it.
    #[serde(default)]
    pub kind: ChangeKind,
    /// The lines that come in, without their line ends.
    #[serde(default)]
    pub added: Vec<String>,
    /// The lines that go.
    #[serde(default)]
    pub removed: Vec<String>,
}

/// What happens to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// It changes.
    #[default]
    Modified,
    /// It goes.
    Deleted,
    /// It moves, and may change.
    Renamed {
        /// Where it was.
        from: String,
    },
    /// It becomes, or is, a link.
    Linked {
        /// Where to.
        to: String,
    },
    /// It is not text, so nobody can say what changes.
    Binary,
}

impl Patch {
    /// Lines that come in and lines that go.
    pub fn lines(&self) -> usize {
        self.files.iter().map(|file| file.added.len() + file.removed.len()).sum()
    }

    /// Bytes that come in.
    pub fn bytes(&self) -> usize {
        self.files.iter().flat_map(|file| &file.added).map(|line| line.len() + 1).sum()
    }
}
