//! OpenAI's chat completions protocol, which vLLM, llama.cpp, LM Studio, Ollama's compatible endpoint and most gateways
//! also speak.

use serde_json::{Value, json};

use super::{
    Ask, Fault, Means, Turn, Usage,
    wire::{ANSWER, Partial, Wire, broken_off, count, text},
};
use crate::settings::Server;

pub(super) struct Chat;

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
        let turns = ask.turns.iter().map(|turn| match turn {
            Turn::User(text) => json!({ "role": "user", "content": text }),
            Turn::Model(text) => json!({ "role": "assistant", "content": text }),
        });
        let system = json!({ "role": "system", "content": ask.system });
        let mut body = json!({
            "model": server.model,
            "messages": std::iter::once(system).chain(turns).collect::<Vec<_>>(),
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
        Means::Prompt => {}
    }
}

fn take(message: &Value, into: &mut Partial) {
    into.text.push_str(text(message, "content"));
    into.refusal.push_str(text(message, "refusal"));
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        into.tool.push_str(text(&call["function"], "arguments"));
    }
}

fn usage(value: &Value) -> Usage {
    Usage {
        input_tokens: count(value, "prompt_tokens"),
        output_tokens: count(value, "completion_tokens"),
        is_estimate: false,
    }
}
