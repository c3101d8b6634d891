//! Patches on stored trees: a patch turns one tree into another without touching any files of the workspace.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::Arc,
};

use interlock_beneath::{self as beneath, Folder, Mode};

use crate::{
    Change, Error, Result, Workspace,
    changes::difference,
    git::{Git, join},
    index::{Index, joined},
    listing, objects,
    patch::{FILE_BYTES_MAX, Kind, Look, LookupResult, Node, Patch, Plan, Problem, plan},
    private::{Private, hex},
    workspace::{full_hash, name_it},
};

/// The mode of a directory in a git tree.
pub(crate) const FOLDER: &str = "40000";

impl Workspace {
    /// Applies a patch to a stored tree and stores the result under a snapshot name of the run. Returns its hash.
    pub fn apply_to_tree(&self, folder: &Path, run: &str, tree: &str, patch: &Patch) -> Result<String> {
        let private = self.open_private(folder)?;
        let plan = files(&private, tree, patch)?.plan(patch).map_err(Error::Patch)?;
        let made = changed(&private, tree, &plan)?;
        std::thread::scope(|scope| {
            let checked = scope.spawn(|| is_as_planned(&private, tree, &made, &plan));
            name_it(&private, &made, run, None)?;
            joined(checked)
        })?;
        Ok(made)
    }

    /// Returns the patch between two stored trees.
    pub fn diff_trees(&self, folder: &Path, from: &str, to: &str) -> Result<Vec<u8>> {
        let private = self.read_private(folder)?;
        private.git().objects(&private.objects).between(from, to)
    }

    /// Returns every path that differs between two stored trees, sorted. A renamed file is two paths.
    pub fn changes_between(&self, folder: &Path, from: &str, to: &str) -> Result<Vec<Change>> {
        let private = self.read_private(folder)?;
        difference(&private.git().objects(&private.objects), full_hash(from)?, full_hash(to)?)
    }

    /// Stores the tree `base` with these changes of it, and nothing else, under a snapshot name of the run. Returns its
    /// hash. The changes are some of those that [`Workspace::changes_between`] returns.
    pub fn tree_with(&self, folder: &Path, run: &str, base: &str, changes: &[&Change]) -> Result<String> {
        let private = self.open_private(folder)?;
        let scratch = private.scratch()?;
        let git = private.git().objects(&private.objects).index(&scratch.path().join("index"));
        git.run(&["read-tree", full_hash(base)?])?;
        // Removals come first, because a directory may replace a file. Git reads a removal as the mode 0.
        let (gone, there): (Vec<&Change>, Vec<&Change>) = changes.iter().partition(|change| change.after.is_none());
        let nothing = "0".repeat(base.len());
        let lines = gone.into_iter().chain(there).map(|change| {
            let (mode, hash) = match &change.after {
                Some(version) => (version.kind.mode(), version.hash.as_str()),
                None => ("0", nothing.as_str()),
            };
            [format!("{mode} {hash}\t").as_bytes(), change.path.as_os_str().as_bytes()].concat()
        });
        git.run_with(&["update-index", "-z", "--index-info"], &join(lines))?;
        let tree = git.line(&["write-tree"])?;
        name_it(&private, &tree, run, None)?;
        Ok(tree)
    }

    /// Returns the files of a stored tree, to check if a patch fits.
    pub fn tree_files(&self, folder: &Path, tree: &str, patch: &Patch) -> Result<TreeFiles> {
        files(&self.open_private(folder)?, tree, patch)
    }
}

/// Returns the tree with the planned changes. Only the changed files are written, to a scratch directory; the rest of
/// the tree is known by its hash.
pub(crate) fn changed(private: &Private, tree: &str, plan: &Plan) -> Result<String> {
    if let Some(tree) = listing::changed(private, tree, plan) {
        return Ok(tree);
    }
    let index = Index::new(private)?;
    let aside = index.scratch.path().join("aside");
    let git = Git::new(&aside, &private.folder).index(&index.path).objects(&private.objects);
    let wrong = |error: beneath::Error| Error::io("write in", &aside, &error.into());
    let scratch = Folder::open(index.scratch.path()).map_err(wrong)?;
    scratch.make_folders(Path::new("aside")).map_err(wrong)?;
    let files = scratch.folder(Path::new("aside")).map_err(wrong)?;
    for change in &plan.changes {
        if let Some(node) = &change.after {
            put(&files, &change.path, node).map_err(wrong)?;
        }
    }
    git.run(&["read-tree", tree])?;
    // Removals come first, because a directory may replace a file.
    let (gone, there): (Vec<_>, Vec<_>) = plan.changes.iter().partition(|change| change.after.is_none());
    let paths = join(gone.into_iter().chain(there).map(|change| change.path.as_os_str().as_bytes().to_vec()));
    git.run_with(&["update-index", "--add", "--remove", "-z", "--stdin"], &paths)?;
    git.line(&["write-tree"])
}

/// One path of a patch may be a link that another path leads through; it is not followed.
fn put(folder: &Folder, path: &Path, node: &Node) -> beneath::Result<()> {
    folder.make_folders(path.parent().unwrap_or(Path::new("")))?;
    match node.kind {
        Kind::Link => folder.symlink(Path::new(OsStr::from_bytes(&node.content)), path),
        Kind::Executable => folder.write_as(path, &node.content, Mode::from_raw_mode(0o755)),
        _ => folder.write(path, &node.content),
    }
}

/// Checks that exactly the planned paths differ between the trees. `git` skips names that it considers dangerous.
fn is_as_planned(private: &Private, tree: &str, made: &str, plan: &Plan) -> Result<()> {
    let git = private.git().objects(&private.objects);
    let differing = git.paths(&["diff-tree", "-r", "-z", "--name-only", "--no-renames", tree, made])?;
    let differing: BTreeSet<Vec<u8>> = differing.into_iter().collect();
    let planned: BTreeSet<Vec<u8>> =
        plan.changes.iter().map(|change| change.path.as_os_str().as_bytes().to_vec()).collect();
    match differing.symmetric_difference(&planned).next() {
        None => Ok(()),
        Some(path) => {
            let path = Path::new(OsStr::from_bytes(path));
            Err(Error::Patch(vec![Problem::file(path, "git rejects it")]))
        }
    }
}

/// The files of a stored tree.
#[derive(Debug)]
pub struct TreeFiles {
    git: Git,
    tree: String,
    /// The objects read so far, by their hash.
    objects: RefCell<BTreeMap<String, Arc<Vec<u8>>>>,
}

/// Opens a stored tree and reads all objects that a patch refers to in one call.
fn files(private: &Private, tree: &str, patch: &Patch) -> Result<TreeFiles> {
    let (git, tree) = (private.git().objects(&private.objects), full_hash(tree)?.to_owned());
    let files = TreeFiles { git, tree, objects: RefCell::default() };
    let all: BTreeSet<&Path> = patch.paths().into_iter().flat_map(Path::ancestors).collect();
    let name = |path: &Path| [files.tree.as_bytes(), b":", path.as_os_str().as_bytes()].concat();
    files.ask(&all.into_iter().map(name).collect::<Vec<_>>())?;
    match files.object(&files.tree)? {
        Some(_) => Ok(files),
        None => Err(Error::NoSnapshot(files.tree)),
    }
}

impl Look for TreeFiles {
    fn look(&self, path: &Path) -> LookupResult {
        self.found(path).unwrap_or_else(|error| LookupResult::Not(error.to_string()))
    }
}

impl TreeFiles {
    /// Computes the changes that a patch makes to this tree. If a file replaces a directory, the patch must delete
    /// every file in the directory.
    pub fn plan(&self, patch: &Patch) -> std::result::Result<Plan, Vec<Problem>> {
        let plan = plan(patch, self)?;
        let gone = plan.changes.iter().filter(|change| change.after.is_none());
        let gone: BTreeSet<&Path> = gone.map(|change| change.path.as_path()).collect();
        let new = plan.changes.iter().filter(|change| change.before.is_none() && change.after.is_some());
        let buried = new.filter_map(|change| match self.left_in(&change.path, &gone) {
            Ok(None) => None,
            Ok(Some(left)) => {
                Some(Problem::file(&change.path, format!("it is a directory, and {} is not mentioned", left.display())))
            }
            Err(error) => Some(Problem::file(&change.path, error.to_string())),
        });
        let buried: Vec<Problem> = buried.collect();
        if buried.is_empty() { Ok(plan) } else { Err(buried) }
    }

    /// Returns a file in a directory that the patch does not delete. Returns nothing if the path is not a directory.
    fn left_in(&self, path: &Path, gone: &BTreeSet<&Path>) -> Result<Option<PathBuf>> {
        let mut folder = self.tree.clone();
        for name in path {
            let Some(entries) = self.object(&folder)? else { return Ok(None) };
            match entry(&entries, name.as_bytes(), self.tree.len() / 2) {
                Some((FOLDER, hash)) => folder = hash,
                _ => return Ok(None),
            }
        }
        let mut folders = vec![(path.to_owned(), folder)];
        while let Some((path, hash)) = folders.pop() {
            let content = self.object(&hash)?.ok_or(Error::NoSnapshot(hash))?;
            for (mode, name, hash) in entries(&content, self.tree.len() / 2) {
                let path = path.join(OsStr::from_bytes(name));
                match mode {
                    FOLDER => folders.push((path, hex(hash))),
                    _ if gone.contains(path.as_path()) => {}
                    _ => return Ok(Some(path)),
                }
            }
        }
        Ok(None)
    }

    /// Reads objects by their names into the cache.
    fn ask(&self, names: &[Vec<u8>]) -> Result<()> {
        let found = objects::read(&self.git, names)?.into_iter().flatten();
        self.objects.borrow_mut().extend(found.map(|object| (object.hash, Arc::new(object.content))));
        Ok(())
    }

    /// Returns an object by its hash. A name would not do: `git` resolves it, and not always to the entry with that
    /// path.
    fn object(&self, hash: &str) -> Result<Option<Arc<Vec<u8>>>> {
        let is_known = self.objects.borrow().contains_key(hash);
        if !is_known {
            self.ask(&[hash.as_bytes().to_vec()])?;
        }
        Ok(self.objects.borrow().get(hash).cloned())
    }

    /// Follows the path directory by directory, because only the parent directory records the kind of an entry.
    fn found(&self, path: &Path) -> Result<LookupResult> {
        let mut folder = self.tree.clone();
        let mut names = path.iter().peekable();
        while let Some(name) = names.next() {
            let entries = self.object(&folder)?.ok_or_else(|| Error::NoSnapshot(folder.clone()))?;
            let Some((mode, hash)) = entry(&entries, name.as_bytes(), self.tree.len() / 2) else { break };
            let (name, is_last) = (name.to_string_lossy(), names.peek().is_none());
            match (Kind::from_mode(mode), is_last) {
                _ if mode == FOLDER && !is_last => folder = hash,
                _ if mode == FOLDER => return Ok(LookupResult::Not("it is a directory".to_owned())),
                (Some(Kind::Repository), true) => {
                    return Ok(LookupResult::Not("it is a nested repository".to_owned()));
                }
                (Some(Kind::Repository), false) => {
                    let why = format!("it belongs to another repository (`{name}`), whose content is not stored");
                    return Ok(LookupResult::Not(why));
                }
                (Some(kind), true) => return self.node(kind, &hash),
                (Some(Kind::Link), false) => {
                    return Ok(LookupResult::Not(format!("`{name}` in its path is a symbolic link")));
                }
                (Some(_), false) => return Ok(LookupResult::Not(format!("`{name}` in its path is not a directory"))),
                (None, _) => return Ok(LookupResult::Not("it is not a file".to_owned())),
            }
        }
        Ok(LookupResult::Nothing)
    }

    fn node(&self, kind: Kind, hash: &str) -> Result<LookupResult> {
        Ok(match self.object(hash)? {
            None => LookupResult::Not(format!("its content {hash} is missing")),
            Some(content) if content.len() as u64 > FILE_BYTES_MAX => {
                LookupResult::Not(format!("it is larger than {FILE_BYTES_MAX} bytes"))
            }
            Some(content) => LookupResult::Node(Node { kind, content: content.to_vec() }),
        })
    }
}

/// Returns the entries of a git tree as mode, name and hash. They are stored as `MODE NAME`, NUL and the bytes of the
/// hash.
fn entries(mut folder: &[u8], hash_bytes: usize) -> impl Iterator<Item = (&str, &[u8], &[u8])> {
    std::iter::from_fn(move || {
        let space = folder.iter().position(|byte| *byte == b' ')?;
        let end = folder.iter().position(|byte| *byte == 0)?;
        let (mode, name) = (std::str::from_utf8(&folder[..space]).ok()?, folder.get(space + 1..end)?);
        let hash = folder.get(end + 1..end + 1 + hash_bytes)?;
        folder = &folder[end + 1 + hash_bytes..];
        Some((mode, name, hash))
    })
}

/// Returns the mode and the hash of one entry of a git tree.
fn entry<'t>(folder: &'t [u8], name: &[u8], hash_bytes: usize) -> Option<(&'t str, String)> {
    entries(folder, hash_bytes).find(|(_, one, _)| *one == name).map(|(mode, _, hash)| (mode, hex(hash)))
}
