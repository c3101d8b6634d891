//! The last verification of a run, as its record has it. What a machine keeps in its context has no effect.

use interlock_journal::{Engine as _, Head, Phase};
use serde_json::{Value as Json, json};

use crate::{commands::evidence, escape, failure::Failure, store::Store};

/// The name of the evidence with the facts of a verification.
const FACTS: &str = "verification";

/// The last verification of a run.
pub(crate) struct LastVerification {
    /// The number of its record.
    seq: u64,
    facts: Json,
    /// True if it verifies the result: the run succeeded, the check was green, and nothing was objected to or missing.
    is_verified: bool,
}

impl LastVerification {
    /// Reads the last verification of a run that is in this phase; `None` if it has none.
    pub(crate) fn of(store: &Store, head: &Head, phase: Phase) -> Result<Option<Self>, Failure> {
        let files = evidence::of_run(store, head)?;
        let Some((seq, file)) = files.into_iter().rev().find(|(_, file)| file.name == FACTS) else { return Ok(None) };
        let content = store.journal.evidence().get(&file.hash)?;
        let facts: Json = serde_json::from_slice(&content).map_err(|error| Failure::failed(error.to_string()))?;
        let is_empty = |name: &str| facts[name].as_array().is_some_and(Vec::is_empty);
        let is_green = facts["deciding"]["exit_code"] == 0 && is_empty("objections") && is_empty("warnings");
        Ok(Some(LastVerification { seq, is_verified: is_green && phase == Phase::Succeeded, facts }))
    }

    /// Returns the line for people.
    pub(crate) fn text(&self) -> String {
        let label = if self.is_verified { "Verified" } else { "Measured, not verified" };
        format!("{label}: {}\n", escape::line(self.facts["shown"].as_str().unwrap_or_default()))
    }

    pub(crate) fn json(&self) -> Json {
        let LastVerification { seq, facts, is_verified } = self;
        json!({
            "record": seq,
            "verified": is_verified,
            "shown": facts["shown"],
            "objections": facts["objections"],
            "warnings": facts["warnings"],
        })
    }
}
