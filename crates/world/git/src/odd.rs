//! Finds what keeps git from reading its files: a named pipe, a device or a link to one in place of a file, a control file
//! that is too long, and files and directories without permissions.
//!
//! Git opens a pipe without a look at it, and waits or reads for ever. A socket cannot be opened, so git does not wait
//! for it; a person's own git has one in its directory (`fsmonitor--daemon.ipc`). Git reads files of two kinds besides those that
//! it stores: everything in a git directory, and the files of a work tree that control it, whose names begin with `.git`
//! or are `.mailmap`. Some of them it reads whole into memory, in every call. A sparse file takes no space on the disk, so
//! a program can make them as long as it likes. What git cannot open it leaves out, or one such file makes it fail for all.

use std::{
    collections::VecDeque,
    ffi::{OsStr, OsString},
    fmt,
    path::{Path, PathBuf},
};

use interlock_beneath::{FileType, Folder, Mode};

/// The most directories and control files that are looked at. Other files do not count.
pub(crate) const LOOK_MAX: usize = 2_000_000;

/// The most directories and control files that are looked at after every attempt. If there are more, only a call that is
/// blocked looks at them.
const CLEARED_MAX: usize = 20_000;

/// The longest path of a directory that git opens.
const PATH_BYTES_MAX: usize = 4_096;

/// The longest control file. People write these by hand.
const CONTROL_BYTES_MAX: i64 = 4 << 20;

/// The kind of a longer one.
const LONG: &str = "larger than 4 MiB, and git reads it whole in every call";

/// The control files of a work tree that git reads whole.
const WHOLE: [&str; 5] = [".git", ".gitignore", ".gitattributes", ".gitmodules", ".mailmap"];

/// The files of a git directory that git reads whole. The others may be long: objects, logs, an index, data of other tools.
const WHOLE_OF_GIT: [&str; 11] = [
    "HEAD",
    "config",
    "config.worktree",
    "commondir",
    "gitdir",
    "shallow",
    "alternates",
    "exclude",
    "attributes",
    "grafts",
    "sparse-checkout",
];

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
/// `places_max` directories and control files are looked at.
pub fn odd_files(top: &Path, places_max: usize) -> Vec<Odd> {
    look(top, places_max, &mut |_, _| false)
}

/// Does the same. `open_up` gets what cannot be read, and returns true if it can be read now.
fn look(top: &Path, places_max: usize, open_up: &mut dyn FnMut(&Folder, &Path) -> bool) -> Vec<Odd> {
    let Ok(folder) = Folder::open(top) else { return Vec::new() };
    let Some(is_git_dir) = is_git_dir(&folder, open_up) else { return Vec::new() };
    // The files that lie highest come first: those of the repository itself.
    let mut open = VecDeque::from([(PathBuf::new(), is_git_dir)]);
    let (mut left, mut odd) = (places_max, Vec::new());
    while let Some((below, is_of_git)) = open.pop_front() {
        for (name, kind) in names(&folder, &below, is_of_git, open_up) {
            if left == 0 {
                return odd;
            }
            left -= 1;
            let path = below.join(&name);
            let kind = match kind {
                FileType::Directory if path.as_os_str().len() > PATH_BYTES_MAX => None,
                FileType::Directory => {
                    open.push_back((path.clone(), is_of_git || name == ".git"));
                    None
                }
                FileType::RegularFile => regular(&folder, &path, is_of_git, open_up),
                kind => in_words(kind, &top.join(&path)),
            };
            odd.extend(kind.map(|kind| Odd { path: top.join(path), kind, is_of_git }));
        }
    }
    odd
}

/// Returns true if a directory is a git directory. Returns `None` if it cannot be read.
fn is_git_dir(folder: &Folder, open_up: &mut dyn FnMut(&Folder, &Path) -> bool) -> Option<bool> {
    let here = Path::new("");
    if folder.kind(Path::new("objects")).is_err() && !open_up(folder, here) {
        return None;
    }
    let kind = |name: &str| folder.kind(Path::new(name)).ok().flatten();
    Some(kind("objects") == Some(FileType::Directory) && kind("refs").is_some())
}

/// Returns the directories and the files that control git in a directory.
fn names(
    folder: &Folder,
    below: &Path,
    is_of_git: bool,
    open_up: &mut dyn FnMut(&Folder, &Path) -> bool,
) -> Vec<(OsString, FileType)> {
    let is_meant = |name: &OsStr, kind: FileType| {
        let controls = is_of_git || name.as_encoded_bytes().starts_with(b".git") || name == ".mailmap";
        controls || kind == FileType::Directory
    };
    let list = || folder.kinds_where(below, is_meant);
    let listed = match list() {
        Err(_) if open_up(folder, below) => list(),
        other => other,
    };
    listed.unwrap_or_default()
}

/// Opens up a file that git reads. Says what is odd about it.
fn regular(
    folder: &Folder,
    path: &Path,
    is_of_git: bool,
    open_up: &mut dyn FnMut(&Folder, &Path) -> bool,
) -> Option<&'static str> {
    let about = folder.stat(path).ok()?;
    if !Mode::from_raw_mode(about.st_mode).contains(Mode::RUSR) {
        open_up(folder, path);
    }
    let whole: &[&str] = if is_of_git { &WHOLE_OF_GIT } else { &WHOLE };
    let is_whole = whole.iter().any(|name| path.file_name() == Some(OsStr::new(name)));
    (is_whole && about.st_size > CONTROL_BYTES_MAX).then_some(LONG)
}

/// Takes what is in place of files of git out of the way, because git would wait for it, and lets this user read what a
/// program has made unreadable. Odd files are removed from git directories, and renamed in work trees. Returns one
/// sentence for each.
pub fn clear(top: &Path) -> Vec<String> {
    clear_some(top, CLEARED_MAX)
}

/// Does the same in all directories, after a call that was blocked.
pub fn clear_all(top: &Path) -> Vec<String> {
    clear_some(top, LOOK_MAX)
}

fn clear_some(top: &Path, places_max: usize) -> Vec<String> {
    let mut said = Vec::new();
    let odd = look(top, places_max, &mut |folder, path| {
        let opened = open_up(folder, path);
        let is_open = opened.is_some();
        said.extend(opened);
        is_open
    });
    said.extend(odd.into_iter().map(|odd| take_away(top, &odd)));
    said
}

/// Lets this user read a file or a directory beneath another one. Says what was done; returns `None` if nothing was.
pub fn open_up(folder: &Folder, path: &Path) -> Option<String> {
    let (before, after) = folder.open_up(path).ok()??;
    let place = folder.path().join(path).components().collect::<PathBuf>();
    let (before, after) = (before.as_raw_mode(), after.as_raw_mode());
    Some(format!(
        "{} could not be read, because its permissions were {before:03o}; now they are {after:03o}",
        place.display()
    ))
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
