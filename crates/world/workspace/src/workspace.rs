//! The operations on a workspace: hash it, store it, restore it.

#![expect(
    clippy::disallowed_methods,
    reason = "the private directory of a workspace is in the store, which no program can change"
)]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_redact::Redactor;

use crate::{
    Error, NotKept, Restored, Result, Why, checkpoint,
    cleared::{self, clear, unblocked},
    ended,
    index::{Index, joined},
    legacy,
    listing::{self, Before, Staged},
    nested,
    place::WorkspaceRoot,
    private::Private,
    refs,
    repository::Standing,
    restore,
    scope::Scope,
};

/// Maximum number of attempts to reserve the next snapshot number of a run, if other processes reserve numbers at the
/// same time.
const NUMBERS_TRIED_MAX: u32 = 16;

/// The name of the index that hashing uses as a cache. The objects it refers to may be missing.
pub(crate) const HASHED: &str = "index.hashed";

/// The name of the index that snapshots use as a cache. The objects it refers to are stored.
pub(crate) const KEPT: &str = "index.kept";

/// Hashes, stores and restores workspaces.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    pub(crate) home: Option<PathBuf>,
    /// Finds the secrets that must not be committed.
    pub(crate) secrets: Arc<Redactor>,
}

impl Workspace {
    /// Creates a workspace store in `home/workspaces`. If `home` is inside a workspace, it is not part of that
    /// workspace.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Workspace { home: Some(home.into()), secrets: Arc::default() }
    }

    /// Returns a workspace that also refuses to commit the secrets that this redactor knows by their value.
    #[must_use]
    pub fn refusing(self, secrets: Arc<Redactor>) -> Self {
        Workspace { secrets, ..self }
    }

    /// Returns the store's directory, if there is one.
    pub fn store(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the hash of the git tree of a directory's workspace, including untracked files. The directory need not
    /// be in a git repository. Nothing is written to the user's repository.
    pub fn tree(&self, folder: &Path) -> Result<String> {
        let mut said = Vec::new();
        let tree = unblocked(folder, &mut said, |_| self.tree_now(folder));
        self.note(folder, said);
        tree
    }

    fn tree_now(&self, folder: &Path) -> Result<String> {
        let private = Private::open(self.home.as_deref(), WorkspaceRoot::find(folder)?)?;
        if let Some(tree) = listing::unchanged(&private) {
            return Ok(tree);
        }
        let index = Index::new(&private)?.for_a_moment()?;
        let cache = latest(&private, [HASHED, KEPT]);
        index.recall(cache)?;
        index.add_what_belongs()?;
        let tree = match index.recalled_tree(cache) {
            Some(tree) => tree,
            None => index.git.line(&["write-tree", "--missing-ok"])?,
        };
        index.remember(HASHED, &tree, None)?;
        Ok(tree)
    }

    /// Stores the content of the workspace by the ignore rules of a snapshot, and returns its tree. It is kept at least
    /// until the next snapshot.
    pub fn tree_since(&self, folder: &Path, snapshot: &str) -> Result<String> {
        // The programs that wrote have ended.
        let mut said = clear(folder);
        let tree = unblocked(folder, &mut said, |said| {
            let (private, before) = self.holding(folder, snapshot)?;
            let kept = keep_opened_since(&private, snapshot, &before)?;
            said.extend(kept.said);
            Ok(kept.tree)
        });
        self.note(folder, said);
        tree
    }

    /// Keeps what was done to read a workspace until the changes of the next attempt that ends are recorded.
    fn note(&self, folder: &Path, said: Vec<String>) {
        if !said.is_empty()
            && let Ok(private) = self.open_private(folder)
        {
            cleared::note(&private, said);
        }
    }

    /// Stores the workspace of a directory as a snapshot. Returns the snapshot's name, the reference
    /// `refs/interlock/RUN/NUMBER`.
    pub fn take(&self, folder: &Path, run: &str) -> Result<String> {
        self.take_tree(folder, run).map(|(name, _)| name)
    }

    /// Stores a snapshot and returns its name and the hash of its tree.
    pub fn take_tree(&self, folder: &Path, run: &str) -> Result<(String, String)> {
        self.take_as(folder, run, None)
    }

    /// Stores a snapshot and also records it as a checkpoint with this name.
    pub fn take_named(&self, folder: &Path, run: &str, name: &str) -> Result<(String, String)> {
        let also = checkpoint::reference(run, name)?;
        self.take_as(folder, run, Some(&also))
    }

    fn take_as(&self, folder: &Path, run: &str, also: Option<&str>) -> Result<(String, String)> {
        let mut said = Vec::new();
        let taken = unblocked(folder, &mut said, |_| self.take_of(&self.open_private(folder)?, run, also));
        self.note(folder, said);
        taken
    }

    /// Stores a snapshot of an open workspace.
    pub(crate) fn take_of(&self, private: &Private, run: &str, also: Option<&str>) -> Result<(String, String)> {
        if let Some(stored) = listing::take(private) {
            let standing = Standing::of(private)?;
            let name = name_it(private, &stored.tree, run, also)?;
            Scope::link(private, &name, &stored.scope)?;
            standing.map_or(Ok(()), |standing| standing.write(private, &name))?;
            if listing::named(private, &name, &stored) {
                return Ok((name, stored.tree));
            }
        }
        let before = Before::of(private);
        let (standing, (tree, (scope, files))) = match private.folder.join(KEPT).exists() {
            true => std::thread::scope(|threads| {
                let standing = threads.spawn(|| Standing::of(private));
                let kept = keep_with_scope(private)?;
                Ok::<_, Error>((joined(standing)?, kept))
            })?,
            // Objects that are imported from the repository first need not be written again.
            false => (Standing::of(private)?, keep_with_scope(private)?),
        };
        let nested = nested::take(self, private, &scope.nested(), run)?;
        let name = name_it(private, &tree, run, also)?;
        let scope_name = scope.write(private, &name)?;
        nested::write(private, &name, &nested)?;
        standing.map_or(Ok(()), |standing| standing.write(private, &name))?;
        listing::remember(private, before, &files, (&scope, &scope_name), (&name, &tree));
        Ok((name, tree))
    }

    /// Stores the content of the workspace without a name and returns its tree. It is kept at least until the next
    /// snapshot.
    pub fn kept_tree(&self, folder: &Path) -> Result<String> {
        let mut said = Vec::new();
        let tree = unblocked(folder, &mut said, |_| keep(&self.open_private(folder)?));
        self.note(folder, said);
        tree
    }

    /// Returns true if the directory is in a git repository of the user.
    pub fn is_repository(&self, folder: &Path) -> Result<bool> {
        Ok(WorkspaceRoot::find(folder)?.repository.is_some())
    }

    /// Returns the root directory of a directory's workspace.
    pub fn root(&self, folder: &Path) -> Result<PathBuf> {
        WorkspaceRoot::find(folder).map(|place| place.root)
    }

    /// Restores the files of a workspace to a snapshot: changed and deleted files are restored, new files are removed,
    /// ignored files stay. An interrupted restore can be repeated.
    pub fn restore(&self, folder: &Path, name: &str) -> Result<Restored> {
        let (private, tree) = self.holding(folder, name)?;
        restore::restore(&private, &tree)
    }

    /// Returns the tree hash of a snapshot.
    pub fn tree_named(&self, folder: &Path, name: &str) -> Result<String> {
        self.reading(folder, name).map(|(_, tree)| tree)
    }

    /// Restores the workspace to a tree that a snapshot stores, given by its hash.
    pub fn restore_tree(&self, folder: &Path, tree: &str) -> Result<Restored> {
        let private = self.open_private(folder)?;
        let git = private.git().objects(&private.objects);
        match git.line(&["cat-file", "-t", full_hash(tree)?]) {
            Ok(kind) if kind == "tree" => restore::restore(&private, tree),
            _ => Err(Error::NoSnapshot(tree.to_owned())),
        }
    }

    /// Opens the private directory of a directory's workspace, to read it. Nothing is created or changed if it exists.
    pub(crate) fn read_private(&self, folder: &Path) -> Result<Private> {
        match Private::existing(self.home()?, WorkspaceRoot::find(folder)?) {
            Some(private) => Ok(private),
            None => self.open_private(folder),
        }
    }

    pub(crate) fn open_private(&self, folder: &Path) -> Result<Private> {
        Private::open(Some(self.home()?), WorkspaceRoot::find(folder)?)
    }

    pub(crate) fn home(&self) -> Result<&Path> {
        let why = "this workspace was made to hash only".to_owned();
        self.home.as_deref().ok_or(Error::Io { doing: "could not store a snapshot".into(), why })
    }
}

/// Returns the cached index that was written last. It needs the fewest updates.
fn latest(private: &Private, names: [&'static str; 2]) -> &'static str {
    let written = |name: &&str| std::fs::metadata(private.folder.join(name)).and_then(|about| about.modified()).ok();
    names.into_iter().max_by_key(written).unwrap_or(names[0])
}

/// Returns the hash if it is a complete hash of a tree, and an error otherwise.
pub(crate) fn full_hash(tree: &str) -> Result<&str> {
    let is_hash = [40, 64].contains(&tree.len()) && tree.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hash { Ok(tree) } else { Err(Error::NoSnapshot(tree.to_owned())) }
}

/// Stores the content of a workspace and returns its tree.
pub(crate) fn keep(private: &Private) -> Result<String> {
    if let Some(stored) = listing::take(private) {
        return Ok(stored.tree);
    }
    // The cached index may refer to objects without a reference that have been pruned since. Then start without the
    // cache.
    let keep = |recall| keep_from(private, recall, None, |index| index.add_what_belongs().map(drop));
    keep(true).or_else(|error| if error.is_stop() { Err(error) } else { keep(false) }).map(|(tree, ())| tree)
}

/// Stores the content of a workspace. Returns its tree and the rules that decided which files belonged to it at that
/// time.
fn keep_with_scope(private: &Private) -> Result<(String, (Scope, Vec<Staged>))> {
    let keep = |recall| {
        keep_from(private, recall, None, |index| {
            let unkept = index.add_what_belongs()?;
            Scope::of(index, unkept)
        })
    };
    keep(true).or_else(|error| if error.is_stop() { Err(error) } else { keep(false) })
}

/// The content of a workspace, stored by the rules of a snapshot.
#[derive(Debug, Default)]
pub(crate) struct KeptSince {
    pub(crate) tree: String,
    /// The paths that changed since and cannot be stored.
    pub(crate) not_kept: Vec<NotKept>,
    /// The paths of nested repositories, whose files are stored apart.
    pub(crate) nested: Vec<Vec<u8>>,
    /// What was done to read the files, one sentence each.
    pub(crate) said: Vec<String>,
}

/// Stores the content of a workspace by the rules of a snapshot.
pub(crate) fn keep_since(private: &Private, before: &str, tree: &str) -> Result<KeptSince> {
    if let Some(stored) = listing::since(private, before) {
        return Ok(KeptSince { tree: stored.tree, ..KeptSince::default() });
    }
    let Some(scope) = Scope::read(private, before) else {
        return Ok(KeptSince { tree: keep(private)?, ..KeptSince::default() });
    };
    let keep = |recall| {
        keep_from(private, recall, Some(before), |index| {
            index.start_from(KEPT, before, tree)?;
            scope.changed(index)
        })
    };
    let kept = keep(true).or_else(|error| if error.is_stop() { Err(error) } else { keep(false) });
    let (tree, (not_kept, nested)) = kept?;
    Ok(KeptSince { tree, not_kept, nested, ..KeptSince::default() })
}

/// Does the same after an attempt. Files that the attempt has made unreadable are made readable and stored, too.
pub(crate) fn keep_opened_since(private: &Private, before: &str, tree: &str) -> Result<KeptSince> {
    let kept = keep_since(private, before, tree)?;
    // What could not be read before the attempt stays so: no snapshot has its content before.
    let scope = Scope::read(private, before).unwrap_or_default();
    let closed = kept.not_kept.iter().filter(|path| path.why == Why::Unreadable && !scope.has_unkept(&path.path));
    match cleared::open_up(&private.place.root, closed) {
        said if said.is_empty() => Ok(kept),
        said => Ok(KeptSince { said, ..keep_since(private, before, tree)? }),
    }
}

/// Stores the content of a workspace as `add` updates the index. `since` is the snapshot whose rules it applies, if any.
fn keep_from<T>(
    private: &Private,
    recall: bool,
    since: Option<&str>,
    add: impl Fn(&Index<'_>) -> Result<T>,
) -> Result<(String, T)> {
    let index = Index::new(private)?.kept();
    if recall {
        index.recall(KEPT)?;
    }
    let added = add(&index)?;
    let tree = match index.recalled_tree(KEPT) {
        Some(tree) => tree,
        None => index.git.line(&["write-tree"])?,
    };
    index.remember(KEPT, &tree, since)?;
    Ok((tree, added))
}

/// Gives a stored tree the next snapshot name of a run, and the name `also` if it is given. The references point to the
/// tree itself, not to a commit, so that no history shows them.
pub(crate) fn name_it(private: &Private, tree: &str, run: &str, also: Option<&str>) -> Result<String> {
    let git = private.git();
    let prefix = prefix_of(run);
    let hint = private.folder.join(format!("last-{}", name_part(run)));
    // The last number is read from a file, so that the cost does not grow with the number of snapshots.
    let known = std::fs::read_to_string(&hint).ok().and_then(|text| text.parse::<u32>().ok());
    if let Some(name) = known.filter(|_| also.is_none()).map(|last| format!("{prefix}{}", last + 1))
        && refs::create(private, &name, tree).is_ok()
    {
        // If this write fails, the next call finds the name in use and lists the references instead.
        let _ = std::fs::write(&hint, ended::number(&name).to_string());
        return Ok(name);
    }
    let also = also.map(|also| format!("update {also} {tree}\n")).unwrap_or_default();
    let mut last = known.unwrap_or_else(|| legacy_last(private, &prefix));
    let mut result = Err(Error::NoSnapshot(prefix.clone()));
    for tried in 0..NUMBERS_TRIED_MAX {
        if tried == 1 {
            // Another process was faster, or the file with the last number was missing.
            let known = git.line(&["for-each-ref", "--format=%(refname)", &prefix])?;
            last = known.lines().filter_map(|name| name.strip_prefix(&prefix)?.parse().ok()).max().unwrap_or(last);
        }
        last += 1;
        let name = format!("{prefix}{last}");
        let orders = format!("create {name} {tree}\n{also}");
        result = git.run_with(&["update-ref", "--stdin"], orders.as_bytes()).map(|_| name);
        if result.is_ok() {
            // If this write fails, the next call lists the references instead.
            let _ = std::fs::write(&hint, last.to_string());
            return result;
        }
    }
    let _ = std::fs::remove_file(&hint);
    result
}

/// Returns the last snapshot number that an earlier version of Interlock assigned.
fn legacy_last(private: &Private, prefix: &str) -> u32 {
    let numbers = legacy::names(private, prefix).into_iter();
    numbers.filter_map(|(name, _)| name.strip_prefix(prefix)?.parse().ok()).max().unwrap_or(0)
}

/// Returns the prefix of the names of a run's snapshots.
pub(crate) fn prefix_of(run: &str) -> String {
    format!("refs/interlock/{}/", name_part(run))
}

pub(crate) fn tree_of(private: &Private, name: &str) -> Result<Option<String>> {
    if !name.starts_with("refs/interlock/") {
        return Err(Error::NoSnapshot(name.to_owned()));
    }
    if let Some(tree) = refs::read(private, name) {
        return Ok(Some(tree));
    }
    match private.git().line(&["rev-parse", "--quiet", "--verify", &format!("{name}^{{tree}}")]) {
        Ok(tree) => Ok(Some(tree)),
        Err(Error::Git { .. }) => legacy::bring(private, name),
        Err(error) => Err(error),
    }
}

/// Encodes a run's name as part of a reference: bytes that references do not allow are written as `=` and two
/// hexadecimal digits.
pub(crate) fn name_part(run: &str) -> String {
    let bytes = run.as_bytes();
    let is_plain = |at: usize| match bytes[at] {
        // Child runs have names such as `parent.3`.
        b'.' => at > 0 && bytes.get(at + 1).is_some_and(u8::is_ascii_digit),
        byte => byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_',
    };
    let spell =
        |at: usize| if is_plain(at) { char::from(bytes[at]).to_string() } else { format!("={:02x}", bytes[at]) };
    (0..bytes.len()).map(spell).collect()
}
