//! Answers in which a model calls tools, in the wire format of each provider.

use serde_json::{Value, json};

use super::{
    Dialect, Scripted,
    dialect::{events_of, lines_of},
};

impl Dialect {
    /// Returns a streamed answer with a text and tool calls. The arguments arrive in two pieces, if the protocol allows it.
    pub fn calls_tools(self, say: &str, calls: &[(&str, Value)]) -> Scripted {
        let texts: Vec<(&str, String)> = calls.iter().map(|(name, args)| (*name, args.to_string())).collect();
        self.calls_with(say, &texts)
    }

    /// Like [`Dialect::calls_tools`], with arguments as text, which may be malformed. Ollama's protocol has no text there, so
    /// malformed arguments become a string.
    pub fn calls_with(self, say: &str, calls: &[(&str, String)]) -> Scripted {
        let id = |at: usize| format!("call_{}_{at}", next());
        match self {
            Dialect::Anthropic => anthropic(say, calls, id),
            Dialect::Responses => responses(say, calls, id),
            Dialect::Chat => chat(say, calls, id),
            Dialect::Ollama => {
                let call = |(name, args): &(&str, String)| {
                    let args = serde_json::from_str(args).unwrap_or_else(|_| json!(args));
                    json!({ "function": { "name": name, "arguments": args } })
                };
                let calls: Vec<Value> = calls.iter().map(call).collect();
                let message = json!({ "role": "assistant", "content": say, "tool_calls": calls });
                lines_of(&[
                    json!({ "model": "scripted", "message": message, "done": false }),
                    json!({ "model": "scripted", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop", "prompt_eval_count": 100, "eval_count": 20 }),
                ])
            }
        }
    }
}

/// Ids must differ within a conversation.
fn next() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

fn halves(text: &str) -> [String; 2] {
    let half = text.chars().count() / 2;
    [text.chars().take(half).collect(), text.chars().skip(half).collect()]
}

fn anthropic(say: &str, calls: &[(&str, String)], id: impl Fn(usize) -> String) -> Scripted {
    let usage = json!({ "input_tokens": 100, "output_tokens": 1 });
    let mut events =
        vec![json!({ "type": "message_start", "message": { "id": "m-1", "model": "scripted", "usage": usage } })];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        events.push(json!({ "type": "content_block_start", "index": index, "content_block": start }));
        events.extend(
            deltas.into_iter().map(|delta| json!({ "type": "content_block_delta", "index": index, "delta": delta })),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
        index += 1;
    };
    if !say.is_empty() {
        let deltas = halves(say).map(|part| json!({ "type": "text_delta", "text": part }));
        block(json!({ "type": "text", "text": "" }), deltas.into());
    }
    for (at, (name, args)) in calls.iter().enumerate() {
        let deltas = halves(args).map(|part| json!({ "type": "input_json_delta", "partial_json": part }));
        block(json!({ "type": "tool_use", "id": id(at), "name": name, "input": {} }), deltas.into());
    }
    events.push(
        json!({ "type": "message_delta", "delta": { "stop_reason": "tool_use" }, "usage": { "output_tokens": 20 } }),
    );
    events.push(json!({ "type": "message_stop" }));
    events_of(&events, false)
}

fn chat(say: &str, calls: &[(&str, String)], id: impl Fn(usize) -> String) -> Scripted {
    let chunk = |delta: Value| json!({ "id": "c-1", "model": "scripted", "choices": [{ "delta": delta, "finish_reason": null }] });
    let mut events: Vec<Value> = halves(say).iter().map(|part| chunk(json!({ "content": part }))).collect();
    for (at, (name, args)) in calls.iter().enumerate() {
        let [first, second] = halves(args);
        let function = json!({ "name": name, "arguments": first });
        events.push(chunk(
            json!({ "tool_calls": [{ "index": at, "id": id(at), "type": "function", "function": function }] }),
        ));
        events.push(chunk(json!({ "tool_calls": [{ "index": at, "function": { "arguments": second } }] })));
    }
    events.push(json!({ "id": "c-1", "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }));
    events.push(json!({ "id": "c-1", "choices": [], "usage": { "prompt_tokens": 100, "completion_tokens": 20 } }));
    events_of(&events, true)
}

fn responses(say: &str, calls: &[(&str, String)], id: impl Fn(usize) -> String) -> Scripted {
    let mut events = vec![json!({ "type": "response.created", "response": { "id": "r-1" } })];
    events.extend(
        halves(say).map(|part| json!({ "type": "response.output_text.delta", "output_index": 0, "delta": part })),
    );
    for (at, (name, args)) in calls.iter().enumerate() {
        let (index, id) = (at + 1, id(at));
        let item = |args: &str| json!({ "type": "function_call", "id": format!("f{id}"), "call_id": id, "name": name, "arguments": args });
        events.push(json!({ "type": "response.output_item.added", "output_index": index, "item": item("") }));
        events.extend(halves(args).map(
            |part| json!({ "type": "response.function_call_arguments.delta", "output_index": index, "delta": part }),
        ));
        events.push(json!({ "type": "response.output_item.done", "output_index": index, "item": item(args) }));
    }
    let usage = json!({ "input_tokens": 100, "output_tokens": 20 });
    events.push(json!({ "type": "response.completed", "response": { "id": "r-1", "model": "scripted", "status": "completed", "usage": usage } }));
    events_of(&events, false)
}
