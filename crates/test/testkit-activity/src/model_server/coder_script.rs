//! A model that plays a script for the machine `coder`: it understands a request, plans it, calls tools, and sums up.
//!
//! The reply is chosen by the content of the request alone: by the request that it quotes, and by the number of replies in
//! its conversation. So a run that was killed and resumed gets the same answers.

use serde_json::{Value, json};

use super::{Dialect, ModelServer, ReceivedRequest, Scripted};

/// One reply of the model while it works on a step.
#[derive(Clone, Debug)]
pub enum Move {
    /// Calls tools, with a text beside the calls.
    Calls(String, Vec<(String, Value)>),
    /// Calls a tool with this text as its arguments.
    Malformed(String, String),
    /// Says something and calls nothing.
    Say(String),
    /// Fails with this HTTP status.
    Fail(u16),
}

/// One turn of the script.
#[derive(Clone, Debug)]
pub struct CoderTurn {
    /// A text that the request of the turn contains.
    pub about: String,
    /// The data of the signal `clear`, under `brief`; the questions of `unclear` if it is a list.
    pub brief: Value,
    /// The plan.
    pub plan: Value,
    /// The replies while the model works on the steps, in order. The last one is repeated.
    pub moves: Vec<Move>,
    /// The verdict of a repair: the signal and its data.
    pub repair: (String, Value),
    /// The summary.
    pub summary: String,
}

impl Move {
    /// Calls one tool.
    pub fn call(name: &str, args: Value) -> Self {
        Move::Calls(format!("I call {name}."), vec![(name.to_owned(), args)])
    }

    /// Ends the step.
    pub fn done(summary: &str) -> Self {
        Move::call("step_done", json!({ "summary": summary }))
    }

    fn answer(&self, dialect: Dialect) -> Scripted {
        match self {
            Move::Calls(say, calls) => {
                let calls: Vec<(&str, Value)> =
                    calls.iter().map(|(name, args)| (name.as_str(), args.clone())).collect();
                dialect.calls_tools(say, &calls)
            }
            Move::Malformed(name, args) => dialect.calls_with("I try.", &[(name.as_str(), args.clone())]),
            Move::Say(text) => dialect.says(text),
            Move::Fail(status) => dialect.fails(*status, "api_error", "scripted outage"),
        }
    }
}

impl CoderTurn {
    /// Creates a turn that changes files: one step, which writes these files and is verified by these commands.
    pub fn change(about: &str, files: &[&str], commands: &[&str], moves: Vec<Move>) -> Self {
        let files: Vec<Value> = files.iter().map(|file| json!({ "type": "file", "value": file })).collect();
        let step = json!({
            "step_id": "s1", "title": "Make the change", "intent": "It is asked for", "tool_calls": [],
            "expected_artifacts": files, "status": "pending",
        });
        CoderTurn::planned(about, "change", vec![step], commands, moves)
    }

    /// Creates a turn that answers a question.
    pub fn question(about: &str, moves: Vec<Move>) -> Self {
        let step = json!({ "step_id": "s1", "title": "Find the answer", "intent": "It is asked", "status": "pending" });
        CoderTurn::planned(about, "question", vec![step], &[], moves)
    }

    /// Creates a turn with these steps.
    pub fn planned(about: &str, intent: &str, steps: Vec<Value>, commands: &[&str], moves: Vec<Move>) -> Self {
        let brief = json!({
            "goal": about, "intent": intent, "constraints": [], "expected_output": "the result", "risk_level": "low",
            "risk_preference": "normal", "permissions": ["fs.read"], "assumptions": [],
        });
        let mode = if commands.is_empty() { "none" } else { "custom" };
        let verification = json!({ "mode": mode, "commands": commands, "required": true, "stop_on_fail": true });
        let plan = json!({
            "plan_id": "p-1", "goal": about, "constraints": [], "steps": steps, "verification": verification,
            "risk_level": "low", "created_at": 0,
        });
        let repair = ("unrepairable".to_owned(), json!({ "reason": "the script has no repair" }));
        CoderTurn { about: about.to_owned(), brief, plan, moves, repair, summary: format!("Summary of {about}.") }
    }

    /// Sets the verdict of a repair.
    #[must_use]
    pub fn repaired_by(mut self, signal: &str, data: Value) -> Self {
        self.repair = (signal.to_owned(), data);
        self
    }
}

/// Starts a model that plays these turns in the wire format of a provider.
pub fn coder_model(dialect: Dialect, turns: Vec<CoderTurn>) -> ModelServer {
    ModelServer::start(move |_, asked| coder_answer(dialect, &turns, asked))
}

/// Returns the answer of a model that plays these turns.
pub fn coder_answer(dialect: Dialect, turns: &[CoderTurn], asked: &ReceivedRequest) -> Scripted {
    let text = asked.text();
    // Later requests quote earlier ones, so the last turn that is mentioned counts.
    let found = turns.iter().rev().find(|turn| text.contains(&turn.about));
    let Some(turn) = found else { return dialect.says("This is not in the script.") };
    let says = |evidence: &str, signal: &str, data: Value| {
        let verdict = json!({ "reason": "as the script says", "evidence_refs": [evidence], "confidence": 0.9, "signal": signal, "data": data });
        dialect.says(&verdict.to_string())
    };
    match () {
        () if text.contains("# Intake") && turn.brief.is_array() => {
            says("message", "unclear", json!({ "questions": turn.brief }))
        }
        () if text.contains("# Intake") => says("message", "clear", json!({ "brief": turn.brief })),
        () if text.contains("# Planning") => says("brief", "plan_ready", json!({ "plan": turn.plan })),
        () if text.contains("# Recovering") => says("failure", &turn.repair.0, turn.repair.1.clone()),
        () if text.contains("# Summarizing") => says("ending", "summarized", json!({ "summary": turn.summary })),
        () => {
            let at = replies(asked).min(turn.moves.len().saturating_sub(1));
            turn.moves.get(at).map_or_else(|| dialect.says("nothing"), |next| next.answer(dialect))
        }
    }
}

/// Counts the replies of the model in a conversation. A reply may be several items.
fn replies(asked: &ReceivedRequest) -> usize {
    let messages = asked.body["messages"].as_array().or(asked.body["input"].as_array());
    let is_reply = |message: &Value| message["role"] == "assistant" || message["type"] == "function_call";
    let (mut count, mut was_reply) = (0, false);
    for message in messages.into_iter().flatten() {
        count += usize::from(is_reply(message) && !was_reply);
        was_reply = is_reply(message);
    }
    count
}
