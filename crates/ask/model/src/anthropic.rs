//! Anthropic's Messages protocol.

use serde_json::{Value, json};

use crate::{
    Ask, Fault, Means, ToolCall, ToolResult, Turn, Usage,
    settings::Server,
    wire::{ANSWER, Partial, Wire, broken_off, count, text},
};

/// The protocol version that every request names.
const VERSION: &str = "2023-06-01";

pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn provider(&self) -> &'static str {
        "anthropic"
    }

    fn path(&self) -> &'static str {
        "/v1/messages"
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        let key = key.map(|key| ("x-api-key", key.to_owned()));
        key.into_iter().chain([("anthropic-version", VERSION.to_owned())]).collect()
    }

    fn means(&self) -> &'static [Means] {
        &[Means::Schema, Means::StrictTool, Means::Tool, Means::Prompt]
    }

    fn body(&self, server: &Server, ask: &Ask<'_>, means: Means) -> Value {
        let mut body = json!({
            "model": server.model,
            "max_tokens": ask.reply_tokens_max,
            "system": ask.system(means),
            "messages": ask.texts(),
            "stream": server.stream,
        });
        if let Some(temperature) = server.temperature {
            body["temperature"] = json!(temperature);
        }
        let (schema, _) = ask.strict();
        let tool = |is_strict: bool| {
            let mut tool = json!({ "name": ANSWER, "description": "Give the verdict.", "input_schema": schema });
            if is_strict {
                tool["strict"] = json!(true);
            }
            tool
        };
        match means {
            Means::Calls => with_tools(&mut body, ask),
            Means::Schema => body["output_config"] = json!({ "format": { "type": "json_schema", "schema": schema } }),
            Means::StrictTool | Means::Tool => {
                body["tools"] = json!([tool(means == Means::StrictTool)]);
                body["tool_choice"] = json!({ "type": "tool", "name": ANSWER });
            }
            Means::Grammar | Means::Json | Means::Prompt => {}
        }
        body
    }

    fn piece(&self, piece: &Value, into: &mut Partial) -> Result<(), Fault> {
        match text(piece, "type") {
            "message_start" => {
                let message = &piece["message"];
                into.known(message);
                into.usage = message.get("usage").map(usage);
            }
            "content_block_start" => {
                let block = &piece["content_block"];
                if text(block, "type") == "tool_use" {
                    into.new_call(count(piece, "index"), text(block, "id"), text(block, "name"));
                }
            }
            "content_block_delta" => {
                let delta = &piece["delta"];
                into.text.push_str(if text(delta, "type") == "text_delta" { text(delta, "text") } else { "" });
                if text(delta, "type") == "input_json_delta" {
                    into.call(count(piece, "index")).args.push_str(text(delta, "partial_json"));
                }
            }
            "message_delta" => {
                into.finish = text(&piece["delta"], "stop_reason").to_owned();
                if let Some(known) = &mut into.usage {
                    known.output_tokens = count(&piece["usage"], "output_tokens").max(known.output_tokens);
                }
            }
            "message_stop" => into.is_done = true,
            "error" => return Err(broken_off(piece)),
            _ => {}
        }
        Ok(())
    }

    fn whole(&self, body: &Value, into: &mut Partial) -> Result<(), Fault> {
        let blocks = body["content"].as_array().ok_or_else(|| Fault::NotUnderstood("it has no content".into()))?;
        into.known(body);
        for block in blocks {
            match text(block, "type") {
                "text" => into.text.push_str(text(block, "text")),
                "tool_use" => {
                    let at = into.calls_count();
                    into.new_call(at, text(block, "id"), text(block, "name")).args = block["input"].to_string();
                }
                _ => {}
            }
        }
        into.finish = text(body, "stop_reason").to_owned();
        into.usage = body.get("usage").map(usage);
        into.is_done = true;
        Ok(())
    }
}

/// Adds the tools, and the messages as blocks. The marks for the cache stand at the end of the system text and of the
/// last message, because both only grow at their end.
fn with_tools(body: &mut Value, ask: &Ask<'_>) {
    let tool = |tool: &crate::ToolSpec| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema });
    body["tools"] = ask.tools.iter().map(tool).collect();
    let kept = json!({ "type": "ephemeral" });
    body["system"] = json!([{ "type": "text", "text": ask.system, "cache_control": kept }]);
    let mut messages: Vec<Value> = ask.turns.iter().map(message).collect();
    let last = messages.last_mut().and_then(|message| message["content"].as_array_mut()?.last_mut());
    if let Some(last) = last {
        last["cache_control"] = kept;
    }
    body["messages"] = Value::Array(messages);
}

fn message(turn: &Turn) -> Value {
    let text = |text: &str| json!({ "type": "text", "text": text });
    // Arguments that are not an object cannot be sent back.
    let call = |call: &ToolCall| {
        let input = if call.args.is_object() { call.args.clone() } else { json!({ "text": call.args }) };
        json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
    };
    let result = |result: &ToolResult| json!({ "type": "tool_result", "tool_use_id": result.id, "content": result.text, "is_error": !result.ok });
    match turn {
        Turn::User(said) => json!({ "role": "user", "content": [text(said)] }),
        Turn::Model(said) => json!({ "role": "assistant", "content": [text(said)] }),
        Turn::Calls(turn) => {
            let said = (!turn.say.trim().is_empty()).then(|| text(&turn.say));
            json!({ "role": "assistant", "content": said.into_iter().chain(turn.calls.iter().map(call)).collect::<Vec<_>>() })
        }
        Turn::Results(results) => json!({ "role": "user", "content": results.iter().map(result).collect::<Vec<_>>() }),
    }
}

fn usage(value: &Value) -> Usage {
    let cached = count(value, "cache_creation_input_tokens") + count(value, "cache_read_input_tokens");
    Usage {
        input_tokens: count(value, "input_tokens") + cached,
        output_tokens: count(value, "output_tokens"),
        is_estimate: false,
    }
}
