//! Copies of a workspace elsewhere, and trees as values: a patch makes one tree of another without anybody's files being touched.
//!
//! Whoever builds and tests what is not yet known to be good does it in such a copy. Its index lies beside it, so that bringing it to another tree
//! writes only the files that differ: what is built from the others stays good.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    Error, Result, Workspace,
    git::{Git, join},
    patch::{self, Disk, Found, Kind, Look, Node, Patch, plan},
    place::Place,
    private::Private,
    workspace::name_it,
};

impl Workspace {
    /// Makes a folder outside of the workspace what a kept tree is. Files in it that are in no tree, as those a build makes, stay.
    pub fn copy_tree(&self, folder: &Path, tree: &str, into: &Path) -> Result<()> {
        let private = self.open_private(folder)?;
        fs::create_dir_all(into).map_err(|error| Error::io("make", into, &error))?;
        copy_of(&private, into).bring(tree)
    }

    /// The tree that a patch makes of a kept tree, kept under a name of the run. `scratch` is a copy that is brought there on the way.
    pub fn apply_to_tree(&self, folder: &Path, run: &str, tree: &str, patch: &Patch, scratch: &Path) -> Result<String> {
        // Whoever was cut off while writing may have left files there that no index knows: then it is made anew.
        let writing = beside(scratch, ".writing");
        if writing.exists() && scratch.exists() {
            fs::remove_dir_all(scratch).map_err(|error| Error::io("remove", scratch, &error))?;
        }
        self.copy_tree(folder, tree, scratch)?;
        let private = self.open_private(folder)?;
        let disk = Disk::open(scratch, None)?;
        let plan = plan(patch, &disk).map_err(Error::Patch)?;
        fs::write(&writing, "").map_err(|error| Error::io("write", &writing, &error))?;
        patch::write(&disk, &plan)?;
        let copy = copy_of(&private, scratch);
        let paths = join(patch.paths().into_iter().map(|path| path.as_os_str().as_bytes().to_vec()));
        copy.git.run_with(&["update-index", "--add", "--remove", "-z", "--stdin"], &paths)?;
        fs::remove_file(&writing).map_err(|error| Error::io("remove", &writing, &error))?;
        let made = copy.git.line(&["write-tree"])?;
        name_it(&private, &made, run)?;
        Ok(made)
    }

    /// The patch that makes one kept tree of another.
    pub fn diff_trees(&self, folder: &Path, from: &str, to: &str) -> Result<Vec<u8>> {
        let private = self.open_private(folder)?;
        private.git().objects(&private.objects).between(from, to)
    }

    /// The files of a kept tree, for a patch that is only tried.
    pub fn tree_files(&self, folder: &Path, tree: &str) -> Result<TreeFiles> {
        let private = self.open_private(folder)?;
        let git = private.git().objects(&private.objects);
        Ok(TreeFiles { git, tree: tree.to_owned(), seen: RefCell::default() })
    }

    fn open_private(&self, folder: &Path) -> Result<Private> {
        Private::open(Some(self.home()?), Place::find(folder)?)
    }
}

/// The files of a kept tree.
#[derive(Debug)]
pub struct TreeFiles {
    git: Git,
    tree: String,
    /// What was asked for before: a tree does not change.
    seen: RefCell<BTreeMap<PathBuf, Found>>,
}

impl Look for TreeFiles {
    fn look(&self, path: &Path) -> Found {
        if let Some(found) = self.seen.borrow().get(path) {
            return found.clone();
        }
        let found = self.ask(path);
        self.seen.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }
}

impl TreeFiles {
    fn ask(&self, path: &Path) -> Found {
        let Some(name) = path.to_str() else { return Found::Not("its name is no text".to_owned()) };
        // `MODE TYPE HASH\tPATH`
        let listed = self.git.line(&["ls-tree", "--full-tree", &self.tree, "--", &format!(":(literal){name}")]);
        let listed = match listed {
            Ok(line) if line.is_empty() => return Found::Nothing,
            Ok(line) => line,
            Err(error) => return Found::Not(error.to_string()),
        };
        let mut fields = listed.split(['\t', ' ']);
        let (mode, _, hash) = (fields.next(), fields.next(), fields.next());
        match (mode.and_then(Kind::from_mode), hash.map(|hash| self.git.run(&["cat-file", "blob", hash]))) {
            (Some(kind), Some(Ok(content))) => Found::Node(Node { kind, content }),
            _ => Found::Not("it is no file".to_owned()),
        }
    }
}

/// A copy, and the index that knows what is in it.
struct Copy {
    git: Git,
}

fn copy_of(private: &Private, into: &Path) -> Copy {
    let git = Git::new(into, &private.folder).objects(&private.objects).index(&beside(into, ".index"));
    Copy { git: git.for_a_moment() }
}

impl Copy {
    fn bring(&self, tree: &str) -> Result<()> {
        let is_hash = tree.len() >= 40 && tree.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hash {
            return Err(Error::NoSnapshot(tree.to_owned()));
        }
        // What was changed in the copy itself is put back as well: with both options each file is looked at.
        self.git.run(&["read-tree", "--reset", "-u", tree]).map(drop)
    }
}

/// A file beside a copy, which is no part of it.
fn beside(copy: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(copy);
    path.push(ending);
    path.into()
}
