//! The things that happen in a turn, as a person sees them. They are read from the run's records.

use interlock_activity::report::RecordedActivity;
use interlock_journal::{AttemptResult, Entry};
use interlock_runtime::Live;
use serde_json::{Map, Value as Json, json};

use crate::follow::Step;

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    /// The id of the call, unique within the run.
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) args: Json,
}

/// Something that happened in a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Happening {
    /// The text of the model so far, as it arrives. Only the end of a long text is given.
    Streaming(String),
    /// A note about the activity in progress.
    Note(String),
    /// The plan is new or has changed.
    Plan(Json),
    /// A tool is called.
    CallStarted(Call),
    /// A tool has answered.
    CallEnded { call: Call, ok: bool, payload: Json },
    /// A step of the plan ended with these words.
    StepSaid(String),
    /// The verification ended.
    Verified { ok: bool, text: String },
    /// The turn was committed, or could not be.
    Committed { ok: bool, text: String },
    /// The turn is over.
    TurnEnded {
        /// `completed`, `planned`, `unverified`, `blocked`, `refused`, `unclear` or `cancelled`.
        ending: String,
        summary: String,
        /// The failure that ended it, or null.
        failure: Json,
    },
}

impl Happening {
    /// Returns the JSON line about it; notes have none.
    pub(crate) fn to_json(&self) -> Option<Json> {
        Some(match self {
            Happening::Streaming(_) | Happening::Note(_) => return None,
            Happening::Plan(plan) => json!({ "type": "plan", "plan": plan }),
            Happening::CallStarted(Call { id, name, args }) => {
                json!({ "type": "tool_call", "id": id, "name": name, "args": args })
            }
            Happening::CallEnded { call, ok, payload } => {
                json!({ "type": "tool_result", "id": call.id, "name": call.name, "ok": ok, "payload": payload })
            }
            Happening::StepSaid(text) => json!({ "type": "text", "text": text }),
            Happening::Verified { ok, text } => json!({ "type": "verification", "ok": ok, "text": text }),
            Happening::Committed { ok, text } => json!({ "type": "commit", "ok": ok, "text": text }),
            Happening::TurnEnded { ending, summary, failure } => {
                json!({ "type": "turn_ended", "ending": ending, "summary": summary, "failure": failure })
            }
        })
    }
}

/// Reads happenings from the records of a run, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    plan: Json,
    failure: Json,
    turns: usize,
    is_over: bool,
}

impl Reader {
    /// Returns a reader that knows the current state, so that only later happenings are told.
    pub(crate) fn at(live: &Live) -> Self {
        let mut reader = Reader::default();
        reader.note_state(live);
        reader
    }

    /// Returns the happenings of a record. `live` is the state after it.
    pub(crate) fn read(&mut self, step: &Step, live: &Live) -> Vec<Happening> {
        let mut found = step.activity.as_ref().map(|activity| of_activity(&step.entry, activity)).unwrap_or_default();
        let (plan, turns) = (context(live, "plan"), turns(live));
        if plan != self.plan && !plan.is_null() {
            found.push(Happening::Plan(plan));
        }
        let failure = context(live, "failure");
        if !failure.is_null() {
            self.failure = failure;
        }
        let is_over = live.state.is_done();
        if turns > self.turns || is_over && !self.is_over && !context(live, "message").is_null() {
            let text = |name: &str| context(live, name).as_str().unwrap_or_default().to_owned();
            let failure = std::mem::take(&mut self.failure);
            let failure = if text("ending") == "completed" { Json::Null } else { failure };
            let (ending, summary) = (text("ending"), text("summary"));
            let is_closed = is_over && turns == self.turns && live.place() == "CLOSED";
            if !is_closed {
                found.push(Happening::TurnEnded { ending, summary, failure });
            }
        }
        self.note_state(live);
        found
    }

    fn note_state(&mut self, live: &Live) {
        (self.plan, self.turns, self.is_over) = (context(live, "plan"), turns(live), live.state.is_done());
    }
}

fn turns(live: &Live) -> usize {
    context(live, "history").as_array().map_or(0, Vec::len)
}

/// Returns a variable of a run's context; null if the machine has none of this name.
pub(crate) fn context(live: &Live, name: &str) -> Json {
    let chart = live.loaded.chart();
    let mut all = chart.context.iter().zip(&live.state.data.context);
    all.find(|(known, _)| known.name == name).map(|(_, value)| Json::from(value)).unwrap_or_default()
}

fn of_activity(entry: &Entry, activity: &RecordedActivity) -> Vec<Happening> {
    match (entry, activity.name.as_str()) {
        (Entry::Attempt { activity: id, number: 1, .. }, "tool.call") => {
            calls(&id.to_string(), &Json::from(&activity.with)).into_iter().map(Happening::CallStarted).collect()
        }
        (Entry::Outcome { activity: id, result, .. }, name) => {
            let with = Json::from(&activity.with);
            match result {
                AttemptResult::Signal { name: signal, data } => {
                    signalled(name, signal, &Json::from(data), || calls(&id.to_string(), &with))
                }
                AttemptResult::Error { data } if name == "tool.call" => {
                    let payload = json!({ "error": Json::from(data) });
                    let failed = |call| Happening::CallEnded { call, ok: false, payload: payload.clone() };
                    calls(&id.to_string(), &with).into_iter().map(failed).collect()
                }
                AttemptResult::Error { .. } => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn signalled(activity: &str, signal: &str, data: &Json, calls: impl FnOnce() -> Vec<Call>) -> Vec<Happening> {
    let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
    match (activity, signal) {
        ("tool.call", _) => ended(calls(), data),
        ("judge.step", "step_done") => vec![Happening::StepSaid(text("summary"))],
        ("verify.run", "verify_pass") => vec![Happening::Verified { ok: true, text: commands(&data["commands"]) }],
        ("verify.run", "verify_fail") => {
            let said = format!("{}: {}", text("code"), text("message"));
            vec![Happening::Verified { ok: false, text: said }]
        }
        ("git.commit", "commit_success") => {
            let said = format!("committed {} on {}", text("commit"), text("branch"));
            vec![Happening::Committed { ok: true, text: said }]
        }
        ("git.commit", "commit_fail") => {
            vec![Happening::Committed { ok: false, text: format!("not committed: {}", text("reason")) }]
        }
        ("verify.run", "verify_none") => vec![Happening::Verified { ok: false, text: text("reason") }],
        _ => Vec::new(),
    }
}

/// Returns the commands that verified a tree, on one line.
fn commands(commands: &Json) -> String {
    let word = |command: &Json| {
        let name = command["command"].as_str().or(command.as_str()).unwrap_or_default();
        match command["exit_code"].as_i64() {
            Some(code) => format!("{name} (exit code {code})"),
            None => name.to_owned(),
        }
    };
    let words: Vec<String> = commands.as_array().into_iter().flatten().map(word).collect();
    if words.is_empty() { "nothing to run".to_owned() } else { words.join(", ") }
}

/// Returns the calls of an attempt of `tool.call`.
fn calls(attempt: &str, with: &Json) -> Vec<Call> {
    let of = |(at, call): (usize, &Json)| Call {
        id: format!("{attempt}.{at}"),
        name: call["name"].as_str().unwrap_or_default().to_owned(),
        args: call.get("args").cloned().unwrap_or_else(|| Json::Object(Map::new())),
    };
    match (&with["call"], with["calls"].as_array()) {
        (Json::Object(_), _) => vec![of((0, &with["call"]))],
        (_, Some(calls)) => calls.iter().enumerate().map(of).collect(),
        _ => Vec::new(),
    }
}

fn ended(calls: Vec<Call>, data: &Json) -> Vec<Happening> {
    let end = |(call, result): (Call, &Json)| Happening::CallEnded {
        call,
        ok: result["ok"] == true,
        payload: result["payload"].clone(),
    };
    match data["payload"]["results"].as_array().filter(|_| data["name"] == "several") {
        Some(results) => calls.into_iter().zip(results).map(end).collect(),
        None => calls.into_iter().take(1).map(|call| end((call, data))).collect(),
    }
}
