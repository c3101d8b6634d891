//! A model that plays a script for coding agents. It answers in the protocol that the agent uses and calls the tools that
//! the agent offers.
//!
//! The step is chosen by the prompt in the request and by the number of tool results after it, so repeated requests and
//! parallel runs get the same answers.

use serde_json::{Value, json};

use super::{End, ModelServer, ReceivedRequest, Scripted};

/// One step of a script.
#[derive(Clone, Debug)]
pub enum Step {
    /// Say something and end the turn.
    Say(String),
    /// Call the shell tool with a command.
    Shell(String),
    /// Write a file with the agent's own editor, or with the shell if it has none.
    Write(String, String),
    /// Call the offered tool whose name ends with this name, such as a tool of an MCP server.
    Tool(String, Value),
    /// Fail with this HTTP status.
    Fail(u16),
    /// Send nothing until the server ends.
    Hang,
    /// Say this many bytes and end the turn.
    Bulk(usize),
}

impl Step {
    /// Says something and ends the turn.
    pub fn say(text: &str) -> Self {
        Step::Say(text.to_owned())
    }

    /// Calls the shell tool.
    pub fn shell(command: &str) -> Self {
        Step::Shell(command.to_owned())
    }

    /// Calls the offered tool whose name ends with this name.
    pub fn tool(name: &str, arguments: Value) -> Self {
        Step::Tool(name.to_owned(), arguments)
    }
}

/// The protocol of a request.
#[derive(Clone, Copy, PartialEq)]
enum Wire {
    Messages,
    Chat,
    Responses,
    /// Google's Gemini API; true if the reply is a stream.
    Gemini(bool),
}

/// Starts a model that plays a script for each prompt. A prompt is recognised by a text that it contains.
pub fn agent_model(script: Vec<(&str, Vec<Step>)>) -> ModelServer {
    let script: Vec<(String, Vec<Step>)> =
        script.into_iter().map(|(prompt, steps)| (prompt.to_owned(), steps)).collect();
    ModelServer::start(move |_, asked| answer(&script, asked))
}

fn answer(script: &[(String, Vec<Step>)], asked: &ReceivedRequest) -> Scripted {
    let wire = match asked.line.split(' ').nth(1).unwrap_or_default() {
        path if path.contains("/messages") && !path.contains("count_tokens") => Wire::Messages,
        path if path.contains("/chat/completions") => Wire::Chat,
        path if path.contains("/responses") => Wire::Responses,
        path if path.contains(":streamGenerateContent") => Wire::Gemini(true),
        path if path.contains(":generateContent") => Wire::Gemini(false),
        _ if asked.line.starts_with("HEAD") => return Scripted::new(200, "text/plain", ""),
        _ => {
            return Scripted::new(
                200,
                "application/json",
                r#"{"data":[{"id":"scripted","object":"model"}],"input_tokens":10}"#,
            );
        }
    };
    let tools = tools(asked);
    // aider has no tools: it asks for the content of files.
    let is_aider = asked.text().contains("*file listing*");
    let step = match tools.is_empty() && !is_aider {
        // Titles and summaries are asked for without tools.
        true => Step::say("A title"),
        false => step(script, asked),
    };
    match step {
        Step::Say(text) => says(wire, &text),
        Step::Bulk(bytes) => says(wire, &"word ".repeat(bytes / 5)),
        Step::Fail(status) => {
            let error = json!({ "type": "error", "error": { "type": "api_error", "message": "scripted outage" } });
            Scripted::new(status, "application/json", error.to_string())
        }
        Step::Hang => {
            Scripted { pieces: Vec::new(), ..Scripted::new(200, "text/event-stream", "") }.ending(End::Silent)
        }
        Step::Shell(command) => shell(wire, &tools, &command),
        Step::Tool(name, arguments) => match tools.iter().find(|tool| tool.ends_with(&name)) {
            Some(tool) => calls(wire, tool, &arguments),
            None => says(wire, &format!("There is no tool {name} among {}.", tools.join(", "))),
        },
        Step::Write(path, content) => write(wire, &tools, &path, &content),
    }
}

/// Returns the step for a request: the last known prompt, and the number of tool results after it.
fn step(script: &[(String, Vec<Step>)], asked: &ReceivedRequest) -> Step {
    let (mut current, mut results) = (None, 0);
    let messages = ["messages", "input", "contents"].iter().find_map(|name| asked.body[*name].as_array());
    for message in messages.into_iter().flatten() {
        let is_result = message["role"] == "tool" || message["type"] == "function_call_output";
        let blocks = message["content"].as_array().or(message["parts"].as_array()).cloned().unwrap_or_default();
        results += usize::from(is_result);
        let is_block = |block: &&Value| block["type"] == "tool_result" || !block["functionResponse"].is_null();
        results += blocks.iter().filter(is_block).count();
        let text = blocks.iter().filter_map(|block| block["text"].as_str()).collect::<String>();
        let text = message["content"].as_str().map_or(text, str::to_owned);
        // A prompt follows notes that may quote earlier prompts, so the last match counts.
        let found = script.iter().enumerate().filter_map(|(at, (prompt, _))| Some((text.rfind(prompt.as_str())?, at)));
        if message["role"] == "user"
            && let Some((_, at)) = found.max()
        {
            (current, results) = (Some(at), 0);
        }
    }
    let steps = current.map(|at| &script[at].1);
    let step = steps.and_then(|steps| steps.get(results).or(steps.last()).cloned());
    step.unwrap_or_else(|| Step::say("This prompt is not in the script."))
}

fn tools(asked: &ReceivedRequest) -> Vec<String> {
    let tools = asked.body["tools"].as_array().into_iter().flatten();
    // Gemini's tools are lists of declarations.
    let tools = tools.flat_map(|tool| tool["functionDeclarations"].as_array().cloned().unwrap_or(vec![tool.clone()]));
    tools.filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned)).collect()
}

fn shell(wire: Wire, tools: &[String], command: &str) -> Scripted {
    let known = [
        ("Bash", "command"),
        ("shell", "command"),
        ("developer__shell", "command"),
        ("exec_command", "cmd"),
        ("bash", "command"),
        ("run_shell_command", "command"),
    ];
    let (name, field) = known.into_iter().find(|(name, _)| tools.iter().any(|tool| tool == name)).unwrap();
    let mut arguments = json!({ field: command });
    // Gemini CLI, Qwen Code and opencode insist on more.
    if name == "run_shell_command" || name == "bash" {
        arguments["description"] = json!("work");
    }
    if name == "run_shell_command" {
        arguments["is_background"] = json!(false);
    }
    calls(wire, name, &arguments)
}

fn write(wire: Wire, tools: &[String], path: &str, content: &str) -> Scripted {
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    match () {
        () if has("Write") => calls(wire, "Write", &json!({ "file_path": path, "content": content })),
        // opencode's tool takes an absolute path.
        () if has("write") && !has("bash") => calls(wire, "write", &json!({ "path": path, "content": content })),
        () => shell(wire, tools, &format!("cat > '{path}' <<'END'\n{content}\nEND\n")),
    }
}

fn says(wire: Wire, text: &str) -> Scripted {
    match wire {
        Wire::Messages => {
            let block = json!({ "type": "text", "text": "" });
            messages(&block, &json!({ "type": "text_delta", "text": text }), "end_turn")
        }
        Wire::Chat => chat(&json!({ "role": "assistant", "content": text }), "stop"),
        Wire::Responses => {
            let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
            responses(
                &json!({ "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content }),
            )
        }
        Wire::Gemini(is_stream) => gemini(&json!({ "text": text }), is_stream),
    }
}

fn calls(wire: Wire, name: &str, arguments: &Value) -> Scripted {
    // Ids must differ within a session.
    let id = format!("call_{}", next_id());
    let text = arguments.to_string();
    match wire {
        Wire::Messages => {
            let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
            messages(&block, &json!({ "type": "input_json_delta", "partial_json": text }), "tool_use")
        }
        Wire::Chat => {
            let function = json!({ "name": name, "arguments": text });
            let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
            chat(&json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
        }
        Wire::Responses => responses(
            &json!({ "type": "function_call", "id": format!("f{id}"), "call_id": id, "name": name, "arguments": text, "status": "completed" }),
        ),
        Wire::Gemini(is_stream) => gemini(&json!({ "functionCall": { "name": name, "args": arguments } }), is_stream),
    }
}

fn next_id() -> usize {
    static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

fn messages(block: &Value, delta: &Value, stop: &str) -> Scripted {
    let message = json!({
        "id": format!("msg_{}", next_id()), "type": "message", "role": "assistant", "model": "scripted", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": { "input_tokens": 100, "output_tokens": 1 },
    });
    events(
        &[
            json!({ "type": "message_start", "message": message }),
            json!({ "type": "content_block_start", "index": 0, "content_block": block }),
            json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": { "output_tokens": 20 } }),
            json!({ "type": "message_stop" }),
        ],
        "",
    )
}

fn chat(delta: &Value, finish: &str) -> Scripted {
    let chunk = |choices: Value| json!({ "id": "c-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": choices });
    let mut usage = chunk(json!([]));
    usage["usage"] = json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 });
    events(
        &[
            chunk(json!([{ "index": 0, "delta": delta, "finish_reason": null }])),
            chunk(json!([{ "index": 0, "delta": {}, "finish_reason": finish }])),
            usage,
        ],
        "data: [DONE]\n\n",
    )
}

fn responses(item: &Value) -> Scripted {
    let usage = json!({
        "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 20, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 120,
    });
    events(
        &[
            json!({ "type": "response.created", "response": { "id": "r-1" } }),
            json!({ "type": "response.output_item.added", "output_index": 0, "item": item }),
            json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
            json!({ "type": "response.completed", "response": { "id": "r-1", "status": "completed", "output": [item], "usage": usage } }),
        ],
        "",
    )
}

/// Gemini counts cached tokens within the prompt, and thoughts apart from the reply.
fn gemini(part: &Value, is_stream: bool) -> Scripted {
    let content = json!({ "role": "model", "parts": [part] });
    let usage = json!({
        "promptTokenCount": 100, "cachedContentTokenCount": 40, "candidatesTokenCount": 15, "thoughtsTokenCount": 5, "totalTokenCount": 120,
    });
    let reply = json!({
        "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }], "usageMetadata": usage, "modelVersion": "scripted",
    });
    match is_stream {
        true => events(&[reply], ""),
        false => Scripted::new(200, "application/json", reply.to_string()),
    }
}

fn events(events: &[Value], last: &str) -> Scripted {
    let event = |data: &Value| {
        let kind = data["type"].as_str().map(|kind| format!("event: {kind}\n")).unwrap_or_default();
        format!("{kind}data: {data}\n\n").into_bytes()
    };
    let pieces = events.iter().map(event).chain([last.as_bytes().to_vec()]).collect();
    Scripted { pieces, ..Scripted::new(200, "text/event-stream", "") }
}
