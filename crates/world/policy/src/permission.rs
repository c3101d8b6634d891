//! Permissions and their levels.

use serde::{Deserialize, Serialize};

/// A permission that a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Permission {
    /// Read a file or a directory.
    #[serde(rename = "fs.read")]
    Read,
    /// Create or change a file or a directory.
    #[serde(rename = "fs.write")]
    Write,
    /// Delete one file.
    #[serde(rename = "fs.delete")]
    Delete,
    /// Start a program or run a command.
    #[serde(rename = "proc.exec")]
    Exec,
    /// Start a program that is not confined to the workspace.
    #[serde(rename = "proc.unconfined")]
    Unconfined,
    /// Connect to another computer.
    #[serde(rename = "net.connect")]
    Connect,
    /// Change git's data: index, branches, settings.
    #[serde(rename = "git.write")]
    GitWrite,
    /// Destroy work: whole directories, uncommitted changes, history.
    #[serde(rename = "destroy")]
    Destroy,
}

impl Permission {
    /// All permissions, in the order of their definition.
    pub const ALL: [Permission; 8] = [
        Permission::Read,
        Permission::Write,
        Permission::Delete,
        Permission::Exec,
        Permission::Unconfined,
        Permission::Connect,
        Permission::GitWrite,
        Permission::Destroy,
    ];

    /// Returns the word for it in files and grants.
    pub fn word(self) -> &'static str {
        match self {
            Permission::Read => "fs.read",
            Permission::Write => "fs.write",
            Permission::Delete => "fs.delete",
            Permission::Exec => "proc.exec",
            Permission::Unconfined => "proc.unconfined",
            Permission::Connect => "net.connect",
            Permission::GitWrite => "git.write",
            Permission::Destroy => "destroy",
        }
    }

    /// Parses a permission from its word.
    pub fn from_word(word: &str) -> Option<Self> {
        Permission::ALL.into_iter().find(|permission| permission.word() == word)
    }
}

impl std::fmt::Display for Permission {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.word())
    }
}

/// The level of a decision. The strictest of several counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The operation is permitted.
    Allow,
    /// A person must confirm the operation first.
    Confirm,
    /// The operation is refused.
    Deny,
}

impl Level {
    /// Returns the word for it in policy files.
    pub fn word(self) -> &'static str {
        match self {
            Level::Allow => "allow",
            Level::Confirm => "confirm",
            Level::Deny => "deny",
        }
    }

    /// Parses a level from its word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Level::Allow, Level::Confirm, Level::Deny].into_iter().find(|level| level.word() == word)
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.word())
    }
}

/// Codes for programs: the reasons why a request is not simply allowed.
pub mod code {
    /// The path is invalid: empty, too long, with NUL, or with deceptive characters.
    pub const BAD_PATH: &str = "BAD_PATH";
    /// The path is outside of the workspace.
    pub const OUTSIDE: &str = "OUTSIDE";
    /// A link leads the path to another place.
    pub const LINK_ESCAPE: &str = "LINK_ESCAPE";
    /// The path belongs to git's directory.
    pub const GIT_INTERNAL: &str = "GIT_INTERNAL";
    /// A rule for paths applies.
    pub const PATH_RULE: &str = "PATH_RULE";
    /// The path is not among those that may be changed.
    pub const NOT_AMONG_ALLOWED: &str = "NOT_AMONG_ALLOWED";
    /// A rule for commands applies.
    pub const COMMAND_RULE: &str = "COMMAND_RULE";
    /// A rule for hosts applies, or no rule mentions the host.
    pub const HOST_RULE: &str = "HOST_RULE";
    /// The command would run with less confinement than usual.
    pub const CONFINEMENT: &str = "CONFINEMENT";
    /// The effect of the command cannot be determined by analysis.
    pub const NOT_UNDERSTOOD: &str = "NOT_UNDERSTOOD";
    /// The operation would destroy work.
    pub const WOULD_LOSE_WORK: &str = "WOULD_LOSE_WORK";
    /// The operation changes git's data.
    pub const GIT_WRITE: &str = "GIT_WRITE";
    /// The patch exceeds the size limits.
    pub const TOO_BIG: &str = "TOO_BIG";
    /// Only the policy's default applies.
    pub const OTHERWISE: &str = "OTHERWISE";
}
