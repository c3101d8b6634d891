//! The things that happen in a turn, as a person sees them. They are read from the run's records.

use interlock_activity::report::RecordedActivity;
use interlock_coder::Failure;
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
    /// Something that happened beside the work, such as that the conversation was compacted.
    Notice(String),
    /// The plan is new or has changed.
    Plan(Json),
    /// A tool is called.
    CallStarted(Call),
    /// A tool has answered.
    CallEnded {
        call: Call,
        /// True if the tool answered and, if it was a command, its exit code is 0.
        ok: bool,
        payload: Json,
        /// The hashes of the whole output of a command.
        output: Vec<String>,
    },
    /// A call or a plan was refused, or did not fit any tool.
    Refused {
        /// The call; `None` for a plan, and for a call that fits no tool.
        call: Option<Call>,
        /// Code, reason, next action and trace id.
        failure: Failure,
    },
    /// A step of the plan ended with these words.
    StepSaid(String),
    /// The verification ended. `log` is the end of the output of a command that failed.
    Verified { ok: bool, text: String, log: String },
    /// The turn was committed, or could not be. `hooks` are the hooks that ran, with their results.
    Committed { ok: bool, text: String, hooks: Vec<Json> },
    /// The recorded facts of the turn, before a model words them.
    Facts(Json),
    /// The turn is over.
    TurnEnded {
        /// `completed`, `planned`, `unverified`, `unchanged`, `blocked`, `refused`, `unclear` or `cancelled`.
        ending: String,
        /// The reason of a good end.
        why: String,
        summary: String,
        /// The failure that ended it: code, message, next action and trace id.
        failure: Option<Failure>,
        /// Claims of the summary that the facts contradict.
        contradictions: Vec<String>,
    },
}

impl Happening {
    /// Returns the JSON line about it; notes have none.
    pub(crate) fn to_json(&self) -> Option<Json> {
        Some(match self {
            Happening::Streaming(_) | Happening::Note(_) => return None,
            Happening::Notice(text) => json!({ "type": "notice", "text": text }),
            Happening::Plan(plan) => json!({ "type": "plan", "plan": plan }),
            Happening::CallStarted(Call { id, name, args }) => {
                json!({ "type": "tool_call", "id": id, "name": name, "args": args })
            }
            Happening::CallEnded { call, ok, payload, output } => json!({
                "type": "tool_result", "id": call.id, "name": call.name, "ok": ok, "payload": payload, "output": output,
            }),
            Happening::Refused { call, failure } => json!({
                "type": "refused",
                "id": call.as_ref().map(|call| &call.id),
                "name": call.as_ref().map(|call| &call.name),
                "args": call.as_ref().map(|call| &call.args),
                "error": failure,
            }),
            Happening::StepSaid(text) => json!({ "type": "text", "text": text }),
            Happening::Verified { ok, text, log } => {
                json!({ "type": "verification", "ok": ok, "text": text, "log": log })
            }
            Happening::Committed { ok, text, hooks } => {
                json!({ "type": "commit", "ok": ok, "text": text, "hooks": hooks })
            }
            Happening::Facts(facts) => json!({ "type": "facts", "facts": facts }),
            Happening::TurnEnded { ending, why, summary, failure, contradictions } => json!({
                "type": "turn_ended", "ending": ending, "why": why, "summary": summary, "failure": failure,
                "contradictions": contradictions,
            }),
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
        let mut found =
            step.activity.as_ref().map(|activity| of_activity(&step.entry, activity, live)).unwrap_or_default();
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
            let failure = std::mem::take(&mut self.failure);
            let is_closed = is_over && turns == self.turns && live.place().starts_with("CLOSED");
            if !is_closed {
                found.push(turn_ended(live, &failure));
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

/// Returns the end of a turn, with the claims of its summary that the facts contradict.
fn turn_ended(live: &Live, failure: &Json) -> Happening {
    let text = |name: &str| context(live, name).as_str().unwrap_or_default().to_owned();
    let (ending, summary, facts) = (text("ending"), text("summary"), context(live, "facts"));
    let is_verified = context(live, "verified") == true;
    let is_changed = facts["files"].as_array().is_some_and(|files| !files.is_empty());
    let (is_completed, tree) = (ending == "completed", text("tree"));
    let why = match (is_completed, is_verified, is_changed) {
        (true, true, _) => format!("verified on tree {}", tree.chars().take(12).collect::<String>()),
        (true, false, true) => "not verified: the person waived it".to_owned(),
        (true, false, false) => "a question; nothing was changed".to_owned(),
        _ => String::new(),
    };
    let claims = context(live, "contradictions");
    let claims = claims.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect();
    Happening::TurnEnded {
        failure: if is_completed { None } else { Failure::of(failure, &live.name) },
        contradictions: claims,
        ending,
        why,
        summary,
    }
}

fn of_activity(entry: &Entry, activity: &RecordedActivity, live: &Live) -> Vec<Happening> {
    match (entry, activity.name.as_str()) {
        (Entry::Attempt { activity: id, number: 1, .. }, "tool.call") => {
            calls(&id.to_string(), &Json::from(&activity.with)).into_iter().map(Happening::CallStarted).collect()
        }
        (Entry::Outcome { activity: id, result, evidence, .. }, name) => {
            let (with, of) = (Json::from(&activity.with), || calls(&id.to_string(), &Json::from(&activity.with)));
            match result {
                AttemptResult::Signal { name: signal, data } if name.starts_with("policy.") => {
                    refused(name, signal, &Json::from(data), &with, id.to_string(), live).into_iter().collect()
                }
                AttemptResult::Signal { name: signal, data } => {
                    let streams = evidence.iter().filter(|kept| ["stdout", "stderr"].contains(&kept.name.as_str()));
                    let output: Vec<String> =
                        streams.filter(|kept| kept.bytes > 0).map(|kept| kept.hash.to_string()).collect();
                    signalled(name, signal, &Json::from(data), of, &output)
                }
                AttemptResult::Error { data } if name == "tool.call" => {
                    let payload = json!({ "error": Failure::of(&Json::from(data), &live.name) });
                    let failed =
                        |call| Happening::CallEnded { call, ok: false, payload: payload.clone(), output: Vec::new() };
                    of().into_iter().map(failed).collect()
                }
                AttemptResult::Error { data } if name == "git.commit" => {
                    let why = Failure::of(&Json::from(data), &live.name).map(|failure| failure.message);
                    let text = format!("not committed: {}", why.unwrap_or_default());
                    vec![Happening::Committed { ok: false, text, hooks: Vec::new() }]
                }
                AttemptResult::Error { .. } => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

/// Returns the refusal of a plan, a call or a commit. A question that a person is asked is none.
fn refused(activity: &str, signal: &str, data: &Json, with: &Json, id: String, live: &Live) -> Option<Happening> {
    let is_refused = match signal {
        "DENY" => true,
        // Nobody can be asked, or the turn only plans.
        "REQUIRE_CONFIRMATION" => !live.place().contains("_ASKED") && context(live, "ending") != "planned",
        _ => false,
    };
    let call = &with["call"];
    let name = call["name"].as_str().map(str::to_owned);
    let mut data = data.clone();
    if signal == "REQUIRE_CONFIRMATION" {
        let reason = format!("nobody can be asked: {}", data["reason"].as_str().unwrap_or_default());
        data = json!({ "code": "E_POLICY_DENIED", "reason": reason });
    }
    let call = name.filter(|_| activity == "policy.call").map(|name| Call { id, name, args: call["args"].clone() });
    let failure = Failure::of(&data, &live.name).filter(|_| is_refused)?;
    Some(Happening::Refused { call, failure })
}

fn signalled(
    activity: &str,
    signal: &str,
    data: &Json,
    calls: impl FnOnce() -> Vec<Call>,
    output: &[String],
) -> Vec<Happening> {
    let text = |name: &str| data[name].as_str().unwrap_or_default().to_owned();
    let hooks = || data["hooks"].as_array().cloned().unwrap_or_default();
    match (activity, signal) {
        ("tool.call", _) => ended(calls(), data, output),
        ("turn.facts", _) => vec![Happening::Facts(data["facts"].clone())],
        ("judge.step", "step_done") => vec![Happening::StepSaid(text("summary"))],
        ("verify.run", "verify_pass") => {
            vec![Happening::Verified { ok: true, text: commands(&data["commands"]), log: String::new() }]
        }
        ("verify.run", "verify_fail") => {
            let said = format!("{}: {}", text("code"), text("message"));
            vec![Happening::Verified { ok: false, text: said, log: text("log") }]
        }
        ("git.commit", "commit_success") => {
            let said = format!("committed {} on {}", text("commit"), text("branch"));
            vec![Happening::Committed { ok: true, text: said, hooks: hooks() }]
        }
        ("git.commit", "commit_fail") => {
            let said = format!("not committed: {}", text("reason"));
            vec![Happening::Committed { ok: false, text: said, hooks: hooks() }]
        }
        ("verify.run", "verify_none") => {
            vec![Happening::Verified { ok: false, text: format!("none: {}", text("reason")), log: String::new() }]
        }
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

fn ended(calls: Vec<Call>, data: &Json, output: &[String]) -> Vec<Happening> {
    let end = |(call, result): (Call, &Json)| {
        let payload = &result["payload"];
        // A command that fails is a result for the model, and no success for a person.
        let has_failed = payload["exit_code"].as_i64().is_some_and(|code| code != 0) || payload["signal"].is_number();
        Happening::CallEnded {
            call,
            ok: result["ok"] == true && !has_failed,
            payload: payload.clone(),
            output: output.to_vec(),
        }
    };
    match data["payload"]["results"].as_array().filter(|_| data["name"] == "several") {
        Some(results) => calls.into_iter().zip(results).map(end).collect(),
        None => calls.into_iter().take(1).map(|call| end((call, data))).collect(),
    }
}
