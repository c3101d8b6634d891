//! Decides which paths a patch may contain.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

/// Characters that some file systems ignore, so that a name with them can equal another name.
const UNSEEN: [char; 16] = [
    '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}',
    '\u{206a}', '\u{206b}', '\u{206c}', '\u{206d}', '\u{206e}', '\u{206f}', '\u{feff}',
];

/// Returns a clean path within a workspace, or the reason why the path is rejected: it is absolute, leads out of the
/// workspace or leads into a `.git` directory in any spelling.
pub fn check(path: &[u8]) -> Result<PathBuf, &'static str> {
    if path.is_empty() {
        return Err("is empty");
    }
    if path.contains(&0) {
        return Err("contains a NUL");
    }
    if path.ends_with(b"/") {
        return Err("names a directory");
    }
    let mut clean = PathBuf::new();
    for component in Path::new(OsStr::from_bytes(path)).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => return Err("leads out with `..`"),
            Component::RootDir | Component::Prefix(_) => return Err("is absolute"),
            Component::Normal(name) if is_git(name.as_bytes()) => return Err("leads into a `.git` directory"),
            Component::Normal(name) => clean.push(name),
        }
    }
    if clean.as_os_str().is_empty() { Err("names no file") } else { Ok(clean) }
}

/// Returns true if some file system treats the name as `.git`: in upper or lower case, with trailing dots or spaces, as
/// a short name or as a stream.
fn is_git(name: &[u8]) -> bool {
    let name: String = String::from_utf8_lossy(name).chars().filter(|char| !UNSEEN.contains(char)).collect();
    let name = name.to_ascii_lowercase();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches([' ', '.']);
    name == ".git" || name == "git~1"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_inside_the_workspace_are_accepted() {
        let refused = [
            "",
            "/etc/passwd",
            "//x",
            "..",
            "../x",
            "a/../../x",
            "a/..",
            ".git",
            ".git/config",
            ".GIT/hooks/pre-commit",
            "sub/.Git/config",
            ".git./config",
            ".git /config",
            "git~1/config",
            "GIT~1",
            ".git::$INDEX_ALLOCATION/x",
            ".g\u{200c}it/config",
            "a/",
            ".",
            "./",
            "a\0b",
        ];
        for path in refused {
            assert!(check(path.as_bytes()).is_err(), "{path:?}");
        }
        let taken = [
            ("a", "a"),
            ("./a/b", "a/b"),
            ("a//b", "a/b"),
            ("...", "..."),
            (".gitignore", ".gitignore"),
            ("x.git/y", "x.git/y"),
        ];
        for (path, clean) in taken {
            assert_eq!(check(path.as_bytes()), Ok(PathBuf::from(clean)), "{path:?}");
        }
    }
}
