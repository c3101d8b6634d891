//! The budget of a run: checked before a turn, and passed to the turn as the rest that is left.

use interlock_activity::Outcome;

use crate::{code, session::Session, settings::Agent};

/// The budget that is left for a turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left {
    pub(crate) tokens: Option<u64>,
    /// The highest cost of the current session.
    pub(crate) session_cost: Option<f64>,
}

impl Left {
    /// Returns the budget that is left of a run.
    pub(crate) fn of(agent: &Agent, session: &Session) -> Self {
        Left {
            tokens: agent.limits.tokens_per_run.map(|limit| limit.saturating_sub(session.tokens)),
            session_cost: agent.limits.cost_per_run.map(|limit| limit - session.cost_before),
        }
    }
}

/// Refuses a turn if a budget of the run is spent.
pub(crate) fn within_budget(agent: &Agent, session: &Session) -> Result<(), Outcome> {
    let spent = |why: String| Err(Outcome::error(code::BUDGET_SPENT, why));
    match (agent.limits.tokens_per_run, agent.limits.cost_per_run) {
        (Some(limit), _) if session.tokens >= limit => {
            spent(format!("{} of {limit} tokens of the run are used up", session.tokens))
        }
        (_, Some(limit)) if session.cost() >= limit => {
            spent(format!("{:.4} of {limit} of the run are spent", session.cost()))
        }
        _ => Ok(()),
    }
}
