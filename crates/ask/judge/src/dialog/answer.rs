//! Reads a model's reply: a tool call, several reading ones, or a signal. Everything else is a list of problems that the
//! model is told about.

use serde_json::{Value, json};

use interlock_model::{CallsTurn, Reply, ReplyCall, ToolCall, Turn};

use super::{CALL, tools::Tools};
use crate::{
    Question, Verdict,
    check::{self, Form, Problem},
};

/// The most calls that are made side by side.
const SEVERAL_MAX: usize = 8;

/// A reply, as a message of the conversation and as a verdict.
#[derive(Debug)]
pub(crate) struct Answered {
    /// The message to keep.
    pub(crate) turn: Turn,
    /// The verdict, or the problems of the reply.
    pub(crate) verdict: Result<Verdict, Vec<Problem>>,
}

/// Reads a reply. `nudges` counts the replies without a call so far, and `position` makes ids for protocols without any.
pub(super) fn read(
    tools: &Tools,
    reply: &Reply,
    form: &Form,
    question: &Question,
    nudges: u32,
    position: usize,
) -> Answered {
    let (say, calls) = match reply.calls.is_empty() {
        false => (reply.text.clone(), reply.calls.clone()),
        true => in_text(&reply.text).unwrap_or_else(|| (reply.text.clone(), Vec::new())),
    };
    if calls.is_empty() {
        return without_call(tools, reply, nudges);
    }
    let call = |(at, call): (usize, &ReplyCall)| ToolCall {
        id: if call.id.is_empty() { format!("call_{position}_{at}") } else { call.id.clone() },
        name: call.name.clone(),
        args: parsed(&call.args),
    };
    let calls: Vec<ToolCall> = calls.iter().enumerate().map(call).collect();
    let verdict = match reply.is_cut_off {
        true => Err(vec![Problem::new("answer", "was cut off because it is too long; make smaller calls")]),
        false => verdict(tools, &say, &calls, form, question),
    };
    Answered { turn: Turn::Calls(CallsTurn { say, calls }), verdict }
}

/// Reads the call of a model that can only write text: one JSON object with `say`, `tool` and `args`.
fn in_text(text: &str) -> Option<(String, Vec<ReplyCall>)> {
    let text = text.trim().trim_start_matches("```json").trim_start_matches("```").trim_end_matches("```").trim();
    let value: Value = serde_json::from_str(text).ok()?;
    let name = value.get("tool")?.as_str()?.to_owned();
    let say = value.get("say").and_then(Value::as_str).unwrap_or_default().to_owned();
    let args = value.get("args").cloned().unwrap_or_else(|| json!({})).to_string();
    Some((say, vec![ReplyCall { id: String::new(), name, args }]))
}

/// Arguments that are not JSON stay as text, so that the model can be shown what it wrote.
fn parsed(args: &str) -> Value {
    match args.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    }
}

/// A model that only talks is asked once to call a tool. If it talks again, its text is its answer.
fn without_call(tools: &Tools, reply: &Reply, nudges: u32) -> Answered {
    let text = reply.text.trim();
    let said = tools.said().filter(|_| nudges > 0 && !text.is_empty() && !reply.is_cut_off);
    let verdict = match said {
        Some((signal, field)) => Ok(made(signal, json!({ field: text }), text)),
        None => {
            let ends: Vec<String> = tools.finishes.iter().map(|finish| format!("`{}`", finish.name)).collect();
            let what = format!("calls no tool; call the next one, or one of {} if you are finished", ends.join(", "));
            Err(vec![Problem::new("answer", what)])
        }
    };
    // Some servers refuse an empty message.
    let text = if text.is_empty() { "(nothing)" } else { text };
    Answered { turn: Turn::Model(text.to_owned()), verdict }
}

fn verdict(
    tools: &Tools,
    say: &str,
    calls: &[ToolCall],
    form: &Form,
    question: &Question,
) -> Result<Verdict, Vec<Problem>> {
    let first = calls.iter().find(|call| !tools.is_finish(&call.name));
    let Some(first) = first else {
        // Only signals: the first one counts.
        let Some(finish) = calls.first() else { return Err(Vec::new()) };
        let problems = check::data(form, question, &finish.name, &finish.args);
        return if problems.is_empty() { Ok(made(&finish.name, finish.args.clone(), say)) } else { Err(problems) };
    };
    let together = together(tools, calls);
    let asked: Vec<&ToolCall> = if together.is_empty() { vec![first] } else { together };
    let problems: Vec<Problem> = asked.iter().flat_map(|call| misfits(tools, call)).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let one = |call: &ToolCall| json!({ "name": call.name, "args": call.args, "tool_call_id": call.id });
    let data = match asked.as_slice() {
        [only] => one(only),
        several => {
            json!({ "name": "several", "args": {}, "calls": several.iter().map(|call| one(call)).collect::<Vec<_>>() })
        }
    };
    let names: Vec<&str> = asked.iter().map(|call| call.name.as_str()).collect();
    Ok(made(CALL, data, if say.trim().is_empty() { names.join(", ") } else { say.to_owned() }.as_str()))
}

/// Returns the reading calls at the beginning of a reply, which can be made side by side.
fn together<'c>(tools: &Tools, calls: &'c [ToolCall]) -> Vec<&'c ToolCall> {
    let only_reads = |call: &&ToolCall| tools.tool(&call.name).is_some_and(super::tools::Tool::only_reads);
    calls.iter().take_while(only_reads).take(SEVERAL_MAX).collect()
}

fn misfits(tools: &Tools, call: &ToolCall) -> Vec<Problem> {
    let path = format!("`{}`", call.name);
    let Some(tool) = tools.tool(&call.name) else {
        return vec![Problem::new(path, format!("is not a tool; the tools are {}", tools.names().join(", ")))];
    };
    if !call.args.is_object() {
        return vec![Problem::new(path, "E_INVALID_ARGS: the arguments are not a JSON object")];
    }
    tool.misfits(&call.args)
        .into_iter()
        .map(|what| Problem::new(path.clone(), format!("E_INVALID_ARGS: {what}")))
        .collect()
}

fn made(signal: &str, data: Value, reason: &str) -> Verdict {
    const REASON_CHARS_MAX: usize = 400;
    let reason = reason.chars().take(REASON_CHARS_MAX).collect();
    Verdict { signal: signal.to_owned(), data, confidence: 1.0, reason, evidence_refs: Vec::new() }
}
