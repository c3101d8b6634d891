//! The file `notify.toml` in the store.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::problem::{Problem, Result};

const FILE: &str = "notify.toml";

/// The time after which a deadline counts as missed: a server fires timers within a second.
const OVERDUE_AFTER_MS: i64 = 30_000;

/// The settings of the notifier.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    #[serde(default, rename = "notify")]
    pub(crate) rules: Vec<Rule>,
    #[serde(default = "overdue_after_ms")]
    pub(crate) overdue_after_ms: i64,
}

fn overdue_after_ms() -> i64 {
    OVERDUE_AFTER_MS
}

/// One receiver of messages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// The occasions on which a message is sent.
    pub(crate) on: Vec<Occasion>,
    /// Only for runs of these machines; for all if it is empty.
    #[serde(default)]
    pub(crate) machines: Vec<String>,
    /// The address to which the message is posted.
    pub(crate) url: Option<String>,
    /// The key of the signature: `env:NAME`.
    pub(crate) secret: Option<String>,
    /// The program that gets the message on its standard input.
    #[serde(default)]
    pub(crate) command: Vec<String>,
}

/// An occasion for a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Occasion {
    /// A run waits for a person.
    Waiting,
    /// A run has ended.
    Ended,
    /// A deadline has passed and its timer has not fired.
    Overdue,
}

impl Occasion {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Occasion::Waiting => "waiting",
            Occasion::Ended => "ended",
            Occasion::Overdue => "overdue",
        }
    }
}

impl Settings {
    /// Reads the settings of a store; without a file there is nothing to notify.
    pub(crate) fn read(home: &Path) -> Result<Self> {
        let path = home.join(FILE);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Problem::bad_input(format!("cannot read {}: {error}", path.display()))),
        };
        let wrong = |why: String| {
            Problem::bad_input(format!("{}: {why}", path.display())).hint("docs/serve.md describes the file")
        };
        let settings: Settings = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        settings.rules.iter().try_for_each(Rule::check).map_err(wrong)?;
        Ok(settings)
    }

    /// Returns the rules for an occasion.
    pub(crate) fn fitting(&self, occasion: Occasion, machine: &str) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| {
            rule.on.contains(&occasion)
                && (rule.machines.is_empty() || rule.machines.iter().any(|known| known == machine))
        })
    }
}

impl Rule {
    fn check(&self) -> Result<(), String> {
        match (&self.url, self.command.is_empty()) {
            (Some(url), true) if url.starts_with("https://") || url.starts_with("http://") => {}
            (Some(url), true) => return Err(format!("`{url}` is not an address")),
            (None, false) => {}
            _ => return Err("a [[notify]] has either `url` or `command`".to_owned()),
        }
        if self.on.is_empty() {
            return Err("`on` must name waiting, ended or overdue".to_owned());
        }
        self.key().map(drop)
    }

    /// Returns the name of the receiver: its address or its command.
    pub(crate) fn receiver(&self) -> String {
        self.url.clone().unwrap_or_else(|| self.command.join(" "))
    }

    /// Returns the key of the signature.
    pub(crate) fn key(&self) -> Result<Option<String>, String> {
        let Some(secret) = &self.secret else { return Ok(None) };
        let Some(name) = secret.strip_prefix("env:") else {
            return Err("`secret` must name an environment variable: env:NAME".to_owned());
        };
        match std::env::var(name) {
            Ok(key) if !key.is_empty() => Ok(Some(key)),
            _ => Err(format!("the environment variable {name} is not set")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings> {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(FILE), text).unwrap();
        Settings::read(home.path())
    }

    #[test]
    fn a_rule_applies_to_its_occasions_and_machines() {
        let settings = read(
            "[[notify]]\non = ['waiting']\nmachines = ['brain']\nurl = 'https://a.example/x'\n\
             [[notify]]\non = ['waiting', 'ended']\ncommand = ['true']\n",
        )
        .unwrap();
        let fitting = |occasion, machine| settings.fitting(occasion, machine).map(Rule::receiver).collect::<Vec<_>>();
        assert_eq!(fitting(Occasion::Waiting, "brain"), ["https://a.example/x", "true"]);
        assert_eq!(fitting(Occasion::Waiting, "prd"), ["true"]);
        assert!(fitting(Occasion::Overdue, "brain").is_empty());
    }

    #[test]
    fn a_wrong_file_is_refused_with_a_reason() {
        let cases = [
            "[[notify]]\non = ['waiting']\n",
            "[[notify]]\non = []\ncommand = ['true']\n",
            "[[notify]]\non = ['never']\ncommand = ['true']\n",
            "[[notify]]\non = ['ended']\nurl = 'ftp://x'\n",
            "[[notify]]\non = ['ended']\nurl = 'https://x'\nsecret = 'plain'\n",
            "[[notify]]\non = ['ended']\nurl = 'https://x'\nsecret = 'env:INTERLOCK_NO_SUCH_VARIABLE'\n",
            "[[notify]]\non = ['ended']\nurl = 'https://x'\ncommand = ['true']\n",
        ];
        for text in cases {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
