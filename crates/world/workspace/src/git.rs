//! Calls of git with the errors of this crate.

pub(crate) use interlock_git::{join, split};

use crate::{Result, private::VIEW_FILES};

/// A call of git.
pub(crate) type Git = interlock_git::Git<crate::Error>;

/// Returns the paths whose files differ from an index, without ignored files and without the views of runs.
pub(crate) fn differing(git: &Git) -> Result<Vec<Vec<u8>>> {
    let listed = ["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard", "--", ":/"];
    let views = VIEW_FILES.map(|path| format!(":(top,exclude,glob)**/{path}"));
    let mut paths = git.paths(&[&listed[..], &views.each_ref().map(String::as_str)].concat())?;
    paths.sort();
    paths.dedup();
    // A repository inside is listed with a slash at the end.
    paths.iter_mut().for_each(|path| path.truncate(path.len() - usize::from(path.ends_with(b"/"))));
    Ok(paths)
}

/// Takes the files at these paths into an index. `git add` would enter submodules to see if they have changed; here only
/// their commits are read. A program may exchange a directory for a link meanwhile, so git reads nothing but the workspace
/// and its repository.
pub(crate) fn take_in(git: &Git, paths: Vec<Vec<u8>>) -> Result<()> {
    let update = ["update-index", "--add", "--remove", "--replace", "-z", "--stdin"];
    match paths.is_empty() {
        true => Ok(()),
        false => git.clone().reading_only([]).run_with(&update, &join(paths)).map(drop),
    }
}
