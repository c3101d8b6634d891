//! A workspace that a program must not change.
//!
//! Programs that only check something still write: build products, caches, reports. In namespaces these writes go to a
//! private layer over the workspace and are thrown away. Otherwise Landlock refuses them. Directories with caches stay
//! writable in both cases, so that not everything is built anew each time.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, CWD, StatxFlags, statx},
    mount::{MountFlags, mount},
};

use super::views;
use crate::{
    Enforced, LaunchOrder, View, WorkspaceAccess,
    credentials::bytes,
    gitlinks::INDEX_BYTES_MAX,
    repository::{index_of, workspace_of},
};

/// The name of the private layer in the temporary directory.
const LAYER: &str = "workspace";

/// The file that marks a directory as a cache, which can be made again (<https://bford.info/cachedir>).
const TAG: &str = "CACHEDIR.TAG";

/// The time in seconds by which a file in a cache may be older than the tag.
const SLACK_S: i64 = 1;

/// Keeps the workspace as it is. Returns the places in it that stay writable.
pub(super) fn keep(order: &LaunchOrder, temp: &Path, can_mount: bool, enforced: &mut Enforced) -> Vec<PathBuf> {
    let rules = &order.rules;
    let mut open = caches(&rules.workspace, &order.folder);
    let named = rules.write.iter().filter_map(|place| place.canonicalize().ok());
    open.extend(named.filter(|place| place.starts_with(&rules.workspace) && place.is_dir()));
    let why = match can_mount {
        true => lay_over(&rules.workspace, &open, temp).err().map(|error| error.to_string()),
        false => Some("that needs namespaces".to_owned()),
    };
    enforced.workspace = if why.is_none() { WorkspaceAccess::Private } else { WorkspaceAccess::ReadOnly };
    enforced.missing.extend(why.map(|why| format!("the workspace has no private place for build products: {why}")));
    open
}

fn lay_over(workspace: &Path, open: &[PathBuf], temp: &Path) -> io::Result<()> {
    let layer = temp.join(LAYER);
    fs::create_dir(&layer)?;
    let parts = || ["upper", "work"].iter().try_for_each(|part| fs::create_dir_all(layer.join(part)));
    parts()?;
    let view = |at: &Path, writes| View { at: at.to_owned(), shows: at.to_owned(), writes };
    let own = view(workspace, Some(layer.clone()));
    let all: Vec<_> = std::iter::once(own).chain(open.iter().map(|place| view(place, None))).collect();
    views::mount_all(&all, temp, true).or_else(|_| {
        // Some file systems cannot hold a layer, such as those of containers. Memory can.
        mount("layer", &layer, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, None)?;
        parts()?;
        views::mount_all(&all, temp, true).map_err(|refusal| io::Error::other(refusal.why))
    })
}

/// Returns the directories at the top of the workspace and of a directory that are marked as caches and have no file that
/// git tracks.
fn caches(workspace: &Path, folder: &Path) -> Vec<PathBuf> {
    let index = index_of(workspace).and_then(|index| bytes(&index, INDEX_BYTES_MAX));
    let top = workspace_of(folder).ok().filter(|top| top == workspace).map(|_| folder);
    let folders = [Some(workspace), top.filter(|folder| *folder != workspace)];
    let entries = folders.into_iter().flatten().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    let real = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path());
    let is_file = |path: &Path| fs::symlink_metadata(path).is_ok_and(|about| about.is_file());
    let is_cache = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let inside = [name, b"/"].concat();
        let is_tracked = index.as_ref().is_some_and(|index| index.windows(inside.len()).any(|part| part == inside));
        name != b".git" && is_file(&path.join(TAG)) && !is_tracked && is_oldest(path)
    };
    real.filter(is_cache).collect()
}

/// Returns true if the tag of a directory is as old as everything else in it. A program can put a tag into a person's
/// directory, and can change neither when the files there were made nor when the tag was put there. If the file system
/// does not know that, the answer is no.
fn is_oldest(folder: &Path) -> bool {
    let times = |path: &Path| {
        let about = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME | StatxFlags::CTIME).ok()?;
        let is_known = about.stx_mask & StatxFlags::BTIME.bits() != 0;
        is_known.then_some((about.stx_btime.tv_sec, about.stx_ctime.tv_sec))
    };
    let Some((_, tagged)) = times(&folder.join(TAG)) else { return false };
    let Ok(mut entries) = fs::read_dir(folder) else { return false };
    // The maker of a cache writes the tag and a few files beside it in one go.
    entries.all(|entry| entry.is_ok_and(|entry| times(&entry.path()).is_some_and(|(made, _)| made + SLACK_S >= tagged)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_that_was_put_beside_an_older_file_marks_no_cache() {
        // The program of this test is the older file: nobody can make a file that was made in the past.
        let older = std::env::current_exe().unwrap();
        let folder = tempfile::tempdir_in(older.parent().unwrap()).unwrap();
        fs::write(folder.path().join(TAG), "").unwrap();
        fs::write(folder.path().join("product"), "").unwrap();
        assert!(is_oldest(folder.path()));
        fs::hard_link(&older, folder.path().join("diary")).unwrap();
        assert!(!is_oldest(folder.path()));
    }
}
