//! Hides a store that lies in the workspace. A program that could write there could forge the records of runs.
//!
//! Landlock cannot express "all of this directory except that one", so an empty directory that nobody can write is mounted
//! in place of the store. The directories above it are mounted on themselves, which keeps the program from renaming them.

use std::path::{Path, PathBuf};

use interlock_beneath::{Folder, whole::open_place};
use rustix::{
    fd::{AsFd, AsRawFd},
    mount::{MountFlags, mount, mount_bind, mount_bind_recursive, mount_remount},
};

use super::Refusal;
use crate::{Enforced, Kind, LaunchOrder};

/// Hides the store if it is in the workspace. Bubblewrap has done that already.
pub(super) fn hide(order: &LaunchOrder, can_mount: bool, enforced: &mut Enforced) -> Result<(), Refusal> {
    let rules = &order.rules;
    // A copy of the workspace that is shown in its place has no store.
    let Some(store) = rules.store_within().filter(|_| rules.sandbox == Kind::Landlock) else { return Ok(()) };
    let (shown, workspace) = (store.display(), rules.workspace.display());
    if !can_mount || store == rules.workspace {
        return Err(Refusal::cannot(format!(
            "the store {shown} is in the workspace {workspace}, where the program could change the records of runs. \
             Set INTERLOCK_HOME to a directory outside of it; hiding the store needs namespaces"
        )));
    }
    mask(&rules.workspace, &store, &rules.write)
        .map_err(|why| Refusal::cannot(format!("the store {shown} in the workspace cannot be hidden: {why}")))?;
    enforced.hidden.push(store.display().to_string());
    Ok(())
}

fn mask(workspace: &Path, store: &Path, write: &[PathBuf]) -> std::io::Result<()> {
    let in_store = write.iter().filter_map(|place| place.canonicalize().ok()).filter(|place| place.starts_with(store));
    let kept: Vec<_> = in_store.map(|place| Ok((open_place(&place)?, place))).collect::<std::io::Result<_>>()?;
    let mut above: Vec<_> = store.ancestors().skip(1).take_while(|folder| *folder != workspace).collect();
    above.reverse();
    for folder in above {
        let opened = Folder::open(folder)?;
        mount_bind_recursive(by_handle(&opened), by_handle(&opened))?;
    }
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("store", by_handle(&Folder::open(store)?), "tmpfs", flags, c"mode=755")?;
    let hidden = Folder::open(store)?;
    for (opened, place) in &kept {
        let below = place.strip_prefix(store).unwrap_or(place);
        hidden.make_folders(below)?;
        mount_bind(by_handle(opened), by_handle(&hidden.folder(below)?))?;
    }
    Ok(mount_remount(by_handle(&Folder::open(store)?), flags | MountFlags::RDONLY | MountFlags::BIND, c"")?)
}

fn by_handle(opened: &impl AsFd) -> String {
    format!("/proc/self/fd/{}", opened.as_fd().as_raw_fd())
}
