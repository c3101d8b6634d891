//! `interlock apply`: brings the result of a run into the checkout: of its worktree, or of its branch if it worked in place.

use interlock_chart::counted;
use interlock_journal::{Head, Phase};
use interlock_workspace::{Applied, Error, apply_in_place};
use serde_json::json;

use super::Outcome;
use crate::{
    Exit,
    applied::Ways,
    failure::Failure,
    output::Output,
    result::{Place, RunResult},
    store::{Store, redactor},
    worktree,
};

/// Applies the result and reports the changed files.
pub(crate) fn run(run: &str, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(run)?;
    if head.phase == Phase::Active {
        return Err(Failure::failed(format!("{} is still at work", head.name))
            .hint(format!("`interlock watch {0}` follows it, `interlock pause {0}` makes it stand still", head.name)));
    }
    let (applied, checkout) = match worktree::find(&store, &head.name)? {
        Some(mut kept) => {
            let applied = kept.tree.apply_refusing(&redactor()).map_err(|error| refused(&error, &kept.tree.branch))?;
            kept.tree.applied = Some(applied.content.clone());
            kept.save()?;
            (applied, kept.tree.checkout)
        }
        None => in_place(&store, &head)?,
    };
    if let Some(undo) = &applied.undo {
        let mut ways = Ways::of(&store, &head.name)?;
        ways.add(undo.clone());
        ways.save()?;
    }
    let (files, commits) = (applied.paths.len() as u64, applied.commits as u64);
    let checkout = checkout.display().to_string();
    if output.is_json() {
        output.json(&json!({ "run": head.name, "checkout": checkout, "paths": applied.paths, "commits": commits }))?;
        return Ok(Exit::Good);
    }
    output.data(&match (files, commits) {
        (0, 0) => format!("{}  nothing to apply\n", head.name),
        _ => format!(
            "{}  {} changed, {} in {checkout}\n",
            head.name,
            counted(files, "file", "files"),
            counted(commits, "commit", "commits"),
        ),
    })?;
    Ok(Exit::Good)
}

/// Applies the commit of a run that worked in the checkout itself.
fn in_place(store: &Store, head: &Head) -> Result<(Applied, std::path::PathBuf), Failure> {
    let result = RunResult::of(store, head)?;
    let Some(RunResult { branch: Some(branch), commit: Some(commit), place: Place::Checkout(folder), .. }) = result
    else {
        return Err(Failure::bad_input(format!("{} has no commit to apply, and no worktree", head.name))
            .hint(format!("`interlock show {}` says how it ended", head.name)));
    };
    let applied = apply_in_place(&folder, &commit, &redactor()).map_err(|error| refused(&error, &branch))?;
    Ok((applied, folder))
}

fn refused(error: &Error, branch: &str) -> Failure {
    Failure::failed(error.to_string()).hint(format!("commit or stash your changes, or use git: `git merge {branch}`"))
}
