//! `read_file`: the lines of a text file.

use interlock_policy::{PathOp, Request};
use serde_json::{Value as Json, json};

use super::{arguments, number, text};
use crate::{
    Effect, Tool, ToolError,
    args::Args,
    cut::{TEXT_BYTES_MAX, beginning},
    requests::{Given, Unstated},
    scene::{Scene, is_binary, shown},
};

/// The number of lines if the call gives none.
const LINES: usize = 1_000;

/// The longest line that is shown; the rest of it is left out.
const LINE_BYTES_MAX: usize = 4 * 1024;

pub(super) fn tool() -> Tool {
    Tool {
        name: "read_file",
        description: "Reads a text file of the workspace. Paths are relative to the workspace's root. Read a file before \
                      you change it. A long file is cut; the marker at the end says how to read on.",
        args_schema: arguments(
            1,
            [
                ("path", text("The file, relative to the workspace's root")),
                ("offset", json!({ "type": "integer", "minimum": 1, "description": "The first line, from 1" })),
                ("limit", number(1, 5_000, "The number of lines; 1000 if it is missing")),
            ],
        ),
        result: "`path`, `content`, `from_line`, `to_line`, `total_lines`, `bytes`, `truncated`; `binary: true` and no \
                 content for a binary file",
        permission: "fs.read",
        effect: Effect::Read,
        idempotent: true,
    }
}

pub(super) fn requests(given: &Given<'_>) -> Result<Vec<Request>, Unstated> {
    Ok(vec![Request::Path { op: PathOp::Read, path: given.need("path")? }])
}

pub(super) fn call(scene: &Scene, args: &Args) -> Result<Json, ToolError> {
    let path = scene.path(args.need("path"))?;
    let content = scene.read(&path)?;
    scene.seen.add(&path, &content);
    if is_binary(&content) {
        let note = format!("[a binary file of {} bytes; it is not shown]", content.len());
        return Ok(json!({ "path": shown(&path), "binary": true, "bytes": content.len(), "content": note }));
    }
    let whole = String::from_utf8_lossy(&content);
    let (first, limit) = (args.number("offset", 1), args.number("limit", LINES));
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let mut shown_text = String::new();
    let mut next = first;
    while let Some(line) = lines.get(next - 1).filter(|_| next - first < limit) {
        let line = shortened(line);
        if shown_text.len() + line.len() > TEXT_BYTES_MAX {
            break;
        }
        shown_text.push_str(&line);
        next += 1;
    }
    let is_cut = next <= lines.len();
    if is_cut {
        let line_break = if shown_text.is_empty() || shown_text.ends_with('\n') { "" } else { "\n" };
        let (path, total) = (shown(&path), lines.len());
        shown_text.push_str(&format!(
            "{line_break}[cut: lines {next} to {total} are not shown; read on with read_file {{\"path\": {}, \"offset\": \
             {next}}}]\n",
            json!(path)
        ));
    } else if first > lines.len().max(1) {
        let why = format!("is {first}, but {} has {} lines", shown(&path), lines.len());
        return Err(ToolError::argument("offset", why));
    }
    let mut said = json!({
        "path": shown(&path),
        "content": shown_text,
        "from_line": first,
        "to_line": next - 1,
        "total_lines": lines.len(),
        "bytes": content.len(),
        "truncated": is_cut,
    });
    if std::str::from_utf8(&content).is_err() {
        said["note"] = json!("the file is not UTF-8; bytes that are not shown as text stand as U+FFFD");
    }
    Ok(said)
}

fn shortened(line: &str) -> String {
    match line.len() > LINE_BYTES_MAX {
        true => {
            let kept = beginning(line, LINE_BYTES_MAX);
            format!("{kept} [cut: {} more bytes in this line; find a part of it with grep]\n", line.len() - kept.len())
        }
        false => line.to_owned(),
    }
}
