//! What remains of the recorded writes of a run: for each path, from which version to which the run itself has changed it.
//!
//! Only records count. What a person changes between two writes of the run, or after its end, is not the run's. So a path
//! can have several steps, each from one version to another.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use interlock_runtime::{Change, Comparison, Result, Version, Workspace};

use super::{
    ChangedFile, gone, named,
    writes::{Write, Writes},
};

/// A change of a path by one write, or by several that nobody interrupted.
#[derive(Debug)]
struct Step {
    before: Option<Version>,
    after: Option<Version>,
    /// The trees with these versions.
    trees: Option<(String, String)>,
    /// The counts of lines, if one write made the change.
    lines: Option<(u64, u64)>,
}

/// The changes of a path.
#[derive(Debug)]
struct Net {
    steps: Vec<Step>,
    /// The change by the first write.
    first: &'static str,
    /// The record of the last write to it that is no undo.
    seq: u64,
    run: Option<String>,
    is_undone: bool,
}

/// A comparison of two trees, of which only these paths count.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) comparison: Comparison,
    pub(super) paths: BTreeSet<PathBuf>,
    /// True if the trees differ in no other path.
    pub(super) is_whole: bool,
}

/// The net changes of a run.
#[derive(Debug, Default)]
pub(super) struct Nets {
    pub(super) files: Vec<ChangedFile>,
    /// The files whose changes were undone.
    pub(super) undone: Vec<ChangedFile>,
    /// The sources of their patches; empty if no tree is stored any more.
    pub(super) parts: Vec<Part>,
}

impl Part {
    /// Returns the patch of the paths that count.
    pub(super) fn patch(&self) -> Result<Vec<u8>> {
        let patch = match self.is_whole {
            true => self.comparison.patch(),
            false => self.comparison.patch_of_all(self.paths.iter().map(PathBuf::as_path)),
        };
        patch.map_err(gone)
    }
}

impl Step {
    fn of(change: &Change, write: &Write) -> Self {
        let trees = write.changes.before_tree.clone().zip(write.changes.after_tree.clone());
        Step { before: change.before.clone(), after: change.after.clone(), trees, lines: change.lines }
    }

    fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// Adds a later change. Returns false if somebody else has changed the path in between.
    fn extend(&mut self, change: &Change, write: &Write) -> bool {
        // Attempts in parallel both record what either of them wrote.
        let is_known = change.after == self.after;
        let follows = change.before == self.after || change.before == self.before;
        if follows && !is_known {
            self.after.clone_from(&change.after);
            let begin = self.trees.take().map(|(begin, _)| begin);
            self.trees = begin.zip(write.changes.after_tree.clone());
            self.lines = None;
        }
        follows || is_known
    }

    fn is_in(&self, change: Option<&Change>) -> bool {
        change.is_some_and(|change| change.before == self.before && change.after == self.after)
    }
}

/// Returns what a change did to its path.
fn how(before: bool, after: bool) -> &'static str {
    match (before, after) {
        (false, true) => "added",
        (true, false) => "removed",
        _ => "changed",
    }
}

/// Returns the changes of a write. A renamed file is a removed one and a new one.
fn single(write: &Write) -> impl Iterator<Item = Change> + '_ {
    write.changes.files.iter().flat_map(|change| match &change.renamed_from {
        None => vec![change.clone()],
        Some(old) => {
            let one = Change { renamed_from: None, lines: None, ..change.clone() };
            vec![Change { path: old.clone(), after: None, ..one.clone() }, Change { before: None, ..one }]
        }
    })
}

impl Nets {
    pub(super) fn of(writes: &Writes, workspace: &Workspace) -> Self {
        let mut nets: BTreeMap<PathBuf, Net> = BTreeMap::new();
        for write in &writes.all {
            for change in single(write) {
                let first = how(change.before.is_some(), change.after.is_some());
                let empty = || Net { steps: Vec::new(), first, seq: 0, run: None, is_undone: false };
                nets.entry(change.path.clone()).or_insert_with(empty).add(&change, write);
            }
            if write.is_undo {
                forget_restored(&mut nets, writes, write, workspace);
            }
        }
        Nets::told(nets, writes, workspace)
    }

    fn told(nets: BTreeMap<PathBuf, Net>, writes: &Writes, workspace: &Workspace) -> Self {
        let mut trees = Trees { writes, workspace, known: Vec::new() };
        let ends = writes.ends();
        let mut told = Nets::default();
        for (path, net) in nets {
            let steps: Vec<&Step> = net.steps.iter().filter(|step| step.is_change()).collect();
            let (Some(first), Some(last)) = (steps.first(), steps.last()) else {
                told.undone.extend(net.is_undone.then(|| net.file(&path, net.first)));
                continue;
            };
            let counts: Vec<Counted> = steps.iter().map(|step| trees.count(&path, step, ends.as_ref())).collect();
            let file = net.file(&path, how(first.before.is_some(), last.after.is_some()));
            told.files.push(with_counts(file, &counts));
        }
        let parts = trees.known.into_iter().filter_map(|(_, known)| Some(known?.part()));
        told.parts = parts.filter(|part| !part.paths.is_empty()).collect();
        told
    }
}

impl Net {
    fn add(&mut self, change: &Change, write: &Write) {
        if !self.steps.last_mut().is_some_and(|step| step.extend(change, write)) {
            self.steps.push(Step::of(change, write));
        }
        self.is_undone = write.is_undo;
        if !write.is_undo {
            (self.seq, self.run) = (write.seq, write.run.clone());
        }
    }

    fn file(&self, path: &Path, how: &'static str) -> ChangedFile {
        ChangedFile { seq: self.seq, run: self.run.clone(), ..named(path, how, None) }
    }
}

/// Forgets the changes of paths that were before an undo as they had been before the run: a person has restored them, and the
/// undo has left them alone.
fn forget_restored(nets: &mut BTreeMap<PathBuf, Net>, writes: &Writes, undo: &Write, workspace: &Workspace) {
    let ends = writes.first_tree().zip(workspace.tree_named(&writes.folder, &undo.changes.before).ok());
    let compared = ends.and_then(|(first, before)| workspace.compare(&writes.folder, first, &before).ok());
    let Some(differ) = compared.and_then(|compared| compared.files().ok()) else { return };
    let differ: BTreeSet<&Path> = differ.iter().map(|change| change.path.as_path()).collect();
    let is_restored = |path: &Path, net: &Net| !differ.contains(path) && net.steps.iter().any(|step| step.is_change());
    for (_, net) in nets.iter_mut().filter(|(path, net)| is_restored(path, net)) {
        net.steps.clear();
        net.is_undone = true;
    }
}

impl Writes {
    fn first_tree(&self) -> Option<&String> {
        self.all.iter().find_map(|write| write.changes.before_tree.as_ref())
    }

    /// Returns the tree before the first write and the tree after the last one.
    fn ends(&self) -> Option<(&String, &String)> {
        self.first_tree().zip(self.all.iter().rev().find_map(|write| write.changes.after_tree.as_ref()))
    }
}

/// The counts of a step.
enum Counted {
    Lines(u64, u64),
    Binary,
    Unknown,
}

fn with_counts(file: ChangedFile, counts: &[Counted]) -> ChangedFile {
    let note = |note: &str| Some(note.to_owned());
    if counts.iter().any(|count| matches!(count, Counted::Unknown)) {
        return ChangedFile { note: note("the counts are not stored"), ..file };
    }
    let (mut added, mut removed) = (0, 0);
    for count in counts {
        match count {
            Counted::Lines(more, less) => (added, removed) = (added + more, removed + less),
            Counted::Binary | Counted::Unknown => return ChangedFile { note: note("binary"), ..file },
        }
    }
    ChangedFile { added: Some(added), removed: Some(removed), ..file }
}

/// The comparisons of trees that the steps of a run need, each made once.
struct Trees<'w> {
    writes: &'w Writes,
    workspace: &'w Workspace,
    known: Vec<((String, String), Option<Known>)>,
}

/// A comparison that was made.
struct Known {
    comparison: Comparison,
    changes: BTreeMap<PathBuf, Change>,
    paths: BTreeSet<PathBuf>,
}

impl Known {
    fn part(self) -> Part {
        let is_whole = self.paths.len() == self.changes.len();
        Part { comparison: self.comparison, paths: self.paths, is_whole }
    }
}

impl Trees<'_> {
    /// Counts the lines of a step, and remembers the trees that have its patch. Most steps are in the comparison of the
    /// whole run.
    fn count(&mut self, path: &Path, step: &Step, ends: Option<&(&String, &String)>) -> Counted {
        let whole = ends.map(|(first, last)| ((*first).clone(), (*last).clone()));
        for trees in [whole, step.trees.clone()].into_iter().flatten() {
            let Some(known) = self.known(&trees) else { continue };
            let found = known.changes.get(path);
            if !step.is_in(found) || known.paths.contains(path) {
                continue;
            }
            known.paths.insert(path.to_owned());
            return match known.changes.get(path).and_then(|change| change.lines) {
                Some((added, removed)) => Counted::Lines(added, removed),
                None => Counted::Binary,
            };
        }
        step.lines.map_or(Counted::Unknown, |(added, removed)| Counted::Lines(added, removed))
    }

    fn known(&mut self, trees: &(String, String)) -> Option<&mut Known> {
        let at = self.known.iter().position(|(known, _)| known == trees);
        let at = at.unwrap_or_else(|| {
            let comparison = self.workspace.compare(&self.writes.folder, &trees.0, &trees.1).ok();
            let known = comparison.and_then(|comparison| {
                let changes = comparison.files().ok()?;
                let changes = changes.into_iter().map(|change| (change.path.clone(), change)).collect();
                Some(Known { comparison, changes, paths: BTreeSet::new() })
            });
            self.known.push((trees.clone(), known));
            self.known.len() - 1
        });
        self.known.get_mut(at)?.1.as_mut()
    }
}
