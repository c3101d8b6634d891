//! Places that a repository's settings lead to: hooks that are kept elsewhere, and further settings.
//!
//! Git's own format is read here only as far as these two need it. A place that is not found by it is a place that git would take from a
//! file of the user or of the system, where no program can write.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// The longest settings that are looked at.
const BYTES_MAX: u64 = 1_024 * 1_024;

/// The places in a workspace or in its git folder that the settings in that folder lead to.
pub(crate) fn leads_to(git_folder: &Path, workspace: &Path) -> Vec<PathBuf> {
    let settings = ["config", "config.worktree"].map(|name| git_folder.join(name));
    let found = settings.iter().flat_map(|file| named_in(&text(file), git_folder, workspace));
    found.filter(|place| place.starts_with(workspace) && place != workspace).collect()
}

fn text(file: &Path) -> String {
    let is_small = fs::symlink_metadata(file).is_ok_and(|about| about.is_file() && about.len() <= BYTES_MAX);
    if is_small { fs::read_to_string(file).unwrap_or_default() } else { String::new() }
}

fn named_in(settings: &str, git_folder: &Path, workspace: &Path) -> Vec<PathBuf> {
    let (mut section, mut found) = (String::new(), Vec::new());
    for line in settings.lines().map(str::trim) {
        let rest = match line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            Some((name, rest)) => {
                section = name.split([' ', '\t', '"', '.']).next().unwrap_or_default().to_lowercase();
                rest.trim()
            }
            None => line,
        };
        let Some((name, value)) = rest.split_once('=') else { continue };
        let value = value.trim().trim_matches('"');
        match (section.as_str(), name.trim().to_lowercase().as_str()) {
            // Husky's settings name a folder that calls scripts in the one above it.
            ("core", "hookspath") => {
                let hooks = plain(&workspace.join(value));
                found.extend(hooks.parent().filter(|_| hooks.ends_with("_")).map(Path::to_owned));
                found.push(hooks);
            }
            ("include" | "includeif", "path") if !value.starts_with('~') => found.push(plain(&git_folder.join(value))),
            _ => {}
        }
    }
    found
}

/// A path without `.` and `..`, by its letters.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_and_settings_elsewhere_are_found() {
        let settings = "[core]\n\tbare = false\n\thooksPath = .husky/_\n[include] path = ../shared.gitconfig\n\
                        [includeIf \"gitdir:/x\"]\n\tpath = more\n[remote \"origin\"]\n\tpath = no\n[include]\npath = ~/x\n";
        let found = named_in(settings, Path::new("/w/.git"), Path::new("/w"));
        let expected = ["/w/.husky", "/w/.husky/_", "/w/shared.gitconfig", "/w/.git/more"].map(PathBuf::from);
        assert_eq!(found, expected);
    }
}
