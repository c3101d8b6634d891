//! Finds the places that the settings of a git repository refer to: hooks in other directories, and further settings
//! files.
//!
//! Git's format is parsed only as far as these two need it. A place that is not found here comes from a settings file
//! of the user or of the system, which no program can write.

use std::path::{Component, Path, PathBuf};

/// Maximum size of a settings file that is read.
const BYTES_MAX: u64 = 1_024 * 1_024;

/// Returns the places in a workspace or in its git directory that the settings in the git directory refer to.
pub(crate) fn leads_to(git_folder: &Path, workspace: &Path) -> Vec<PathBuf> {
    let settings = ["config", "config.worktree"].map(|name| git_folder.join(name));
    let found = settings.iter().flat_map(|file| named_in(&text(file), git_folder, workspace));
    found.filter(|place| place.starts_with(workspace) && place != workspace).collect()
}

fn text(file: &Path) -> String {
    let content = interlock_beneath::whole::read(file, BYTES_MAX).ok();
    content.and_then(|content| String::from_utf8(content).ok()).unwrap_or_default()
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
            // Husky sets a directory whose scripts call scripts in the parent directory.
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

/// Removes `.` and `..` from a path without reading the file system.
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
    fn hooks_and_settings_in_other_places_are_found() {
        let settings = "[core]\n\tbare = false\n\thooksPath = .husky/_\n[include] path = ../shared.gitconfig\n\
                        [includeIf \"gitdir:/x\"]\n\tpath = more\n[remote \"origin\"]\n\tpath = no\n[include]\npath = ~/x\n";
        let found = named_in(settings, Path::new("/w/.git"), Path::new("/w"));
        let expected = ["/w/.husky", "/w/.husky/_", "/w/shared.gitconfig", "/w/.git/more"].map(PathBuf::from);
        assert_eq!(found, expected);
    }
}
