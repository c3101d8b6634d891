//! Reads the arguments of tools, whose names differ between agents.

use serde_json::Value as Json;

use super::{CallKind, ToolCall};

/// The names under which agents give a command line.
const COMMANDS: [&str; 3] = ["command", "cmd", "script"];

/// The names under which agents give a path.
const PATHS: [&str; 6] = ["file_path", "path", "filePath", "notebook_path", "abs_path", "target_file"];

/// The number of paths of a call that are kept.
const PATHS_MAX: usize = 32;

/// Returns a string field of an object.
pub(super) fn text<'j>(json: &'j Json, name: &str) -> Option<&'j str> {
    json.get(name).and_then(Json::as_str)
}

/// Builds a call from a tool's name and its arguments.
pub(super) fn call(id: &str, name: &str, kind: Option<&str>, input: &Json) -> ToolCall {
    let command = COMMANDS.iter().find_map(|field| command(input.get(field)?));
    let paths: Vec<String> = PATHS.iter().filter_map(|field| text(input, field)).map(str::to_owned).collect();
    let url = text(input, "url").map(str::to_owned);
    let kind = kind_of(name, kind, command.is_some(), url.is_some());
    // Some editors have a command too, such as `view` or `str_replace`.
    let command = command.filter(|_| kind == CallKind::Execute);
    ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        kind,
        command,
        paths: paths.into_iter().take(PATHS_MAX).collect(),
        url,
    }
}

fn command(value: &Json) -> Option<String> {
    match value {
        Json::String(text) => Some(text.clone()),
        Json::Array(words) => words.iter().map(Json::as_str).collect::<Option<Vec<_>>>().map(|words| words.join(" ")),
        _ => None,
    }
}

fn kind_of(name: &str, kind: Option<&str>, has_command: bool, has_url: bool) -> CallKind {
    match kind {
        Some("execute") => return CallKind::Execute,
        Some("edit" | "delete" | "move") => return CallKind::Edit,
        Some("read" | "search") => return CallKind::Read,
        Some("fetch") => return CallKind::Fetch,
        _ => {}
    }
    let name = name.rsplit(['/', ':', '.']).next().unwrap_or(name).to_lowercase();
    let name = name.rsplit("__").next().unwrap_or(&name);
    match name {
        "askuserquestion"
        | "ask_user_question"
        | "request_user_input"
        | "ask_user"
        | "ask_followup_question"
        | "question" => CallKind::Question,
        "bash" | "shell" | "exec_command" | "run_shell_command" | "local_shell" => CallKind::Execute,
        "edit" | "write" | "multiedit" | "notebookedit" | "text_editor" | "apply_patch" | "write_file"
        | "str_replace" => CallKind::Edit,
        "read" | "grep" | "glob" | "ls" | "tree" | "list_dir" | "read_file" | "view_image" => CallKind::Read,
        "webfetch" | "fetch" | "websearch" | "web_search" => CallKind::Fetch,
        _ if has_url => CallKind::Fetch,
        _ if has_command => CallKind::Execute,
        _ => CallKind::Other,
    }
}
