//! The state in which a command leaves a run: how the run ended and why, or what it waits for, and what comes next.
//!
//! Every command that follows a run closes with it, so that all of them say the same, also about a run that had ended
//! before.

use interlock_journal::Phase;
use serde_json::{Value as Json, json};

use crate::{
    Exit, about,
    commands::show,
    continuation, escape,
    failure::Failure,
    family,
    follow::{End, Follower, Standing},
    output::Output,
    overdue,
    result::RunResult,
    store::Store,
    verification::LastVerification,
    waiting,
};

/// A run that a command leaves.
pub(crate) struct Closing<'c> {
    store: &'c Store,
    follower: &'c Follower,
    phase: Phase,
    /// The end of the run, if it has ended.
    end: Option<End>,
    /// The reason of the last move: of the end, or else of what this process has seen.
    reason: Option<String>,
    /// The reasons of the last record that this process has shown.
    shown: &'c [String],
    /// The expressions that could not be evaluated, also those that the machine handled.
    faults: Vec<String>,
    /// The child run that waits for a person, if the run waits for it.
    below: Option<Follower>,
    result: Option<RunResult>,
    verified: Option<LastVerification>,
}

impl<'c> Closing<'c> {
    /// Looks at a run. `seen` is the reason of the last move that this process has seen, and `shown` are those of the last
    /// record that it has shown.
    pub(crate) fn of(store: &'c Store, follower: &'c Follower, seen: Option<String>, shown: &'c [String]) -> Self {
        let below = family::asking(follower).ok().flatten().map(|asking| asking.follower);
        let phase = if below.is_some() { Phase::Waiting } else { follower.phase() };
        // What cannot be determined does not hide how the run ended.
        let head = Some(follower).filter(|_| phase.is_over()).and_then(|it| store.find(&it.head.name).ok());
        let end = head.as_ref().and_then(|head| End::read(store, head).ok().flatten());
        let end = end.or_else(|| End::of(phase, seen.clone()));
        let reason = end.as_ref().map_or(seen, |end| end.reason.clone());
        let faults = head.as_ref().and_then(|head| End::faults(store, head).ok()).unwrap_or_default();
        let result = head.as_ref().and_then(|head| RunResult::of(store, head).ok().flatten());
        let verified = head.as_ref().and_then(|head| LastVerification::of(store, head, phase).ok().flatten());
        Closing { store, follower, phase, end, reason, shown, faults, below, result, verified }
    }

    /// Returns the run that waits for a person: this one or the child run that it waits for.
    fn asking(&self) -> Option<&Follower> {
        let is_person_needed = matches!(self.follower.standing(), Standing::Person | Standing::Paused);
        self.below.as_ref().or(is_person_needed.then_some(self.follower))
    }

    /// Returns the next actions for a person, as text. A person at the terminal has seen above the form what the run asks.
    pub(crate) fn next_actions(&self, is_interactive: bool) -> String {
        let run = &self.follower.head.name;
        if let Some(asking) = self.asking() {
            let shown = if is_interactive { String::new() } else { about::shown(asking, &asking.offers()) };
            let words = waiting::text_for(self.follower, asking);
            return format!("{shown}{words}Details: `interlock show {}`\n", asking.head.name);
        }
        match self.follower.head.parent.as_deref() {
            Some(parent) if self.phase.is_over() => {
                format!("{parent} started it. Continue that run with:\n    interlock resume {parent}\n")
            }
            _ if self.phase.is_over() => self.way_to_result(),
            _ => format!("{run} is not finished. Continue it with:\n    interlock resume {run}\n"),
        }
    }

    /// Returns the lines after the end of a run: what was verified, the place of its result, and the command that continues it.
    fn way_to_result(&self) -> String {
        let mut text = self.verified.as_ref().map(LastVerification::text).unwrap_or_default();
        text.push_str(&self.result.as_ref().map(RunResult::text).unwrap_or_default());
        let head = self.store.find(&self.follower.head.name).ok();
        if let Some(command) = head.and_then(|head| continuation::command(self.store, &head)) {
            text.push_str(&format!("A message continues the work:\n    {command}\n"));
        }
        text
    }

    /// Returns the state in which the run was left.
    pub(crate) fn left(&self) -> Left {
        Left { exit: self.phase.into(), json: self.json(), text: self.text() }
    }

    fn json(&self) -> Json {
        let (follower, asking) = (self.follower, self.asking());
        json!({
            "run": follower.head.name,
            "machine": follower.head.machine,
            "phase": self.phase,
            "place": follower.live.place(),
            "seq": follower.live.seq,
            "outcome": self.end.as_ref().map(|end| end.outcome),
            "reason": self.reason,
            "deadline": overdue::json(follower.live.due(i64::MAX).map(|(_, due_ms)| due_ms), follower.now_ms()),
            "waits_for": asking.map(waiting::json),
            "grant": asking.and_then(waiting::grant_json),
            "waits_for_run": self.below.as_ref().map(|below| &below.head.name),
            "output": self.output(),
            "failure": follower.live.failure(),
            "faults": self.faults,
            "result": self.result.as_ref().map(RunResult::json),
            "verification": self.verified.as_ref().map(LastVerification::json),
        })
    }

    fn output(&self) -> Option<Json> {
        self.follower.live.output.as_ref().map(Json::from)
    }

    fn text(&self) -> String {
        let live = &self.follower.live;
        let (failure, output) = (live.failure(), self.output().unwrap_or_default());
        let shown = failure.as_deref().map(|failure| format!("  {failure}")).unwrap_or_default();
        let mut text = format!("{}  {}  {}{shown}\n", self.follower.head.name, self.phase.word(), live.place());
        let because = failure.clone().or_else(|| self.reason_of_bad_end(&output));
        if let Some(reason) = because.as_deref().filter(|_| failure.is_none()) {
            text.push_str(&format!("{}\n", escape::line(reason)));
        }
        let is_told = |fault: &&String| because.as_ref().is_some_and(|because| because.contains(fault.as_str()));
        for fault in self.faults.iter().filter(|fault| !is_told(fault)) {
            text.push_str(&format!("  fault: {}\n", escape::line(fault)));
        }
        text.push_str(&told(&output));
        // The failure of an expression is in the first line already.
        if failure.is_none() {
            let told: Vec<String> = told_fields(&output).map(|(name, _)| format!("{name} =")).collect();
            let others = show::output_lines(live);
            let others = others.iter().filter(|line| told.iter().all(|name| !line.starts_with(name)));
            others.for_each(|line| text.push_str(&format!("  {line}\n")));
        }
        text
    }

    /// Returns the reason of an end that is no success, unless the output of the run tells it, or the line of its last
    /// transition has told it just now.
    fn reason_of_bad_end(&self, output: &Json) -> Option<String> {
        let is_bad = self.phase.is_over() && self.phase != Phase::Succeeded;
        let is_told = told_fields(output).any(|(name, text)| name == REASON && !text.trim().is_empty());
        self.reason.clone().filter(|reason| is_bad && !is_told && !self.shown.contains(reason))
    }
}

/// The field of a run's output that says why it ended.
const REASON: &str = "reason";

/// The fields of a run's output that are sentences for people: the reason of its end and the answer to its question.
const TOLD: [&str; 2] = [REASON, "answer"];

/// Returns these fields if they are texts.
fn told_fields(output: &Json) -> impl Iterator<Item = (&'static str, &str)> {
    TOLD.into_iter().filter_map(|name| Some((name, output[name].as_str()?)))
}

/// Returns the sentences of a run's output.
fn told(output: &Json) -> String {
    let lines = told_fields(output).flat_map(|(_, text)| text.lines()).filter(|line| !line.trim().is_empty());
    lines.map(|line| format!("{}\n", escape::line(line))).collect()
}

/// The state in which a run was left.
#[derive(Debug)]
pub(crate) struct Left {
    /// The exit code of the command.
    pub(crate) exit: Exit,
    /// The state as JSON, for programs.
    pub(crate) json: Json,
    /// The state as text, for people.
    pub(crate) text: String,
}

impl Left {
    /// Prints the state to stdout and returns the exit code.
    pub(crate) fn tell(&self, output: &Output) -> Result<Exit, Failure> {
        match output.is_json() {
            true => output.json(&self.json)?,
            false => output.data(&self.text)?,
        }
        Ok(self.exit)
    }
}
