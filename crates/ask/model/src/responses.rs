//! OpenAI's Responses protocol.

use serde_json::{Value, json};

use crate::{
    Ask, Fault, Means, ToolCall, ToolResult, Turn, Usage,
    chat::arguments,
    settings::Server,
    wire::{ANSWER, Partial, Wire, broken_off, count, text},
};

pub(crate) struct Responses;

impl Wire for Responses {
    fn provider(&self) -> &'static str {
        "openai"
    }

    fn path(&self) -> &'static str {
        "/responses"
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn means(&self) -> &'static [Means] {
        &[Means::Schema, Means::StrictTool, Means::Tool, Means::Json, Means::Prompt]
    }

    fn body(&self, server: &Server, ask: &Ask<'_>, means: Means) -> Value {
        let turns =
            if means == Means::Calls { ask.turns.iter().flat_map(items).collect::<Vec<Value>>() } else { ask.texts() };
        let mut body = json!({
            "model": server.model,
            "instructions": ask.system(means),
            "input": turns,
            "max_output_tokens": ask.reply_tokens_max,
            "stream": server.stream,
            // The provider must not retain the conversation.
            "store": false,
        });
        if let Some(temperature) = server.temperature {
            body["temperature"] = json!(temperature);
        }
        let (schema, is_strict) = ask.strict();
        match means {
            Means::Calls => {
                let tool = |tool: &crate::ToolSpec| json!({ "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.schema, "strict": false });
                body["tools"] = ask.tools.iter().map(tool).collect();
            }
            Means::Schema => {
                let format = json!({ "type": "json_schema", "name": ANSWER, "schema": schema, "strict": is_strict });
                body["text"] = json!({ "format": format });
            }
            Means::StrictTool | Means::Tool => {
                let is_strict = means == Means::StrictTool;
                body["tools"] =
                    json!([{ "type": "function", "name": ANSWER, "parameters": schema, "strict": is_strict }]);
                body["tool_choice"] = json!({ "type": "function", "name": ANSWER });
            }
            Means::Json => body["text"] = json!({ "format": { "type": "json_object" } }),
            Means::Grammar | Means::Prompt => {}
        }
        body
    }

    fn piece(&self, piece: &Value, into: &mut Partial) -> Result<(), Fault> {
        match text(piece, "type") {
            "response.output_text.delta" => into.text.push_str(text(piece, "delta")),
            "response.refusal.delta" => into.refusal.push_str(text(piece, "delta")),
            "response.output_item.added" | "response.output_item.done" => {
                item(&piece["item"], count(piece, "output_index"), into);
            }
            "response.function_call_arguments.delta" => {
                into.call(count(piece, "output_index")).args.push_str(text(piece, "delta"));
            }
            "response.completed" | "response.incomplete" => end(&piece["response"], into),
            "response.failed" => return Err(broken_off(&piece["response"])),
            "error" => return Err(broken_off(piece)),
            _ => {}
        }
        Ok(())
    }

    fn whole(&self, body: &Value, into: &mut Partial) -> Result<(), Fault> {
        let items = body["output"].as_array().ok_or_else(|| Fault::NotUnderstood("it has no output".into()))?;
        for (at, found) in items.iter().enumerate() {
            item(found, at as u64, into);
            for part in found["content"].as_array().into_iter().flatten() {
                into.text.push_str(if text(part, "type") == "output_text" { text(part, "text") } else { "" });
                into.refusal.push_str(text(part, "refusal"));
            }
        }
        if text(body, "status") == "failed" {
            return Err(broken_off(body));
        }
        end(body, into);
        Ok(())
    }
}

/// Takes a tool call. Its arguments are repeated in full when the item is done.
fn item(item: &Value, at: u64, into: &mut Partial) {
    if text(item, "type") == "function_call" {
        let call = into.call(at);
        call.id = text(item, "call_id").to_owned();
        call.name = text(item, "name").to_owned();
        if !text(item, "arguments").is_empty() {
            call.args = text(item, "arguments").to_owned();
        }
    }
}

/// Returns a message of the conversation as items; calls and results are items of their own.
fn items(turn: &Turn) -> Vec<Value> {
    let call = |call: &ToolCall| json!({ "type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments(&call.args) });
    let result =
        |result: &ToolResult| json!({ "type": "function_call_output", "call_id": result.id, "output": result.text });
    match turn {
        Turn::User(said) => vec![json!({ "role": "user", "content": said })],
        Turn::Model(said) => vec![json!({ "role": "assistant", "content": said })],
        Turn::Calls(turn) => {
            let said = (!turn.say.trim().is_empty()).then(|| json!({ "role": "assistant", "content": turn.say }));
            said.into_iter().chain(turn.calls.iter().map(call)).collect()
        }
        Turn::Results(results) => results.iter().map(result).collect(),
    }
}

fn end(response: &Value, into: &mut Partial) {
    into.known(response);
    into.finish = match response["incomplete_details"]["reason"].as_str() {
        Some(reason) => reason.to_owned(),
        None => text(response, "status").to_owned(),
    };
    into.usage = response.get("usage").filter(|usage| usage.is_object()).map(|usage| Usage {
        input_tokens: count(usage, "input_tokens"),
        output_tokens: count(usage, "output_tokens"),
        is_estimate: false,
    });
    into.is_done = true;
}
