//! File metadata that tells whether a file may have changed.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use rustix::fs::{FileType, Stat, statfs};

use crate::patch::Kind;

/// The time by which the file system's clock may lag behind the clock of the process: a tick of the kernel, doubled.
const LAG: Duration = Duration::from_millis(20);

/// The same for a file system that stores whole seconds only, or every other second.
const LAG_OF_SECONDS: Duration = Duration::from_secs(3);

/// File systems whose times come from the clock of this computer, by the numbers that `statfs` gives: ext2 to ext4, XFS,
/// Btrfs, tmpfs, overlay, ZFS, F2FS and bcachefs.
const LOCAL: [u32; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1, 0xf2f5_2010, 0xca45_1a4e];

/// Returns true if the metadata of the files in a directory can be trusted. The clock of a file server may lag.
pub(super) fn is_trusted(root: &Path) -> bool {
    statfs(root).is_ok_and(|about| u32::try_from(about.f_type).is_ok_and(|kind| LOCAL.contains(&kind)))
}

/// The metadata of a file. Every write changes it, unless it is the second write within one tick of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    size: i64,
    mode: u32,
    modified: (i64, i64),
    /// The time of the last change, which programs cannot set.
    changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(about: &Stat) -> Self {
        Stamp {
            device: about.st_dev,
            inode: about.st_ino,
            size: about.st_size,
            mode: about.st_mode,
            modified: (about.st_mtime, nanoseconds(about.st_mtime_nsec)),
            changed: (about.st_ctime, nanoseconds(about.st_ctime_nsec)),
        }
    }

    /// Returns the stamp if every write after `time` gives the file another stamp.
    pub(super) fn if_older_than(self, time: SystemTime) -> Option<Self> {
        let is_coarse = self.changed.1 == 0 && self.modified.1 == 0;
        let limit = time
            .checked_sub(if is_coarse { LAG_OF_SECONDS } else { LAG })?
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok()?;
        let limit = (i64::try_from(limit.as_secs()).ok()?, i64::from(limit.subsec_nanos()));
        (self.modified < limit && self.changed < limit).then_some(self)
    }

    pub(super) fn inode(&self) -> u64 {
        self.inode
    }

    pub(super) fn size(&self) -> u64 {
        u64::try_from(self.size).unwrap_or(0)
    }

    /// Returns the kind of the file, or `None` if snapshots store no such file: directories, sockets, devices.
    pub(super) fn kind(&self) -> Option<Kind> {
        match FileType::from_raw_mode(self.mode) {
            FileType::RegularFile if self.mode & 0o100 != 0 => Some(Kind::Executable),
            FileType::RegularFile => Some(Kind::File),
            FileType::Symlink => Some(Kind::Link),
            _ => None,
        }
    }

    pub(super) fn is_folder(&self) -> bool {
        FileType::from_raw_mode(self.mode) == FileType::Directory
    }
}

/// The type of this field depends on the system.
fn nanoseconds(value: impl TryInto<i64>) -> i64 {
    value.try_into().unwrap_or(i64::MAX)
}
