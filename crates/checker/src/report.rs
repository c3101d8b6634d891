//! What the checker found, for people and programs.

use std::fmt;

use interlock_chart::{
    Span,
    model::{StateId, TransitionId},
};

/// Everything found out about a machine.
#[derive(Clone, Debug)]
pub struct Report {
    /// The machine's id.
    pub machine: String,
    /// Whether everything asked of it was proved.
    pub ok: bool,
    /// How many configurations there are, or were seen before it was too much: those of the largest exploration.
    pub explored: usize,
    /// Everything that was explored.
    pub total: Total,
    /// Whether all counters were followed exactly. Where not, bounds are upper bounds and not exact ones.
    pub exact: bool,
    /// The most that can happen between two inputs from outside; nothing where the machine need not come to rest.
    pub bound: Option<Bound>,
    /// The most that can happen in a whole run; nothing where a person can keep it going for ever.
    pub run_bound: Option<Bound>,
    /// The machine's own properties, in file order.
    pub properties: Vec<Proof>,
    /// What else is wrong or odd.
    pub problems: Vec<Problem>,
    /// States in which a run waits for somebody outside.
    pub waits: Vec<String>,
}

/// How much was explored in all. A machine whose counters are too many is explored several times, with different ones followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Total {
    /// Explorations.
    pub explorations: u64,
    /// Configurations found in all of them.
    pub configurations: u64,
    /// Ways from one configuration to another, in all of them.
    pub ways: u64,
}

/// How much can happen at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Bound {
    /// Transitions taken.
    pub transitions: u64,
    /// Activities started.
    pub activities: u64,
    /// Models asked: activities called `judge` or `judge.*`.
    pub judgements: u64,
}

/// What became of a property.
#[derive(Clone, Debug)]
pub struct Proof {
    /// As the file words it.
    pub name: String,
    /// Why it matters.
    pub because: String,
    /// Whether it was proved.
    pub ok: bool,
    /// A shortest way to break it.
    pub counterexample: Option<Counterexample>,
    /// Where it stands.
    pub span: Span,
}

/// Something wrong or odd that no property speaks of.
#[derive(Clone, Debug)]
pub struct Problem {
    /// A code with a page under `docs/errors/`.
    pub code: &'static str,
    /// Whether the machine fails the check by it.
    pub is_error: bool,
    /// What, in one sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where in the file.
    pub span: Span,
    /// A shortest way to it.
    pub counterexample: Option<Counterexample>,
}

/// A way through a machine, step by step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counterexample {
    /// From the start.
    pub stages: Vec<Stage>,
    /// Where the way ends in a loop: the stage that it goes back to.
    pub loops_to: Option<usize>,
}

/// One input, and where it led.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The event.
    pub event: String,
    /// Who raised it: an activity's name, `user`, `timer`, …
    pub by: String,
    /// Active atomic states before.
    pub from: Vec<String>,
    /// Active atomic states after.
    pub to: Vec<String>,
    /// Transitions taken, in order.
    pub transitions: Vec<TransitionId>,
    /// The active states after, for a picture.
    pub states: Vec<StateId>,
}

/// A numbered list, as a person would tell it.
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
    /// The report as `check --json` prints it. `place_of` gives the line and the column of a place in the machine's file.
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
        let stage = |stage: &Stage| serde_json::json!({ "event": stage.event, "by": stage.by, "from": stage.from, "to": stage.to });
        serde_json::json!({ "steps": self.stages.iter().map(stage).collect::<Vec<_>>(), "loops_to": self.loops_to })
    }
}
