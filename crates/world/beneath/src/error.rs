//! The reasons why a file was not read or changed.

use std::{
    io,
    path::{Path, PathBuf},
};

use rustix::{fs::FileType, io::Errno};

/// The reason why a file was not read or changed.
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
    /// There are more files than the limit.
    #[error("{} has more than {files_max} files", path.display())]
    TooMany {
        /// The path of the directory.
        path: PathBuf,
        /// The limit.
        files_max: usize,
    },
    /// There are more directories in each other than the limit.
    #[error("{} has more than {depth_max} directories in each other", path.display())]
    TooDeep {
        /// The path of the directory.
        path: PathBuf,
        /// The limit.
        depth_max: usize,
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

/// The result of an access beneath a directory.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Returns true if the file does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::System { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Returns true if there is no file at the path: it does not exist, or a file or a link is in place of a directory
    /// on the way to it.
    pub fn is_absent(&self) -> bool {
        let is_no_folder = |source: &io::Error| source.kind() == io::ErrorKind::NotADirectory;
        self.is_not_found()
            || matches!(self, Error::Link { .. })
            || matches!(self, Error::System { source, .. } if is_no_folder(source))
    }

    pub(crate) fn system(path: &Path, error: Errno) -> Self {
        Error::System { path: path.to_owned(), source: error.into() }
    }

    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Error::System { path: path.to_owned(), source }
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

/// Returns the kind of a file as words for a message.
pub(crate) fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Symlink => "a symbolic link",
        FileType::Directory => "a folder",
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "something else",
    }
}
