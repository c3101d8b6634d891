//! OpenAI's Responses protocol.

use serde_json::{Value, json};

use super::{
    Ask, Fault, Means, Turn, Usage,
    wire::{ANSWER, Partial, Wire, broken_off, count, text},
};
use crate::settings::Server;

pub(super) struct Responses;

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
        let turns = ask.turns.iter().map(|turn| match turn {
            Turn::User(text) => json!({ "role": "user", "content": text }),
            Turn::Model(text) => json!({ "role": "assistant", "content": text }),
        });
        let mut body = json!({
            "model": server.model,
            "instructions": ask.system,
            "input": turns.collect::<Vec<_>>(),
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
            "response.function_call_arguments.delta" => into.tool.push_str(text(piece, "delta")),
            "response.completed" | "response.incomplete" => end(&piece["response"], into),
            "response.failed" => return Err(broken_off(&piece["response"])),
            "error" => return Err(broken_off(piece)),
            _ => {}
        }
        Ok(())
    }

    fn whole(&self, body: &Value, into: &mut Partial) -> Result<(), Fault> {
        let items = body["output"].as_array().ok_or_else(|| Fault::NotUnderstood("it has no output".into()))?;
        for item in items {
            if text(item, "type") == "function_call" {
                into.tool = text(item, "arguments").to_owned();
            }
            for part in item["content"].as_array().into_iter().flatten() {
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
