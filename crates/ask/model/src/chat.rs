//! OpenAI's chat completions protocol, which vLLM, llama.cpp, LM Studio, Ollama's compatible endpoint and most gateways
//! also speak.

use serde_json::{Value, json};

use crate::{
    Ask, Fault, Means, ToolCall, ToolResult, Turn, Usage,
    settings::Server,
    wire::{ANSWER, Partial, Wire, broken_off, count, text},
};

pub(crate) struct Chat;

impl Wire for Chat {
    fn provider(&self) -> &'static str {
        "openai"
    }

    fn path(&self) -> &'static str {
        "/chat/completions"
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn means(&self) -> &'static [Means] {
        &[Means::Schema, Means::StrictTool, Means::Tool, Means::Grammar, Means::Json, Means::Prompt]
    }

    fn body(&self, server: &Server, ask: &Ask<'_>, means: Means) -> Value {
        let system = json!({ "role": "system", "content": ask.system(means) });
        let turns = if means == Means::Calls {
            ask.turns.iter().flat_map(messages).collect::<Vec<Value>>()
        } else {
            ask.texts()
        };
        let mut body = json!({
            "model": server.model,
            "messages": std::iter::once(system).chain(turns).collect::<Vec<Value>>(),
            "stream": server.stream,
        });
        // Newer OpenAI models refuse the old name; other servers often do not support the new one.
        let most = if server.is_openai() { "max_completion_tokens" } else { "max_tokens" };
        body[most] = json!(ask.reply_tokens_max);
        if server.stream {
            body["stream_options"] = json!({ "include_usage": true });
        }
        if let Some(temperature) = server.temperature {
            body["temperature"] = json!(temperature);
        }
        if means == Means::Calls {
            body["tools"] = ask.tools.iter().map(function).collect();
        }
        constrain(&mut body, if server.is_openai() { ask.strict() } else { ask.lenient() }, means);
        body
    }

    fn piece(&self, piece: &Value, into: &mut Partial) -> Result<(), Fault> {
        if piece.get("error").is_some_and(|error| !error.is_null()) {
            return Err(broken_off(piece));
        }
        into.known(piece);
        if let Some(known) = piece.get("usage").filter(|usage| usage.is_object()) {
            into.usage = Some(usage(known));
        }
        let Some(choice) = piece["choices"].get(0) else { return Ok(()) };
        take(&choice["delta"], into);
        if let Some(finish) = choice["finish_reason"].as_str() {
            into.finish = finish.to_owned();
            into.is_done = true;
        }
        Ok(())
    }

    fn whole(&self, body: &Value, into: &mut Partial) -> Result<(), Fault> {
        let choice = body["choices"].get(0).ok_or_else(|| Fault::NotUnderstood("it has no choices".into()))?;
        into.known(body);
        take(&choice["message"], into);
        into.finish = text(choice, "finish_reason").to_owned();
        into.usage = body.get("usage").filter(|usage| usage.is_object()).map(usage);
        into.is_done = true;
        Ok(())
    }
}

fn constrain(body: &mut Value, (schema, is_strict): (&Value, bool), means: Means) {
    match means {
        Means::Schema => {
            let named = json!({ "name": ANSWER, "schema": schema, "strict": is_strict });
            body["response_format"] = json!({ "type": "json_schema", "json_schema": named });
        }
        Means::StrictTool | Means::Tool => {
            let mut function = json!({ "name": ANSWER, "description": "Give the verdict.", "parameters": schema });
            if means == Means::StrictTool {
                function["strict"] = json!(true);
            }
            body["tools"] = json!([{ "type": "function", "function": function }]);
            body["tool_choice"] = json!({ "type": "function", "function": { "name": ANSWER } });
        }
        Means::Grammar => {
            body["json_schema"] = schema.clone();
            body["guided_json"] = schema.clone();
        }
        Means::Json => body["response_format"] = json!({ "type": "json_object" }),
        Means::Calls | Means::Prompt => {}
    }
}

/// Returns a tool in the form that this protocol and Ollama's take.
pub(crate) fn function(tool: &crate::ToolSpec) -> Value {
    json!({ "type": "function", "function": { "name": tool.name, "description": tool.description, "parameters": tool.schema } })
}

fn messages(turn: &Turn) -> Vec<Value> {
    let call = |call: &ToolCall| json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments(&call.args) } });
    let result = |result: &ToolResult| json!({ "role": "tool", "tool_call_id": result.id, "content": result.text });
    messages_of(turn, call, result)
}

/// Returns the messages of a turn, in the form that this protocol and Ollama's share; each result is a message of its own.
pub(crate) fn messages_of(
    turn: &Turn,
    call: impl Fn(&ToolCall) -> Value,
    result: impl Fn(&ToolResult) -> Value,
) -> Vec<Value> {
    match turn {
        Turn::User(said) => vec![json!({ "role": "user", "content": said })],
        Turn::Model(said) => vec![json!({ "role": "assistant", "content": said })],
        Turn::Calls(turn) => {
            let calls: Vec<Value> = turn.calls.iter().map(call).collect();
            vec![json!({ "role": "assistant", "content": turn.say, "tool_calls": calls })]
        }
        Turn::Results(results) => results.iter().map(result).collect(),
    }
}

/// Returns the arguments of a call as JSON text.
pub(crate) fn arguments(args: &Value) -> String {
    match args {
        Value::String(text) => json!({ "text": text }).to_string(),
        other => other.to_string(),
    }
}

fn take(message: &Value, into: &mut Partial) {
    into.text.push_str(text(message, "content"));
    into.refusal.push_str(text(message, "refusal"));
    for (position, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
        let at = call["index"].as_u64().unwrap_or(position as u64);
        let (id, name) = (text(call, "id"), text(&call["function"], "name"));
        let known = into.call(at);
        let is_new = !id.is_empty() && !known.id.is_empty() && known.id != id;
        let call_in = if is_new { into.new_call(at, id, "") } else { known };
        if call_in.id.is_empty() {
            call_in.id = id.to_owned();
        }
        if call_in.name.is_empty() {
            call_in.name = name.to_owned();
        }
        match &call["function"]["arguments"] {
            Value::String(part) => call_in.args.push_str(part),
            Value::Null => {}
            // Some servers send an object instead of its text.
            whole => call_in.args = whole.to_string(),
        }
    }
}

fn usage(value: &Value) -> Usage {
    Usage {
        input_tokens: count(value, "prompt_tokens"),
        output_tokens: count(value, "completion_tokens"),
        is_estimate: false,
    }
}
