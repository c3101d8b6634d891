//! The checker's findings, for people and programs.

use std::fmt;

use interlock_chart::{
    Span,
    model::{StateId, TransitionId},
};

/// All findings about a machine.
#[derive(Clone, Debug)]
pub struct Report {
    /// The id of the machine.
    pub machine: String,
    /// True if every claim about it was proved.
    pub ok: bool,
    /// The number of configurations of the largest exploration, which may have stopped at a limit.
    pub explored: usize,
    /// The totals over all explorations.
    pub total: Total,
    /// True if all counters were tracked exactly. Otherwise the bounds are upper bounds and not exact.
    pub exact: bool,
    /// The most that can happen between two inputs from outside; `None` if the machine need not come to rest.
    pub bound: Option<Bound>,
    /// The most that can happen in a whole run; `None` if a person can keep it running for ever.
    pub run_bound: Option<Bound>,
    /// The machine's properties, in file order.
    pub properties: Vec<Proof>,
    /// Other errors and warnings.
    pub problems: Vec<Problem>,
    /// States in which a run waits for an input from outside.
    pub waits: Vec<String>,
}

/// The totals over all explorations. A machine with too many counters is explored several times, each time with other
/// counters tracked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Total {
    /// The number of explorations.
    pub explorations: u64,
    /// Configurations found in all of them.
    pub configurations: u64,
    /// Edges between configurations, in all of them.
    pub ways: u64,
}

/// The most that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Bound {
    /// The number of transitions taken.
    pub transitions: u64,
    /// The number of activities started.
    pub activities: u64,
    /// The number of model calls: activities called `judge` or `judge.*`.
    pub judgements: u64,
}

/// The result for a property.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The name, as worded in the file.
    pub name: String,
    /// The reason why the property matters.
    pub because: String,
    /// True if it was proved.
    pub ok: bool,
    /// A shortest path that breaks it.
    pub counterexample: Option<Counterexample>,
    /// The place of the property in the file.
    pub span: Span,
}

/// An error or a warning that belongs to no property.
#[derive(Clone, Debug)]
pub struct Problem {
    /// A code with a page under `docs/errors/`.
    pub code: &'static str,
    /// True if it makes the machine fail the check.
    pub is_error: bool,
    /// The problem in one sentence.
    pub message: String,
    /// The next action for the author.
    pub hint: Option<String>,
    /// The place in the file.
    pub span: Span,
    /// A shortest path to the problem.
    pub counterexample: Option<Counterexample>,
}

/// A path through a machine, step by step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counterexample {
    /// The steps from the start.
    pub stages: Vec<Stage>,
    /// The stage that the path returns to, if it ends in a loop.
    pub loops_to: Option<usize>,
}

/// One input, and the states it led to.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The name of the event.
    pub event: String,
    /// The party that raised it: an activity's name, `user`, `timer`, …
    pub by: String,
    /// The active atomic states before.
    pub from: Vec<String>,
    /// The active atomic states after.
    pub to: Vec<String>,
    /// The transitions taken, in order.
    pub transitions: Vec<TransitionId>,
    /// The active states after, for a picture.
    pub states: Vec<StateId>,
}

/// A numbered list of the steps for people.
impl fmt::Display for Counterexample {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let events = self.stages.iter().map(|stage| stage.event.chars().count() + stage.by.chars().count() + 3);
        let width = events.max().unwrap_or(0);
        for (at, stage) in self.stages.iter().enumerate() {
            let cause = match stage.by.as_str() {
                "" => stage.event.clone(),
                by => format!("{} ({by})", stage.event),
            };
            writeln!(out, "{:>4}. {cause:<width$} → {}", at + 1, stage.to.join(" + "))?;
        }
        if let Some(to) = self.loops_to {
            writeln!(out, "      … and again from {}", to + 1)?;
        }
        Ok(())
    }
}

impl Report {
    /// The report as `check --json` prints it. `place_of` gives the line and the column of a place in the machine's
    /// file.
    pub fn to_json(&self, file: &str, place_of: impl Fn(Span) -> (usize, usize)) -> serde_json::Value {
        let bound = self.bound.map(|bound| {
            serde_json::json!({
                "transitions": bound.transitions,
                "activities": bound.activities,
                "judgements": bound.judgements,
                "exact": self.exact,
                "run": self.run_bound,
            })
        });
        serde_json::json!({
            "machine": self.machine,
            "ok": self.ok,
            "explored": self.explored,
            "total": self.total,
            "bound": bound,
            "waits": self.waits,
            "properties": self.properties.iter().map(|proof| serde_json::json!({
                "name": proof.name,
                "because": proof.because,
                "ok": proof.ok,
                "counterexample": proof.counterexample.as_ref().map(Counterexample::to_json),
            })).collect::<Vec<_>>(),
            "problems": self.problems.iter().map(|problem| serde_json::json!({
                "code": problem.code,
                "severity": if problem.is_error { "error" } else { "warning" },
                "message": problem.message,
                "file": file,
                "line": place_of(problem.span).0,
                "column": place_of(problem.span).1,
                "help": problem.hint,
                "counterexample": problem.counterexample.as_ref().map(Counterexample::to_json),
            })).collect::<Vec<_>>(),
        })
    }
}

impl Counterexample {
    fn to_json(&self) -> serde_json::Value {
        let stage = |stage: &Stage| serde_json::json!({ "event": stage.event, "by": stage.by, "from": stage.from, "to": stage.to, "transitions": stage.transitions.iter().map(|id| id.index()).collect::<Vec<_>>() });
        serde_json::json!({ "steps": self.stages.iter().map(stage).collect::<Vec<_>>(), "loops_to": self.loops_to })
    }
}
