//! What a run has used and what was refused to it, from the evidence of its records: the tokens and the cost of its
//! judgements and of the turns of its coding agents, and whether it has written files.
//!
//! Only records with evidence are read, and of a run that has grown only those that are new. The lists, the page and the
//! report show these figures, so they agree.

use interlock_activity::refused::{REFUSED, Refused};
use interlock_chart::Value;
use interlock_journal::{AttemptResult, Engine, Entry, Head, Result};
use serde::Serialize;

use crate::{judge_of, with_evidence};

/// The name of the evidence file of an agent's turn.
const TURN: &str = "agent-turn";

/// The name of the evidence that lists the changes of a write, and the media type of a patch.
const CHANGES: &str = "changes";
const PATCH: &str = "text/x-diff";

/// The most refusals that are kept of a run, the latest.
const REFUSED_MAX: usize = 100;

/// Tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// The tokens to models and from them.
    pub tokens: u64,
    /// The cost in US dollars, as the providers or agents report it.
    pub cost: f64,
}

impl Spent {
    /// Adds tokens and cost.
    pub fn add(&mut self, other: Spent) {
        self.tokens += other.tokens;
        self.cost += other.cost;
    }

    /// Describes the tokens and the cost, such as `1200 tokens, $0.28`; empty if nothing was spent.
    pub fn words(&self) -> String {
        match (self.tokens, self.cost > 0.0) {
            (0, false) => String::new(),
            (tokens, false) => format!("{tokens} tokens"),
            (tokens, true) => format!("{tokens} tokens, ${:.2}", self.cost.max(0.01)),
        }
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn and(mut self, other: Spent) -> Spent {
        self.add(other);
        self
    }
}

/// Turns the running total that agents report into what was added. A total that falls belongs to a new count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter(Spent);

impl Meter {
    /// Returns what a new running total adds.
    pub fn advance(&mut self, now: Spent) -> Spent {
        let before = std::mem::replace(&mut self.0, now);
        Spent {
            tokens: if now.tokens < before.tokens { now.tokens } else { now.tokens - before.tokens },
            cost: if now.cost < before.cost { now.cost } else { now.cost - before.cost },
        }
    }
}

/// Returns the tokens and cost of a run's agents so far, if an entry ends the turn of one.
pub fn turn_of(entry: &Entry) -> Option<Spent> {
    let Entry::Outcome { result, evidence, .. } = entry else { return None };
    evidence.iter().find(|file| file.name == TURN)?;
    let (AttemptResult::Signal { data, .. } | AttemptResult::Error { data }) = result;
    let tokens = match data.get("tokens") {
        Some(Value::Int(tokens)) => u64::try_from(*tokens).unwrap_or(0),
        _ => 0,
    };
    let cost = match data.get("cost") {
        Some(Value::Float(cost)) if cost.is_finite() => cost.max(0.0),
        _ => 0.0,
    };
    Some(Spent { tokens, cost })
}

/// A run up to a record.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The number of the last record that was counted.
    pub seq: u64,
    /// The tokens and the cost of judgements.
    pub judges: Spent,
    /// The tokens and the cost of the turns of coding agents.
    pub agents: Spent,
    /// True if the run has recorded changes of files.
    pub has_changes: bool,
    /// The latest things that were refused, each with the number of its record, oldest first.
    pub refused: Vec<(u64, Refused)>,
    meter: Meter,
}

impl Tally {
    /// Counts a whole run.
    pub fn of(engine: &dyn Engine, head: &Head) -> Result<Self> {
        let mut tally = Tally::default();
        tally.count(engine, head)?;
        Ok(tally)
    }

    /// Counts the records that were added since the last call.
    pub fn count(&mut self, engine: &dyn Engine, head: &Head) -> Result<()> {
        with_evidence(engine, head, self.seq, |record, entry| self.add(engine, record.seq, entry))?;
        self.seq = head.seq;
        Ok(())
    }

    /// Returns the tokens and the cost of judgements and agents together.
    pub fn spent(&self) -> Spent {
        self.judges.and(self.agents)
    }

    fn add(&mut self, engine: &dyn Engine, seq: u64, entry: &Entry) {
        if let Some(judge) = judge_of(engine, entry) {
            self.judges.add(Spent { tokens: judge.tokens.0 + judge.tokens.1, cost: judge.cost });
        }
        if let Some(turn) = turn_of(entry) {
            self.agents.add(self.meter.advance(turn));
        }
        let files = entry.evidence();
        self.has_changes |= files.iter().any(|file| file.name == CHANGES || file.media == PATCH);
        for file in files.iter().filter(|file| file.name == REFUSED) {
            let refused = engine.evidence().get(&file.hash).ok().map(|bytes| Refused::read(&bytes)).unwrap_or_default();
            self.refused.extend(refused.into_iter().map(|one| (seq, one)));
        }
        let extra = self.refused.len().saturating_sub(REFUSED_MAX);
        self.refused.drain(..extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_total_of_agents_is_turned_into_additions() {
        let mut meter = Meter::default();
        let added = |meter: &mut Meter, tokens, cost| meter.advance(Spent { tokens, cost });
        assert_eq!(added(&mut meter, 100, 0.5), Spent { tokens: 100, cost: 0.5 });
        assert_eq!(added(&mut meter, 250, 0.75), Spent { tokens: 150, cost: 0.25 });
        assert_eq!(added(&mut meter, 10, 0.25), Spent { tokens: 10, cost: 0.25 }, "a new count begins");
    }
}
