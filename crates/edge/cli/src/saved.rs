//! Writes files that a person names on the command line.
//!
//! A program of a run may work in the directory. So a link in place of the file is refused, and the file is replaced at
//! once. Links in the directories above it are followed, as for every program that a person starts.

use std::{
    fs, io,
    os::unix::fs::FileTypeExt as _,
    path::{Path, PathBuf},
};

use interlock_beneath::{self as beneath, Folder};

use crate::failure::Failure;

/// Writes a file.
pub(crate) fn save(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    put(path, content.as_ref()).map_err(|error| Failure::file("write", path, &error))
}

/// Writes a file with the directories above it.
pub(crate) fn save_with_folders(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    make_folders(path.parent().unwrap_or(Path::new("")))?;
    save(path, content)
}

/// Creates a directory and those above it.
#[expect(clippy::disallowed_methods, reason = "links in a directory that a person names are followed")]
pub(crate) fn make_folders(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure::file("create the directory", folder, &error))
}

#[expect(clippy::disallowed_methods, reason = "a person names a pipe or a device on purpose")]
fn put(path: &Path, content: &[u8]) -> io::Result<()> {
    if is_stream(path) {
        return fs::write(path, content);
    }
    let name = path.file_name().map(PathBuf::from).ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = Folder::open_through_links(folder)?;
    if folder.kind(&name)? == Some(beneath::FileType::Symlink) {
        return Err(beneath::Error::Link { path: path.to_owned() }.into());
    }
    Ok(folder.write(&name, content)?)
}

/// Returns true for a pipe, a terminal, and the names of open files such as `/dev/stdout`.
fn is_stream(path: &Path) -> bool {
    let is_stream = |kind: fs::FileType| kind.is_fifo() || kind.is_char_device();
    path.starts_with("/dev") || fs::symlink_metadata(path).is_ok_and(|about| is_stream(about.file_type()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_in_place_of_the_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, theirs) = (folder.path().join("out.svg"), folder.path().join("theirs"));
        fs::write(&theirs, "theirs").unwrap();
        std::os::unix::fs::symlink(&theirs, &path).unwrap();
        let said = format!("{:?}", save(&path, "mine").unwrap_err());
        assert!(said.contains("is a symbolic link"), "{said}");
        assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs");
        fs::remove_file(&path).unwrap();
        for text in ["mine", "again"] {
            save(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        save(Path::new("/dev/null"), "nothing").unwrap();
        save_with_folders(&folder.path().join("a/b/c"), "deep").unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a/b/c")).unwrap(), "deep");
    }
}
