//! Refusals of policy or of a person during an attempt, recorded so that the reason of a stopped run is known.
//!
//! The code that refuses something (the gate, a decider, the referee of a coding agent) adds one evidence file called
//! [`REFUSED`] to the outcome. `show`, the report and the page read that file and nothing else, so a new place that
//! refuses needs one call of [`Refused::keep`].

use interlock_journal::{Evidence, EvidenceStore};
use serde::{Deserialize, Serialize};

use crate::Outcome;

/// The name of the evidence file.
pub const REFUSED: &str = "refused";

/// One thing that was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Refused {
    /// The requested object: a command, a path, a host.
    pub what: String,
    /// The rule that refuses it: its name, or a code of policy, or `person` or `nobody`.
    pub rule: String,
    /// The reason for people.
    pub reason: String,
    /// The scopes with which a person could permit it; none if nobody can.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
}

impl Refused {
    /// A refusal. If the reason names rules, as policy does, those names count; otherwise `code` does.
    pub fn new(what: impl Into<String>, code: &str, reason: &str) -> Self {
        let mut named: Vec<&str> =
            reason.split("(rule ").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0)).collect();
        named.dedup();
        let rule = if named.is_empty() { code.to_owned() } else { named.join(", ") };
        Refused { what: what.into(), rule, reason: reason.to_owned(), scopes: Vec::new() }
    }

    /// Stores refusals as an evidence file, without secrets.
    pub fn keep(store: &EvidenceStore, refused: &[Refused]) -> Result<Evidence, Outcome> {
        let wrong = |why: String| Outcome::not_stored(format!("a refusal could not be kept: {why}"));
        let mut json = serde_json::to_value(refused).map_err(|error| wrong(error.to_string()))?;
        store.redactor().json(&mut json);
        store.put(REFUSED, "application/json", json.to_string().as_bytes()).map_err(|error| wrong(error.to_string()))
    }

    /// Reads an evidence file; a file of another shape has no refusals.
    pub fn read(bytes: &[u8]) -> Vec<Refused> {
        serde_json::from_slice(bytes).unwrap_or_default()
    }

    /// Describes the refusal in short: ``policy refused `sudo true` (rule other-rights)``.
    pub fn words(&self) -> String {
        match self.rule.as_str() {
            "person" => format!("a person refused `{}`", self.what),
            "nobody" => format!("nobody permitted `{}` in time", self.what),
            rule => format!("policy refused `{}` (rule {rule})", self.what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Refused;

    #[test]
    fn the_rules_that_a_reason_names_count_and_otherwise_the_code() {
        let two =
            Refused::new("sudo rm /etc", "COMMAND_RULE", "`sudo`: no (rule other-rights); `/etc`: no (rule system)");
        assert_eq!(two.words(), "policy refused `sudo rm /etc` (rule other-rights, system)");
        assert_eq!(Refused::new("x", "OUTSIDE", "it lies outside").words(), "policy refused `x` (rule OUTSIDE)");
        assert_eq!(Refused::new("x", "person", "a person denied it").words(), "a person refused `x`");
    }
}
