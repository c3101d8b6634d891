//! Calls as requests: what a call is about to do, as policy decides on it.
//!
//! Each tool states its own requests next to its work. `policy.call` asks for all of them before a call; `tool.call`
//! itself asks once more for commands and protected files.

use std::path::Path;

use interlock_policy::{ChangeKind, FileChange, Patch, PathOp, Permission, Request};
use interlock_sandbox::is_protected;
use interlock_workspace::patch::{self as text, FilePatch, Kind, Sign};
use serde_json::{Map, Value as Json};

use crate::tools;

/// The reason why the requests of a call cannot be stated.
#[derive(Debug)]
pub(crate) enum Unstated {
    /// An argument that the requests follow from is not given as a text.
    Missing(String),
    /// An argument does not fit.
    Wrong(String),
}

impl Unstated {
    fn why(self, tool: &str) -> String {
        match self {
            Unstated::Missing(why) | Unstated::Wrong(why) => format!("`{tool}`: {why}"),
        }
    }
}

/// The arguments of a call before they are checked: a plan may leave some out.
pub(crate) struct Given<'a>(&'a Map<String, Json>);

impl Given<'_> {
    /// Returns the text of a required argument.
    pub(crate) fn need(&self, name: &str) -> Result<String, Unstated> {
        match self.0.get(name) {
            Some(Json::String(text)) => Ok(text.clone()),
            Some(_) => Err(Unstated::Missing(format!("`{name}` must be a string"))),
            None => Err(Unstated::Missing(format!("`{name}` is missing"))),
        }
    }

    /// Returns the text of an argument, or an empty text.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.0.get(name).and_then(Json::as_str).unwrap_or_default()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name) == Some(&Json::Bool(true))
    }

    /// Returns the request to read the place that `path` names, or else the whole workspace.
    pub(crate) fn reads_place(&self) -> Result<Vec<Request>, Unstated> {
        let path = match self.0.get("path") {
            None => ".".to_owned(),
            Some(Json::String(path)) => path.clone(),
            Some(_) => return Err(Unstated::Wrong("`path` must be a string".to_owned())),
        };
        Ok(vec![Request::Path { op: PathOp::Read, path }])
    }
}

fn unknown(name: &str) -> String {
    format!("there is no tool called `{name}`")
}

/// Returns everything that a call does. An unknown tool, or arguments that do not tell, are an error.
pub fn requests(name: &str, args: &Map<String, Json>) -> Result<Vec<Request>, String> {
    let entry = tools::entry(name).ok_or_else(|| unknown(name))?;
    (entry.requests)(&Given(args)).map_err(|unstated| unstated.why(name))
}

/// Returns the requests of a call in a plan, which may omit arguments. If the subject is unknown, the kind of action is
/// still certain.
pub fn hinted(name: &str, args: &Map<String, Json>) -> Result<Vec<Request>, String> {
    let entry = tools::entry(name).ok_or_else(|| unknown(name))?;
    let path = |op| Ok(vec![Request::Path { op, path: "?".to_owned() }]);
    match (entry.requests)(&Given(args)) {
        Ok(requests) => Ok(requests),
        Err(unstated @ Unstated::Wrong(_)) => Err(unstated.why(name)),
        Err(unstated @ Unstated::Missing(_)) => match Permission::from_word((entry.tool)().permission) {
            Some(Permission::Read) => Ok(Vec::new()),
            Some(Permission::Write) => path(PathOp::Write),
            Some(Permission::Delete) => path(PathOp::Delete),
            Some(Permission::Exec) => {
                Ok(vec![Request::Command(interlock_policy::Command::Shell("$COMMAND".to_owned()))])
            }
            Some(Permission::Unconfined | Permission::Connect | Permission::GitWrite | Permission::Destroy) | None => {
                Err(unstated.why(name))
            }
        },
    }
}

/// Returns requests for the files in a patch that decide which programs run outside of the sandbox. The paths of the patch
/// are relative to `folder`, those of the protected files to `root`.
pub fn protected(patch: &Patch, root: &Path, folder: &Path) -> Vec<Request> {
    let changes = patch.files.iter().flat_map(|file| match &file.kind {
        ChangeKind::Deleted => vec![(&file.path, PathOp::Delete)],
        ChangeKind::Renamed { from } => vec![(from, PathOp::Delete), (&file.path, PathOp::Write)],
        ChangeKind::Added | ChangeKind::Modified | ChangeKind::Linked { .. } | ChangeKind::Binary => {
            vec![(&file.path, PathOp::Write)]
        }
    });
    changes.filter_map(|(path, op)| protected_path(root, &folder.join(path), op)).collect()
}

/// Returns the request for one path of the workspace, if it is protected.
pub(crate) fn protected_path(root: &Path, path: &Path, op: PathOp) -> Option<Request> {
    let is_protected = is_protected(path.strip_prefix(root).unwrap_or(path));
    is_protected.then(|| Request::Path { op, path: path.to_string_lossy().into_owned() })
}

/// Converts a patch to the form that policy reads.
pub fn seen(patch: &text::Patch) -> Patch {
    Patch { files: patch.files.iter().flat_map(|patch| left(patch).into_iter().chain([file(patch)])).collect() }
}

/// Returns the deletion of the old path, if a file is renamed and becomes a link: the change itself tells only the link.
fn left(file: &FilePatch) -> Option<FileChange> {
    let old = file.old.as_ref().filter(|_| file.is_rename() && file.new_kind == Some(Kind::Link))?;
    let path = old.to_string_lossy().into_owned();
    Some(FileChange { path, kind: ChangeKind::Deleted, added: Vec::new(), removed: Vec::new() })
}

fn file(file: &FilePatch) -> FileChange {
    let lines = |sign: Sign| {
        let lines = file.hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.sign == sign);
        lines.map(|line| String::from_utf8_lossy(&line.text).into_owned()).collect::<Vec<_>>()
    };
    let (added, removed) = (lines(Sign::Add), lines(Sign::Remove));
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let kind = match (&file.old, &file.new, file.new_kind) {
        (_, Some(_), Some(Kind::Link)) => ChangeKind::Linked { to: added.join("\n") },
        (_, Some(_), Some(Kind::Repository)) => ChangeKind::Binary,
        (None, ..) => ChangeKind::Added,
        (_, None, _) => ChangeKind::Deleted,
        (Some(old), Some(_), _) if file.is_rename() => ChangeKind::Renamed { from: text(old) },
        _ => ChangeKind::Modified,
    };
    FileChange { path: text(file.path()), kind, added, removed }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Effect, catalogue};

    /// Arguments with which every tool can be called.
    fn arguments(tool: &str) -> Map<String, Json> {
        let patch = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n";
        let given = match tool {
            "apply_patch" => json!({ "patch": patch }),
            "run_terminal_cmd" => json!({ "command": "true" }),
            _ => json!({ "path": "a" }),
        };
        given.as_object().unwrap().clone()
    }

    #[test]
    fn every_tool_states_what_it_does() {
        for tool in catalogue() {
            let requests = requests(tool.name, &arguments(tool.name)).unwrap();
            let reads = matches!(&requests[..], [Request::Path { op: PathOp::Read, .. }]);
            assert_eq!(reads, tool.effect == Effect::Read, "{}: {requests:?}", tool.name);
        }
    }

    #[test]
    fn a_call_that_does_not_tell_what_it_does_is_an_error() {
        let check = |name: &str, args: Json, expected: &str| {
            let found = requests(name, args.as_object().unwrap());
            assert_eq!(found.unwrap_err(), expected);
        };
        check("frobnicate", json!({ "command": "true" }), "there is no tool called `frobnicate`");
        check("run_terminal_cmd", json!({ "command": ["true"] }), "`run_terminal_cmd`: `command` must be a string");
        check("write_file", json!({ "content": "" }), "`write_file`: `path` is missing");
        assert!(requests("apply_patch", json!({ "patch": "@@" }).as_object().unwrap()).is_err());
    }

    #[test]
    fn a_plan_without_arguments_still_tells_the_kind_of_action() {
        for tool in catalogue() {
            let requests = hinted(tool.name, &Map::new()).unwrap();
            let reads = requests.iter().all(|request| matches!(request, Request::Path { op: PathOp::Read, .. }));
            assert_eq!(reads, tool.effect == Effect::Read, "{}: {requests:?}", tool.name);
        }
    }
}
