//! The changed files and the diff of a write: of one that was made, and of one that is asked about.

use std::path::Path;

use interlock_beneath as beneath;
use interlock_workspace::patch::{Kind, Node, Plan, Planned, check_path};
use serde_json::{Value as Json, json};
use similar::{ChangeTag, TextDiff};

use crate::{cut, scene::is_binary};

/// The lines of context around a change.
const CONTEXT: usize = 3;

/// The most bytes of a diff in a result.
const DIFF_BYTES_MAX: usize = 16 * 1024;

/// The longest file whose diff is computed.
const FILE_BYTES_MAX: usize = 1024 * 1024;

/// Returns the fields of a write's result.
pub(crate) fn written(plan: &Plan) -> Json {
    let files: Vec<Json> = plan.changes.iter().map(file).collect();
    let diff: String = plan.changes.iter().map(unified).collect();
    let (diff, is_cut) = cut::after_lines(&diff, DIFF_BYTES_MAX, "`git_diff` shows the changes of one path");
    json!({ "files": files, "diff": diff, "truncated": is_cut })
}

/// Returns the diff that a call of a tool that writes would make in a directory, for a person who is asked about it. A
/// patch is shown as it is.
pub fn preview(folder: &Path, name: &str, args: &Json) -> Option<String> {
    let text = |field: &str| args[field].as_str();
    if name == "apply_patch" {
        return text("patch").map(str::to_owned);
    }
    let path = check_path(text("path")?.as_bytes()).ok()?;
    let now = beneath::read(folder, &path, FILE_BYTES_MAX as u64).ok();
    let node = |content: Vec<u8>| Node { kind: Kind::File, content };
    let after = match name {
        "write_file" => Some(node(text("content")?.as_bytes().to_vec())),
        "delete_file" => None,
        _ => return None,
    };
    Some(unified(&Planned { path, before: now.map(node), after }))
}

fn file(change: &Planned) -> Json {
    let word = match (&change.before, &change.after) {
        (None, _) => "added",
        (_, None) => "deleted",
        _ => "modified",
    };
    let mut said = json!({ "path": change.path.to_string_lossy(), "change": word });
    if let (Some(old), Some(new)) = (text(change.before.as_ref()), text(change.after.as_ref())) {
        let diff = TextDiff::from_lines(old, new);
        let count = |tag: ChangeTag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
        said["added_lines"] = json!(count(ChangeTag::Insert));
        said["removed_lines"] = json!(count(ChangeTag::Delete));
    }
    said
}

fn unified(change: &Planned) -> String {
    let path = change.path.to_string_lossy();
    let name = |prefix: &str, node: &Option<Node>| match node {
        Some(_) => format!("{prefix}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (name("a", &change.before), name("b", &change.after));
    match (text(change.before.as_ref()), text(change.after.as_ref())) {
        (Some(old), Some(new)) => {
            TextDiff::from_lines(old, new).unified_diff().context_radius(CONTEXT).header(&from, &to).to_string()
        }
        _ => format!("--- {from}\n+++ {to}\n(binary or very long: not shown)\n"),
    }
}

/// Returns the text of a file; a missing file is empty.
fn text(node: Option<&Node>) -> Option<&str> {
    let Some(node) = node else { return Some("") };
    match node.content.len() > FILE_BYTES_MAX || is_binary(&node.content) {
        true => None,
        false => std::str::from_utf8(&node.content).ok(),
    }
}
