//! Hidden places, and how everything else is named without naming them.
//!
//! Landlock knows only what is allowed, and what is allowed for a directory is allowed for everything below it. So a directory with
//! something hidden in it is taken apart: its other entries are allowed one by one, those that lead to the hidden one are taken apart in turn.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Hidden places as they really are: those that exist, without symbolic links on the way.
pub(crate) fn real<'p>(hidden: impl IntoIterator<Item = &'p PathBuf>) -> Vec<PathBuf> {
    let mut real: Vec<_> = hidden.into_iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    real.sort();
    real.dedup();
    real
}

/// The largest places at and below `root` that have nothing hidden in them. Both are to be real paths.
///
/// Symbolic links are left out: what they lead to is allowed or not by where it is.
pub(crate) fn around(root: &Path, hidden: &[PathBuf]) -> Vec<PathBuf> {
    let mut places = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(place) = open.pop() {
        if hidden.contains(&place) {
            continue;
        }
        match hidden.iter().any(|hidden| hidden.starts_with(&place)) {
            true => open.extend(entries(&place)),
            false => places.push(place),
        }
    }
    places
}

/// Whether a place has something hidden in it, so that it is taken apart.
pub(crate) fn is_apart(place: &Path, hidden: &[PathBuf]) -> bool {
    hidden.iter().any(|hidden| hidden.starts_with(place))
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink())).map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_named_but_what_is_hidden() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        for folder in ["a/b/secret", "a/b/open", "a/c", "d/e"] {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        fs::write(home.join("a/file"), "").unwrap();
        std::os::unix::fs::symlink(home.join("a/b/secret"), home.join("a/link")).unwrap();
        let hidden = real(&[home.join("a/link"), home.join("not/there")]);
        assert_eq!(hidden, [home.join("a/b/secret")]);
        let mut places = around(&home, &hidden);
        places.sort();
        let expected = ["a/b/open", "a/c", "a/file", "d"].map(|place| home.join(place));
        assert_eq!(places, expected);
        assert_eq!(around(&home.join("d"), &hidden), [home.join("d")]);
        assert_eq!(around(&home.join("a/b/secret"), &hidden), [] as [PathBuf; 0]);
    }
}
