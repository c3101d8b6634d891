//! A turn that is over: its outcome and its evidence.
//!
//! The agent's words decide nothing. Each way in which a turn can end has its own signal or error code, and an agent that
//! reports success after a denial or an outage is not believed.

use interlock_activity::{Attempt, Outcome, OutcomeKind, refused::Refused};
use interlock_chart::Value;
use interlock_journal::Evidence;
use interlock_process::{How, Plan, ProgramResult, keep, not_ended};
use interlock_relay::Report;
use serde_json::json;

use crate::{
    change::Change,
    code,
    driver::End,
    facts::{Decided, Facts, Stop},
    observed::{asks, observed},
    plan::empty_plan,
    protected::Refusal,
    record::Record,
    session::Session,
    settings::Agent,
};

/// The number of changed files that the data of a signal lists.
const FILES_MAX: usize = 200;

/// The length of the summary in the data of a signal.
const SUMMARY_CHARS_MAX: usize = 2_000;

/// A turn that is over, with all that was found about it.
pub(crate) struct EndedTurn<'t> {
    /// The agent's name in the settings.
    pub(crate) name: &'t str,
    pub(crate) agent: &'t Agent,
    /// The signal that a finished turn ends with.
    pub(crate) signal: &'t str,
    pub(crate) facts: Facts,
    pub(crate) ended: ProgramResult,
    pub(crate) change: Change,
    /// The changes to git that were taken back.
    pub(crate) breaches: Vec<String>,
    /// The permission that is missing for changes that were put back.
    pub(crate) refusal: Option<Refusal>,
    pub(crate) session: &'t Session,
    /// The agent's model, if it is known.
    pub(crate) model: Option<String>,
    /// The requests that went through the relay, if the agent has one.
    pub(crate) relay: Option<Report>,
}

impl EndedTurn<'_> {
    /// Returns the outcome.
    pub(crate) fn kind(&self) -> OutcomeKind {
        match (&self.facts.stopped, &self.facts.end) {
            (Some(stop), _) => self.stopped(stop),
            (None, Some(end)) => self.reported(end),
            (None, None) => self.unreported(),
        }
    }

    /// Returns the outcome of a turn that we stopped.
    fn stopped(&self, stop: &Stop) -> OutcomeKind {
        match stop {
            Stop::Cancelled => OutcomeKind::Cancelled { reason: "the turn was cancelled".to_owned() },
            Stop::Budget(why) => self.error(code::BUDGET_SPENT, why.clone()),
            Stop::Protocol(why) => {
                self.error(code::AGENT_FAILED, format!("the agent `{}` was stopped: {why}", self.name))
            }
        }
    }

    /// Returns the outcome of a turn whose end the agent reported.
    fn reported(&self, end: &End) -> OutcomeKind {
        let name = self.name;
        match end {
            End::Cancelled => self.error(code::AGENT_FAILED, format!("the agent `{name}` cancelled its turn")),
            End::Refused(why) => self.error(code::AGENT_REFUSED, why.clone()),
            End::ModelUnavailable(why) => self.error(code::MODEL_UNAVAILABLE, why.clone()),
            End::Failed(why) => self.error(code::AGENT_FAILED, format!("the agent `{name}` failed: {why}")),
            End::Finished => self.finished(),
        }
    }

    /// Returns the outcome of a turn that the agent calls finished.
    fn finished(&self) -> OutcomeKind {
        let denied = denied(&self.facts);
        match hidden_outage(&self.facts.reply) {
            Some(why) => self.error(code::MODEL_UNAVAILABLE, why),
            None if !denied.is_empty() && !self.change.is_edited => self.error(
                code::AGENT_REFUSED,
                format!("nothing was changed, because permission was denied: {}", denied.join("; ")),
            ),
            None => match &self.refusal {
                Some(refusal) => self.unpermitted(refusal),
                None => OutcomeKind::Signal { name: self.signal.to_owned(), data: Value::map(self.data()) },
            },
        }
    }

    /// Returns the outcome of a turn that changed protected files: a person decides, and can let the agent repeat it.
    fn unpermitted(&self, refusal: &Refusal) -> OutcomeKind {
        let texts = |list: &[String]| Value::List(list.iter().map(|text| Value::from(text.as_str())).collect());
        let reason = refusal.reason();
        let said = vec![
            ("code", Value::from(code::CONFIRMATION_NEEDED)),
            ("message", Value::from(reason.as_str())),
            ("reason", Value::from(reason.as_str())),
            ("scope", texts(&refusal.scopes)),
            ("protected", texts(&refusal.paths)),
        ];
        OutcomeKind::Error { data: Value::map(said.into_iter().chain(self.data())) }
    }

    /// Returns the outcome of a turn without a reported end: its time was over, or the program died.
    fn unreported(&self) -> OutcomeKind {
        if self.ended.how == How::TimedOut {
            let minutes = self.agent.limits.turn_minutes;
            return self.error(code::BUDGET_SPENT, format!("the turn took longer than {minutes} minutes"));
        }
        let plan = Plan { timeout: None, ..empty_plan() };
        not_ended(&self.ended.how, &plan, self.ended.duration).map_or_else(
            || {
                let talk = self.ended.shown.last_line().map(|line| format!(" ({line})")).unwrap_or_default();
                let message = format!("the agent `{}` ended in the middle of its turn{talk}", self.name);
                self.error(code::AGENT_DIED, message)
            },
            |outcome| outcome.kind,
        )
    }

    fn error(&self, code: &str, message: String) -> OutcomeKind {
        let said = vec![("code", Value::from(code)), ("message", Value::from(message))];
        OutcomeKind::Error { data: Value::map(said.into_iter().chain(self.data())) }
    }

    fn data(&self) -> Vec<(&'static str, Value)> {
        let EndedTurn { name, facts, change, breaches, session, model, .. } = self;
        data(name, facts, change, breaches, session, model.as_deref())
    }

    /// Stores the transcript and the facts of the turn.
    pub(crate) async fn evidence(self, attempt: &Attempt, record: Record) -> Result<Vec<Evidence>, Outcome> {
        let EndedTurn { facts, session, .. } = &self;
        let mut told = json!({
            "agent": self.name,
            "driver": self.agent.driver.name(),
            "model": self.model,
            "session": session.id,
            "end": facts.end,
            "tool_calls": facts.calls,
            "permissions": facts.decisions,
            "tokens": facts.usage.tokens,
            "session_cost": facts.usage.session_cost,
            "tokens_of_run": session.tokens,
            "git": self.breaches,
        });
        if let Some(report) = &self.relay {
            told["relay"] = json!(report);
        }
        let refused: Vec<Refused> =
            facts.decisions.iter().filter(|one| !one.is_allowed).map(Decided::refused).collect();
        let mut all = keep(attempt, vec![self.ended.stderr], self.ended.confined).await?;
        if !refused.is_empty() {
            all.push(Refused::keep(&attempt.evidence, &refused)?);
        }
        let store = attempt.evidence.clone();
        let kept = crate::activity::blocking(move || {
            let wrong = |why: String| Outcome::not_stored(format!("the transcript of a turn could not be kept: {why}"));
            store.redactor().json(&mut told);
            let turn = store
                .put("agent-turn", "application/json", told.to_string().as_bytes())
                .map_err(|error| wrong(error.to_string()))?;
            Ok([record.keep().map_err(wrong)?, turn])
        });
        all.extend(kept.await?);
        Ok(all)
    }
}

/// Returns the data of the outcome of a turn.
pub(crate) fn data(
    name: &str,
    facts: &Facts,
    change: &Change,
    breaches: &[String],
    session: &Session,
    model: Option<&str>,
) -> Vec<(&'static str, Value)> {
    let denied = denied(facts);
    let texts =
        |list: &[String]| Value::List(list.iter().take(FILES_MAX).map(|text| Value::from(text.as_str())).collect());
    let summary: String = facts.reply.trim().chars().take(SUMMARY_CHARS_MAX).collect();
    let summary = if summary.is_empty() { "the agent said nothing".to_owned() } else { summary };
    let mut data = vec![
        ("tree", Value::from(change.tree.as_str())),
        ("edited", Value::Bool(change.is_edited)),
        ("summary", Value::from(summary)),
        ("observed", observed(&facts.calls, &facts.reply)),
        ("changed_files", texts(&change.files)),
        ("weakened", texts(&change.weakened)),
        ("breaches", texts(breaches)),
        ("denied", Value::List(denied.into_iter().map(Value::from).collect())),
        ("question", Value::Bool(asks(&facts.reply))),
        ("agent", Value::from(name)),
        ("tokens", Value::Int(i64::try_from(session.tokens).unwrap_or(i64::MAX))),
        ("cost", Value::Float(session.cost())),
    ];
    data.extend(model.map(|model| ("model", Value::from(model))));
    data.extend(session.id.as_deref().map(|id| ("session", Value::from(id))));
    data
}

fn denied(facts: &Facts) -> Vec<&str> {
    facts.decisions.iter().filter(|one| !one.is_allowed).map(|one| one.reason.as_str()).collect()
}

/// Returns the text of an outage that the agent reports as its own reply. goose does so.
fn hidden_outage(reply: &str) -> Option<String> {
    let said = reply.trim_start();
    said.starts_with("Ran into this error").then(|| said.lines().next().unwrap_or_default().to_owned())
}
