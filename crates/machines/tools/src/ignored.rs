//! Decides which entries of a workspace are left out of listings: by the rules of git, and by `.ignore` files.
//!
//! A program may have put a pipe, a device or a link in place of a file with rules. So each is read by descriptor and
//! bounded, and one that cannot be read has no rules.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder, gitconfig_excludes_path},
};
use interlock_beneath::{Folder, whole};
use interlock_workspace::Place;

/// The longest file with rules that is read.
const BYTES_MAX: u64 = 1 << 20;

/// The rules of a workspace, read when they are needed.
pub(crate) struct Ignored {
    root: PathBuf,
    folder: Folder,
    known: BTreeMap<PathBuf, FolderRules>,
    /// The rules of the person for all repositories.
    persons: Gitignore,
}

/// The rules of one directory for everything below it.
struct FolderRules {
    own: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
    /// True if a repository begins here, so that the rules of git above do not count.
    is_repository: bool,
}

impl Ignored {
    /// `folder` is the open root of the workspace.
    pub(crate) fn new(root: &Path, folder: Folder) -> Self {
        // Programs can change a home that is in the workspace.
        let is_apart = std::env::home_dir().is_some_and(|home| !home.starts_with(root));
        let path = is_apart.then(gitconfig_excludes_path).flatten().and_then(|path| path.canonicalize().ok());
        let text = path.and_then(|path| whole::read(path, BYTES_MAX).ok());
        Ignored { persons: rules(root, text), root: root.to_owned(), folder, known: BTreeMap::new() }
    }

    /// Returns true if an entry is left out. Its path is relative to the root.
    pub(crate) fn has(&mut self, path: &Path, is_folder: bool) -> bool {
        let above: Vec<&Path> = path.ancestors().skip(1).collect();
        for folder in &above {
            if !self.known.contains_key(*folder) {
                let found = self.read(folder);
                self.known.insert((*folder).to_owned(), found);
            }
        }
        let full = self.root.join(path);
        let rules: Vec<&FolderRules> = above.iter().filter_map(|folder| self.known.get(*folder)).collect();
        let repository = rules.iter().position(|rules| rules.is_repository).map_or(rules.len(), |at| at + 1);
        let own = rules.iter().map(|rules| &rules.own);
        let git = rules[..repository].iter().map(|rules| &rules.git);
        let exclude = rules[..repository].iter().map(|rules| &rules.exclude);
        // The nearest rule counts.
        let mut all = own.chain(git).chain(exclude).chain([&self.persons]);
        let decided = all.find_map(|rules| match rules.matched(&full, is_folder) {
            Match::None => None,
            found => Some(found.is_ignore()),
        });
        decided.unwrap_or(false)
    }

    fn read(&self, folder: &Path) -> FolderRules {
        let here = self.root.join(folder);
        let text = |name: &str| self.folder.read(&folder.join(name), BYTES_MAX).ok();
        let is_repository = self.folder.kind(&folder.join(".git")).is_ok_and(|kind| kind.is_some());
        // The repository of a linked worktree is elsewhere.
        let common =
            || whole::read(Place::find(&self.root).ok()?.repository?.common.join("info/exclude"), BYTES_MAX).ok();
        let exclude = match folder.as_os_str().is_empty() {
            true => common(),
            false => is_repository.then(|| text(".git/info/exclude")).flatten(),
        };
        FolderRules {
            own: rules(&here, text(".ignore")),
            git: rules(&here, text(".gitignore")),
            exclude: rules(&here, exclude),
            is_repository,
        }
    }
}

/// Reads rules that count in a directory. Lines that are no rules are left out.
fn rules(folder: &Path, text: Option<Vec<u8>>) -> Gitignore {
    let Some(text) = text else { return Gitignore::empty() };
    let mut builder = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(&text).trim_start_matches('\u{feff}').lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
