//! Snapshots of earlier versions, which kept them in the user's own repository under `refs/interlock`. They are read there, and brought into the private
//! folder when one is needed; nothing is written there any more.

use crate::{Error, Result, git::Git, private::Private};

/// `git` about the user's repository, if there is one.
pub(crate) fn git(private: &Private) -> Option<Git> {
    let repository = private.place.repository.as_ref()?;
    Some(Git::new(&private.place.root, &repository.git_dir))
}

/// The names with a prefix and their trees, in the user's repository.
pub(crate) fn names(private: &Private, prefix: &str) -> Vec<(String, String)> {
    // One that was taken by the earliest version is a commit.
    let tree = "%(if)%(tree)%(then)%(tree)%(else)%(objectname)%(end)";
    let format = format!("--format=%(refname) {tree}");
    // A repository that cannot be read has none.
    let found = git(private).and_then(|git| git.line(&["for-each-ref", &format, prefix]).ok()).unwrap_or_default();
    found.lines().filter_map(|line| line.split_once(' ')).map(|(name, tree)| (name.into(), tree.into())).collect()
}

/// Brings a snapshot over; its tree.
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
