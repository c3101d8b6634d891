//! Undoes writes path by path, newest first. A path that no longer has the content that the write left there belongs to
//! another writer and is not changed.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{
    Changes, Error, NotKept, Result, Version, Why, Workspace,
    changes::Change,
    nested, objects,
    patch::{self, Disk, Kind, Look, LookupResult, Node, Plan, Planned},
    private::Private,
    scope::Scope,
    three_way,
    workspace::tree_of,
};

/// A plan to undo writes.
#[derive(Clone, Debug, Default)]
pub struct Undo {
    /// The files to restore, as changes from now to then.
    pub files: Vec<Change>,
    /// Paths that no longer have the content that the writes left there.
    pub conflicts: Vec<Conflict>,
    /// Changed paths that snapshots do not store. They stay as they are.
    pub not_kept: Vec<NotKept>,
    /// The root of the workspace, and the path of the store if it is inside.
    place: Option<(PathBuf, Option<PathBuf>)>,
    plan: Plan,
}

/// A path that no longer has the content that our write left there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The path relative to the workspace's root.
    #[serde(with = "crate::path_text")]
    pub path: PathBuf,
    /// The reason of the conflict, for people.
    pub why: String,
    /// The version before our write.
    pub before: Option<Version>,
    /// The version after our write.
    pub ours: Option<Version>,
    /// The three versions in one view. If they are not text, it shows their sizes.
    pub view: String,
}

impl Undo {
    /// Returns the paths that would be restored.
    pub fn paths(&self) -> Vec<String> {
        self.files.iter().map(|change| change.path.display().to_string()).collect()
    }
}

impl Workspace {
    /// Plans how to undo writes, which are given newest first. Only paths that satisfy `is_wanted` are included.
    pub fn plan_undo(&self, folder: &Path, writes: &[&Changes], is_wanted: &dyn Fn(&Path) -> bool) -> Result<Undo> {
        let Some(first) = writes.last() else { return Ok(Undo::default()) };
        let (private, _) = self.reading(folder, &first.before)?;
        // Snapshots of earlier versions of Interlock are imported first.
        for name in writes.iter().flat_map(|write| std::iter::once(&write.before).chain(&write.after)) {
            tree_of(&private, name)?;
        }
        // These files are stored. A repository that was created around them since does not change that.
        let disk = Disk::open(&private.place.root, private.home_within())?.through_repositories();
        let changes = writes.iter().flat_map(|write| &write.files).filter(|change| is_wanted(&change.path));
        let mut paths: BTreeMap<&Path, Vec<&Change>> = BTreeMap::new();
        changes.for_each(|change| paths.entry(&change.path).or_default().push(change));
        let mut contents = Contents::of(&private, paths.values().flatten().copied())?;
        let names = writes.iter().flat_map(|write| std::iter::once(&write.before).chain(&write.after));
        for inner in nested::stores(self, &private, names.map(String::as_str))? {
            contents.add_missing(&inner)?;
        }
        let contents = contents.complete()?;
        let place = (private.place.root.clone(), private.home_within().map(Path::to_owned));
        let mut undo =
            Undo { not_kept: not_restored(&private, writes, is_wanted), place: Some(place), ..Undo::default() };
        for (path, steps) in &paths {
            let now = look(&disk, path, &paths);
            match way_back(now, steps, &contents) {
                Ok(Some((change, planned))) => {
                    undo.files.push(change);
                    undo.plan.changes.push(planned);
                }
                Ok(None) => {}
                Err(conflict) => undo.conflicts.push(*conflict),
            }
        }
        Ok(undo)
    }

    /// Records that an attempt that began with a snapshot is about to carry out this undo.
    pub fn announce_undo(&self, folder: &Path, run: &str, before: &str, undo: &Undo) -> Result<()> {
        self.announce(folder, run, before, &undo.plan)
    }

    /// Carries out the undo completely, or changes nothing.
    pub fn carry_out(&self, undo: &Undo) -> Result<()> {
        let Some((root, home)) = &undo.place else { return Ok(()) };
        let disk = Disk::open(root, home.as_deref())?.through_repositories();
        patch::write(&disk, &undo.plan)
    }
}

/// Returns the changed paths whose content is not stored. One that was new and is gone again needs no undo.
fn not_restored(private: &Private, writes: &[&Changes], is_wanted: &dyn Fn(&Path) -> bool) -> Vec<NotKept> {
    let is_there = |path: &NotKept| std::fs::symlink_metadata(private.place.root.join(&path.path)).is_ok();
    let mut all: BTreeMap<&Path, &NotKept> = BTreeMap::new();
    for write in writes.iter().filter(|write| !write.not_kept.is_empty()) {
        let scope = Scope::read(private, &write.before);
        let was_there = |path: &NotKept| scope.as_ref().is_some_and(|scope| scope.has_unkept(&path.path));
        let wanted = write.not_kept.iter().filter(|path| is_wanted(&path.path));
        let left = wanted.filter(|path| match path.why {
            Why::Finished => !is_there(path),
            _ => is_there(path) || was_there(path),
        });
        all.extend(left.map(|path| (path.path.as_path(), path)));
    }
    all.into_values().cloned().collect()
}

/// Looks up a path. A directory at the path counts as nothing if the undo removes the files in it.
fn look(disk: &Disk, path: &Path, all: &BTreeMap<&Path, Vec<&Change>>) -> LookupResult {
    match disk.look(path) {
        LookupResult::Not(_)
            if all.keys().any(|other| *other != path && (other.starts_with(path) || path.starts_with(other))) =>
        {
            LookupResult::Nothing
        }
        other => other,
    }
}

type Way = Option<(Change, Planned)>;

/// Reverts the writes to one path, newest first. Returns nothing if the path already has its old content.
fn way_back(now: LookupResult, steps: &[&Change], contents: &Contents) -> Result<Way, Box<Conflict>> {
    let path = &steps[0].path;
    let conflict = |why: &str, step: &Change, now: Option<&Node>| {
        let view = three_way::view(contents.node(&step.before).as_ref(), contents.node(&step.after).as_ref(), now);
        let (before, ours) = (step.before.clone(), step.after.clone());
        Box::new(Conflict { path: path.clone(), why: why.to_owned(), before, ours, view })
    };
    let now = match now {
        LookupResult::Node(node) => Some(node),
        LookupResult::Nothing => None,
        LookupResult::Not(what) => return Err(conflict(&what, steps[0], None)),
    };
    let (mut node, mut first) = (now.clone(), None);
    for step in steps {
        if [&step.before, &step.after].into_iter().flatten().any(|version| version.kind == Kind::Repository) {
            return Err(conflict(
                "it is a nested repository, whose commits are not stored; `git reflog` there shows them",
                step,
                None,
            ));
        }
        let (before, after) = (contents.node(&step.before), contents.node(&step.after));
        if node == after {
            first.get_or_insert_with(|| step.after.clone());
            node = before;
        } else if node != before {
            return Err(conflict("it has been changed since", step, now.as_ref()));
        }
    }
    if node == now {
        return Ok(None);
    }
    let before = steps.last().and_then(|step| step.before.clone());
    let change = Change { path: path.clone(), before: first.flatten(), after: before, renamed_from: None, lines: None };
    Ok(Some((change, Planned { path: path.clone(), before: now, after: node })))
}

/// File contents by their git hashes; `None` if a content was not found yet.
struct Contents(BTreeMap<String, Option<Vec<u8>>>);

impl Contents {
    fn of<'c>(private: &Private, changes: impl Iterator<Item = &'c Change>) -> Result<Self> {
        let versions = changes.flat_map(|change| [&change.before, &change.after]).flatten();
        let hashes: BTreeSet<&str> =
            versions.filter(|version| version.kind != Kind::Repository).map(|version| version.hash.as_str()).collect();
        let mut contents = Contents(hashes.into_iter().map(|hash| (hash.to_owned(), None)).collect());
        contents.add_missing(private)?;
        Ok(contents)
    }

    /// Reads the contents that are still missing from a private directory.
    fn add_missing(&mut self, private: &Private) -> Result<()> {
        let missing = self.0.iter_mut().filter(|(_, content)| content.is_none());
        let (hashes, contents): (Vec<_>, Vec<_>) =
            missing.map(|(hash, content)| (hash.as_bytes().to_vec(), content)).unzip();
        if !hashes.is_empty() {
            let objects = objects::read(&private.git().objects(&private.objects), &hashes)?;
            contents
                .into_iter()
                .zip(objects)
                .for_each(|(content, object)| *content = object.map(|object| object.content));
        }
        Ok(())
    }

    fn complete(self) -> Result<Self> {
        match self.0.iter().find(|(_, content)| content.is_none()) {
            Some((hash, _)) => Err(Error::NoSnapshot(format!("the content {hash}"))),
            None => Ok(self),
        }
    }

    fn node(&self, version: &Option<Version>) -> Option<Node> {
        let Version { kind, hash } = version.as_ref()?;
        Some(Node { kind: *kind, content: self.0.get(hash).cloned().flatten().unwrap_or_default() })
    }
}
