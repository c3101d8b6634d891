//! `interlock apply`: brings the result of a run's worktree into the checkout.

use interlock_chart::counted;
use interlock_journal::Phase;
use serde_json::json;

use super::Outcome;
use crate::{
    Exit,
    failure::Failure,
    output::Output,
    store::{Store, redactor},
    worktree,
};

/// Applies the result and reports the changed files.
pub(crate) fn run(run: &str, output: &Output) -> Outcome {
    let store = Store::open()?;
    let head = store.find(run)?;
    let Some(mut kept) = worktree::find(&store, &head.name)? else {
        return Err(Failure::bad_input(format!("{} has no worktree", head.name))
            .hint("`interlock run M --worktree` gives a run one; `interlock gc` removes those that were applied"));
    };
    if head.phase == Phase::Active {
        return Err(Failure::failed(format!("{} is still at work", head.name))
            .hint(format!("`interlock watch {0}` follows it, `interlock pause {0}` makes it stand still", head.name)));
    }
    let branch = kept.tree.branch.clone();
    let refused = |error: interlock_workspace::Error| match error {
        interlock_workspace::Error::Commit(why) => Failure::failed(why)
            .hint(format!("the history of {branch} keeps it too: `git rebase --interactive` changes that")),
        error => Failure::failed(error.to_string())
            .hint(format!("commit or stash your changes, or use git: `git merge {branch}`")),
    };
    let applied = kept.tree.apply_refusing(&redactor()).map_err(refused)?;
    kept.tree.applied = Some(applied.content);
    kept.save()?;
    let (files, commits) = (applied.paths.len() as u64, applied.commits as u64);
    if output.is_json() {
        let checkout = kept.tree.checkout.display().to_string();
        output.json(&json!({ "run": head.name, "checkout": checkout, "paths": applied.paths, "commits": commits }))?;
        return Ok(Exit::Good);
    }
    output.data(&match files {
        0 => format!("{}  has changed nothing\n", head.name),
        _ => format!(
            "{}  {} changed, {} in {}\n",
            head.name,
            counted(files, "file", "files"),
            counted(commits, "commit", "commits"),
            kept.tree.checkout.display()
        ),
    })?;
    Ok(Exit::Good)
}
