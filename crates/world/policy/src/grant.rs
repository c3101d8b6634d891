//! Grants: the confirmations that a person gave. Only people create them; a run records the giver, the validity and
//! each use.

use std::{fmt, str::FromStr};

use crate::{Permission, Scope, exact};

/// A confirmed permission: for everything, for one subject, for everything below a directory (`fs.write:docs/**`), or
/// for every command that begins with these words (`proc.exec:npm install ...`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    permission: Permission,
    /// `None` means every subject.
    subject: Option<String>,
}

/// The suffix of a subject that covers every command with this beginning.
const MORE_WORDS: &str = " ...";

impl Grant {
    /// Reports if this grant covers the needed scope.
    ///
    /// A command that was not understood is covered only by a grant for its exact text: neither a general grant nor one
    /// for the beginning of a command covers an effect that is unknown.
    pub fn covers(&self, need: &Scope) -> bool {
        let is_about = |subject: &str| match exact::is_exact(&need.subject) {
            true => exact::is_same(subject, &need.subject),
            false => is_about(subject, &need.subject, self.permission),
        };
        let is_wholesale = self.subject.is_none() && !exact::is_exact(&need.subject);
        self.permission == need.permission && (is_wholesale || self.subject.as_deref().is_some_and(is_about))
    }

    /// Reports if the grant covers one text that was not understood, and therefore counts only once.
    pub fn is_exact(&self) -> bool {
        self.subject.as_deref().is_some_and(exact::is_exact)
    }

    /// Returns the permission that it grants.
    pub fn permission(&self) -> Permission {
        self.permission
    }
}

fn is_about(subject: &str, needed: &str, permission: Permission) -> bool {
    use Permission::{Delete, Read, Write};
    if subject == needed {
        return true;
    }
    match subject.strip_suffix("/**") {
        Some(folder) if matches!(permission, Read | Write | Delete) => {
            return needed.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        }
        _ => {}
    }
    match subject.strip_suffix(MORE_WORDS) {
        Some(words) => needed.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')),
        None => false,
    }
}

/// The reason why a text is not a valid grant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadGrant {
    /// The text names no known permission.
    #[error(
        "`{0}` is not a permission; there are fs.read, fs.write, fs.delete, proc.exec, proc.unconfined, net.connect, git.write, destroy"
    )]
    Permission(String),
    /// The text ends after the colon.
    #[error("`{0}:` needs a path, host or command after the colon")]
    Nothing(String),
    /// Destroying work is never granted without a subject.
    #[error("`destroy` needs a command: `destroy:git reset --hard`")]
    Wholesale,
}

impl FromStr for Grant {
    type Err = BadGrant;

    fn from_str(text: &str) -> Result<Self, BadGrant> {
        let (word, subject) = match text.split_once(':') {
            Some((word, subject)) => (word, Some(subject.trim())),
            None => (text, None),
        };
        let permission = Permission::from_word(word.trim()).ok_or_else(|| BadGrant::Permission(word.to_owned()))?;
        match subject {
            Some("") => Err(BadGrant::Nothing(word.to_owned())),
            None if permission == Permission::Destroy => Err(BadGrant::Wholesale),
            _ => Ok(Grant { permission, subject: subject.map(str::to_owned) }),
        }
    }
}

impl fmt::Display for Grant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            Some(subject) => write!(out, "{}:{subject}", self.permission),
            None => write!(out, "{}", self.permission),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grant_covers_only_its_subject() {
        let cases = [
            ("proc.exec", "proc.exec", "npm publish", true),
            ("proc.exec", "net.connect", "x", false),
            ("fs.write:docs/a.md", "fs.write", "docs/a.md", true),
            ("fs.write:docs/a.md", "fs.write", "docs/a.md.bak", false),
            ("fs.write:docs/**", "fs.write", "docs/a/b.md", true),
            ("fs.write:docs/**", "fs.write", "docs2/a", false),
            ("fs.write:docs/**", "fs.delete", "docs/a", false),
            ("destroy:rm -rf *", "destroy", "rm -rf *", true),
            ("destroy:rm -rf *", "destroy", "rm -rf src", false),
            ("proc.exec:npm install ...", "proc.exec", "npm install left-pad", true),
            ("proc.exec:npm install ...", "proc.exec", "npm installer", false),
            ("proc.unconfined:make flash ...", "proc.unconfined", "make flash BOARD=1", true),
            ("proc.exec", "proc.unconfined", "make flash", false),
            ("net.connect:example.com", "net.connect", "example.com.evil.org", false),
            ("proc.exec", "proc.exec", "exact:0123456789abcdef0123456789abcdef: f x", false),
            ("proc.exec:f ...", "proc.exec", "exact:0123456789abcdef0123456789abcdef: f x", false),
            (
                "proc.exec:exact:0123456789abcdef0123456789abcdef",
                "proc.exec",
                "exact:0123456789abcdef0123456789abcdef: f x",
                true,
            ),
            (
                "proc.exec:exact:0123456789abcdef0123456789abcdee",
                "proc.exec",
                "exact:0123456789abcdef0123456789abcdef: f x",
                false,
            ),
        ];
        for (grant, permission, subject, expected) in cases {
            let need = Scope { permission: Permission::from_word(permission).unwrap(), subject: subject.to_owned() };
            assert_eq!(grant.parse::<Grant>().unwrap().covers(&need), expected, "{grant} for {need}");
        }
    }

    #[test]
    fn invalid_grant_is_explained() {
        for (text, message) in [
            ("fs.wrote", "`fs.wrote` is not a permission; there are fs.read"),
            ("fs.write:", "`fs.write:` needs a path"),
            ("destroy", "`destroy` needs a command"),
        ] {
            let error = text.parse::<Grant>().unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        assert_eq!("fs.write:a b".parse::<Grant>().unwrap().to_string(), "fs.write:a b");
    }
}
