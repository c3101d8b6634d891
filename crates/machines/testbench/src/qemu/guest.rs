//! The working directory of QEMU. It is the only one that QEMU, and so the firmware, can change: it contains sockets,
//! a copy of the image, and the files that the firmware writes by semihosting. Its content is not trusted: links are
//! removed before they could be followed.

use interlock_beneath::{Entry, FileType, Folder, whole};
use std::{
    fs::File,
    io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::fs::{CWD, Mode, mknodat};
use tokio::net::UnixStream;

use crate::walk::FILE_BYTES_MAX;

/// The name of the directory within the directory of a start.
pub(crate) const FOLDER: &str = "guest";

/// The files in it, by the names that QEMU receives. QEMU starts in this directory, so the names are short.
pub(crate) const IMAGE: &str = "image";
pub(crate) const SERIAL: &str = "serial.sock";
pub(crate) const SEMIHOSTING: &str = "semihosting.sock";
pub(crate) const QMP: &str = "qmp.sock";
pub(crate) const TRACE: &str = "trace.pipe";
pub(crate) const DEBUGGER: &str = "gdb";
const OURS: [&str; 7] = [IMAGE, SERIAL, SEMIHOSTING, QMP, TRACE, "gdb.in", "gdb.out"];

/// The interval at which a socket is looked for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// The largest number of firmware files that are kept, and the greatest directory depth.
const FILES_MAX: usize = 1_000;
const DEPTH_MAX: usize = 8;

/// The largest number of entries that the firmware may leave.
const LISTED_MAX: usize = 1_000_000;

/// The working directory of QEMU.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) folder: PathBuf,
    /// Held open, so that the sockets in it can be reached even if its path is long.
    handle: File,
}

impl Guest {
    /// Creates the directory within the directory of a start and copies the image into it. Leftovers of an earlier
    /// one are removed.
    pub(crate) fn new(start: &Path, image: &Path) -> io::Result<Self> {
        let folder = start.join(FOLDER);
        whole::empty(&folder)?;
        whole::copy(image, folder.join(IMAGE), FILE_BYTES_MAX)?;
        Ok(Guest { handle: File::open(&folder)?, folder })
    }

    /// Connects to a socket as soon as it exists.
    pub(crate) async fn connect(&self, name: &str, deadline: Instant) -> io::Result<UnixStream> {
        // The path of a socket is limited to about a hundred bytes.
        let path = format!("/proc/self/fd/{}/{name}", self.handle.as_raw_fd());
        loop {
            match UnixStream::connect(&path).await {
                Ok(stream) => return Ok(stream),
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => tokio::time::sleep(BETWEEN_LOOKS).await,
            }
        }
    }

    /// Creates a named pipe.
    pub(crate) fn pipe(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        Ok(path)
    }

    /// Removes everything except the files that the firmware wrote; returns their paths relative to the start's
    /// directory. Must be called after QEMU has ended.
    pub(crate) fn close(self) -> io::Result<Vec<PathBuf>> {
        for name in OURS {
            let _ = whole::remove_file(self.folder.join(name));
        }
        let mut files = keep_files(&self.folder)?;
        if files.is_empty() {
            whole::remove_all(&self.folder)?;
        }
        files.sort();
        Ok(files)
    }
}

/// Removes entries that are not regular files, and files beyond the limits. Returns the paths of the others.
fn keep_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (guest, mut files) = (Folder::open(folder)?, Vec::new());
    let is_deep = |entry: &Entry| entry.path.components().count() > DEPTH_MAX;
    for entry in guest.list(Path::new(""), LISTED_MAX, |entry| !is_deep(entry))? {
        match entry.kind {
            FileType::RegularFile if files.len() < FILES_MAX => files.push(Path::new(FOLDER).join(&entry.path)),
            FileType::Directory if !is_deep(&entry) => {}
            _ => guest.remove_all(&entry.path)?,
        }
    }
    Ok(files)
}
