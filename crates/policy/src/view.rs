//! What the one who asks knows of the workspace. Policy itself looks at nothing: links and ignored paths are told to it.

/// The workspace as the one who asks sees it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The root of the workspace: absolute, with no link in it.
    pub root: &'a str,
    /// Where commands run: absolute, within the root.
    pub cwd: &'a str,
    /// The home directory of whoever runs this, for `~` and `$HOME`.
    pub home: Option<&'a str>,
    /// Whether a snapshot was taken, so that tracked and untracked files can be put back.
    pub has_snapshot: bool,
    /// Where paths really lead.
    pub links: &'a dyn Links,
    /// What git ignores: no snapshot holds it.
    pub ignored: &'a dyn Ignored,
    /// The git aliases that are set: name and meaning.
    pub aliases: &'a [(String, String)],
}

impl<'a> View<'a> {
    /// A workspace without links, ignored files or aliases, and without a snapshot.
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

/// Says where paths really lead.
pub trait Links {
    /// Where an absolute path leads once every link on the way is followed; nothing where that is where it says. The path may
    /// hold `..`, which is to be taken as the system takes it; its last parts need not exist.
    fn resolve(&self, path: &str) -> Option<String>;
}

/// Says what git ignores.
pub trait Ignored {
    /// Whether a path from the root of the workspace is ignored.
    fn is_ignored(&self, path: &str) -> bool;
}

/// No links, and nothing ignored.
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

/// Ignored paths as a list of folders and files.
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
