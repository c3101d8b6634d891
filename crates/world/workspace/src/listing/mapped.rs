//! Files that a process may write through a shared mapping without changing their times.
//!
//! A write through a mapping changes the times of a file only if its page is clean. File systems on a disk make pages
//! clean when they write them to the disk, so the files that were just written are written to the disk before they are
//! read: the next write shows. A file system in memory never does that. There, a file that a process has mapped for
//! writing is read again at every snapshot.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::Read,
    path::Path,
};

use interlock_beneath::Folder;
use rustix::fs::{Advice, fadvise, fdatasync, statfs};

/// The number of files that are waited for. The others are only sent to the disk.
const WAITED_MAX: usize = 64;

/// Maximum number of files that are sent to the disk.
const SENT_MAX: usize = 1_000;

/// Maximum size of the list of the mappings of a process.
const MAPS_BYTES_MAX: u64 = 16 << 20;

/// The number that `statfs` gives for a file system in memory.
const TMPFS: u32 = 0x0102_1994;

/// Returns true if the files of a directory are in memory only.
pub(crate) fn is_in_memory(root: &Path) -> bool {
    statfs(root).is_ok_and(|about| u32::try_from(about.f_type).is_ok_and(|kind| kind == TMPFS))
}

/// Lets the next write to each of these files change its times, if the file system is on a disk.
pub(crate) fn settle<'p>(root: &Path, paths: impl Iterator<Item = &'p [u8]>) {
    let Ok(folder) = Folder::open(root) else { return };
    for (number, path) in paths.take(SENT_MAX).enumerate() {
        let path = Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path));
        let Ok(file) = folder.open_file(path) else { continue };
        // If this fails, the file is as before: a write to it may be noticed later.
        let _ = match number < WAITED_MAX {
            true => fdatasync(&file),
            false => fadvise(&file, 0, None, Advice::DontNeed),
        };
    }
}

/// Returns the inodes of the files in memory that a process has mapped for writing, on any device. To be called before
/// the files are read. Empty for other file systems.
pub(crate) fn inodes(root: &Path) -> BTreeSet<u64> {
    if !is_in_memory(root) {
        return BTreeSet::new();
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = processes.filter(|entry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit));
    processes.flat_map(|process| of_process(&process.path().join("maps"))).collect()
}

fn of_process(maps: &Path) -> BTreeSet<u64> {
    let mut text = Vec::new();
    let read = File::open(maps).and_then(|file| file.take(MAPS_BYTES_MAX).read_to_end(&mut text));
    if read.is_err() {
        return BTreeSet::new();
    }
    String::from_utf8_lossy(&text).lines().filter_map(writable).collect()
}

/// Returns the inode of a mapping in a line `ADDRESS PERMISSIONS OFFSET DEVICE INODE PATH`, if it is shared and writable.
fn writable(line: &str) -> Option<u64> {
    let mut fields = line.split_ascii_whitespace();
    let permissions = fields.nth(1)?.as_bytes();
    let inode = fields.nth(2)?.parse().ok().filter(|inode| *inode != 0)?;
    matches!(permissions, [_, b'w', _, b's']).then_some(inode)
}

#[cfg(test)]
mod tests {
    use super::writable;

    #[test]
    fn only_shared_writable_mappings_of_files_count() {
        assert_eq!(writable("7f00-7f01 rw-s 00000000 00:19 4711 /dev/shm/a b"), Some(4711));
        assert_eq!(writable("7f00-7f01 r--s 00000000 00:19 4711 /dev/shm/a"), None);
        assert_eq!(writable("7f00-7f01 rw-p 00000000 00:19 4711 /dev/shm/a"), None);
        assert_eq!(writable("7f00-7f01 rw-s 00000000 00:01 0 [anon]"), None);
    }
}
