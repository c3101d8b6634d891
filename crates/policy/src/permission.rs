//! What can be permitted, and how strictly.

use serde::{Deserialize, Serialize};

/// Something that a request needs to be permitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Permission {
    /// Read a file or a folder.
    #[serde(rename = "fs.read")]
    Read,
    /// Make or change one.
    #[serde(rename = "fs.write")]
    Write,
    /// Delete one file.
    #[serde(rename = "fs.delete")]
    Delete,
    /// Start a program.
    #[serde(rename = "proc.exec")]
    Exec,
    /// Start a program that nothing keeps within the workspace.
    #[serde(rename = "proc.unconfined")]
    Unconfined,
    /// Talk to another computer.
    #[serde(rename = "net.connect")]
    Connect,
    /// Change what git keeps: index, branches, settings.
    #[serde(rename = "git.write")]
    GitWrite,
    /// Do away with work: whole folders, uncommitted changes, history.
    #[serde(rename = "destroy")]
    Destroy,
}

impl Permission {
    /// All of them.
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

    /// As people write it.
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

    /// From what people write.
    pub fn from_word(word: &str) -> Option<Self> {
        Permission::ALL.into_iter().find(|permission| permission.word() == word)
    }
}

impl std::fmt::Display for Permission {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.word())
    }
}

/// How strict an answer is. The strictest of several counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It may be done.
    Allow,
    /// A person has to say yes first.
    Confirm,
    /// It may not be done.
    Deny,
}

impl Level {
    /// As people write it.
    pub fn word(self) -> &'static str {
        match self {
            Level::Allow => "allow",
            Level::Confirm => "confirm",
            Level::Deny => "deny",
        }
    }

    /// From what people write.
    pub fn from_word(word: &str) -> Option<Self> {
        [Level::Allow, Level::Confirm, Level::Deny].into_iter().find(|level| level.word() == word)
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.word())
    }
}

/// Why something is not simply allowed, for programs.
pub mod code {
    /// It is no proper path: empty, too long, with NUL, or with letters that hide what it is.
    pub const BAD_PATH: &str = "BAD_PATH";
    /// It is outside of the workspace.
    pub const OUTSIDE: &str = "OUTSIDE";
    /// A link leads it somewhere else.
    pub const LINK_ESCAPE: &str = "LINK_ESCAPE";
    /// It belongs to git itself.
    pub const GIT_INTERNAL: &str = "GIT_INTERNAL";
    /// A rule for paths says so.
    pub const PATH_RULE: &str = "PATH_RULE";
    /// It is not among the paths that may be changed.
    pub const NOT_AMONG_ALLOWED: &str = "NOT_AMONG_ALLOWED";
    /// A rule for commands says so.
    pub const COMMAND_RULE: &str = "COMMAND_RULE";
    /// A rule for hosts says so, or none speaks of the host.
    pub const HOST_RULE: &str = "HOST_RULE";
    /// It would run with less in its way than programs have otherwise.
    pub const CONFINEMENT: &str = "CONFINEMENT";
    /// What it would do cannot be told by reading it.
    pub const NOT_UNDERSTOOD: &str = "NOT_UNDERSTOOD";
    /// It would do away with work.
    pub const WOULD_LOSE_WORK: &str = "WOULD_LOSE_WORK";
    /// It changes what git keeps.
    pub const GIT_WRITE: &str = "GIT_WRITE";
    /// It is more than one patch may change.
    pub const TOO_BIG: &str = "TOO_BIG";
    /// Nothing speaks of it but the policy's last word.
    pub const OTHERWISE: &str = "OTHERWISE";
}
