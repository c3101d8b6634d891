//! Each protocol, bytes in and events out. The messages are recorded from the real agents.

use serde_json::json;

use super::*;
use crate::facts::Facts;

fn turn(session: Option<&str>) -> Turn {
    Turn {
        session: session.map(str::to_owned),
        fresh: "new-id".into(),
        folder: "/w".into(),
        text: Some("write proof".into()),
        model: None,
    }
}

fn sent(heard: &[Heard]) -> Vec<&Json> {
    heard.iter().filter_map(|one| if let Heard::Send(json) = one { Some(json) } else { None }).collect()
}

#[test]
fn acp_turn_is_translated() {
    let mut acp = driver(DriverKind::Acp, turn(None)).unwrap();
    assert_eq!(sent(&acp.begin())[0]["method"], "initialize");
    let heard =
        acp.hear(&json!({ "jsonrpc": "2.0", "id": 1, "result": { "agentCapabilities": { "loadSession": true } } }));
    assert_eq!(sent(&heard)[0]["method"], "session/new");
    let heard = acp.hear(&json!({ "jsonrpc": "2.0", "id": 2, "result": { "sessionId": "s-1" } }));
    assert_eq!(heard[0], Heard::Session("s-1".into()));
    assert_eq!(sent(&heard)[0]["method"], "session/prompt");
    let asked = json!({ "jsonrpc": "2.0", "method": "session/request_permission", "id": "q", "params": {
        "toolCall": { "toolCallId": "c", "kind": "other", "title": "shell", "rawInput": { "command": "ls" } },
        "options": [{ "optionId": "always", "kind": "allow_always" }, { "optionId": "yes", "kind": "allow_once" }, { "optionId": "no", "kind": "reject_once" }],
    } });
    let heard = acp.hear(&asked);
    let Some(Heard::Asked(permission)) = heard.last() else { panic!("{heard:?}") };
    assert_eq!((permission.call.kind, permission.call.command.as_deref()), (CallKind::Execute, Some("ls")));
    assert_eq!(acp.answer(&permission.id, true, "")[0]["result"]["outcome"]["optionId"], "yes");
    acp.hear(&asked);
    assert_eq!(acp.answer(&permission.id, false, "")[0]["result"]["outcome"]["optionId"], "no");
    let heard = acp.hear(
        &json!({ "jsonrpc": "2.0", "id": 3, "result": { "stopReason": "end_turn", "usage": { "totalTokens": 120 } } }),
    );
    assert_eq!(heard.last(), Some(&Heard::Ended(End::Finished)));
}

#[test]
fn acp_history_of_a_loaded_session_is_not_progress() {
    let mut acp = driver(DriverKind::Acp, turn(Some("old"))).unwrap();
    acp.begin();
    let heard = acp.hear(&json!({ "id": 1, "result": { "agentCapabilities": { "loadSession": true } } }));
    assert_eq!(sent(&heard)[0]["params"]["sessionId"], "old");
    let replayed = json!({ "method": "session/update", "params": { "update": { "sessionUpdate": "agent_message_chunk", "content": { "text": "Done." } } } });
    assert_eq!(acp.hear(&replayed), []);
    acp.hear(&json!({ "id": 2, "result": {} }));
    assert_eq!(acp.hear(&replayed).len(), 1);
    let mut gone = driver(DriverKind::Acp, turn(Some("old"))).unwrap();
    gone.begin();
    gone.hear(&json!({ "id": 1, "result": { "agentCapabilities": { "loadSession": true } } }));
    let heard = gone.hear(&json!({ "id": 2, "error": { "message": "not found" } }));
    assert_eq!(heard, [Heard::NoSession("not found".into())]);
    let mut silent = driver(DriverKind::Acp, turn(Some("old"))).unwrap();
    silent.begin();
    silent.hear(&json!({ "id": 1, "result": { "agentCapabilities": { "loadSession": true } } }));
    let heard = silent.hear(&json!({ "id": 2, "result": {} }));
    assert!(matches!(&heard[..], [Heard::NoSession(_)]), "a session without history is lost: {heard:?}");
}

/// Messages as Gemini CLI 0.61 sends them.
#[test]
fn acp_command_in_a_title_and_late_history_and_quota_of_gemini_are_understood() {
    let mut acp = driver(DriverKind::Acp, turn(Some("old"))).unwrap();
    acp.begin();
    let about = json!({ "agentInfo": { "name": "gemini-cli" }, "agentCapabilities": { "loadSession": true } });
    acp.hear(&json!({ "id": 1, "result": about }));
    assert_eq!(sent(&acp.hear(&json!({ "id": 2, "result": {} })))[0]["method"], "session/prompt");
    let update = |update: Json| json!({ "method": "session/update", "params": { "update": update } });
    let chunk = |kind: &str, text: &str| update(json!({ "sessionUpdate": kind, "content": { "text": text } }));
    let mut facts = Facts::default();
    let mut hear = |message: &Json| {
        for heard in acp.hear(message) {
            if let Heard::Update(update) = heard {
                facts.add(update);
            }
        }
    };
    hear(&chunk("user_message_chunk", "first task"));
    hear(&update(
        json!({ "sessionUpdate": "tool_call", "toolCallId": "old", "title": "Shell", "kind": "execute", "status": "completed" }),
    ));
    hear(&chunk("agent_message_chunk", "Remembered."));
    hear(&update(json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] })));
    hear(&chunk("agent_message_chunk", "Done again."));
    hear(&update(json!({ "sessionUpdate": "available_commands_update", "availableCommands": [] })));
    assert_eq!((facts.reply.as_str(), facts.calls.len()), ("Done again.", 0));
    let asked = json!({ "method": "session/request_permission", "id": 0, "params": { "options": [],
        "toolCall": { "toolCallId": "c", "kind": "execute", "title": "rm -rf build && make", "content": [], "locations": [] } } });
    let heard = acp.hear(&asked);
    let Some(Heard::Asked(permission)) = heard.last() else { panic!("{heard:?}") };
    assert_eq!(permission.call.command.as_deref(), Some("rm -rf build && make"));
    let quota = json!({ "quota": { "token_count": { "input_tokens": 200, "output_tokens": 40 } } });
    let heard = acp.hear(&json!({ "id": 3, "result": { "stopReason": "end_turn", "_meta": quota } }));
    assert_eq!(heard[0], Heard::Update(Update::Usage(Usage { tokens: 240, session_cost: None })));
}

/// Messages as Qwen Code 0.15 and opencode 1.18 send them.
#[test]
fn acp_tokens_of_chunks_add_up_and_a_tools_name_is_no_command() {
    let mut acp = driver(DriverKind::Acp, turn(None)).unwrap();
    acp.begin();
    acp.hear(&json!({ "id": 1, "result": {} }));
    acp.hear(&json!({ "id": 2, "result": { "sessionId": "s" } }));
    let usage = json!({ "sessionUpdate": "agent_message_chunk", "content": { "text": "" }, "_meta": { "usage": { "inputTokens": 100, "outputTokens": 20, "totalTokens": 120 } } });
    let chunk = json!({ "method": "session/update", "params": { "update": usage } });
    acp.hear(&chunk);
    let heard = acp.hear(&chunk);
    assert_eq!(heard.last(), Some(&Heard::Update(Update::Usage(Usage { tokens: 240, session_cost: None }))));
    let heard = acp.hear(&json!({ "id": 3, "result": { "stopReason": "end_turn" } }));
    assert_eq!(heard[0], Heard::Update(Update::Usage(Usage { tokens: 240, session_cost: None })));
    let begun = json!({ "method": "session/update", "params": { "update": { "sessionUpdate": "tool_call", "toolCallId": "c", "title": "bash", "kind": "execute", "rawInput": { "cwd": "/w" } } } });
    let heard = acp.hear(&begun);
    assert!(matches!(&heard[0], Heard::Update(Update::CallStarted(call)) if call.command.is_none()), "{heard:?}");
}

#[test]
fn claude_outage_that_calls_itself_success_is_not_believed() {
    let result = |more: Json| {
        let mut event = json!({ "type": "result", "subtype": "success", "is_error": false, "result": "x", "usage": { "input_tokens": 5 } });
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let mut claude = driver(DriverKind::Claude, turn(None)).unwrap();
        claude.hear(&event).pop()
    };
    assert_eq!(result(json!({})), Some(Heard::Ended(End::Finished)));
    let outage = result(json!({ "is_error": true, "api_error_status": 529, "result": "Overloaded" }));
    assert_eq!(outage, Some(Heard::Ended(End::ModelUnavailable("Overloaded".into()))));
    let lost = result(
        json!({ "subtype": "error_during_execution", "is_error": true, "result": null, "errors": ["No conversation found with session ID: x"] }),
    );
    assert!(matches!(lost, Some(Heard::NoSession(_))), "{lost:?}");
}

#[test]
fn claude_permission_is_answered_with_the_same_arguments() {
    let mut claude = driver(DriverKind::Claude, turn(None)).unwrap();
    let input = json!({ "command": "ls", "description": "x" });
    let request = json!({ "subtype": "can_use_tool", "tool_name": "Bash", "input": input, "tool_use_id": "t" });
    let heard = claude.hear(&json!({ "type": "control_request", "request_id": "r", "request": request }));
    assert!(matches!(&heard[0], Heard::Asked(asked) if asked.call.command.as_deref() == Some("ls")), "{heard:?}");
    let answer = claude.answer("r", true, "");
    assert_eq!(answer[0]["response"]["response"], json!({ "behavior": "allow", "updatedInput": input }));
}

#[test]
fn codex_failures_are_told_apart() {
    let end = |status: &str, info: Json| {
        let turn_end = json!({ "status": status, "error": { "message": "m", "codexErrorInfo": info } });
        let mut codex = driver(DriverKind::Codex, turn(None)).unwrap();
        codex.hear(&json!({ "method": "turn/completed", "params": { "turn": turn_end } }))
    };
    assert_eq!(end("completed", json!(null)), [Heard::Ended(End::Finished)]);
    assert_eq!(end("interrupted", json!(null)), [Heard::Ended(End::Cancelled)]);
    assert_eq!(end("failed", json!("serverOverloaded")), [Heard::Ended(End::ModelUnavailable("m".into()))]);
    assert_eq!(end("failed", json!({ "httpConnectionFailed": {} })), [Heard::Ended(End::ModelUnavailable("m".into()))]);
    assert_eq!(end("failed", json!("cyberPolicy")), [Heard::Ended(End::Refused("m".into()))]);
}

#[test]
fn coder_speaks_no_protocol() {
    let why = driver(DriverKind::Coder, turn(None)).err().unwrap();
    assert!(why.contains("a run of our own machine"), "{why}");
}
