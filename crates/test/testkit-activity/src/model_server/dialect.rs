//! Builds answers in the wire formats of providers.

use serde_json::{Value, json};

use super::{ReceivedRequest, Scripted};

/// The wire format of a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The Messages API of Anthropic.
    Anthropic,
    /// The Responses API of OpenAI.
    Responses,
    /// The chat completions API of OpenAI.
    Chat,
    /// The native API of Ollama.
    Ollama,
}

/// The number of input tokens that every answer reports.
const INPUT_TOKENS: u64 = 100;

/// The number of output tokens that every answer reports.
const OUTPUT_TOKENS: u64 = 20;

impl Dialect {
    /// All wire formats, for tests that loop over them.
    pub const ALL: [Dialect; 4] = [Dialect::Anthropic, Dialect::Responses, Dialect::Chat, Dialect::Ollama];

    /// Returns the name of the provider in `judges.toml`.
    pub fn provider(self) -> &'static str {
        match self {
            Dialect::Anthropic => "anthropic",
            Dialect::Responses => "openai-responses",
            Dialect::Chat => "openai-chat",
            Dialect::Ollama => "ollama",
        }
    }

    /// Returns a streamed answer with a regular end.
    pub fn says(self, text: &str) -> Scripted {
        self.stream(text, self.stopped())
    }

    /// Returns an answer that was truncated at the token limit.
    pub fn cut_off(self, text: &str) -> Scripted {
        self.stream(
            text,
            match self {
                Dialect::Anthropic => "max_tokens",
                Dialect::Responses => "max_output_tokens",
                Dialect::Chat | Dialect::Ollama => "length",
            },
        )
    }

    fn stopped(self) -> &'static str {
        match self {
            Dialect::Anthropic => "end_turn",
            Dialect::Responses => "completed",
            Dialect::Chat | Dialect::Ollama => "stop",
        }
    }

    /// Returns a refusal of the model. Ollama has none, so there it is a regular answer.
    pub fn refuses(self, why: &str) -> Scripted {
        let events = match self {
            Dialect::Anthropic => return self.stream(why, "refusal"),
            Dialect::Responses => vec![
                json!({ "type": "response.refusal.delta", "delta": why }),
                json!({ "type": "response.completed", "response": { "id": "r-1", "status": "completed" } }),
            ],
            Dialect::Chat => vec![
                json!({ "id": "c-1", "choices": [{ "delta": { "refusal": why }, "finish_reason": null }] }),
                json!({ "id": "c-1", "choices": [{ "delta": {}, "finish_reason": "stop" }] }),
            ],
            Dialect::Ollama => return self.stream(why, "stop"),
        };
        events_of(&events, self == Dialect::Chat)
    }

    /// Returns an answer in one piece, as from a server that does not stream.
    pub fn says_whole(self, text: &str) -> Scripted {
        let body = match self {
            Dialect::Anthropic => {
                json!({ "id": "m-1", "model": "scripted", "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn", "usage": { "input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS } })
            }
            Dialect::Responses => {
                json!({ "id": "r-1", "model": "scripted", "status": "completed", "output": [{ "type": "message", "content": [{ "type": "output_text", "text": text }] }], "usage": { "input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS } })
            }
            Dialect::Chat => {
                json!({ "id": "c-1", "model": "scripted", "choices": [{ "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }], "usage": { "prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS } })
            }
            Dialect::Ollama => {
                json!({ "model": "scripted", "message": { "role": "assistant", "content": text }, "done": true, "done_reason": "stop", "prompt_eval_count": INPUT_TOKENS, "eval_count": OUTPUT_TOKENS })
            }
        };
        Scripted::new(200, "application/json", body.to_string())
    }

    /// Returns an answer as the arguments of the required tool call.
    pub fn calls(self, arguments: &str) -> Scripted {
        let half = arguments.chars().count() / 2;
        let parts: [String; 2] = [arguments.chars().take(half).collect(), arguments.chars().skip(half).collect()];
        match self {
            Dialect::Anthropic => {
                let mut events = vec![
                    start(),
                    json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "tool_use", "id": "t-1", "name": "verdict", "input": {} } }),
                ];
                events.extend(parts.map(|part| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "input_json_delta", "partial_json": part } })));
                events.extend(stop("tool_use"));
                events_of(&events, false)
            }
            Dialect::Chat => {
                let call = |part: &String| json!({ "id": "c-1", "choices": [{ "delta": { "tool_calls": [{ "index": 0, "function": { "arguments": part } }] }, "finish_reason": null }] });
                let mut events: Vec<Value> = parts.iter().map(call).collect();
                events.push(json!({ "id": "c-1", "choices": [{ "delta": {}, "finish_reason": "tool_calls" }] }));
                events_of(&events, true)
            }
            Dialect::Responses => {
                let mut events: Vec<Value> = parts
                    .iter()
                    .map(|part| json!({ "type": "response.function_call_arguments.delta", "delta": part }))
                    .collect();
                events
                    .push(json!({ "type": "response.completed", "response": { "id": "r-1", "status": "completed" } }));
                events_of(&events, false)
            }
            Dialect::Ollama => self.says(arguments),
        }
    }

    /// Returns an error in the provider's format.
    pub fn fails(self, status: u16, kind: &str, message: &str) -> Scripted {
        let error = json!({ "type": kind, "message": message });
        let body = match self {
            Dialect::Anthropic => json!({ "type": "error", "error": error }),
            Dialect::Responses | Dialect::Chat => json!({ "error": error }),
            Dialect::Ollama => json!({ "error": message }),
        };
        Scripted::new(status, "application/json", body.to_string())
    }

    /// Returns an answer that begins and then fails with an error of the server.
    pub fn breaks_off(self, message: &str) -> Scripted {
        let mut answer = self.says("{\"reason\": \"half of");
        let error = json!({ "type": "overloaded_error", "message": message });
        let last = match self {
            Dialect::Anthropic => event(&json!({ "type": "error", "error": error })),
            Dialect::Responses => event(&json!({ "type": "response.failed", "response": { "error": error } })),
            Dialect::Chat => event(&json!({ "error": error })),
            Dialect::Ollama => format!("{}\n", json!({ "error": message })),
        };
        answer.pieces.truncate(2);
        answer.pieces.push(last.into_bytes());
        answer
    }

    fn stream(self, text: &str, finish: &str) -> Scripted {
        let half = text.chars().count() / 2;
        let parts: [String; 2] = [text.chars().take(half).collect(), text.chars().skip(half).collect()];
        match self {
            Dialect::Anthropic => {
                let mut events = vec![start(), json!({ "type": "ping" })];
                events.extend(parts.map(|part| json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": part } })));
                events.extend(stop(finish));
                events_of(&events, false)
            }
            Dialect::Responses => {
                let mut events = vec![json!({ "type": "response.created", "response": { "id": "r-1" } })];
                events.extend(parts.map(|part| json!({ "type": "response.output_text.delta", "delta": part })));
                let usage = json!({ "input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS });
                let (kind, details) = match finish {
                    "completed" => ("response.completed", Value::Null),
                    reason => ("response.incomplete", json!({ "reason": reason })),
                };
                events.push(json!({ "type": kind, "response": { "id": "r-1", "model": "scripted", "status": kind.trim_start_matches("response."), "incomplete_details": details, "usage": usage } }));
                events_of(&events, false)
            }
            Dialect::Chat => {
                let delta = |part: &String| json!({ "id": "c-1", "model": "scripted", "choices": [{ "delta": { "content": part }, "finish_reason": null }] });
                let mut events: Vec<Value> = parts.iter().map(delta).collect();
                events.push(json!({ "id": "c-1", "choices": [{ "delta": {}, "finish_reason": finish }] }));
                events.push(json!({ "id": "c-1", "choices": [], "usage": { "prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS } }));
                events_of(&events, true)
            }
            Dialect::Ollama => {
                let line = |part: &String| json!({ "model": "scripted", "message": { "role": "assistant", "content": part }, "done": false });
                let mut lines: Vec<Value> = parts.iter().map(line).collect();
                lines.push(json!({ "model": "scripted", "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": finish, "prompt_eval_count": INPUT_TOKENS, "eval_count": OUTPUT_TOKENS }));
                lines_of(&lines)
            }
        }
    }

    /// Returns true if a request constrains the answer to a schema by the strongest means of the provider.
    pub fn is_constrained(self, asked: &ReceivedRequest) -> bool {
        match self {
            Dialect::Anthropic => asked.body["output_config"]["format"]["type"] == "json_schema",
            Dialect::Responses => asked.body["text"]["format"]["type"] == "json_schema",
            Dialect::Chat => asked.body["response_format"]["type"] == "json_schema",
            Dialect::Ollama => asked.body["format"].is_object(),
        }
    }
}

fn start() -> Value {
    json!({ "type": "message_start", "message": { "id": "m-1", "model": "scripted", "usage": { "input_tokens": INPUT_TOKENS, "output_tokens": 1 } } })
}

fn stop(finish: &str) -> [Value; 2] {
    [
        json!({ "type": "message_delta", "delta": { "stop_reason": finish }, "usage": { "output_tokens": OUTPUT_TOKENS } }),
        json!({ "type": "message_stop" }),
    ]
}

fn event(data: &Value) -> String {
    let kind = data["type"].as_str().map(|kind| format!("event: {kind}\n")).unwrap_or_default();
    format!("{kind}data: {data}\n\n")
}

/// Returns a stream with one JSON value per line.
pub(super) fn lines_of(lines: &[Value]) -> Scripted {
    let pieces = lines.iter().map(|line| format!("{line}\n").into_bytes()).collect();
    Scripted { pieces, ..Scripted::new(200, "application/x-ndjson", "") }
}

/// Returns a stream of server-sent events.
pub(super) fn events_of(events: &[Value], with_done: bool) -> Scripted {
    let done = with_done.then(|| "data: [DONE]\n\n".to_owned());
    let pieces = events.iter().map(event).chain(done).map(String::into_bytes).collect();
    Scripted { pieces, ..Scripted::new(200, "text/event-stream", "") }
}
