//! `interlock map`: shows the important files and symbols of a repository.

use std::path::Path;

use interlock_codemap::{Survey, Wish};

use super::Outcome;
use crate::{Exit, args, failure::Failure, output::Output, store};

/// Prints the map of a directory.
pub(super) fn run(args: &args::Map, output: &Output) -> Outcome {
    // Without a store the map is not cached, but it can still be made.
    let home = store::home().ok();
    let folder = args.folder.as_deref().unwrap_or(Path::new("."));
    let survey = Survey::of(folder, home.as_deref()).map_err(Failure::bad_input)?;
    let wish = Wish::goal(args.goal.as_deref().unwrap_or_default());
    let map = survey.rank(&wish).map(args.tokens);
    match output.is_json() {
        true => output.json(&map)?,
        false => output.data(&map.to_text())?,
    }
    Ok(Exit::Good)
}
