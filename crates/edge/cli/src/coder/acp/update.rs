//! Happenings as notifications of the protocol, and the calls that permissions are asked for.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_chart::Value;
use interlock_coder::Failure;
use interlock_journal::Entry;
use interlock_workspace::patch::{Kind, LookupResult, Node, Patch, plan};
use serde_json::{Value as Json, json};

use super::wire::Wire;
use crate::coder::{
    conversation::PlannedCommit,
    happening::{Call, Happening},
    paint::{fresh, line_of},
};

/// The choices of a confirmation: id, name and kind.
pub(super) const SCOPES: [(&str, &str, &str); 4] = [
    ("single_action", "Yes, this once", "allow_once"),
    ("session", "Yes, for this conversation", "allow_always"),
    ("workspace", "Yes, for this workspace", "allow_always"),
    ("no", "No", "reject_once"),
];

/// The choices of a permission that policy asks for.
pub(super) const ONCE: [(&str, &str, &str); 2] =
    [("single_action", "Yes, this once", "allow_once"), ("no", "No", "reject_once")];

/// The longest text of a result.
const TEXT_CHARS_MAX: usize = 8_000;

/// Tells the client about a turn.
pub(super) struct Teller {
    session: String,
    folder: PathBuf,
    wire: Arc<Wire>,
    streamed: String,
    ending: String,
}

impl Teller {
    pub(super) fn new(session: String, folder: PathBuf, wire: Arc<Wire>) -> Self {
        Teller { session, folder, wire, streamed: String::new(), ending: String::new() }
    }

    /// Returns the reason of the turn's end.
    pub(super) fn stop_reason(&self) -> &'static str {
        if self.ending == "cancelled" { "cancelled" } else { "end_turn" }
    }

    fn send(&self, update: Json) {
        self.wire.notify("session/update", &json!({ "sessionId": self.session, "update": update }));
    }

    /// Sends text of the agent.
    pub(super) fn say(&self, text: &str) {
        self.send(json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }));
    }

    /// Tells a message of the user, when a session is loaded.
    pub(super) fn user_message(&self, entry: &Entry) {
        let text = match entry {
            Entry::Created(created) => created.input.get("goal").and_then(Value::as_str),
            Entry::Event { event, data, .. } if event == "USER_MESSAGE" || event == "CLARIFICATION_ANSWER" => {
                data.get("text").and_then(Value::as_str)
            }
            _ => None,
        };
        if let Some(text) = text {
            self.send(json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": text } }));
        }
    }

    /// Tells a happening.
    pub(super) fn tell(&mut self, happening: Happening) {
        match happening {
            Happening::Note(_) => {}
            Happening::Notice(text) => self.say(&format!("\n{text}\n")),
            Happening::Refused { call, failure } => self.refused(call, &failure),
            Happening::Facts(facts) => {
                let lines = facts["lines"].as_array().into_iter().flatten().filter_map(Json::as_str);
                let lines: String = lines.map(|line| format!("- {line}\n")).collect();
                self.say(&format!("\nFacts:\n{lines}\n"));
            }
            Happening::Streaming(text) => {
                let new = fresh(&self.streamed, &text);
                if !new.is_empty() {
                    self.say(new);
                }
                self.streamed = text;
            }
            Happening::StepSaid(text) => {
                if !text.is_empty() && !self.streamed.contains(&text) {
                    self.say(&format!("{text}\n"));
                }
            }
            Happening::Plan(plan) => self.send(json!({ "sessionUpdate": "plan", "entries": entries(&plan) })),
            Happening::CallStarted(call) => {
                let mut update = described(&call, &self.folder);
                update["sessionUpdate"] = json!("tool_call");
                update["status"] = json!("in_progress");
                self.send(update);
            }
            Happening::CallEnded { call, ok, payload, .. } => self.send(json!({
                "sessionUpdate": "tool_call_update",
                "toolCallId": call.id,
                "status": if ok { "completed" } else { "failed" },
                "content": self.content(&call, &payload),
                "rawOutput": payload,
            })),
            Happening::Verified { ok, text, log } => {
                let word = if ok { "passed" } else { "failed" };
                let log = if log.is_empty() { String::new() } else { format!("```\n{log}\n```\n") };
                self.say(&format!("\nVerification {word}: {text}\n{log}"));
            }
            Happening::Committed { text, hooks, .. } => {
                for hook in &hooks {
                    let text = |name: &str| hook[name].as_str().unwrap_or_default();
                    self.say(&format!(
                        "\nHook {}: exit code {}\n{}\n",
                        text("name"),
                        hook["exit_code"],
                        text("output")
                    ));
                }
                self.say(&format!("\n{text}\n"));
            }
            Happening::TurnEnded { ending, why, summary, failure, contradictions } => {
                let is_shown = summary.is_empty() || self.streamed.contains(&summary);
                let mut text = if is_shown { String::new() } else { format!("\n{summary}\n") };
                text.extend(contradictions.iter().map(|line| format!("\nContradiction: {line}\n")));
                match failure {
                    Some(failure) => text.push_str(&format!("\n{ending}: {}", told(&failure))),
                    None if !why.is_empty() => text.push_str(&format!("\n{ending}: {why}\n")),
                    None => {}
                }
                if !text.is_empty() {
                    self.say(&text);
                }
                (self.ending, self.streamed) = (ending, String::new());
            }
        }
    }

    /// Tells a refusal: a call as one that failed, anything else as text.
    fn refused(&self, call: Option<Call>, failure: &Failure) {
        let Some(call) = call else { return self.say(&format!("\nRefused: {}", told(failure))) };
        let mut update = described(&call, &self.folder);
        (update["sessionUpdate"], update["status"]) = (json!("tool_call"), json!("failed"));
        let text = json!({ "type": "text", "text": format!("Refused: {}", told(failure)) });
        (update["content"], update["rawOutput"]) =
            (json!([{ "type": "content", "content": text }]), json!({ "error": failure }));
        self.send(update);
    }

    /// Returns the content of a call's result: a diff for each written file, otherwise text.
    fn content(&self, call: &Call, payload: &Json) -> Vec<Json> {
        let text = |text: &str| {
            let text: String = text.chars().take(TEXT_CHARS_MAX).collect();
            json!({ "type": "content", "content": { "type": "text", "text": text } })
        };
        if let Some(message) = payload["error"]["message"].as_str() {
            return vec![text(message)];
        }
        match (call.name.as_str(), payload["diff"].as_str()) {
            ("git_diff", Some(diff)) => vec![text(diff)],
            (_, Some(diff)) => match diffs(&self.folder, diff, payload["truncated"] == true) {
                Some(diffs) => diffs,
                None => vec![text(diff)],
            },
            ("run_terminal_cmd", None) => {
                let part = |name: &str| payload[name].as_str().unwrap_or_default();
                vec![text(&format!("{}{}", part("stdout"), part("stderr")))]
            }
            ("read_file", None) => vec![text(payload["content"].as_str().unwrap_or_default())],
            ("grep", None) => vec![text(payload["matches"].as_str().unwrap_or_default())],
            _ => vec![text(&serde_json::to_string_pretty(payload).unwrap_or_default())],
        }
    }
}

/// Returns a failure as text: code, message, next action and trace id.
fn told(failure: &Failure) -> String {
    let Failure { code, message, next_step, trace_id } = failure;
    format!("{code}: {message}\nNext: {next_step}\nTrace id: {trace_id}\n")
}

/// Returns the text of a prompt. Resources that are part of it are added with their name.
pub(super) fn prompt(blocks: &Json) -> String {
    let text = |block: &Json| match block["type"].as_str() {
        Some("text") => block["text"].as_str().map(str::to_owned),
        Some("resource_link") => block["uri"].as_str().map(|uri| format!("\n(see {uri})")),
        Some("resource") => {
            let (uri, text) = (block["resource"]["uri"].as_str()?, block["resource"]["text"].as_str()?);
            Some(format!("\n{uri}:\n```\n{text}\n```\n"))
        }
        _ => None,
    };
    blocks.as_array().into_iter().flatten().filter_map(text).collect::<String>().trim().to_owned()
}

/// Returns the steps of a plan in the words of the protocol.
fn entries(plan: &Json) -> Vec<Json> {
    let entry = |step: &Json| {
        let status = match step["status"].as_str() {
            Some("in_progress") => "in_progress",
            Some("done" | "skipped") => "completed",
            _ => "pending",
        };
        json!({ "content": step["title"].as_str().unwrap_or("?"), "priority": "medium", "status": status })
    };
    plan["steps"].as_array().into_iter().flatten().map(entry).collect()
}

/// Returns a call in the words of the protocol.
fn described(call: &Call, folder: &Path) -> Json {
    let kind = match call.name.as_str() {
        "read_file" | "list_dir" | "git_diff" | "git_log" => "read",
        "glob" | "grep" | "search" => "search",
        "apply_patch" | "write_file" => "edit",
        "delete_file" => "delete",
        "run_terminal_cmd" => "execute",
        _ => "other",
    };
    let mut said =
        json!({ "toolCallId": call.id, "title": line_of(call), "kind": kind, "rawInput": call.args.clone() });
    if let Some(path) = call.args["path"].as_str() {
        said["locations"] = json!([{ "path": folder.join(path) }]);
    }
    said
}

/// Returns the call that a confirmation of a plan is shown as.
pub(super) fn of_plan(call: &Call, permissions: &[String]) -> Json {
    let mut text = String::new();
    for step in call.args["steps"].as_array().into_iter().flatten() {
        text.push_str(&format!("- {}\n", step["title"].as_str().unwrap_or("?")));
        for artifact in step["expected_artifacts"].as_array().into_iter().flatten() {
            text.push_str(&format!("  - {}\n", artifact["value"].as_str().unwrap_or_default()));
        }
    }
    for command in call.args["verification"]["commands"].as_array().into_iter().flatten().filter_map(Json::as_str) {
        text.push_str(&format!("- then verify with `{command}`\n"));
    }
    asked(&call.id, "Carry out this plan", "other", &text, permissions)
}

/// Returns the call that a confirmation of a tool call is shown as, with its diff.
pub(super) fn of_call(call: &Call, permissions: &[String], folder: &Path) -> Json {
    let diff = interlock_tools::preview(folder, &call.name, &call.args);
    let text = diff.or_else(|| call.args["command"].as_str().map(str::to_owned)).unwrap_or_default();
    let mut said = asked(&call.id, &line_of(call), "other", &text, permissions);
    said["kind"] = described(call, folder)["kind"].clone();
    said["rawInput"] = call.args.clone();
    said
}

/// Returns the call that a confirmation of a commit is shown as: branch, message and diff.
pub(super) fn of_commit(id: &str, commit: &PlannedCommit, diff: &str, permissions: &[String]) -> Json {
    let text = format!("Branch: {}\nMessage: {}\n\n{diff}\n", commit.branch, commit.message);
    asked(id, &format!("Commit on {}", commit.branch), "other", &text, permissions)
}

/// Returns the call that a permission of policy is shown as.
pub(super) fn of_grant(scopes: &[String], seq: u64) -> Json {
    asked(&format!("grant-{seq}"), "Grant a permission that policy asks for", "other", "", scopes)
}

fn asked(id: &str, title: &str, kind: &str, text: &str, permissions: &[String]) -> Json {
    let needs: String = permissions.iter().map(|permission| format!("It needs {permission}.\n")).collect();
    let content = json!({ "type": "content", "content": { "type": "text", "text": format!("{text}{needs}") } });
    json!({ "toolCallId": id, "title": title, "kind": kind, "status": "pending", "content": [content] })
}

/// The longest file whose old text is found out.
const OLD_BYTES_MAX: u64 = 64 << 20;

/// Returns the diff as old and new text of each file. The old text is the new one with the diff taken back; `None` if
/// that cannot be done.
fn diffs(folder: &Path, diff: &str, is_cut: bool) -> Option<Vec<Json>> {
    if is_cut || diff.is_empty() {
        return None;
    }
    let patch = Patch::parse(reversed(diff).as_bytes()).ok()?;
    let look = |path: &Path| match interlock_beneath::read(folder, path, OLD_BYTES_MAX) {
        Ok(content) => LookupResult::Node(Node { kind: Kind::File, content }),
        Err(_) => LookupResult::Nothing,
    };
    let plan = plan(&patch, &Files(look)).ok()?;
    let text = |node: Option<&Node>| node.map(|node| String::from_utf8_lossy(&node.content).into_owned());
    let each = plan.changes.iter().map(|change| {
        json!({
            "type": "diff",
            "path": folder.join(&change.path),
            "oldText": text(change.after.as_ref()),
            "newText": text(change.before.as_ref()).unwrap_or_default(),
        })
    });
    Some(each.collect())
}

struct Files<F>(F);

impl<F: Fn(&Path) -> LookupResult> interlock_workspace::patch::Look for Files<F> {
    fn look(&self, path: &Path) -> LookupResult {
        (self.0)(path)
    }
}

/// Returns the diff in the other direction.
fn reversed(diff: &str) -> String {
    let mut out = String::with_capacity(diff.len());
    let mut header: Option<&str> = None;
    for line in diff.lines() {
        let turned = if let Some(name) = line.strip_prefix("--- ") {
            header = Some(name);
            continue;
        } else if let Some(name) = line.strip_prefix("+++ ").filter(|_| header.is_some()) {
            let swap = |name: &str, from: &str, to: &str| match name.strip_prefix(from) {
                Some(rest) => format!("{to}{rest}"),
                None => name.to_owned(),
            };
            format!("--- {}\n+++ {}", swap(name, "b/", "a/"), swap(header.take().unwrap_or_default(), "a/", "b/"))
        } else if let Some(range) = line.strip_prefix("@@ -") {
            let mut parts = range.splitn(3, ' ');
            let (old, new) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
            format!("@@ -{} +{old} @@", new.trim_start_matches('+'))
        } else if let Some(rest) = line.strip_prefix('+') {
            format!("-{rest}")
        } else if let Some(rest) = line.strip_prefix('-') {
            format!("+{rest}")
        } else {
            line.to_owned()
        };
        out.push_str(&turned);
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_shown_as_the_text_before_and_after() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "one\nzwei\nthree\n").unwrap();
        let diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n";
        let shown = diffs(folder.path(), diff, false).unwrap();
        assert_eq!(shown[0]["oldText"], "one\ntwo\nthree\n");
        assert_eq!(shown[0]["newText"], "one\nzwei\nthree\n");
    }

    #[test]
    fn a_new_file_has_no_old_text() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("new"), "x\n").unwrap();
        let shown = diffs(folder.path(), "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n", false).unwrap();
        assert_eq!((&shown[0]["oldText"], &shown[0]["newText"]), (&Json::Null, &json!("x\n")));
    }

    #[test]
    fn a_prompt_is_its_text_and_its_resources() {
        let blocks = json!([
            { "type": "text", "text": "Fix this" },
            { "type": "resource", "resource": { "uri": "file:///a.rs", "text": "fn a() {}" } },
            { "type": "image", "data": "…" },
        ]);
        assert_eq!(prompt(&blocks), "Fix this\nfile:///a.rs:\n```\nfn a() {}\n```");
    }
}
