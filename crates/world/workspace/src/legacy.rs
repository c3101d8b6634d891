//! Reads snapshots of earlier versions of Interlock, which stored them in the user's repository under `refs/interlock`.
//! They are imported into the private directory on demand. Nothing is written to the user's repository.

use crate::{Error, Result, git::Git, private::Private};

/// Returns `git` calls on the user's repository, if there is one.
pub(crate) fn git(private: &Private) -> Option<Git> {
    let repository = private.place.repository.as_ref()?;
    Some(Git::new(&private.place.root, &repository.git_dir))
}

/// Returns the references with a prefix in the user's repository and their trees.
pub(crate) fn names(private: &Private, prefix: &str) -> Vec<(String, String)> {
    // Snapshots of the earliest version are commits.
    let tree = "%(if)%(tree)%(then)%(tree)%(else)%(objectname)%(end)";
    let format = format!("--format=%(refname) {tree}");
    // If the repository cannot be read, the result is empty.
    let found = git(private).and_then(|git| git.line(&["for-each-ref", &format, prefix]).ok()).unwrap_or_default();
    found.lines().filter_map(|line| line.split_once(' ')).map(|(name, tree)| (name.into(), tree.into())).collect()
}

/// Imports a snapshot and returns its tree.
pub(crate) fn bring(private: &Private, name: &str) -> Result<Option<String>> {
    let Some(theirs) = git(private) else { return Ok(None) };
    let Ok(tree) = theirs.line(&["rev-parse", "--quiet", "--verify", &format!("{name}^{{tree}}")]) else {
        return Ok(None);
    };
    bring_tree(private, &theirs, &tree)?;
    private.git().run(&["update-ref", name, &tree])?;
    Ok(Some(tree))
}

fn bring_tree(private: &Private, theirs: &Git, tree: &str) -> Result<()> {
    let objects = theirs.run(&["rev-list", "--objects", "--no-object-names", tree])?;
    let pack = theirs.run_with(&["pack-objects", "--stdout", "-q"], &objects)?;
    let unpacked = private.git().run_with(&["index-pack", "--stdin"], &pack).map(drop);
    unpacked.map_err(|error| match error {
        Error::Git { said, .. } => Error::Git { doing: format!("index-pack of {tree}"), said },
        other => other,
    })
}
