//! `interlock snapshots`: lists, compares and copies the snapshots of a run's workspace.

use std::path::Path;

use interlock_runtime::{Live, Snapshot, Workspace};
use serde_json::json;

use super::Outcome;
use crate::{Exit, args::Snapshots, failure::Failure, output::Output, store::Store};

/// Lists snapshots, copies one, or shows the difference between two.
pub(crate) fn run(args: &Snapshots, output: &Output) -> Outcome {
    let store = Store::open()?;
    let live = store.live(&store.find(&args.run)?)?;
    let workspace = Workspace::new(&store.home);
    let known = workspace.snapshots(&live.folder, &live.name).map_err(failed)?;
    match (&args.snapshot, &args.into, &args.diff) {
        (Some(name), Some(into), _) => copy(&workspace, &live, find(&known, name)?, into, output),
        (Some(name), None, Some(other)) => {
            let (from, to) = (find(&known, name)?, find(&known, other)?);
            let diff = workspace.diff_trees(&live.folder, &from.tree, &to.tree).map_err(failed)?;
            output.content(&diff)?;
            Ok(Exit::Good)
        }
        (Some(name), None, None) => list(&[find(&known, name)?], output),
        (None, ..) => list(&known.iter().collect::<Vec<_>>(), output),
    }
}

fn list(snapshots: &[&Snapshot], output: &Output) -> Outcome {
    if output.is_json() {
        output.json(&json!(snapshots))?;
        return Ok(Exit::Good);
    }
    let lines = snapshots.iter().map(|snapshot| format!("{}  {}\n", snapshot.name, snapshot.tree));
    output.data(&lines.collect::<String>())?;
    Ok(Exit::Good)
}

fn copy(workspace: &Workspace, live: &Live, snapshot: &Snapshot, into: &Path, output: &Output) -> Outcome {
    let is_free = into.read_dir().map_or(!into.exists(), |mut entries| entries.next().is_none());
    if !is_free {
        return Err(
            Failure::bad_input(format!("{} is not empty", into.display())).hint("name a directory that does not exist")
        );
    }
    let into = std::path::absolute(into).map_err(|error| Failure::failed(error.to_string()))?;
    workspace.export_tree(&live.folder, &snapshot.tree, &into).map_err(failed)?;
    output.talk(&format!("snapshot {} of {} is in {}\n", snapshot.name, live.name, into.display()));
    Ok(Exit::Good)
}

fn find<'s>(known: &'s [Snapshot], name: &str) -> Result<&'s Snapshot, Failure> {
    let found = known.iter().find(|snapshot| snapshot.name == name || snapshot.reference == name);
    found.ok_or_else(|| {
        Failure::bad_input(format!("the run has no snapshot `{name}`"))
            .hint("`interlock snapshots R` lists the snapshots")
    })
}

fn failed(error: impl ToString) -> Failure {
    Failure::failed(error.to_string())
}
