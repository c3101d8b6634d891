//! The folder that a QEMU works in. It is all that QEMU, and so the firmware, can change: sockets, a copy of the image, and what the firmware
//! writes by semihosting. Nothing in it is trusted: links are removed before anybody follows them.

use std::{
    fs::{self, File},
    io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::net::UnixStream;

/// Its name within the folder of a start.
pub(crate) const FOLDER: &str = "guest";

/// What is in it, by names that QEMU is told; it starts in there, so that they are short.
pub(crate) const IMAGE: &str = "image";
pub(crate) const SERIAL: &str = "serial.sock";
pub(crate) const SEMIHOSTING: &str = "semihosting.sock";
pub(crate) const QMP: &str = "qmp.sock";
pub(crate) const TRACE: &str = "trace.pipe";
pub(crate) const DEBUGGER: &str = "gdb";
const OURS: [&str; 7] = [IMAGE, SERIAL, SEMIHOSTING, QMP, TRACE, "gdb.in", "gdb.out"];

/// How often a socket is looked for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(2);

/// How many files of a firmware are kept, and how deep.
const FILES_MAX: usize = 1_000;
const DEPTH_MAX: usize = 8;

/// The folder that a QEMU works in.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) folder: PathBuf,
    /// Held open, so that sockets in it are reached however long its path is.
    handle: File,
}

impl Guest {
    /// Makes it within the folder of a start, with the image in it. What is left of an earlier one is removed.
    pub(crate) fn new(start: &Path, image: &Path) -> io::Result<Self> {
        let folder = start.join(FOLDER);
        remove(&folder)?;
        fs::create_dir_all(&folder)?;
        fs::copy(image, folder.join(IMAGE))?;
        Ok(Guest { handle: File::open(&folder)?, folder })
    }

    /// Connects to a socket as soon as it is there.
    pub(crate) async fn connect(&self, name: &str, deadline: Instant) -> io::Result<UnixStream> {
        // A socket's path is limited to some hundred bytes.
        let path = format!("/proc/self/fd/{}/{name}", self.handle.as_raw_fd());
        loop {
            match UnixStream::connect(&path).await {
                Ok(stream) => return Ok(stream),
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => tokio::time::sleep(BETWEEN_LOOKS).await,
            }
        }
    }

    /// Makes a pipe with a name.
    pub(crate) fn pipe(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
        Ok(path)
    }

    /// Leaves only the files that the firmware wrote; which those are, within the folder of the start. To be called when QEMU has ended.
    pub(crate) fn close(self) -> io::Result<Vec<PathBuf>> {
        for name in OURS {
            let _ = fs::remove_file(self.folder.join(name));
        }
        let mut files = Vec::new();
        keep_files(&self.folder, Path::new(FOLDER), DEPTH_MAX, &mut files)?;
        if files.is_empty() {
            remove(&self.folder)?;
        }
        files.sort();
        Ok(files)
    }
}

/// Removes what is no file, and what is too much.
fn keep_files(folder: &Path, name: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, name.join(entry.file_name()));
        match kind {
            kind if kind.is_file() && files.len() < FILES_MAX => files.push(name),
            kind if kind.is_dir() && depth > 0 => keep_files(&entry.path(), &name, depth - 1, files)?,
            kind if kind.is_dir() => remove(&entry.path())?,
            _ => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
