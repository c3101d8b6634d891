//! The effects that a command can have, as far as this crate can distinguish them.

use serde::{Deserialize, Serialize};

/// One effect of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect<'a> {
    /// A program is started.
    Run {
        /// The program's name without its directory, and its arguments.
        words: &'a [String],
        /// The command as people read it.
        command: &'a str,
    },
    /// The program that was started last is unknown, and so is its effect.
    Unknown {
        /// The program's name without its directory, and its arguments.
        words: &'a [String],
        /// The command as people read it.
        command: &'a str,
    },
    /// Something is done with a path.
    Path {
        /// The operation on the path.
        op: PathOp,
        /// The path as written.
        path: &'a str,
        /// The directory that a relative path starts from.
        folder: &'a str,
    },
    /// Something is done with every path that a glob pattern stands for.
    Pattern {
        /// The operation on each path.
        op: PathOp,
        /// The pattern as written.
        path: &'a str,
        /// The directory that a relative pattern starts from.
        folder: &'a str,
    },
    /// An argument may be the name of a file that is read.
    PerhapsRead {
        /// The argument as written.
        path: &'a str,
        /// The directory that a relative path starts from.
        folder: &'a str,
        /// True if the argument may stand for several paths.
        is_pattern: bool,
    },
    /// A connection to a known host.
    Connect {
        /// The host's name or address.
        host: &'a str,
        /// The port, if it is known.
        port: Option<u16>,
    },
    /// A connection to a host that the command does not name.
    ConnectSomewhere {
        /// The command as people read it.
        command: &'a str,
    },
    /// Git's index, branches or settings change.
    GitWrite {
        /// The command as people read it.
        command: &'a str,
    },
    /// Work is lost, whichever files hold it.
    LoseWork {
        /// The kind of work.
        work: Work,
        /// The command as people read it.
        command: &'a str,
        /// The effect of the command, as the end of a sentence.
        why: &'a str,
    },
    /// An effect that needs a person's permission.
    Risky {
        /// The kind of risk.
        risk: Risk,
        /// The command as people read it.
        command: &'a str,
        /// The reason, as a sentence.
        why: &'a str,
    },
    /// Every process of the user is ended.
    EndEverything,
    /// The effect cannot be determined by reading.
    Unclear {
        /// The part that is not understood.
        command: &'a str,
        /// The reason, as a sentence.
        why: &'a str,
    },
}

/// An operation on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathOp {
    /// Read the file or the directory.
    Read,
    /// Create or change it.
    Write,
    /// Let a program write the path and everything below it.
    WriteBelow,
    /// Delete a single file.
    Delete,
    /// Delete it with everything below it, or empty it.
    Destroy,
}

/// Work that a command can lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Changes that are not committed.
    Changes,
    /// Changes that are not committed, and ignored files.
    ChangesAndIgnored,
    /// Commits, stashes, or the names that lead to them.
    History,
}

/// A risk that a command carries whatever its files and hosts are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Risk {
    /// It talks to hosts that the command does not name.
    Network,
    /// It changes the rights to a file outside of the workspace.
    Ownership,
    /// It gives a program the rights of another user.
    Privilege,
    /// It sends a signal to a process that may belong to another user.
    Process,
}
