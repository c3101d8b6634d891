//! Anthropic's Messages protocol.

use serde_json::{Value, json};

use super::{
    Ask, Fault, Means, Turn, Usage,
    wire::{ANSWER, Partial, Wire, broken_off, count, text},
};
use crate::settings::Server;

/// The protocol version that every request names.
const VERSION: &str = "2023-06-01";

pub(super) struct Anthropic;

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
        let turns = ask.turns.iter().map(|turn| match turn {
            Turn::User(text) => json!({ "role": "user", "content": text }),
            Turn::Model(text) => json!({ "role": "assistant", "content": text }),
        });
        let mut body = json!({
            "model": server.model,
            "max_tokens": ask.reply_tokens_max,
            "system": ask.system,
            "messages": turns.collect::<Vec<_>>(),
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
            "content_block_delta" => {
                let delta = &piece["delta"];
                into.text.push_str(if text(delta, "type") == "text_delta" { text(delta, "text") } else { "" });
                into.tool.push_str(text(delta, "partial_json"));
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
                "tool_use" => into.tool = block["input"].to_string(),
                _ => {}
            }
        }
        into.finish = text(body, "stop_reason").to_owned();
        into.usage = body.get("usage").map(usage);
        into.is_done = true;
        Ok(())
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
