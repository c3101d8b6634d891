//! Observes which files of its copy a check reads.
//!
//! Before a run, every file of the copy gets a time of last access that no clock shows. A file that has another time
//! afterwards was read. The kernel keeps these times by itself, so this costs nothing while the check runs. A program can
//! set the time back, but that changes the time of the last change of status, which no program can set.
//!
//! Some file systems keep no times of access. There, and if nothing at all was read, every file may have been read.

#![expect(clippy::disallowed_methods, reason = "the marker is beside the copy, where no program can write")]

use std::{
    collections::BTreeSet,
    fs::{self, FileTimes},
    io::{self, Read, Write},
    os::unix::fs::MetadataExt,
    path::Path,
    thread,
    time::{Duration, SystemTime},
};

use interlock_beneath::{FileType, Folder};

use super::{names, tree};

/// How often the clock of the file system is looked at, and how long one waits in between.
const TICKS_MAX: usize = 100;
const TICK: Duration = Duration::from_millis(1);

/// The files of a copy before a run.
pub(crate) struct Watch {
    /// The time of the last change of status that every file has at most.
    begun: (i64, i64),
}

impl Watch {
    /// Prepares a copy. Returns nothing if the file system keeps no times of access; `place` is a directory beside the copy.
    pub(crate) fn begin(copy: &Path, place: &Path) -> Option<Self> {
        let folder = Folder::open(copy).ok()?;
        for path in tree::list(copy) {
            // A file that cannot be prepared counts as read.
            let _ =
                folder.open_file(&names::path(&path)).map_err(io::Error::from).and_then(|file| forget_access(&file));
        }
        let marker = place.join("marker");
        let begun = read_once(&marker).ok()??;
        // From here on, whatever happens to a file has a later time.
        (0..TICKS_MAX).find(|_| {
            thread::sleep(TICK);
            fs::write(&marker, "later").and_then(|()| changed(&marker)).is_ok_and(|later| later > begun)
        })?;
        Some(Watch { begun })
    }

    /// Returns the files of a tree that the program has read in the copy of it, or may have read; `None` if it seems to
    /// have read none, so that reading is not seen here.
    pub(crate) fn read(&self, tree: &Path, copy: &Path) -> Option<BTreeSet<String>> {
        let folder = Folder::open(copy).ok()?;
        let is_unread = |path: &String| {
            folder.stat(&names::path(path)).is_ok_and(|about| {
                let changed = (about.st_ctime, i64::try_from(about.st_ctime_nsec).unwrap_or(i64::MAX));
                let is_file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
                is_file && about.st_atime == 0 && changed <= self.begun
            })
        };
        let read: BTreeSet<String> = tree::list(tree).into_iter().filter(|path| !is_unread(path)).collect();
        (!read.is_empty()).then_some(read)
    }
}

fn forget_access(file: &fs::File) -> io::Result<()> {
    file.set_times(FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH))
}

/// Writes a file, forgets its time of access, and reads it. Returns the time of its last change of status, or nothing if
/// reading does not show.
fn read_once(marker: &Path) -> io::Result<Option<(i64, i64)>> {
    let mut file = fs::File::create(marker)?;
    file.write_all(b"read me")?;
    forget_access(&file)?;
    let begun = changed(marker)?;
    fs::File::open(marker)?.read_to_end(&mut Vec::new())?;
    Ok((fs::symlink_metadata(marker)?.atime() != 0).then_some(begun))
}

fn changed(path: &Path) -> io::Result<(i64, i64)> {
    let about = fs::symlink_metadata(path)?;
    Ok((about.ctime(), about.ctime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree with four files and a copy of it beside it.
    fn copied(place: &Path) -> io::Result<(std::path::PathBuf, std::path::PathBuf)> {
        let (copy, tree) = (place.join("copy"), place.join("tree"));
        fs::create_dir(&copy)?;
        for name in ["read", "hidden", "untouched", "removed"] {
            fs::write(copy.join(name), name)?;
        }
        super::super::files::copy(&copy, &tree)?;
        Ok((copy, tree))
    }

    #[test]
    fn files_that_were_read_are_told_apart_even_if_the_time_is_set_back() -> io::Result<()> {
        let place = tempfile::tempdir()?;
        let (copy, tree) = copied(place.path())?;
        // A file system without times of access: there is nothing to tell apart.
        let Some(watch) = Watch::begin(&copy, place.path()) else { return Ok(()) };
        fs::read(copy.join("read"))?;
        fs::read(copy.join("hidden"))?;
        forget_access(&fs::File::open(copy.join("hidden"))?)?;
        fs::remove_file(copy.join("removed"))?;
        let read: Vec<String> = watch.read(&tree, &copy).into_iter().flatten().collect();
        assert_eq!(read, ["hidden", "read", "removed"]);
        Ok(())
    }

    #[test]
    fn if_no_reading_shows_every_file_may_have_been_read() -> io::Result<()> {
        let place = tempfile::tempdir()?;
        let (copy, tree) = copied(place.path())?;
        if let Some(watch) = Watch::begin(&copy, place.path()) {
            assert_eq!(watch.read(&tree, &copy), None);
        }
        assert!(Watch::begin(&copy, Path::new("/proc")).is_none(), "a place without a marker shows nothing");
        Ok(())
    }
}
