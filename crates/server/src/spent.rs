//! The tokens and the cost of a run so far, from its judgements and the turns of its coding agents, and its latest diff.
//!
//! Only records with evidence are read, and of a run that has grown only those that are new.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use interlock_chart::Value;
use interlock_journal::{AttemptResult, Engine, Entry, Evidence, Filter, Head, RunKey};
use serde::Serialize;

use crate::problem::Result;

/// The number of records that are read at a time.
const CHUNK: usize = 500;

/// The most runs that are remembered.
const RUNS_MAX: usize = 2_000;

/// The name of the evidence file of an agent's turn.
const TURN: &str = "agent-turn";

/// The most child runs of a run that are added up.
const CHILDREN_MAX: usize = 500;

/// The media type of a diff.
const DIFF: &str = "text/x-diff";

/// Tokens and cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Spent {
    /// The tokens to models and from them.
    pub(crate) tokens: u64,
    /// The cost in US dollars, as the providers or agents report it.
    pub(crate) cost: f64,
}

impl Spent {
    fn add(&mut self, other: Spent) {
        self.tokens += other.tokens;
        self.cost += other.cost;
    }
}

/// Tokens and cost of child runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ChildrenSpent {
    /// The number of child runs.
    pub(crate) runs: u64,
    /// True if there are more child runs than were counted.
    pub(crate) more: bool,
    /// The tokens and the cost of all of them.
    #[serde(flatten)]
    pub(crate) spent: Spent,
}

/// Turns the running total that agents report into what was added. A total that falls belongs to a new count.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Meter(Spent);

impl Meter {
    /// Returns what a new running total adds.
    pub(crate) fn advance(&mut self, now: Spent) -> Spent {
        let before = std::mem::replace(&mut self.0, now);
        Spent {
            tokens: if now.tokens < before.tokens { now.tokens } else { now.tokens - before.tokens },
            cost: if now.cost < before.cost { now.cost } else { now.cost - before.cost },
        }
    }
}

/// Returns the tokens and cost of a run's agents so far, if an entry ends the turn of one.
pub(crate) fn turn(entry: &Entry) -> Option<Spent> {
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
struct Counted {
    seq: u64,
    spent: Spent,
    agents: Meter,
    diff: Option<Evidence>,
}

impl Counted {
    fn count(&mut self, engine: &dyn Engine, head: &Head) -> Result<()> {
        let numbers: Vec<u64> = engine.evidence_index(head.key)?.into_iter().map(|(seq, _)| seq).collect();
        let known = self.seq;
        let mut wanted = numbers.into_iter().filter(|seq| *seq > known && *seq <= head.seq).peekable();
        while let Some(&from) = wanted.peek() {
            for record in engine.records(head.key, from, CHUNK)? {
                if wanted.peek() == Some(&record.seq) {
                    while wanted.next_if_eq(&record.seq).is_some() {}
                    self.add(engine, &engine.entry(&record)?);
                }
            }
            // A record that the index names and the store lacks is skipped.
            while wanted.next_if_eq(&from).is_some() {}
        }
        self.seq = head.seq;
        Ok(())
    }

    fn add(&mut self, engine: &dyn Engine, entry: &Entry) {
        if let Some(judge) = interlock_follow::judge_of(engine, entry) {
            self.spent.add(Spent { tokens: judge.tokens.0 + judge.tokens.1, cost: judge.cost });
        }
        if let Some(turn) = turn(entry) {
            self.spent.add(self.agents.advance(turn));
        }
        self.diff = entry.evidence().iter().rfind(|file| file.media == DIFF).cloned().or(self.diff.take());
    }
}

/// The counts of the runs that were asked for.
#[derive(Default)]
pub(crate) struct AllSpent(Mutex<HashMap<RunKey, Counted>>);

impl AllSpent {
    /// Returns the tokens and the cost of a run so far, and the latest diff among its evidence.
    pub(crate) fn of(&self, engine: &dyn Engine, head: &Head) -> Result<(Spent, Option<Evidence>)> {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut counted = known().get(&head.key).cloned().unwrap_or_default();
        if counted.seq != head.seq {
            counted.count(engine, head)?;
            let mut known = known();
            if known.len() >= RUNS_MAX {
                known.clear();
            }
            known.insert(head.key, counted.clone());
        }
        Ok((counted.spent, counted.diff))
    }

    /// Returns the tokens and the cost of the child runs of a run so far, of their child runs, and so on.
    pub(crate) fn of_children(&self, engine: &dyn Engine, head: &Head) -> Result<ChildrenSpent> {
        let filter = Filter { prefix: Some(format!("{}.", head.name)), at_most: CHILDREN_MAX, ..Filter::default() };
        let named = engine.list(&filter)?;
        let mut total = ChildrenSpent { more: named.len() == CHILDREN_MAX, ..ChildrenSpent::default() };
        for child in descendants(&head.name, &named) {
            total.runs += 1;
            total.spent.add(self.of(engine, child)?.0);
        }
        Ok(total)
    }
}

/// Returns the runs that a run has started, directly or through others. A person can start a run with such a name too.
fn descendants<'h>(run: &str, named: &'h [Head]) -> Vec<&'h Head> {
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
    use interlock_journal::{Hash, Phase};

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
