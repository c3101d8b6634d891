//! Reads files that other programs or people may have placed.
//!
//! The files of a project and of a machine can be written by a confined program or come with an untrusted repository. A
//! symbolic link would expose a file from elsewhere, a named pipe would block its reader for ever, and a device has no
//! end. So these files are opened without following links and without blocking, they must be regular files, and at most
//! a fixed number of bytes is read.
//!
//! This crate does not know which files there are or what they mean. It does not read files that a person names on the
//! command line: there a pipe is intended.

use std::{
    fs::File,
    io::{self, Read as _},
    os::fd::OwnedFd,
    path::{Component, Path, PathBuf},
};

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

/// The reason why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused access, or the file does not exist.
    #[error("{}: {source}", path.display())]
    System {
        /// The path of the file.
        path: PathBuf,
        /// The error from the system.
        source: io::Error,
    },
    /// The file, or a directory on the path to it, is a symbolic link.
    #[error("{} is a symbolic link; links are not followed here", path.display())]
    Link {
        /// The path of the link.
        path: PathBuf,
    },
    /// It is a directory, a pipe, a socket or a device.
    #[error("{} is {kind}, not a regular file", path.display())]
    NotRegular {
        /// The path of the file.
        path: PathBuf,
        /// The kind of file, for the message.
        kind: &'static str,
    },
    /// The file is longer than the limit.
    #[error("{} is longer than {bytes_max} bytes", path.display())]
    TooLong {
        /// The path of the file.
        path: PathBuf,
        /// The limit in bytes.
        bytes_max: u64,
    },
    /// The path contains `..` or is absolute.
    #[error("{} is outside the directory {}", path.display(), folder.display())]
    Outside {
        /// The path that was asked for.
        path: PathBuf,
        /// The directory it must stay in.
        folder: PathBuf,
    },
    /// The content is not UTF-8 text.
    #[error("{} is not UTF-8 text", path.display())]
    NotText {
        /// The path of the file.
        path: PathBuf,
    },
}

impl Error {
    /// Returns true if the file does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::System { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::System { source, .. } => source,
            other => io::Error::new(io::ErrorKind::InvalidData, other.to_string()),
        }
    }
}

/// Reads a file within a directory. The directory's path may contain links; the path below it may not.
pub fn read(folder: &Path, path: &Path, bytes_max: u64) -> Result<Vec<u8>, Error> {
    let content = read_beginning(folder, path, bytes_max.saturating_add(1))?;
    match content.len() as u64 > bytes_max {
        true => Err(Error::TooLong { path: folder.join(path), bytes_max }),
        false => Ok(content),
    }
}

/// Reads the first bytes of a file within a directory.
pub fn read_beginning(folder: &Path, path: &Path, bytes_max: u64) -> Result<Vec<u8>, Error> {
    let full = folder.join(path);
    let file = File::from(open(folder, path)?);
    let kind = FileType::from_raw_mode(fstat(&file).map_err(|error| system(&full, error))?.st_mode);
    if kind != FileType::RegularFile {
        return Err(Error::NotRegular { path: full, kind: word(kind) });
    }
    let mut content = Vec::new();
    file.take(bytes_max).read_to_end(&mut content).map_err(|source| Error::System { path: full, source })?;
    Ok(content)
}

/// Reads a text file within a directory; returns `None` if it does not exist.
pub fn read_text(folder: &Path, path: &Path, bytes_max: u64) -> Result<Option<String>, Error> {
    match read(folder, path, bytes_max) {
        Ok(content) => match String::from_utf8(content) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Error::NotText { path: folder.join(path) }),
        },
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens every component relative to its parent directory, so that no component can be exchanged in between.
fn open(folder: &Path, path: &Path) -> Result<OwnedFd, Error> {
    let outside = || Error::Outside { path: path.to_owned(), folder: folder.to_owned() };
    let mut here = openat(CWD, folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|error| system(folder, error))?;
    let mut full = folder.to_owned();
    let mut parts = path.components().filter(|part| *part != Component::CurDir).peekable();
    if parts.peek().is_none() {
        return Err(outside());
    }
    while let Some(part) = parts.next() {
        let Component::Normal(name) = part else { return Err(outside()) };
        full.push(name);
        let how = match parts.peek() {
            Some(_) => OFlags::PATH | OFlags::DIRECTORY,
            // A pipe without a writer would block, and a terminal would become the controlling terminal.
            None => OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY,
        };
        here = openat(&here, name, how | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
            .map_err(|error| refused(&full, error))?;
    }
    Ok(here)
}

/// Converts an open error. With `O_NOFOLLOW` a link gives `ELOOP`, or `ENOTDIR` if a directory is expected.
fn refused(path: &Path, error: rustix::io::Errno) -> Error {
    match error {
        rustix::io::Errno::LOOP => Error::Link { path: path.to_owned() },
        rustix::io::Errno::NOTDIR if path.is_symlink() => Error::Link { path: path.to_owned() },
        // Opening a socket fails with `ENXIO`.
        rustix::io::Errno::NXIO => Error::NotRegular { path: path.to_owned(), kind: word(FileType::Socket) },
        error => system(path, error),
    }
}

fn system(path: &Path, error: rustix::io::Errno) -> Error {
    Error::System { path: path.to_owned(), source: error.into() }
}

fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a folder",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "something else",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, os::unix::fs::symlink};

    fn said(folder: &Path, path: &str) -> String {
        let said = match read(folder, Path::new(path), 10) {
            Ok(content) => format!("{content:?}"),
            Err(error) => error.to_string(),
        };
        said.replace(&*folder.to_string_lossy(), "F")
    }

    #[test]
    fn only_regular_files_within_the_folder_are_read() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let here = folder.path();
        fs::create_dir(here.join("in")).unwrap();
        fs::write(here.join("in/file"), "ab").unwrap();
        fs::write(here.join("in/long"), "12345678901").unwrap();
        fs::write(elsewhere.path().join("file"), "secret").unwrap();
        symlink(elsewhere.path(), here.join("out")).unwrap();
        symlink(elsewhere.path().join("file"), here.join("in/link")).unwrap();
        symlink("/dev/zero", here.join("zero")).unwrap();
        rustix::fs::mknodat(CWD, here.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(here.join("socket")).unwrap();

        assert_eq!(said(here, "in/file"), "[97, 98]");
        assert_eq!(said(here, "./in/file"), "[97, 98]");
        assert_eq!(said(here, "in/long"), "F/in/long is longer than 10 bytes");
        assert_eq!(said(here, "in/link"), "F/in/link is a symbolic link; links are not followed here");
        assert_eq!(said(here, "out/file"), "F/out is a symbolic link; links are not followed here");
        assert_eq!(said(here, "zero"), "F/zero is a symbolic link; links are not followed here");
        assert_eq!(said(here, "pipe"), "F/pipe is a named pipe, not a regular file");
        assert_eq!(said(here, "socket"), "F/socket is a socket, not a regular file");
        assert_eq!(said(here, "in"), "F/in is a folder, not a regular file");
        assert_eq!(said(here, "../file"), "../file is outside the directory F");
        assert_eq!(said(here, "/dev/zero"), "/dev/zero is outside the directory F");
        assert_eq!(said(here, "none"), "F/none: No such file or directory (os error 2)");
    }

    #[test]
    fn a_directory_may_be_reached_by_a_link_and_a_missing_text_is_none() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("real")).unwrap();
        fs::write(folder.path().join("real/a"), "text").unwrap();
        fs::write(folder.path().join("real/b"), [0xff]).unwrap();
        symlink("real", folder.path().join("link")).unwrap();
        let link = folder.path().join("link");
        assert_eq!(read_text(&link, Path::new("a"), 10).unwrap().as_deref(), Some("text"));
        assert_eq!(read_text(&link, Path::new("none/none"), 10).unwrap(), None);
        assert!(matches!(read_text(&link, Path::new("b"), 10), Err(Error::NotText { .. })));
    }
}
