//! The caller's knowledge of the workspace. The policy reads no files: the caller provides links and ignored paths.

/// The workspace as the caller sees it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The root of the workspace: absolute, without links.
    pub root: &'a str,
    /// The working directory of commands: absolute, within the root.
    pub cwd: &'a str,
    /// The home directory of the current user, for `~` and `$HOME`.
    pub home: Option<&'a str>,
    /// True if a snapshot was taken, so that tracked and untracked files can be restored.
    pub has_snapshot: bool,
    /// Resolves links in paths.
    pub links: &'a dyn Links,
    /// The paths that git ignores: no snapshot holds them.
    pub ignored: &'a dyn Ignored,
    /// The configured git aliases: name and meaning.
    pub aliases: &'a [(String, String)],
}

impl<'a> View<'a> {
    /// Returns a workspace without links, ignored files or aliases, and without a snapshot.
    pub fn plain(root: &'a str) -> Self {
        View { root, cwd: root, home: None, has_snapshot: false, links: &Nothing, ignored: &Nothing, aliases: &[] }
    }
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let View { root, cwd, has_snapshot, .. } = self;
        out.debug_struct("View").field("root", root).field("cwd", cwd).field("has_snapshot", has_snapshot).finish()
    }
}

/// Resolves symbolic links.
pub trait Links {
    /// Returns the target of an absolute path after all links are followed; `None` if no link changes it. The path may
    /// contain `..`, which is resolved as the system does; its last parts need not exist.
    fn resolve(&self, path: &str) -> Option<String>;
}

/// Knows the paths that git ignores.
pub trait Ignored {
    /// Reports if a path relative to the workspace is ignored.
    fn is_ignored(&self, path: &str) -> bool;
}

/// A view without links and ignored paths.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Links for Nothing {
    fn resolve(&self, _: &str) -> Option<String> {
        None
    }
}

impl Ignored for Nothing {
    fn is_ignored(&self, _: &str) -> bool {
        false
    }
}

impl<F: Fn(&str) -> Option<String>> Links for F {
    fn resolve(&self, path: &str) -> Option<String> {
        self(path)
    }
}

/// Ignored paths as a list of directories and files.
impl Ignored for [String] {
    fn is_ignored(&self, path: &str) -> bool {
        self.iter().any(|ignored| {
            path.strip_prefix(ignored.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

impl Ignored for Vec<String> {
    fn is_ignored(&self, path: &str) -> bool {
        self.as_slice().is_ignored(path)
    }
}
