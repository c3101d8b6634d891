//! Computes the places around hidden places.
//!
//! Landlock only has rules that allow, and a rule for a directory applies to everything below it. So a directory that
//! contains a hidden place is split: its other entries are allowed one by one, and entries that lead to the hidden
//! place are split in turn.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Returns the hidden places that exist, with symbolic links resolved.
pub(crate) fn real<'p>(hidden: impl IntoIterator<Item = &'p PathBuf>) -> Vec<PathBuf> {
    let mut real: Vec<_> = hidden.into_iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
    real.sort();
    real.dedup();
    real
}

/// Returns the largest places at and below `root` that contain no hidden place. Both arguments must be canonical paths.
///
/// Symbolic links are left out: access to their target depends on its real place.
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

/// Returns true if a place contains a hidden place, so that it must be split.
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
    fn all_places_except_hidden_ones_are_listed() {
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
