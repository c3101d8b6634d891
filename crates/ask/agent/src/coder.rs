//! The driver `coder`: a prompt is one turn of our own machine `coder`, a child run that works in the same directory.
//!
//! It needs no program: the model is the one of `judges.toml`. Nobody is asked in the middle of a turn; an action that needs
//! a person is refused, and the reply says so.

use interlock_activity::{Attempt, Outcome, OutcomeKind, StartRun};
use interlock_chart::Value;
use serde_json::{Value as Json, json};

use crate::{code, facts::Facts, settings::Agent};

/// The machine that carries out a prompt.
const MACHINE: &str = "coder";

/// The end of a turn of the machine.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    /// The ending: `completed`, `blocked` and so on.
    pub(crate) ending: String,
    /// The child run.
    pub(crate) run: String,
    /// The summary, followed by questions and the failure if there are any.
    pub(crate) reply: String,
}

/// Plays one turn in a child run. Returns the outcome of the attempt as the error if there is no end.
pub(crate) async fn play(attempt: &Attempt, agent: &Agent, text: String) -> Result<Turn, Outcome> {
    let start = StartRun {
        parent: attempt.run.clone(),
        activity: attempt.activity,
        machine: MACHINE.to_owned(),
        input: Value::from(json!({ "goal": text, "once": true, "unattended": true })),
        folder: attempt.folder.clone(),
        is_detached: false,
    };
    let note = format!("{MACHINE}: working as the run {}.{}", attempt.run, attempt.activity);
    attempt.host.progress(&attempt.run, attempt.activity, &note);
    let (mut cancel, minutes) = (attempt.cancel.clone(), agent.limits.turn_minutes);
    tokio::select! {
        outcome = attempt.host.run(start) => ended(outcome),
        () = cancel.cancelled() => Err(Outcome::cancelled("the turn was cancelled")),
        () = attempt.host.sleep(milliseconds(minutes)) => {
            Err(Outcome::error(code::BUDGET_SPENT, format!("the turn took longer than {minutes} minutes")))
        }
    }
}

/// Returns the time of a turn in milliseconds. The settings allow no more than a week.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the settings allow only small positive numbers"
)]
fn milliseconds(minutes: f64) -> u64 {
    (minutes * 60_000.0).ceil() as u64
}

fn ended(outcome: Outcome) -> Result<Turn, Outcome> {
    let OutcomeKind::Signal { data, .. } = &outcome.kind else { return Err(outcome) };
    let data = Json::from(data);
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    let said = &data["output"];
    let mut parts = vec![text(&said["summary"])];
    parts.extend(said["questions"].as_array().into_iter().flatten().map(text));
    parts.extend(said["failure"]["message"].as_str().map(str::to_owned));
    parts.retain(|part| !part.is_empty());
    let ending = if said["ending"].is_string() { text(&said["ending"]) } else { "failed".to_owned() };
    Ok(Turn { ending, run: text(&data["run"]), reply: parts.join("\n") })
}

impl Turn {
    /// Returns the facts that the data of the attempt's signal is made of.
    pub(crate) fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.reply.clone_from(&self.reply);
        facts
    }

    /// Returns the code and the message of the error that ends the attempt, if the turn did nothing that a machine could
    /// go on with.
    pub(crate) fn error(&self, is_edited: bool) -> Option<(&'static str, String)> {
        let code = match (self.ending.as_str(), is_edited) {
            // A prompt may ask for nothing that changes a file; the machine that sent it judges that.
            (_, true) | ("completed" | "planned" | "unclear" | "unchanged", _) => return None,
            ("refused", _) => code::AGENT_REFUSED,
            _ => code::AGENT_FAILED,
        };
        let why = if self.reply.is_empty() { "it gave no reason" } else { &self.reply };
        Some((code, format!("the run {} ended {}: {why}", self.run, self.ending)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(phase: &str, output: Json) -> Outcome {
        Outcome::signal(phase, Value::from(json!({ "run": "r.a3", "state": "x", "output": output })))
    }

    #[test]
    fn the_reply_is_the_summary_with_questions_and_the_failure() {
        let output =
            json!({ "ending": "unclear", "summary": "I need more.", "questions": ["Which file?"], "failure": null });
        let turn = ended(signal("failed", output)).unwrap();
        assert_eq!((turn.reply.as_str(), turn.error(false)), ("I need more.\nWhich file?", None));
    }

    #[test]
    fn a_turn_without_a_change_that_failed_is_an_error() {
        let failure = json!({ "code": "E_MODEL", "message": "no model is configured" });
        let turn = ended(signal("failed", json!({ "ending": "blocked", "summary": "", "failure": failure }))).unwrap();
        let why = "the run r.a3 ended blocked: no model is configured".to_owned();
        assert_eq!(turn.error(false), Some((code::AGENT_FAILED, why)));
        // Its changes are judged by the machine that asked for them.
        assert_eq!(turn.error(true), None);
        assert!(ended(Outcome::error("FAILED", "x")).is_err());
    }
}
