//! Computes the new content of files from a patch and their current content. The computation is pure; it reads files
//! through [`Look`].

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    FilePatch, Hunk, Kind, Misfit, Node, Patch, Problem, Sign, misfit,
    seek::{self, Fit, HunkPosition},
    text::{Line, lines},
};

/// Read access to the current files.
pub trait Look {
    /// Returns the file at a path within the workspace.
    fn look(&self, path: &Path) -> LookupResult;
}

/// The result of looking up a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookupResult {
    /// The path does not exist.
    Nothing,
    /// The path is a file or a link.
    Node(Node),
    /// The path cannot be patched, with the reason: it is a directory or a socket, or a link is on the way.
    Not(String),
}

impl Look for BTreeMap<PathBuf, Node> {
    fn look(&self, path: &Path) -> LookupResult {
        self.get(path).cloned().map_or(LookupResult::Nothing, LookupResult::Node)
    }
}

/// The changes that a patch makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changes by path, without files that stay the same.
    pub changes: Vec<Planned>,
}

/// The planned change of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The path relative to the workspace's root.
    pub path: PathBuf,
    /// The current file, or `None` if it is new.
    pub before: Option<Node>,
    /// The new file, or `None` if it is deleted.
    pub after: Option<Node>,
}

/// Computes the changes that a patch makes. Reports every problem, not only the first.
pub fn plan(patch: &Patch, files: &dyn Look) -> Result<Plan, Vec<Problem>> {
    let mut planner = Planner::new(patch, files);
    let problems: Vec<Problem> =
        patch.files.iter().flat_map(|file| planner.file(file).err().unwrap_or_default()).collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let changes: Vec<Planned> = planner.changes();
    match overlap(&changes) {
        Some(path) => Err(vec![Problem::file(path, "it would be both a file and a directory")]),
        None => Ok(Plan { changes }),
    }
}

/// Returns a planned file that would also have to be a directory for another planned file.
fn overlap(changes: &[Planned]) -> Option<&Path> {
    let files: BTreeSet<&Path> =
        changes.iter().filter(|change| change.after.is_some()).map(|change| change.path.as_path()).collect();
    files.iter().find_map(|path| path.ancestors().skip(1).find(|above| files.contains(above)))
}

struct Planner<'p> {
    files: &'p dyn Look,
    /// The new content of the paths planned so far.
    now: BTreeMap<PathBuf, Option<Node>>,
    /// Paths at which a file was newly created, so that deleting or renaming the old file does not remove the new one.
    made: BTreeSet<PathBuf>,
    /// Paths that the patch deletes or renames, regardless of the order in the patch.
    leaving: BTreeSet<&'p Path>,
}

impl<'p> Planner<'p> {
    fn new(patch: &'p Patch, files: &'p dyn Look) -> Self {
        let leaves = |file: &&FilePatch| file.new.is_none() || file.is_rename();
        let leaving = patch.files.iter().filter(leaves).filter_map(|file| file.old.as_deref()).collect();
        Planner { files, now: BTreeMap::new(), made: BTreeSet::new(), leaving }
    }

    fn file(&mut self, file: &FilePatch) -> Result<(), Vec<Problem>> {
        let alone = |problem: Problem| vec![problem];
        let before = self.before(file).map_err(alone)?;
        let content = before.as_ref().map_or(&[][..], |node| &node.content);
        let content = patched(file.path(), content, &file.hunks)
            .map_err(|misfits| misfits.into_iter().map(Problem::Hunk).collect::<Vec<_>>())?;
        if let Some(old) = file.old.as_ref().filter(|_| file.new.is_none()) {
            return self.delete(file, old, &content).map_err(alone);
        }
        let Some(new) = &file.new else { return Ok(()) };
        let kind = file.new_kind.or(before.map(|node| node.kind)).unwrap_or(Kind::File);
        check_link(new, kind, &content).map_err(alone)?;
        if file.is_rename()
            && let Some(old) = &file.old
            && !self.made.contains(old)
        {
            self.now.insert(old.clone(), None);
        }
        if file.old.as_ref() != Some(new) {
            self.made.insert(new.clone());
        }
        self.now.insert(new.clone(), Some(Node { kind, content }));
        Ok(())
    }

    /// Returns the file that the hunks apply to, and checks that the new path is free.
    fn before(&self, file: &FilePatch) -> Result<Option<Node>, Problem> {
        if let Some(new) = file.new.as_deref().filter(|new| file.old.as_deref() != Some(*new)) {
            self.check_free(new)?;
        }
        let Some(old) = file.old.as_deref() else { return Ok(None) };
        // A rename or copy applies to the original file, regardless of the order in the patch.
        let is_original = file.new.as_deref().is_some_and(|new| new != old);
        let found = match self.now.get(old).filter(|_| !is_original) {
            Some(now) => now.clone().map_or(LookupResult::Nothing, LookupResult::Node),
            None => self.files.look(old),
        };
        match found {
            LookupResult::Node(node) => check_kind(old, file, node).map(Some),
            LookupResult::Not(what) => Err(Problem::file(old, what)),
            // Hunks that only add to a missing file create it: some tools do not mark a new file.
            LookupResult::Nothing if is_addition(file) => Ok(None),
            LookupResult::Nothing => Err(Problem::file(old, "there is no such file")),
        }
    }

    fn check_free(&self, path: &Path) -> Result<(), Problem> {
        let found = match self.now.get(path) {
            Some(now) => now.clone().map_or(LookupResult::Nothing, LookupResult::Node),
            None => self.files.look(path),
        };
        match found {
            LookupResult::Nothing => Ok(()),
            LookupResult::Node(_) if self.leaving.contains(path) && !self.made.contains(path) => Ok(()),
            LookupResult::Node(_) => Err(Problem::file(path, "it already exists")),
            // A file or directory that the patch removes does not block the path.
            LookupResult::Not(_)
                if self.leaving.iter().any(|gone| path.starts_with(gone) || gone.starts_with(path)) =>
            {
                Ok(())
            }
            LookupResult::Not(what) => Err(Problem::file(path, what)),
        }
    }

    fn delete(&mut self, file: &FilePatch, path: &Path, left: &[u8]) -> Result<(), Problem> {
        // Only the format without line numbers deletes a file without listing its lines. A diff without them is
        // incomplete.
        let is_blunt = file.hunks.is_empty() && file.old_kind.is_none();
        if !left.is_empty() && !is_blunt {
            return Err(Problem::file(path, "the patch deletes it, but does not remove all of its lines"));
        }
        if !self.made.contains(path) {
            self.now.insert(path.to_owned(), None);
        }
        Ok(())
    }

    fn changes(self) -> Vec<Planned> {
        let before = |path: &Path| match self.files.look(path) {
            LookupResult::Node(node) => Some(node),
            LookupResult::Nothing | LookupResult::Not(_) => None,
        };
        let changes = self.now.iter().map(|(path, after)| Planned {
            path: path.clone(),
            before: before(path),
            after: after.clone(),
        });
        changes.filter(|change| change.before != change.after).collect()
    }
}

fn is_addition(file: &FilePatch) -> bool {
    file.old == file.new
        && !file.hunks.is_empty()
        && file.hunks.iter().all(|hunk| hunk.start == Some(0) && hunk.old().is_empty())
}

/// Rejects a change to a link unless the patch states that it is a link, because writing through a link would change
/// another file.
fn check_kind(path: &Path, file: &FilePatch, node: Node) -> Result<Node, Problem> {
    let is_link = node.kind == Kind::Link;
    let said = file.old_kind.or(if file.hunks.is_empty() { Some(node.kind) } else { None });
    match (is_link, said) {
        (true, Some(Kind::Link)) => Ok(node),
        (true, _) => Err(Problem::file(path, "it is a symbolic link, but the patch treats it as a file")),
        (false, Some(Kind::Link)) => {
            Err(Problem::file(path, "it is a file, but the patch treats it as a symbolic link"))
        }
        (false, _) => Ok(node),
    }
}

/// Checks that a link leads to a path within the workspace.
fn check_link(path: &Path, kind: Kind, target: &[u8]) -> Result<(), Problem> {
    use std::os::unix::ffi::OsStrExt;
    if kind != Kind::Link {
        return Ok(());
    }
    let target = Path::new(std::ffi::OsStr::from_bytes(target));
    let mut depth = path.components().count() as isize - 1;
    for component in target.components() {
        match component {
            std::path::Component::Normal(_) => depth += 1,
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => depth -= 1,
            _ => depth = -1,
        }
        if depth < 0 {
            return Err(Problem::file(
                path,
                format!("it would be a link that leads out of the workspace, to {}", target.display()),
            ));
        }
    }
    match target.as_os_str().is_empty() {
        true => Err(Problem::file(path, "it would be a link without a target")),
        false => Ok(()),
    }
}

/// Returns a file's content with all hunks applied, or every hunk that fits nowhere.
fn patched(path: &Path, content: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, Vec<Misfit>> {
    let lines = lines(content);
    let (mut out, mut misfits) = (Out::new(&lines), Vec::new());
    let mut drift = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        match seek::place(&lines, hunk, out.at, drift) {
            Some(place) => {
                if let Some(start) = hunk.start {
                    drift = place.at as isize - start.saturating_sub(1) as isize;
                }
                out.take(hunk, place);
            }
            None => misfits.push(misfit::describe(path, index + 1, hunk, &lines, out.at)),
        }
    }
    if misfits.is_empty() { Ok(out.finish()) } else { Err(misfits) }
}

/// The new content of a file under construction.
struct Out<'l> {
    lines: &'l [Line<'l>],
    /// The index of the first line that is not copied yet.
    at: usize,
    written: Vec<u8>,
    is_open: bool,
}

impl<'l> Out<'l> {
    fn new(lines: &'l [Line<'l>]) -> Self {
        Out { lines, at: 0, written: Vec::new(), is_open: false }
    }

    fn copy_to(&mut self, to: usize) {
        for line in &self.lines[self.at..to] {
            self.push(line.text, line.has_newline);
        }
        self.at = to;
    }

    fn push(&mut self, text: &[u8], has_newline: bool) {
        if self.is_open {
            // The previous line had no line feed but is no longer the last line.
            self.written.push(b'\n');
        }
        self.written.extend_from_slice(text);
        if has_newline {
            self.written.push(b'\n');
        }
        self.is_open = !has_newline;
    }

    fn take(&mut self, hunk: &Hunk, place: HunkPosition) {
        self.copy_to(place.at);
        let returns = Returns::of(self.lines, hunk, place);
        for line in &hunk.lines {
            match line.sign {
                Sign::Keep => self.copy_to(self.at + 1),
                Sign::Remove => self.at += 1,
                Sign::Add => self.push(&returns.fit(&line.text), line.has_newline),
            }
        }
    }

    fn finish(mut self) -> Vec<u8> {
        self.copy_to(self.lines.len());
        self.written
    }
}

/// The handling of carriage returns at the ends of added lines, so that a file keeps its line endings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Returns {
    Leave,
    Add,
    Remove,
}

impl Returns {
    fn of(lines: &[Line<'_>], hunk: &Hunk, place: HunkPosition) -> Self {
        let old = hunk.old();
        if place.fit == Fit::Exact {
            return Returns::Leave;
        }
        let there = if old.is_empty() { lines } else { &lines[place.at..place.at + old.len()] };
        let has = |text: &[u8]| text.ends_with(b"\r");
        let file_has = !there.is_empty() && there.iter().filter(|line| line.has_newline).all(|line| has(line.text));
        let file_has_none = !there.iter().any(|line| has(line.text));
        let patch_has = !old.is_empty() && old.iter().all(|line| has(&line.text));
        let patch_has_none = !hunk.lines.iter().any(|line| has(&line.text));
        match () {
            () if file_has && patch_has_none => Returns::Add,
            () if file_has_none && patch_has => Returns::Remove,
            () => Returns::Leave,
        }
    }

    fn fit(self, text: &[u8]) -> Vec<u8> {
        match self {
            Returns::Leave => text.to_vec(),
            Returns::Add => [text, b"\r"].concat(),
            Returns::Remove => text.strip_suffix(b"\r").unwrap_or(text).to_vec(),
        }
    }
}
