//! Makes files read-only for the program by mounts of its own. Needs a mount namespace, and the privileges in it.
//!
//! A file with a mount on it can neither be written nor removed nor renamed inside, and a folder cannot be renamed. Outside of the namespace nothing
//! changes: the user's own git can remove the same file meanwhile.

#![expect(clippy::disallowed_methods, reason = "the view is in a private directory, and the program has not begun")]

use std::{io, path::Path};

use rustix::{
    fs::{StatVfsMountFlags, statvfs},
    mount::{MountFlags, UnmountFlags, mount_bind, mount_remount, unmount},
};

use crate::{
    Enforced, GitHistory, Rules,
    history::{self, Store},
};

/// The name of the place, in the temporary directory, for a read-only view of a folder of objects. It is gone before the program begins.
const VIEW: &str = "objects";

/// Protects the history of the workspace's repository. `temp` is a directory of the program's own, in which a mount can be made.
pub(super) fn keep_history(rules: &Rules, temp: &Path, enforced: &mut Enforced) {
    if enforced.git_history == GitHistory::NoRepository {
        return;
    }
    let history = history::of(rules);
    let kept = history.stores.iter().try_for_each(|store| protect(store, &temp.join(VIEW)));
    enforced.git_history = match (kept, history.is_whole) {
        (Err(error), _) => {
            enforced.missing.push(format!("the history in .git cannot be made read-only: {error}"));
            GitHistory::Writable
        }
        (Ok(()), false) => {
            enforced.missing.push("the history in .git has too many files to make all of them read-only".into());
            GitHistory::PartlyReadOnly
        }
        (Ok(()), true) if history.stores.is_empty() => GitHistory::Writable,
        (Ok(()), true) => GitHistory::ReadOnly,
    };
}

/// Mounts every file of a store on itself, from a read-only view, so that one call is enough for each.
fn protect(store: &Store, view: &Path) -> io::Result<()> {
    store.folders.iter().try_for_each(|folder| mount_bind(folder, folder))?;
    std::fs::create_dir(view)?;
    mount_bind(&store.objects, view)?;
    read_only(view)?;
    for file in &store.files {
        match mount_bind(view.join(file), store.objects.join(file)) {
            // Removed meanwhile, as by the user's own git.
            Ok(()) | Err(rustix::io::Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    unmount(view, UnmountFlags::DETACH)?;
    std::fs::remove_dir(view)
}

/// Makes a mount read-only. Its other flags stay: a user may not take them away.
fn read_only(place: &Path) -> io::Result<()> {
    const KEPT: [(StatVfsMountFlags, MountFlags); 6] = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    let now = statvfs(place)?.f_flag;
    let kept = KEPT.iter().filter(|(has, _)| now.contains(*has)).map(|(_, flag)| *flag);
    let flags = kept.fold(MountFlags::BIND | MountFlags::RDONLY, |all, flag| all | flag);
    Ok(mount_remount(place, flags, "")?)
}
