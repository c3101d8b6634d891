//! The tokens and the cost of a run so far, from its judgements and the turns of its coding agents.
//!
//! Every view counts with these functions: the commands, the report and the server.

use interlock_chart::Value;
use interlock_journal::{AttemptResult, Engine, Entry, Filter, Head};
use interlock_runtime::Result;
use serde::Serialize;

use crate::judge_of;

/// The name of the evidence file of an agent's turn.
const TURN: &str = "agent-turn";

/// The most child runs of a run that are added up.
pub const CHILDREN_MAX: usize = 500;

/// The number of records that are read at a time.
const CHUNK: usize = 500;

/// Tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// The tokens to models and from them.
    pub tokens: u64,
    /// The cost in US dollars, as the providers or agents report it.
    pub cost: f64,
}

impl Spent {
    /// Adds other tokens and cost.
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
pub fn turn(entry: &Entry) -> Option<Spent> {
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

/// The tokens and the cost of a run, added up record by record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// The sum so far.
    pub spent: Spent,
    agents: Meter,
}

impl Tally {
    /// Adds an entry of the run.
    pub fn add(&mut self, engine: &dyn Engine, entry: &Entry) {
        if let Some(judge) = judge_of(engine, entry) {
            self.spent.add(Spent { tokens: judge.tokens.0 + judge.tokens.1, cost: judge.cost });
        }
        if let Some(turn) = turn(entry) {
            self.spent.add(self.agents.advance(turn));
        }
    }
}

/// Returns the tokens and the cost of a run so far, with those of its child runs. Only records with evidence are read.
pub fn of_run(engine: &dyn Engine, head: &Head) -> Result<Spent> {
    let filter = Filter { prefix: Some(format!("{}.", head.name)), at_most: CHILDREN_MAX, ..Filter::default() };
    let named = engine.list(&filter)?;
    let mut total = Spent::default();
    for run in std::iter::once(head).chain(descendants(&head.name, &named)) {
        let mut tally = Tally::default();
        let mut wanted = engine.evidence_index(run.key)?.into_iter().map(|(seq, _)| seq).peekable();
        while let Some(&from) = wanted.peek() {
            for record in engine.records(run.key, from, CHUNK)? {
                if wanted.peek() == Some(&record.seq) {
                    while wanted.next_if_eq(&record.seq).is_some() {}
                    tally.add(engine, &engine.entry(&record)?);
                }
            }
            // A record that the index names and the store lacks is skipped.
            while wanted.next_if_eq(&from).is_some() {}
        }
        total.add(tally.spent);
    }
    Ok(total)
}

/// Returns the runs that a run has started, directly or through others. A person can start a run with such a name too.
pub fn descendants<'h>(run: &str, named: &'h [Head]) -> Vec<&'h Head> {
    let mut found: Vec<&Head> = Vec::new();
    // A run is created after its parent, and the list begins with the newest.
    for head in named.iter().rev() {
        let is_known = |parent: &str| parent == run || found.iter().any(|known| known.name == parent);
        if head.parent.as_deref().is_some_and(is_known) {
            found.push(head);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use interlock_journal::{Hash, Phase, RunKey};

    use super::*;

    fn head(name: &str, parent: Option<&str>) -> Head {
        Head {
            key: RunKey(0),
            name: name.to_owned(),
            machine: "m".to_owned(),
            definition: Hash::of(b"").to_string(),
            parent: parent.map(str::to_owned),
            created_ms: 0,
            updated_ms: 0,
            seq: 1,
            hash: Hash::of(b""),
            phase: Phase::Active,
            place: "here".to_owned(),
            epoch: 0,
            due_ms: None,
        }
    }

    #[test]
    fn child_runs_of_child_runs_count_and_runs_that_only_have_such_a_name_do_not() {
        let newest_first = [
            head("a.1.2.3", Some("a.1.2")),
            head("a.own.1", Some("a.own")),
            head("a.own", None),
            head("a.1.2", Some("a.1")),
            head("a.1", Some("a")),
        ];
        let names: Vec<_> = descendants("a", &newest_first).into_iter().map(|head| head.name.as_str()).collect();
        assert_eq!(names, ["a.1", "a.1.2", "a.1.2.3"]);
    }

    #[test]
    fn the_running_total_of_agents_is_turned_into_additions() {
        let mut meter = Meter::default();
        let added = |meter: &mut Meter, tokens, cost| meter.advance(Spent { tokens, cost });
        assert_eq!(added(&mut meter, 100, 0.5), Spent { tokens: 100, cost: 0.5 });
        assert_eq!(added(&mut meter, 250, 0.75), Spent { tokens: 150, cost: 0.25 });
        assert_eq!(added(&mut meter, 10, 0.25), Spent { tokens: 10, cost: 0.25 }, "a new count begins");
    }
}
