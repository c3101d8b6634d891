//! Ollama's native protocol: an answer in lines of JSON.

use serde_json::{Value, json};

use super::{
    Ask, Fault, Means, Turn, Usage,
    wire::{Partial, Wire, broken_off, count, text},
};
use crate::settings::Server;

pub(super) struct Ollama;

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
        let turns = ask.turns.iter().map(|turn| match turn {
            Turn::User(text) => json!({ "role": "user", "content": text }),
            Turn::Model(text) => json!({ "role": "assistant", "content": text }),
        });
        let system = json!({ "role": "system", "content": ask.system });
        // Without an explicit `num_ctx` Ollama silently truncates the prompt at a small default window.
        let mut options = json!({ "num_predict": ask.reply_tokens_max, "num_ctx": server.window_tokens });
        if let Some(temperature) = server.temperature {
            options["temperature"] = json!(temperature);
        }
        let mut body = json!({
            "model": server.model,
            "messages": std::iter::once(system).chain(turns).collect::<Vec<_>>(),
            "stream": server.stream,
            "options": options,
        });
        match means {
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
