//! Facts about the workspace for policy, looked up only when policy needs them.

use std::path::{Component, Path, PathBuf};

use interlock_activity::Attempt;
use interlock_git::Git;
use interlock_policy::{Ignored, Links, View};

use super::project::root;

/// The most symbolic links that are followed on one path.
const LINKS_MAX: usize = 40;

/// The workspace of an attempt, as far as policy needs it.
#[derive(Debug)]
pub(super) struct Sight {
    root: String,
    cwd: String,
    home: Option<String>,
    is_kept: bool,
    aliases: Vec<(String, String)>,
}

impl Sight {
    /// Describes the workspace of an attempt that works in `cwd`. git's aliases are read only if they can matter. May
    /// block.
    pub(super) fn of(attempt: &Attempt, cwd: Option<&str>, uses_git: bool) -> Self {
        Sight { is_kept: attempt.snapshot.is_some(), ..Sight::within(&attempt.folder, cwd, uses_git) }
    }

    /// Describes the workspace of a directory without a snapshot. May block.
    pub(super) fn within(folder: &Path, cwd: Option<&str>, uses_git: bool) -> Self {
        let root = root(folder);
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let cwd = cwd.map_or(folder.clone(), |cwd| folder.join(cwd));
        let aliases = if uses_git { aliases(&root) } else { Vec::new() };
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Sight {
            cwd: text(&cwd),
            home: std::env::home_dir().map(|home| text(&home)).filter(|home| home.starts_with('/')),
            is_kept: false,
            aliases,
            root: text(&root),
        }
    }

    /// Returns the view that policy reads.
    pub(super) fn view(&self) -> View<'_> {
        View {
            root: &self.root,
            cwd: &self.cwd,
            home: self.home.as_deref(),
            has_snapshot: self.is_kept,
            links: self,
            ignored: self,
            aliases: &self.aliases,
        }
    }

    /// Returns the same workspace, marked as having a snapshot before any write.
    pub(super) fn kept(mut self) -> Self {
        self.is_kept = true;
        self
    }
}

impl Links for Sight {
    fn resolve(&self, path: &str) -> Option<String> {
        let real = follow(Path::new(path), &mut LINKS_MAX.clone())?;
        Some(real.to_string_lossy().into_owned()).filter(|real| real != path)
    }
}

/// Follows every symbolic link on a path, even if its target does not exist.
fn follow(path: &Path, left: &mut usize) -> Option<PathBuf> {
    let mut real = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            Component::Normal(name) => {
                real.push(name);
                if let Ok(to) = std::fs::read_link(&real) {
                    *left = left.checked_sub(1)?;
                    real.pop();
                    real = follow(&real.join(to), left)?;
                }
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Some(real)
}

impl Ignored for Sight {
    fn is_ignored(&self, path: &str) -> bool {
        git(Path::new(&self.root)).run(&["check-ignore", "--quiet", "--", path]).is_ok()
    }
}

fn aliases(root: &Path) -> Vec<(String, String)> {
    let Ok(output) = git(root).run(&["config", "--null", "--get-regexp", r"^alias\."]) else { return Vec::new() };
    let text = String::from_utf8_lossy(&output).into_owned();
    let pairs = text.split('\0').filter_map(|entry| entry.split_once('\n'));
    pairs.filter_map(|(name, meaning)| Some((name.strip_prefix("alias.")?.to_owned(), meaning.to_owned()))).collect()
}

/// Returns calls of git that read settings and ignored files as the person's own git does.
fn git(root: &Path) -> Git {
    Git::discover(root).as_person()
}
