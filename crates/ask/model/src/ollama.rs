//! Ollama's native protocol: an answer in lines of JSON.

use serde_json::{Value, json};

use crate::{
    Ask, Fault, Means, ToolCall, ToolResult, Turn, Usage,
    chat::function,
    settings::Server,
    wire::{Partial, Wire, broken_off, count, text},
};

pub(crate) struct Ollama;

impl Wire for Ollama {
    fn provider(&self) -> &'static str {
        "ollama"
    }

    fn path(&self) -> &'static str {
        "/api/chat"
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        key.map(|key| ("authorization", format!("Bearer {key}"))).into_iter().collect()
    }

    fn means(&self) -> &'static [Means] {
        &[Means::Schema, Means::Json, Means::Prompt]
    }

    fn body(&self, server: &Server, ask: &Ask<'_>, means: Means) -> Value {
        let turns = if means == Means::Calls {
            ask.turns.iter().flat_map(messages).collect::<Vec<Value>>()
        } else {
            ask.texts()
        };
        let system = json!({ "role": "system", "content": ask.system(means) });
        // Without an explicit `num_ctx` Ollama silently truncates the prompt at a small default window.
        let mut options = json!({ "num_predict": ask.reply_tokens_max, "num_ctx": server.window_tokens });
        if let Some(temperature) = server.temperature {
            options["temperature"] = json!(temperature);
        }
        let mut body = json!({
            "model": server.model,
            "messages": std::iter::once(system).chain(turns).collect::<Vec<Value>>(),
            "stream": server.stream,
            "options": options,
        });
        match means {
            Means::Calls => body["tools"] = ask.tools.iter().map(function).collect(),
            Means::Schema => body["format"] = ask.lenient().0.clone(),
            Means::Json => body["format"] = json!("json"),
            _ => {}
        }
        body
    }

    fn piece(&self, piece: &Value, into: &mut Partial) -> Result<(), Fault> {
        if piece.get("error").is_some() {
            return Err(broken_off(piece));
        }
        into.text.push_str(text(&piece["message"], "content"));
        for call in piece["message"]["tool_calls"].as_array().into_iter().flatten() {
            let at = into.calls_count();
            let function = &call["function"];
            into.new_call(at, text(call, "id"), text(function, "name")).args = function["arguments"].to_string();
        }
        into.known(piece);
        if piece["done"] == true {
            into.finish = text(piece, "done_reason").to_owned();
            into.usage = Some(Usage {
                input_tokens: count(piece, "prompt_eval_count"),
                output_tokens: count(piece, "eval_count"),
                is_estimate: false,
            });
            into.is_done = true;
        }
        Ok(())
    }

    fn whole(&self, body: &Value, into: &mut Partial) -> Result<(), Fault> {
        match body.get("message") {
            Some(_) => self.piece(body, into),
            None => Err(Fault::NotUnderstood("it has no message".into())),
        }
    }
}

/// Returns the messages of a turn. Calls have no ids here.
fn messages(turn: &Turn) -> Vec<Value> {
    let call = |call: &ToolCall| json!({ "function": { "name": call.name, "arguments": call.args } });
    let result = |result: &ToolResult| json!({ "role": "tool", "tool_name": result.name, "content": result.text });
    crate::chat::messages_of(turn, call, result)
}
