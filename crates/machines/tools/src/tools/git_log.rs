//! `git_log`: the latest commits.

use interlock_policy::Request;
use serde_json::{Value as Json, json};

use super::{arguments, number, text};
use crate::{
    Effect, Tool, ToolError,
    args::Args,
    problem::io,
    requests::{Given, Unstated},
    scene::Scene,
};

/// The number of commits if the call gives none.
const COMMITS: usize = 20;

pub(super) fn tool() -> Tool {
    Tool {
        name: "git_log",
        description: "Lists the latest commits, newest first.",
        args_schema: arguments(
            0,
            [
                ("path", text("Only commits that changed this file or directory")),
                ("max", number(1, 200, "The most commits; 20 if it is missing")),
            ],
        ),
        result: "`commits` (`hash`, `date`, `author`, `subject`)",
        permission: "fs.read",
        effect: Effect::Read,
        idempotent: true,
    }
}

pub(super) fn requests(given: &Given<'_>) -> Result<Vec<Request>, Unstated> {
    given.reads_place()
}

pub(super) fn call(scene: &Scene, args: &Args) -> Result<Json, ToolError> {
    let path = scene.place(args.text("path"))?;
    let log = scene.workspace.history_log(&scene.root, &path, args.number("max", COMMITS));
    let log = log.map_err(|error| io(error.to_string()))?;
    let commit = |line: &str| {
        let mut parts = line.splitn(4, '\u{1f}');
        let mut next = || parts.next().unwrap_or_default().to_owned();
        json!({ "hash": next(), "date": next(), "author": next(), "subject": next() })
    };
    Ok(json!({ "commits": log.lines().map(commit).collect::<Vec<_>>() }))
}
