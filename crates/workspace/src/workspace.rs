//! What can be done with a workspace: hash it, keep it, put it back.

use std::path::{Path, PathBuf};

use crate::{
    Error, NotKept, Restored, Result, checkpoint,
    index::{Index, joined},
    legacy,
    place::Place,
    private::Private,
    repository::Standing,
    restore,
    scope::Scope,
};

/// How many others may take the next number of a run before we give up.
const NUMBERS_TRIED_MAX: u32 = 16;

/// What is known of the files when they are hashed: their content need not be there any more.
const HASHED: &str = "index.hashed";

/// The same of files whose content is kept.
const KEPT: &str = "index.kept";

/// Keeps workspaces.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub(crate) home: Option<PathBuf>,
}

impl Workspace {
    /// One that keeps what it needs under `workspaces` in a folder. Where that folder is inside a workspace, it is no part of it.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Workspace { home: Some(home.into()) }
    }

    /// The hash of the git tree that the workspace of a folder is, with its untracked files; also where it is no git
    /// repository. Nothing is written into the repository.
    pub fn tree(&self, folder: &Path) -> Result<String> {
        let private = Private::open(self.home.as_deref(), Place::find(folder)?)?;
        let index = Index::new(&private)?.for_a_moment()?;
        index.recall(HASHED)?;
        if !index.path.exists() {
            index.recall(KEPT)?;
        }
        index.add_what_belongs()?;
        let tree = index.git.line(&["write-tree", "--missing-ok"])?;
        index.remember(HASHED)?;
        Ok(tree)
    }

    /// Keeps the workspace of a folder as it is. The name is that of a reference, `refs/interlock/RUN/NUMBER`.
    pub fn take(&self, folder: &Path, run: &str) -> Result<String> {
        self.take_tree(folder, run).map(|(name, _)| name)
    }

    /// The same, with the hash of its tree.
    pub fn take_tree(&self, folder: &Path, run: &str) -> Result<(String, String)> {
        self.take_as(folder, run, None)
    }

    /// The same, also as a checkpoint with a name.
    pub fn take_named(&self, folder: &Path, run: &str, name: &str) -> Result<(String, String)> {
        let also = checkpoint::reference(run, name)?;
        self.take_as(folder, run, Some(&also))
    }

    fn take_as(&self, folder: &Path, run: &str, also: Option<&str>) -> Result<(String, String)> {
        let private = self.open_private(folder)?;
        let (standing, (tree, scope)) = match private.folder.join(KEPT).exists() {
            true => std::thread::scope(|threads| {
                let standing = threads.spawn(|| Standing::of(&private));
                let kept = keep_with_scope(&private)?;
                Ok((joined(standing)?, kept))
            })?,
            // What is brought over from the repository need not be written again.
            false => (Standing::of(&private)?, keep_with_scope(&private)?),
        };
        let name = name_it(&private, &tree, run, also)?;
        scope.write(&private, &name)?;
        standing.map_or(Ok(()), |standing| standing.write(&private, &name))?;
        Ok((name, tree))
    }

    /// The tree of the workspace as it is, with its content kept, but under no name: until the next snapshot at least.
    pub fn kept_tree(&self, folder: &Path) -> Result<String> {
        keep(&self.open_private(folder)?)
    }

    /// Whether the folder is in a git repository of its user.
    pub fn is_repository(&self, folder: &Path) -> Result<bool> {
        Ok(Place::find(folder)?.repository.is_some())
    }

    /// Where the workspace of a folder begins.
    pub fn root(&self, folder: &Path) -> Result<PathBuf> {
        Place::find(folder).map(|place| place.root)
    }

    /// Makes the files of a workspace what they were: what changed or is gone is put back, what is new is removed, ignored files stay.
    /// Cut off, it can be done again.
    pub fn restore(&self, folder: &Path, name: &str) -> Result<Restored> {
        let (private, tree) = self.holding(folder, name)?;
        restore::restore(&private, &tree)
    }

    /// The tree of a snapshot.
    pub fn tree_named(&self, folder: &Path, name: &str) -> Result<String> {
        self.holding(folder, name).map(|(_, tree)| tree)
    }

    /// The same to a tree that some snapshot keeps, by its hash.
    pub fn restore_tree(&self, folder: &Path, tree: &str) -> Result<Restored> {
        let private = self.open_private(folder)?;
        let git = private.git().objects(&private.objects);
        match git.line(&["cat-file", "-t", full_hash(tree)?]) {
            Ok(kind) if kind == "tree" => restore::restore(&private, tree),
            _ => Err(Error::NoSnapshot(tree.to_owned())),
        }
    }

    pub(crate) fn open_private(&self, folder: &Path) -> Result<Private> {
        Private::open(Some(self.home()?), Place::find(folder)?)
    }

    pub(crate) fn home(&self) -> Result<&Path> {
        let why = "this workspace was made to hash only".to_owned();
        self.home.as_deref().ok_or(Error::Io { doing: "could not keep anything".into(), why })
    }
}

/// The hash of a tree, where it is one in full.
pub(crate) fn full_hash(tree: &str) -> Result<&str> {
    let is_hash = [40, 64].contains(&tree.len()) && tree.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { Ok(tree) } else { Err(Error::NoSnapshot(tree.to_owned())) }
}

/// Keeps the content of a workspace; its tree.
pub(crate) fn keep(private: &Private) -> Result<String> {
    // Somebody may have cleared away content that was kept but that no name referred to any more.
    let keep = |recall| keep_from(private, recall, |index| index.add_what_belongs().map(drop));
    keep(true).or_else(|_| keep(false)).map(|(tree, ())| tree)
}

/// The same, with the rules by which files belonged to it at that moment.
fn keep_with_scope(private: &Private) -> Result<(String, Scope)> {
    let keep = |recall| {
        keep_from(private, recall, |index| {
            let unkept = index.add_what_belongs()?;
            Scope::of(index, unkept)
        })
    };
    keep(true).or_else(|_| keep(false))
}

/// Keeps the content of a workspace by the rules of a snapshot. Returns its tree, and the paths that have changed since and are not kept.
pub(crate) fn keep_since(private: &Private, before: &str, tree: &str) -> Result<(String, Vec<NotKept>)> {
    let Some(scope) = Scope::read(private, before) else { return Ok((keep(private)?, Vec::new())) };
    let keep = |recall| {
        keep_from(private, recall, |index| {
            index.start_from(tree)?;
            scope.changed(index)
        })
    };
    keep(true).or_else(|_| keep(false))
}

fn keep_from<T>(private: &Private, recall: bool, add: impl Fn(&Index<'_>) -> Result<T>) -> Result<(String, T)> {
    let index = Index::new(private)?.kept();
    if recall {
        index.recall(KEPT)?;
    }
    let added = add(&index)?;
    let tree = index.git.line(&["write-tree"])?;
    index.remember(KEPT)?;
    Ok((tree, added))
}

/// Gives a tree that is kept the next name of a run, and another one too where that is wanted. They refer to the tree itself and to no commit, so
/// that nobody's history shows it.
pub(crate) fn name_it(private: &Private, tree: &str, run: &str, also: Option<&str>) -> Result<String> {
    let git = private.git();
    let prefix = prefix_of(run);
    let hint = private.folder.join(format!("last-{}", name_part(run)));
    let also = also.map(|also| format!("update {also} {tree}\n")).unwrap_or_default();
    // Read and not counted, so that it costs the same however many there are.
    let mut last = match std::fs::read_to_string(&hint).ok().and_then(|text| text.parse::<u32>().ok()) {
        Some(last) => last,
        None => legacy_last(private, &prefix),
    };
    let mut result = Err(Error::NoSnapshot(prefix.clone()));
    for tried in 0..NUMBERS_TRIED_MAX {
        if tried == 1 {
            // Somebody else was quicker, or it was not known how many there are.
            let known = git.line(&["for-each-ref", "--format=%(refname)", &prefix])?;
            last = known.lines().filter_map(|name| name.strip_prefix(&prefix)?.parse().ok()).max().unwrap_or(last);
        }
        last += 1;
        let name = format!("{prefix}{last}");
        let orders = format!("create {name} {tree}\n{also}");
        result = git.run_with(&["update-ref", "--stdin"], orders.as_bytes()).map(|_| name);
        if result.is_ok() {
            // Where it cannot be written the next one counts.
            let _ = std::fs::write(&hint, last.to_string());
            return result;
        }
    }
    let _ = std::fs::remove_file(&hint);
    result
}

/// The last number that an earlier version has given.
fn legacy_last(private: &Private, prefix: &str) -> u32 {
    let numbers = legacy::names(private, prefix).into_iter();
    numbers.filter_map(|(name, _)| name.strip_prefix(prefix)?.parse().ok()).max().unwrap_or(0)
}

/// What the names of a run's snapshots begin with.
pub(crate) fn prefix_of(run: &str) -> String {
    format!("refs/interlock/{}/", name_part(run))
}

pub(crate) fn tree_of(private: &Private, name: &str) -> Result<Option<String>> {
    if !name.starts_with("refs/interlock/") {
        return Err(Error::NoSnapshot(name.to_owned()));
    }
    match private.git().line(&["rev-parse", "--quiet", "--verify", &format!("{name}^{{tree}}")]) {
        Ok(tree) => Ok(Some(tree)),
        Err(Error::Git { .. }) => legacy::bring(private, name),
        Err(error) => Err(error),
    }
}

/// A run's name as part of a reference: what references do not allow everywhere is spelled as its number.
pub(crate) fn name_part(run: &str) -> String {
    let bytes = run.as_bytes();
    let is_plain = |at: usize| match bytes[at] {
        // Children are called `parent.3`.
        b'.' => at > 0 && bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        byte => byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_',
    };
    let spell =
        |at: usize| if is_plain(at) { char::from(bytes[at]).to_string() } else { format!("={:02x}", bytes[at]) };
    (0..bytes.len()).map(spell).collect()
}
