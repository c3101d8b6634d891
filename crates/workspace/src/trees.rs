//! Trees as values: a patch makes one tree of another, and nobody's files are touched.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    Error, Result, Workspace,
    git::Git,
    index::{Index, joined},
    objects::{self, Object},
    patch::{Found, Kind, Look, Node, Patch, Plan, plan},
    private::Private,
    workspace::name_it,
};

/// What git calls the mode of a folder.
const FOLDER: &str = "40000";

impl Workspace {
    /// The tree that a patch makes of a kept tree, kept under a name of the run.
    pub fn apply_to_tree(&self, folder: &Path, run: &str, tree: &str, patch: &Patch) -> Result<String> {
        let private = self.open_private(folder)?;
        let plan = plan(patch, &files(&private, tree, patch)?).map_err(Error::Patch)?;
        let made = changed(&private, tree, &plan)?;
        name_it(&private, &made, run, None)?;
        Ok(made)
    }

    /// The patch that makes one kept tree of another.
    pub fn diff_trees(&self, folder: &Path, from: &str, to: &str) -> Result<Vec<u8>> {
        let private = self.open_private(folder)?;
        private.git().objects(&private.objects).between(from, to)
    }

    /// The files of a kept tree, for a patch that is only tried.
    pub fn tree_files(&self, folder: &Path, tree: &str, patch: &Patch) -> Result<TreeFiles> {
        files(&self.open_private(folder)?, tree, patch)
    }
}

/// The tree that has this instead of what is there.
fn changed(private: &Private, tree: &str, plan: &Plan) -> Result<String> {
    let index = Index::new(private)?.kept();
    let after = |at: usize| index.scratch.path().join(at.to_string());
    let mut written = Vec::new();
    for (at, node) in plan.changes.iter().enumerate().filter_map(|(at, change)| Some((at, change.after.as_ref()?))) {
        fs::write(after(at), &node.content).map_err(|error| Error::io("write", &after(at), &error))?;
        written.extend([after(at).as_os_str().as_bytes(), b"\n"].concat());
    }
    let hashes = std::thread::scope(|scope| {
        let hashed =
            scope.spawn(|| index.git.run_with(&["hash-object", "-w", "--no-filters", "--stdin-paths"], &written));
        index.git.run(&["read-tree", tree])?;
        joined(hashed)
    })?;
    let hashes = String::from_utf8_lossy(&hashes);
    let mut hashes = hashes.lines();
    let nothing = "0".repeat(tree.len());
    let (mut gone, mut there) = (Vec::new(), Vec::new());
    for change in &plan.changes {
        let (lines, mode, hash) = match &change.after {
            Some(node) => (&mut there, node.kind.mode(), hashes.next().unwrap_or_default()),
            None => (&mut gone, "0", nothing.as_str()),
        };
        lines.extend([format!("{mode} {hash}\t").as_bytes(), change.path.as_os_str().as_bytes(), b"\0"].concat());
    }
    // What goes first makes room: a folder may come where a file was.
    index.git.run_with(&["update-index", "-z", "--index-info"], &[gone, there].concat())?;
    index.git.line(&["write-tree"])
}

/// The files of a kept tree.
#[derive(Debug)]
pub struct TreeFiles {
    git: Git,
    tree: String,
    /// What was asked for before: a tree does not change.
    seen: RefCell<BTreeMap<PathBuf, Found>>,
}

/// With all that a patch is about, asked for in one call.
fn files(private: &Private, tree: &str, patch: &Patch) -> Result<TreeFiles> {
    let files =
        TreeFiles { git: private.git().objects(&private.objects), tree: tree.to_owned(), seen: RefCell::default() };
    files.ask(&patch.paths())?;
    Ok(files)
}

impl Look for TreeFiles {
    fn look(&self, path: &Path) -> Found {
        let is_seen = self.seen.borrow().contains_key(path);
        if !is_seen && let Err(error) = self.ask(&[path]) {
            return Found::Not(error.to_string());
        }
        self.seen.borrow().get(path).cloned().unwrap_or(Found::Nothing)
    }
}

impl TreeFiles {
    /// Asks for paths and, because only a folder knows what kind a thing in it is, for the folders on the way to them.
    fn ask(&self, paths: &[&Path]) -> Result<()> {
        let all: BTreeSet<&Path> = paths.iter().flat_map(|path| path.ancestors()).collect();
        let names: Vec<Vec<u8>> =
            all.iter().map(|path| [self.tree.as_bytes(), b":", path.as_os_str().as_bytes()].concat()).collect();
        let objects = objects::read(&self.git, &names)?;
        let objects: BTreeMap<&Path, Object> =
            all.into_iter().zip(objects).filter_map(|(path, object)| Some((path, object?))).collect();
        if !objects.contains_key(Path::new("")) {
            return Err(Error::NoSnapshot(self.tree.clone()));
        }
        let found = paths.iter().map(|path| ((*path).to_owned(), self.found(path, &objects)));
        self.seen.borrow_mut().extend(found);
        Ok(())
    }

    fn found(&self, path: &Path, objects: &BTreeMap<&Path, Object>) -> Found {
        if path.as_os_str().as_bytes().contains(&b'\n') {
            return Found::Not("there is a line break in its name".to_owned());
        }
        let mut way: Vec<&Path> = path.ancestors().collect();
        way.reverse();
        for pair in way.windows(2) {
            let name = pair[1].file_name().unwrap_or_default();
            let folder = objects.get(pair[0]).filter(|object| object.kind == "tree");
            let Some(mode) = folder.and_then(|folder| mode_in(&folder.content, name.as_bytes(), self.tree.len() / 2))
            else {
                return Found::Nothing;
            };
            let name = name.to_string_lossy();
            let is_last = pair[1] == path;
            match (Kind::from_mode(mode), objects.get(pair[1])) {
                _ if mode == FOLDER && !is_last => {}
                _ if mode == FOLDER => return Found::Not("it is a folder".to_owned()),
                (Some(Kind::Repository), _) if is_last => {
                    return Found::Not("it is a repository of its own".to_owned());
                }
                (Some(Kind::Repository), _) => {
                    return Found::Not(format!(
                        "it belongs to another repository (`{name}`), whose content is not kept"
                    ));
                }
                (Some(kind), Some(object)) if is_last => {
                    return Found::Node(Node { kind, content: object.content.clone() });
                }
                (Some(Kind::Link), _) if !is_last => {
                    return Found::Not(format!("`{name}` on the way to it is a symbolic link"));
                }
                (Some(_), _) if !is_last => return Found::Not(format!("`{name}` on the way to it is no folder")),
                _ => return Found::Not("it is no file".to_owned()),
            }
        }
        Found::Nothing
    }
}

/// The mode of a name in a folder, which is `MODE NAME`, NUL and the bytes of a hash for each.
fn mode_in<'t>(mut folder: &'t [u8], name: &[u8], hash_bytes: usize) -> Option<&'t str> {
    while !folder.is_empty() {
        let space = folder.iter().position(|byte| *byte == b' ')?;
        let end = folder.iter().position(|byte| *byte == 0)?;
        if folder.get(space + 1..end)? == name {
            return std::str::from_utf8(&folder[..space]).ok();
        }
        folder = folder.get(end + 1 + hash_bytes..)?;
    }
    None
}
