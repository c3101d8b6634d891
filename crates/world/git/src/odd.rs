//! Finds what is in place of a file that git reads: a named pipe, a device, or a link to one.
//!
//! Git opens such a file without a look at it, and waits or reads for ever. A socket cannot be opened, so git does not wait
//! for it; a person's own git has one in its directory (`fsmonitor--daemon.ipc`). Git reads files of two kinds besides those that
//! it stores: everything in a git directory, and the files of a work tree that control it, whose names begin with `.git`
//! or are `.mailmap`.

use std::{
    collections::VecDeque,
    fmt,
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder};

/// The most files that are looked at.
pub(crate) const LOOK_MAX: usize = 200_000;

/// The most files that are looked at after every attempt. If there are more, only a call that is blocked looks at them.
const CLEARED_MAX: usize = 20_000;

/// The beginning of the name of a file that was moved out of the way.
const ASIDE: &str = ".interlock-aside-odd-";

/// The most files of one name that are moved out of the way.
const ASIDE_MAX: usize = 1_000;

/// Something that is in place of a file of git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Odd {
    /// The path.
    pub path: PathBuf,
    /// The kind of the file.
    pub kind: &'static str,
    /// It lies in a git directory, where nobody but git keeps files.
    is_of_git: bool,
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.path.display(), self.kind)
    }
}

/// Returns what is in place of files of git in a work tree, in the repositories in it, or in a git directory. At most
/// `files_max` files are looked at.
pub fn odd_files(top: &Path, files_max: usize) -> Vec<Odd> {
    let Ok(folder) = Folder::open(top) else { return Vec::new() };
    let is_git_dir = folder.kind(Path::new("objects")).is_ok_and(|kind| kind == Some(FileType::Directory))
        && folder.kind(Path::new("refs")).is_ok_and(|kind| kind.is_some());
    // The files that lie highest come first: those of the repository itself.
    let mut open = VecDeque::from([(PathBuf::new(), is_git_dir)]);
    let (mut left, mut odd) = (files_max, Vec::new());
    while let Some((below, is_of_git)) = open.pop_front() {
        for (name, kind) in folder.kinds(&below).unwrap_or_default() {
            if left == 0 {
                return odd;
            }
            left -= 1;
            let path = below.join(&name);
            let controls = is_of_git || name.as_encoded_bytes().starts_with(b".git") || name == ".mailmap";
            match kind {
                FileType::Directory => open.push_back((path, is_of_git || name == ".git")),
                FileType::RegularFile => {}
                _ if !controls => {}
                kind => odd.extend(in_words(kind, &top.join(&path)).map(|kind| Odd {
                    path: top.join(path),
                    kind,
                    is_of_git,
                })),
            }
        }
    }
    odd
}

/// Takes what is in place of files of git out of the way, because git would wait for it. It is removed from git directories,
/// and renamed in work trees. Returns one sentence for each.
pub fn clear(top: &Path) -> Vec<String> {
    odd_files(top, CLEARED_MAX).into_iter().map(|odd| take_away(top, &odd)).collect()
}

/// Removes or renames a file, without following a link. Says what was done.
fn take_away(top: &Path, odd: &Odd) -> String {
    let failed = || format!("{odd}; it could not be removed, so remove it");
    let (Ok(folder), Ok(below)) = (Folder::open(top), odd.path.strip_prefix(top)) else { return failed() };
    if odd.is_of_git {
        return folder.remove_file(below).map_or_else(|_| failed(), |_| format!("{odd}; it was removed"));
    }
    // Git does not look for a name that begins with this.
    let mut names = (0..ASIDE_MAX).map(|number| below.with_file_name(format!("{ASIDE}{number}")));
    match names.find(|free| folder.rename_to_free(below, free).is_ok()) {
        Some(free) => format!("{odd}; it was moved to {}", top.join(free).display()),
        None => failed(),
    }
}

/// Returns the kind of a file for which git waits, in words. Git follows a link; its target is looked at without opening it.
fn in_words(kind: FileType, path: &Path) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        FileType::Fifo => Some("a named pipe"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("a device"),
        FileType::Symlink => {
            let kind = std::fs::metadata(path).ok()?.file_type();
            let is_endless = kind.is_fifo() || kind.is_char_device() || kind.is_block_device();
            is_endless.then_some("a link to something that is not a file")
        }
        _ => None,
    }
}
