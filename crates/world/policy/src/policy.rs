//! A policy in its compiled form. `read/` creates one from a file.

use crate::{Level, Permission, glob::Globs};

/// The rules that decide which operations are permitted.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(crate) otherwise: [LastWord; DefaultCase::COUNT],
    pub(crate) paths: Vec<Rule>,
    pub(crate) path_globs: Globs,
    pub(crate) path_texts: Vec<(usize, String)>,
    pub(crate) commands: Vec<CommandRule>,
    pub(crate) hosts: Vec<HostRule>,
    pub(crate) limits: Limits,
    /// If not empty, only these paths may be changed. Each list restricts further.
    pub(crate) allowed: Vec<Globs>,
    /// Paths that can be generated again, so their loss does not matter.
    pub(crate) disposable: Globs,
    pub(crate) disposable_texts: Vec<String>,
}

/// The cases for which a policy defines a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultCase {
    ReadInside,
    WriteInside,
    DeleteInside,
    ReadOutside,
    WriteOutside,
    WriteBelowOutside,
    DeleteOutside,
    Exec,
    Connect,
    AnyHost,
    NoSandbox,
    GitWrite,
    NotUnderstood,
    DestroyKept,
    DestroyPartly,
    DestroyLost,
    DestroyHistory,
}

impl DefaultCase {
    pub(crate) const COUNT: usize = 17;

    /// All cases, with their names in the file.
    pub(crate) const ALL: [(DefaultCase, &'static str); DefaultCase::COUNT] = [
        (DefaultCase::ReadInside, "read_inside"),
        (DefaultCase::WriteInside, "write_inside"),
        (DefaultCase::DeleteInside, "delete_inside"),
        (DefaultCase::ReadOutside, "read_outside"),
        (DefaultCase::WriteOutside, "write_outside"),
        (DefaultCase::WriteBelowOutside, "write_below_outside"),
        (DefaultCase::DeleteOutside, "delete_outside"),
        (DefaultCase::Exec, "exec"),
        (DefaultCase::Connect, "connect"),
        (DefaultCase::AnyHost, "any_host"),
        (DefaultCase::NoSandbox, "no_sandbox"),
        (DefaultCase::GitWrite, "git_write"),
        (DefaultCase::NotUnderstood, "not_understood"),
        (DefaultCase::DestroyKept, "destroy_kept"),
        (DefaultCase::DestroyPartly, "destroy_partly"),
        (DefaultCase::DestroyLost, "destroy_lost"),
        (DefaultCase::DestroyHistory, "destroy_history"),
    ];
}

/// The default if no rule applies, and the level down to which a project may loosen it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastWord {
    pub(crate) level: Level,
    pub(crate) loosen_to: Level,
    pub(crate) reason: String,
}

/// The common part of every rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) name: String,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) level: Level,
    /// The least strict level that a project may set.
    pub(crate) loosen_to: Level,
    pub(crate) reason: String,
    /// True for a rule of the project, which cannot permit more than the default leaves open.
    pub(crate) is_projects: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandRule {
    pub(crate) rule: Rule,
    /// The beginnings of matching commands; any of these.
    pub(crate) prefixes: Vec<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostRule {
    pub(crate) rule: Rule,
    pub(crate) hosts: Vec<HostPattern>,
}

/// A host pattern: `example.com` or `*.example.com`, either with an optional port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostPattern {
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
}

/// The size limits of one patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum number of files.
    pub files: u64,
    /// The maximum number of added and removed lines.
    pub lines: u64,
    /// The maximum number of added bytes.
    pub bytes: u64,
}

impl Policy {
    /// Returns the default for a case.
    pub(crate) fn last_word(&self, case: DefaultCase) -> &LastWord {
        &self.otherwise[case as usize]
    }

    /// Returns the size limits of one patch.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns this policy with further restrictions for one run: only `allowed` paths may be changed (any path if it
    /// is empty), and none of `forbidden`. An error names the invalid glob.
    pub fn restricted(&self, allowed: &[String], forbidden: &[String]) -> Result<Policy, String> {
        let mut policy = self.clone();
        if !allowed.is_empty() {
            let globs = allowed.iter().map(|glob| (0, glob.as_str()));
            policy.allowed.push(Globs::new(globs).map_err(|why| format!("a glob in the allowed paths: {why}"))?);
        }
        policy.add_paths("forbidden here", forbidden, Level::Deny, "this run must not change it")?;
        Ok(policy)
    }

    /// Returns this policy with more paths whose change a person must confirm.
    pub fn with_sensitive(&self, globs: &[String]) -> Result<Policy, String> {
        let mut policy = self.clone();
        policy.add_paths("sensitive here", globs, Level::Confirm, "the path is sensitive")?;
        Ok(policy)
    }

    /// Returns this policy with permitted hosts: by their names, with or without a port.
    #[must_use]
    pub fn with_hosts(&self, hosts: &[String]) -> Policy {
        let mut policy = self.clone();
        if !hosts.is_empty() {
            let rule = Rule::of("hosts that were allowed", &[Permission::Connect], Level::Allow, "it was allowed");
            policy.hosts.push(HostRule { rule, hosts: hosts.iter().map(|host| HostPattern::parse(host)).collect() });
        }
        policy
    }

    fn add_paths(&mut self, name: &str, globs: &[String], level: Level, reason: &str) -> Result<(), String> {
        if globs.is_empty() {
            return Ok(());
        }
        let number = self.paths.len();
        self.paths.push(Rule::of(name, &[Permission::Write, Permission::Delete, Permission::Destroy], level, reason));
        self.path_texts.extend(globs.iter().map(|glob| (number, glob.clone())));
        self.path_globs = Globs::new(self.path_texts.iter().map(|(rule, text)| (*rule, text.as_str())))?;
        Ok(())
    }
}

impl Rule {
    fn of(name: &str, permissions: &[Permission], level: Level, reason: &str) -> Self {
        Rule {
            name: name.to_owned(),
            permissions: permissions.to_vec(),
            level,
            loosen_to: level,
            reason: reason.to_owned(),
            is_projects: false,
        }
    }
}

impl HostPattern {
    pub(crate) fn parse(text: &str) -> Self {
        let (host, port) = match text.rsplit_once(':') {
            // An IPv6 address contains colons, and is in brackets if a port follows.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, port.parse().ok()),
            _ => (text, None),
        };
        HostPattern { host: host.trim_matches(['[', ']']).to_lowercase(), port }
    }

    pub(crate) fn is_for(&self, host: &str, port: Option<u16>) -> bool {
        let is_host = match self.host.strip_prefix("*.") {
            Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.') && rest.len() > 1),
            None => self.host == host || self.host == "*",
        };
        is_host && self.port.is_none_or(|wanted| port == Some(wanted))
    }
}
