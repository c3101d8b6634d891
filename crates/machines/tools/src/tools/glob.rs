//! `glob`: the files whose paths fit a pattern.

use interlock_policy::Request;
use serde_json::{Value as Json, json};

use super::{arguments, text};
use crate::{
    Effect, Tool, ToolError,
    args::Args,
    requests::{Given, Unstated},
    scene::Scene,
    walk::{PathGlob, Walk},
};

/// The most paths in a result.
const PATHS_MAX: usize = 500;

pub(super) fn tool() -> Tool {
    Tool {
        name: "glob",
        description: "Finds files by a pattern such as `src/**/*.rs` or `*.toml`, without those that .gitignore excludes. \
                      `*` matches within a name, `**` across directories. A pattern without `/` matches names in any \
                      directory.",
        args_schema: arguments(
            1,
            [
                ("pattern", text("The pattern")),
                ("path", text("Only files below this directory, and the pattern is relative to it")),
            ],
        ),
        result: "`paths` (relative to the root), `total`, `truncated`",
        permission: "fs.read",
        effect: Effect::Read,
        idempotent: true,
    }
}

pub(super) fn requests(given: &Given<'_>) -> Result<Vec<Request>, Unstated> {
    given.reads_place()
}

pub(super) fn call(scene: &Scene, args: &Args) -> Result<Json, ToolError> {
    let below = scene.place(args.text("path"))?;
    let glob = PathGlob::parse("pattern", args.need("pattern"))?;
    let mut walk = Walk::below(scene, &below, None)?;
    let (mut paths, mut total): (Vec<String>, usize) = Default::default();
    for entry in walk.by_ref().filter(|entry| !entry.is_folder && glob.fits(&entry.path, &below)) {
        total += 1;
        if paths.len() < PATHS_MAX {
            paths.push(entry.path.to_string_lossy().into_owned());
        }
    }
    let is_cut = total > paths.len() || walk.is_cut;
    if is_cut {
        paths.push(format!("[cut: {total} files fit; give a narrower pattern or a `path`]"));
    }
    Ok(json!({ "paths": paths, "total": total, "truncated": is_cut }))
}
