//! Tool calls as requests: the actions of each tool that an agent may call.

use interlock_policy::{ChangeKind, Command, FileChange, Freedom, Patch, PathOp, Request};
use interlock_workspace::patch as text;
use serde_json::{Map, Value as Json};

use super::patch;

/// The actions of a tool call.
#[derive(Debug)]
pub(super) struct Meant {
    pub(super) requests: Vec<Request>,
    /// The effect class of the call, which decides how a crash during it is handled: `read`, `write` or `external`.
    pub(super) effect: &'static str,
}

/// Checks the arguments of a tool and returns its actions.
pub(super) fn meant(name: &str, args: &Map<String, Json>) -> Result<Meant, String> {
    let text = |field: &str| match args.get(field) {
        Some(Json::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("`{name}`: `{field}` must be a string")),
        None => Err(format!("`{name}`: `{field}` is missing")),
    };
    let or_here = |field: &str| if args.contains_key(field) { text(field) } else { Ok(".".to_owned()) };
    let path = |op, path| Request::Path { op, path };
    Ok(match name {
        "read_file" => Meant { requests: vec![path(PathOp::Read, text("path")?)], effect: "read" },
        "list_dir" | "glob" | "grep" | "search" | "git_diff" | "git_log" => {
            Meant { requests: vec![path(PathOp::Read, or_here("path")?)], effect: "read" }
        }
        "write_file" => Meant { requests: vec![written(text("path")?, args)], effect: "write" },
        "delete_file" => Meant { requests: vec![path(PathOp::Delete, text("path")?)], effect: "write" },
        "apply_patch" => Meant { requests: vec![patched(&text("patch")?)?], effect: "write" },
        "run_terminal_cmd" => {
            let command = text("command")?;
            let online = args.get("network") == Some(&Json::Bool(true));
            let reach = online.then(|| Request::Unconfined { freedom: Freedom::AnyHost, command: command.clone() });
            let run = std::iter::once(Request::Command(Command::Shell(command)));
            Meant { requests: run.chain(reach).collect(), effect: "external" }
        }
        other => return Err(format!("there is no tool called `{other}`")),
    })
}

fn written(path: String, args: &Map<String, Json>) -> Request {
    let content = args.get("content").and_then(Json::as_str).unwrap_or_default();
    let added = content.lines().map(str::to_owned).collect();
    Request::Patch(Patch { files: vec![FileChange { path, kind: ChangeKind::Modified, added, removed: Vec::new() }] })
}

fn patched(patch: &str) -> Result<Request, String> {
    let read = text::Patch::parse(patch.as_bytes()).map_err(|problem| format!("`apply_patch`: {problem}"))?;
    Ok(Request::Patch(patch::seen(&read)))
}

/// Returns the requests of a tool call in a plan, which may omit arguments: missing ones are only known when the tool
/// is called.
pub(super) fn hinted(name: &str, args: &Map<String, Json>) -> Result<Vec<Request>, String> {
    let has = |field: &str| args.get(field).is_some_and(Json::is_string);
    let is_known = match name {
        "read_file" | "write_file" | "delete_file" => has("path"),
        "apply_patch" => has("patch"),
        "run_terminal_cmd" => has("command"),
        _ => true,
    };
    match (is_known, name) {
        (true, _) => meant(name, args).map(|meant| meant.requests),
        // The subject is unknown, but the kind of action is certain.
        (false, "delete_file") => Ok(vec![Request::Path { op: PathOp::Delete, path: "?".to_owned() }]),
        (false, "run_terminal_cmd") => Ok(vec![Request::Command(Command::Shell("$COMMAND".to_owned()))]),
        (false, "write_file" | "apply_patch") => Ok(vec![Request::Path { op: PathOp::Write, path: "?".to_owned() }]),
        (false, _) => Ok(Vec::new()),
    }
}
